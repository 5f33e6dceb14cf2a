"""Lengths that tokenizer and config state differently."""

from collections.abc import Iterator

from generator.checkpoints.model.limits import BESIDE, DYNAMIC, FACTOR, TOKENIZER, limits
from generator.contracts import Examined, Json, Rule
from generator.encodings import PositionTable
from generator.reading.taken import is_read

# What cuts a text, and what prepares it: of the rest, a user sets the length of an answer.
CUTTING = (TOKENIZER, *(file for file, _ in BESIDE if file != "generation_config.json"))


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """All limits, where something cuts a text before or after the model's own, or where dynamic
    scaling reaches beyond it, of which the rule ``readers`` speaks in a config.json; of a tokenizer
    that is longer than tables, the rule ``rows`` does.
    """
    context = examined.context
    every = [one for one in limits(examined.files, examined.encodings) if one.length]
    if not context:
        return
    cuts = [one.length or 0 for one in every if one.file in CUTTING]
    is_told = is_read(examined.files.config)
    growing = [one.length or 0 for one in every if one.key == DYNAMIC and not is_told]
    reaches = [one.length or 0 for one in every if one.key in FACTOR.values()]
    has_table = any(
        isinstance(one.form, PositionTable) for one in examined.encodings if one.is_of_words
    )
    most = max([context, *reaches])
    listed = {"limits": [one.text for one in every]}
    if not has_table and any(cut > most for cut in cuts):
        yield "tokenizer_longer", listed
    elif any(cut < context or (cut > context and not has_table) for cut in [*cuts, *growing]):
        yield "differ", listed


RULE = Rule(
    key="lengths",
    levels={"tokenizer_longer": "warning", "differ": "note"},
    find=find,
    about=("max_position_embeddings", "n_positions"),
)
