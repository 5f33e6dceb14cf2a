"""Lengths that tokenizer and config state differently."""

import math
from collections.abc import Iterator

from generator.checkpoints.model.tokenizer_length import tokenizer_length
from generator.contracts import Examined, Json, Rule
from generator.encodings import PositionTable, Rotation

ORIGINAL = "original_max_position_embeddings"


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Both, where a rotation encodes text and they differ; of tables, the rule ``rows`` speaks."""
    context, tokens = examined.context, tokenizer_length(examined.files)
    of_text = [one.form for one in examined.encodings if one.modality == "text"]
    rotations = [form for form in of_text if isinstance(form, Rotation)]
    if not rotations or not context or not tokens or tokens == context:
        return
    if any(isinstance(form, PositionTable) for form in of_text):
        return
    scaled = [reach for form in rotations if (reach := _reach(form))]
    is_longer = tokens > max([context, *scaled])
    yield (
        "tokenizer_longer" if is_longer else "tokenizer_differs",
        {"context": context, "tokens": tokens, "scaled": max(scaled, default=None)},
    )


def _reach(form: Rotation) -> int | None:
    """Factor times original length of a scaling; None where it has not both."""
    factor, original = (form.scaling.get(name) for name in ("factor", ORIGINAL))
    if not isinstance(factor, int | float) or not isinstance(original, int):
        return None
    reach = factor * original
    return int(reach) if math.isfinite(reach) and reach > 0 else None


RULE = Rule(
    key="lengths",
    levels={"tokenizer_longer": "warning", "tokenizer_differs": "note"},
    find=find,
)
