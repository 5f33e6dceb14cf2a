"""Lengths that tokenizer and config state differently."""

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from generator.checkpoints.model.keys import dotted
from generator.checkpoints.model.limits import (
    BESIDE,
    DYNAMIC,
    FACTOR,
    TOKENIZER,
    limits,
    no_lengths,
)
from generator.contracts import Examined, Json, Limit, Rule
from generator.encodings import Form, PositionTable
from generator.reading.taken import is_read

# What cuts a text, and what prepares it: of the rest, a user sets the length of an answer.
OF_TOKENIZER, STATED = "tokenizer_config.json", "model_max_length"
CUTTING = (TOKENIZER, *(file for file, _ in BESIDE if file != "generation_config.json"))


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Lengths of 0; all limits, where something cuts a text before or after the model's own, or
    where dynamic scaling reaches beyond it, of which the rule ``readers`` speaks in a config.json;
    and contexts that nothing keeps a text within: of a tokenizer that is longer than tables, the
    rule ``rows`` speaks.
    """
    for file, key, value in no_lengths(examined.files):
        yield "no_length", {"file": file, "key": key, "length": value}
    context = examined.context
    stated = limits(examined.files, examined.encodings)
    every = [one for one in stated if one.length]
    if not context:
        return
    yield from _unlimited(examined, context, stated)
    cuts = [one.length or 0 for one in every if one.file in CUTTING]
    is_told = is_read(examined.files.config)
    growing = [one.length or 0 for one in every if one.key == DYNAMIC and not is_told]
    reaches = [one.length or 0 for one in every if one.key in FACTOR.values()]
    has_table = any(
        isinstance(one.form, PositionTable)
        and (one.provenance.tensor or one.form.acts_in != "input")
        for one in examined.encodings
        if one.is_of_words
    )
    most = max([context, *reaches])
    listed = {"limits": [one.text for one in every]}
    if not has_table and any(cut > most for cut in cuts):
        yield "tokenizer_longer", listed
    elif any(cut < context or (cut > context and not has_table) for cut in [*cuts, *growing]):
        yield "differ", listed


def _unlimited(
    examined: Examined, context: int, stated: Sequence[Limit]
) -> Iterator[tuple[str, Json]]:
    """Rows of a table that are no positions, and files that name no limit, where no other has one
    that fits.
    """
    cuts = [one for one in stated if one.file in CUTTING]
    if any(one.length and one.length <= context for one in cuts):
        return
    tables = [one.form for one in examined.encodings if one.is_of_words and _is_learned(one.form)]
    first = max((form.first_row for form in tables), default=0)
    config = examined.files.config
    is_named = any(one.length for one in cuts)
    if first and not is_named and context + first == config.size("n_positions"):
        key = {"key": dotted(config.path_of("n_positions")), "n_rows": context + first}
        yield "rows", {**key, "usable": context, "before": first}
    for one in cuts:
        if one.length is None:
            values = {"file": one.file, "key": one.key, "length": context}
            yield "unlimited_table" if tables else "unlimited", values
    if tables and not cuts and examined.files.read(OF_TOKENIZER) is not None:
        yield "unnamed", {"file": OF_TOKENIZER, "key": STATED, "length": context}


def _is_learned(form: Form) -> TypeGuard[PositionTable]:
    return isinstance(form, PositionTable) and form.acts_in == "input"


RULE = Rule(
    key="lengths",
    levels={"tokenizer_longer": "warning", "unlimited": "fact",
            **dict.fromkeys(("differ", "no_length", "rows", "unlimited_table", "unnamed"), "note")},
    find=find,
    about=("max_position_embeddings", "n_positions"),
)  # fmt: skip
