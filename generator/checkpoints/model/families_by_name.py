"""Families whose configs name what has their sizes: another model, or a function that makes theirs.

Sources: huggingface/lerobot at 7427f31801f9, src/lerobot/policies/smolvla/configuration_smolvla.py,
    modeling_smolvla.py and smolvlm_with_expert.py, and src/lerobot/policies/common/vla_utils.py;
    OpenGVLab/InternVideo at 3965eef16e2d, internvideo2.py and pos_embed.py in InternVideo2/
    multi_modality/models/backbones/internvideo2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from generator.checkpoints.model.engines_families import MOST_LAYERS
from generator.contracts import Json, ModelConfig
from generator.contracts.model_config import HEAD_DIM

OF_SMOL_VLA, SMOL_VLA = "vlm_model_name", "smolvla"
OF_INTERN_VIDEO, INTERN_VIDEO = "model", "internvideo2"
Shape = tuple[int, ...]
BASE_OF_SMOL_VLA = 10_000.0  # Of its code, whatever the language model has.
# Sizes of the language models in published configs that the atlas ships, by the model.
LANGUAGE_MODELS: Mapping[str, Json] = MappingProxyType(
    {"HuggingFaceTB/SmolVLM2-2.2B-Instruct": {"head_dim": 64, "num_hidden_layers": 24}}
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
