"""The share of a head that is rotated."""

from collections.abc import Iterator

from generator.checkpoints.model import keys
from generator.checkpoints.model.resolved import is_known
from generator.contracts import Examined, Json, Rule
from generator.contracts.model_config import UNKNOWN
from generator.encodings import Rotation

ROUNDING = 1e-6


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Rotations of a part of each head of which the file does not say so, and shares that give no
    even number of components.
    """
    for one in examined.encodings:
        form, origin = one.form, one.origins.get("rotary_dim")
        if not isinstance(form, Rotation) or origin is None or one.modality == "image":
            continue
        turned = {"part": one.part, "rotary_dim": form.rotary_dim, "head_dim": form.head_dim}
        says_size_alone = all(key.split(".")[-1] in keys.SIZE_NAMES for key in origin.keys)
        if form.rotary_dim < form.head_dim and says_size_alone and not _is_given(examined, form):
            yield "absent", {**turned, "family": _family(examined, one.part)}
        for key in origin.keys:
            share = _value(examined, key)
            exact = None if share is None else share * form.head_dim
            if exact is not None and (round(exact) != int(exact + ROUNDING) or int(exact) % 2):
                yield "uneven", {**turned, "key": key, "share": share, "exact": exact}


def _family(examined: Examined, part: str) -> str:
    """The model type of the file, also where its code is read as that of another family."""
    own = examined.files.config.text_model.family
    is_own = own != UNKNOWN and not is_known(own)
    return own if is_own else examined.files.resolved.family_of(part)


def _is_given(examined: Examined, form: Rotation) -> bool:
    """Whether a key about a rotation has its size or its share, also one that nothing reads."""
    said = (form.rotary_dim, form.rotary_dim / form.head_dim)
    return any(
        keys.OF_ROPE.search(keys.dotted(path)) and type(value) in (int, float) and value in said
        for path, value in keys.leaves(examined.files.config.settings)
    )


def _value(examined: Examined, key: str) -> float | None:
    """A share by its dotted key; None for what is none."""
    *path, name = key.split(".")
    config = examined.files.config
    for section in path:
        found = config.section(section)
        if found is None:
            return None
        config = found
    value = config.value(name)
    is_share = name in keys.SHARES and isinstance(value, float) and 0.0 < value <= 1.0
    return value if is_share else None


RULE = Rule(
    key="share",
    levels={"absent": "fact", "uneven": "warning"},
    find=find,
    about=("partial_rotary_factor", "model_type"),
)
