"""Settings of a GGUF file with which it encodes position as another checkpoint."""

import math
from typing import Any

from generator.checkpoints.model.keys import concerns_position
from generator.contracts import Json, Mend
from generator.reading.comparison import WORDING
from generator.reading.sides import Side

GGUF = ".gguf"
SINGLE = 1e-6  # Relative rounding of numbers in single precision.
KINDS = {int: "int", float: "float", str: "str"}  # Of --override-kv of llama.cpp.


def tries(one: Side, other: Side) -> list[Json]:
    """Settings with which the file of ``other`` may encode position as ``one``: those that it has,
    and these with further ones.
    """
    present = metadata(other)
    wanted = _wanted(one, next(iter(present), "").partition(".")[0])
    lacking = {key: value for key, value in wanted.items() if key not in present}
    changed = {
        key: value
        for key, value in wanted.items()
        if key in present and not _is_same(value, present[key])
    }
    return [changed, {**changed, **lacking}]


def metadata(side: Side) -> Json:
    """Settings that a GGUF file has and that are read, by their keys."""
    config = side.files.config
    every = (*(config.keys_of_file or {}).values(), config.unread_keys)
    return {key: value for of_one in every for key, value in of_one.items()}


def _wanted(one: Side, architecture: str) -> Json:
    """Settings of a GGUF file with the position encoding of ``one``, by their keys."""
    if one.files.config.source.endswith(GGUF):
        given = {key.partition(".")[2]: value for key, value in metadata(one).items()}
        made: Json = {key: value for key, value in given.items() if _concerns(key)}
    else:
        made = _in_gguf(one)
    return {f"{architecture}.{key}": value for key, value in made.items()}


def _concerns(key: str) -> bool:
    return key == "context_length" or concerns_position((key,))


def _in_gguf(one: Side) -> Json:
    """Its rotation, window and context under the names that llama.cpp's converter writes."""
    made: dict[str, Any] = {"context_length": one.context} if one.context else {}
    for rotation in one.rotations.values():
        if not rotation.is_of_words:
            continue
        parameters, is_local = rotation.record.parameters, "sliding" in rotation.part
        end = "_swa" if is_local else ""
        made |= {f"rope.freq_base{end}": parameters["base"],
                 f"rope.dimension_count{end}": parameters["rotary_dim"]}  # fmt: skip
        if not is_local:
            made |= _scaling_in_gguf(parameters["scaling"] or {})
    widths = [layer.width for layers in one.layers.values() for layer in layers if layer.width]
    return {**made, **({"attention.sliding_window": max(widths)} if widths else {})}


def _scaling_in_gguf(scaling: Json) -> Json:
    kind = scaling.get("rope_type", "none")
    made = {"type": kind, "factor": scaling.get("factor", 1.0),
            "original_context_length": scaling.get("original_max_position_embeddings"),
            "yarn_beta_fast": scaling.get("beta_fast"),
            "yarn_beta_slow": scaling.get("beta_slow")}  # fmt: skip
    return {f"rope.scaling.{name}": value for name, value in made.items() if value is not None}


def _is_same(value: Any, other: Any) -> bool:
    if isinstance(value, int | float) and isinstance(other, int | float):
        return math.isclose(value, other, rel_tol=SINGLE)
    return bool(value == other)


def cannot_be_set(changed: Json, other: Side) -> list[str]:
    """Settings that gguf_set_metadata does not set: what is no number, and what is not there."""
    present = metadata(other)
    return [key for key in changed if type(present.get(key)) not in (int, float)]


def mend(changed: Json, other: Side) -> Mend:
    """Numbers that are there are set; other settings llama.cpp takes at each start."""
    present, others = metadata(other), cannot_be_set(changed, other)
    told = [
        {"key": key, "type": KINDS[type(changed[key])], "value": str(changed[key])}
        for key in others
        if type(changed[key]) in KINDS
    ]
    if len(told) < len(others):
        return Mend("different", sentences=(WORDING("lists_in_gguf", keys=others),))
    sentences = (WORDING("told_at_start", settings=told),) if told else ()
    numbers = {key: type(present[key])(changed[key]) for key in changed if key not in others}
    return Mend("different", (), tuple(numbers.items()), other.files.config.source, sentences)
