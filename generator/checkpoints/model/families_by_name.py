"""Families whose configs name what has their sizes: another model, or a function that makes theirs.

Sources: huggingface/lerobot at 7427f31801f9, src/lerobot/policies/smolvla/configuration_smolvla.py,
    modeling_smolvla.py and smolvlm_with_expert.py, and src/lerobot/policies/common/vla_utils.py;
    OpenGVLab/InternVideo at 3965eef16e2d, internvideo2.py and pos_embed.py in InternVideo2/
    multi_modality/models/backbones/internvideo2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from generator.checkpoints.model.engines_families import MOST_LAYERS
from generator.contracts import Json, ModelConfig, Resolved
from generator.contracts.model_config import HEAD_DIM, UNKNOWN

OF_SMOL_VLA, SMOL_VLA = "vlm_model_name", "smolvla"
OF_INTERN_VIDEO, INTERN_VIDEO = "model", "internvideo2"
Shape = tuple[int, ...]
BASE_OF_SMOL_VLA = 10_000.0  # Of its code, whatever the language model has.
# Sizes of the language models in published configs that the atlas ships, by the model.
LANGUAGE_MODELS: Mapping[str, Json] = MappingProxyType(
    {"HuggingFaceTB/SmolVLM2-2.2B-Instruct": {"head_dim": 64, "num_hidden_layers": 24}}
)
# Of InternVideo 2: sizes by the function that makes its encoder of videos, which takes no others of
# images and of patches than these.
ENCODERS_OF_VIDEOS: Mapping[str, Json] = MappingProxyType(
    {
        "pretrain_internvideo2_1b_patch14_224": {
            "hidden_size": 1408, "num_hidden_layers": 40, "num_attention_heads": 16,
        },
        "pretrain_internvideo2_6b_patch14_224": {
            "hidden_size": 3200, "num_hidden_layers": 48, "num_attention_heads": 25,
        },
    }
)  # fmt: skip
MOST_FRAMES = 512
IMAGE, PATCH, OWN_OF_IMAGES = 224, 14, "sep_image_video_pos_embed"
OF_VIDEOS, OF_IMAGES = "pos_embed", "img_pos_embed"
# Nested configs of which nothing is known, by the family around them.
PARTS_BESIDE: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {INTERN_VIDEO: ((OF_INTERN_VIDEO, "text_encoder"),)}
)


@dataclass(frozen=True)
class Policy:
    """What SmolVLA does, by its config, where a setting that is left out is that of its code.

    model: the name of the model with its sizes; is_shipped: whether these are known
    n_layers: of its language model that are used, None where all are and their number is not known
    acting: those in which its action expert takes part
    joint: of these, the ones in which actions attend as other tokens do; in others, they attend to
        keys made of those of other tokens
    n_actions: of one step
    """

    model: str
    is_shipped: bool
    n_layers: int | None
    acting: tuple[int, ...]
    joint: tuple[int, ...]
    n_actions: int

    @property
    def crossing(self) -> tuple[int, ...]:
        """Layers in which actions attend to such keys."""
        return tuple(layer for layer in self.acting if layer not in self.joint)


def smol_vla(config: ModelConfig) -> Json:
    """SmolVLA, whose configs name no model type; nothing is taken from those of other policies of
    robots with the same keys, nor from one that its code cannot run.
    """
    own = _policy(config) if config.text("type") == SMOL_VLA else None
    if own is None:
        return {}
    return {
        "model_type": SMOL_VLA,
        "rope_theta": BASE_OF_SMOL_VLA,
        **LANGUAGE_MODELS.get(own.model, {}),
        **({"num_hidden_layers": own.n_layers} if own.n_layers else {}),
    }


def policy(config: ModelConfig) -> Policy | None:
    """What a config says that ``smol_vla`` has translated; None for any other."""
    return _policy(config) if config.family == SMOL_VLA else None


def _policy(config: ModelConfig) -> Policy | None:
    """None where its code cannot run the numbers of layers or of actions."""
    used, experts, every, n_actions = (
        config.value(key, default)
        for key, default in (
            ("num_vlm_layers", 16), ("num_expert_layers", -1), ("self_attn_every_n_layers", 2),
            ("chunk_size", 50),
        )
    )  # fmt: skip
    name, numbers = config.text(OF_SMOL_VLA), (used, experts, every, n_actions)
    if name is None or any(type(value) is not int or value > MOST_LAYERS for value in numbers):
        return None
    most = LANGUAGE_MODELS.get(name, {}).get("num_hidden_layers")
    n_layers = min(used, most or used) if used > 0 else most
    if n_actions < 1 or (n_layers and experts > 0 and n_layers % experts):
        return None
    step = n_layers // experts if n_layers and experts > 0 else 1
    acting = tuple(range(0, n_layers or 0, step))
    if "cross" not in str(config.value("attention_mode", "cross_attn")):
        return Policy(name, most is not None, n_layers, acting, acting, n_actions)
    joint = tuple(layer for layer in acting if every > 0 and layer % every == 0)
    # Projections of keys are as wide as those layers of the expert need, by its own count.
    own = tuple(layer for layer in acting if every > 0 and layer // step % every == 0)
    if joint != own:
        return None
    return Policy(name, most is not None, n_layers, acting, joint, n_actions)


def lacks_sizes(config: ModelConfig) -> bool:
    """Whether the size of a head stands in the config of a model that is named and not known."""
    return config.family == SMOL_VLA and config.first("hidden_size", *HEAD_DIM) is None


def intern_video_2(config: ModelConfig) -> Json:
    """InternVideo 2 with a text encoder beside that of videos, by the name of the function that
    makes the latter; nothing is taken where that is another one, or lacks a setting that it needs.
    """
    model = config.section(OF_INTERN_VIDEO)
    encoder = model.section("vision_encoder") if model is not None else None
    sizes = ENCODERS_OF_VIDEOS.get(encoder.text("name") or "") if encoder is not None else None
    if sizes is None or encoder is None:
        return {}
    n_frames, per_step = encoder.count("num_frames"), encoder.count("tubelet_size")
    own = encoder.flag(OWN_OF_IMAGES)
    if not n_frames or not per_step or not per_step <= n_frames <= MOST_FRAMES or own is None:
        return {}
    return {
        "model_type": INTERN_VIDEO,
        **sizes,
        "image_size": IMAGE,
        "patch_size": PATCH,
        "num_frames": n_frames,
        "tubelet_size": per_step,
        OWN_OF_IMAGES: own,
    }


def tables(config: ModelConfig) -> Mapping[str, Shape]:
    """Shapes of the trained tables that the code makes for a config that ``intern_video_2`` has
    translated, by names of tensors, as (1, rows, d_model); none for any other.
    """
    if config.family != INTERN_VIDEO:
        return {}
    width, n_patches = config.whole("hidden_size"), (IMAGE // PATCH) ** 2
    steps = config.whole("num_frames") // config.whole("tubelet_size")
    rows = {OF_VIDEOS: steps * n_patches + 1}
    if config.flag(OWN_OF_IMAGES):
        rows[OF_IMAGES] = n_patches + 1
    return {f"vision_encoder.{name}": (1, count, width) for name, count in rows.items()}


def of_clips(config: ModelConfig, tensor: str, n_rows: int) -> Json | None:
    """What there is to say of a table of such a model: its steps of time and the side of its grid
    of patches, whether an image has a table of its own, and whether this is that; None for any
    other tensor, and for one whose rows do not fit.
    """
    name, side = tensor.rpartition(".")[2], IMAGE // PATCH
    if config.family != INTERN_VIDEO or name not in (OF_VIDEOS, OF_IMAGES):
        return None
    steps, left = divmod(n_rows - 1, side**2)
    if left or steps < 1 or (name == OF_IMAGES and steps > 1):
        return None
    return {
        "steps": steps,
        "per_step": config.whole("tubelet_size"),
        "side": side,
        "pixels": IMAGE,
        "has_own": config.flag(OWN_OF_IMAGES),
        "is_own": name == OF_IMAGES,
    }


def parts_beside(config: ModelConfig, family: str) -> list[str]:
    """Paths of the nested configs of which nothing is known, in a config of a family."""
    paths = PARTS_BESIDE.get(family, ())
    return [f"{around}.{name}" for around, name in paths
            if (section := config.section(around)) is not None and name in section]  # fmt: skip


def _typed(family: str, read: Callable[[ModelConfig], Json], config: ModelConfig) -> Json:
    """As ``read``, of a config that names the family; of another, which nothing knows."""
    return read(config) or {"model_type": f"other {family}"}


# By a key that the configs have, by the family, and whose code that family's is.
BY_NAME: Mapping[str, Callable[[ModelConfig], Json]] = MappingProxyType(
    {OF_SMOL_VLA: smol_vla, OF_INTERN_VIDEO: intern_video_2}
)
BY_NAME_TYPED: Mapping[str, Callable[[ModelConfig], Json]] = MappingProxyType(
    {
        family: partial(_typed, family, read)
        for family, read in ((SMOL_VLA, smol_vla), (INTERN_VIDEO, intern_video_2))
    }
)
MAKERS: Mapping[str, str] = MappingProxyType({SMOL_VLA: "LeRobot"})


def family_of(resolved: Resolved) -> str:
    """The model type of a config, or for one of these without any, what it is known as here."""
    known, given = resolved.readable.family, resolved.given.family
    return known if given == UNKNOWN and known in BY_NAME_TYPED else given
