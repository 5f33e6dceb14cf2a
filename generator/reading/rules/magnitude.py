"""Factors by which a scaling multiplies the logits."""

from collections.abc import Iterator

from generator.checkpoints.model.keys import leaves
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.encodings import Rotation
from generator.encodings.rotations import yarn_factor, yarn_magnitude

SETTINGS = ("attention_factor", "mscale", "mscale_all_dim", "short_mscale", "factor",
            "original_max_position_embeddings")  # fmt: skip
SAYING = ("attention_factor", "attn_factor", "mscale", "mscale_all_dim")
ROUNDING = 1e-6


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """The factor on logits of each rotation that has one, and that of the whole logits where the
    family has latent attention.
    """
    for one in examined.encodings:
        form = one.form
        if not isinstance(form, Rotation) or not form.is_rescaled:
            continue
        of_part = {"part": one.part, "rope_type": form.rope_type}
        if abs(form.attention_factor - 1.0) > ROUNDING:
            given = [name for name in SETTINGS if form.scaling.get(name) is not None]
            settings = given[:1] if given[:1] == ["attention_factor"] else given
            # LongRoPE takes the ratio of the two lengths for a factor that is not given.
            by_context = form.rope_type == "longrope" and not {"attention_factor", "factor"} & {
                *given
            }
            values = {"settings": settings, "by_context": by_context}
            yield "of_rotation", {**of_part, **values, "factor": form.attention_factor}
        elif form.rope_type == "yarn" and (usual := _unsaid(examined.files.config, form)) > 1.0:
            family = examined.files.resolved.family_of(one.part)
            yield "by_family", {"part": one.part, "usual": usual, "family": family}
        # The code of latent attention scales all of the logits.
        magnitude = yarn_magnitude(form.scaling) if examined.files.config.is_latent else None
        if magnitude is not None:
            share, slowed = form.scaling["mscale_all_dim"], form.scaling["factor"]
            yield "of_logits", {"factor": magnitude, "share": share, "slowed": slowed}


def _unsaid(config: ModelConfig, form: Rotation) -> float:
    """The factor of YaRN by default, where no key of a config.json gives one; 1 where one does."""
    said = {path[-1] for path, value in leaves(config.settings) if value is not None}
    factor, is_own = form.scaling.get("factor"), config.keys_of_file is None
    if not isinstance(factor, int | float) or not is_own or not said.isdisjoint(SAYING):
        return 1.0
    return yarn_factor(factor)


RULE = Rule(
    key="magnitude",
    levels={"of_rotation": "fact", "of_logits": "fact", "by_family": "note"},
    find=find,
    about=("attention_factor", "mscale_all_dim", "factor", "rope_scaling", "rope_parameters"),
)
