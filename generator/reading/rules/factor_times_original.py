"""A factor that does not lead from the original length to the context, and programs that multiply
the context by it once more.
"""

import math
from collections.abc import Iterator

from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.encodings import Rotation
from generator.reading.taken import is_read, taken

ORIGINAL = "original_max_position_embeddings"
ROUNDING = 0.01  # Relative; factors are printed with few digits.


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Factor × original length beside the context, where they differ; and programs whose limit is
    above a context that the scaling reaches.
    """
    context, given = examined.context, examined.files.config
    has_original = any(ORIGINAL in section.settings for section in given.nested())
    if context is None:
        return
    for one in examined.encodings:
        form = one.form
        if not isinstance(form, Rotation):
            continue
        factor, original = (form.scaling.get(name) for name in ("factor", ORIGINAL))
        if not isinstance(factor, int | float) or not isinstance(original, int | float):
            continue
        reach = factor * original
        if has_original and abs(reach - context) <= ROUNDING * context:
            yield from _twice(examined, factor, original, context)
        if form.rope_type != "yarn":
            continue
        is_context = original == form.n_positions and given.keys_of_file is None
        if math.isfinite(reach) and is_context and not has_original:
            yield "no_original", {"original": original, "factor": factor, "reach": round(reach)}
        elif math.isfinite(reach) and abs(reach - context) > ROUNDING * context:
            sizes = {"factor": factor, "original": original, "reach": round(reach)}
            if reach > context:
                stopping = _stopping(given, context)
                yield "reach_above", {**sizes, "context": context, "readers": stopping}
            else:
                yield "reach_below", {**sizes, "context": context}


def _stopping(given: ModelConfig, context: int) -> list[str]:
    """Programs that serve the context, with a rule of theirs that counts a factor of some kinds."""
    every = taken(given.settings, given.where) if is_read(given) else ()
    return [one.name for one in every if one.reader.limit and one.limit == context]


def _twice(
    examined: Examined, factor: float, original: float, context: int
) -> Iterator[tuple[str, Json]]:
    config = examined.files.config
    every = taken(config.settings, config.where) if is_read(config) else ()
    beyond = [one for one in every if one.limit and one.limit > (1 + ROUNDING) * context]
    for one in beyond:
        reach = {"factor": factor, "original": original, "reach": context}
        yield "twice", {"readers": [one.name], "limit": one.limit, **reach}


RULE = Rule(
    key="factor-times-original",
    levels={"no_original": "note", "reach_above": "note", "reach_below": "warning",
            "twice": "warning"},
    find=find,
    about=("factor", "rope_scaling", "rope_parameters"),
)  # fmt: skip
