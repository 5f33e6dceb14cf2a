"""Learned absolute position embeddings: a table with one trained vector for each position."""

from collections.abc import Sequence

import numpy as np

from generator.checkpoints.model.position_tables import (
    StoredTable,
    as_encoding,
    guessed_tables,
    stored_tables,
)
from generator.contracts import Claimed, Encoding, Files, Numbers, Picture, Scheme
from generator.contracts.words import Words
from generator.encodings import Form
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import DIVERGING
from generator.schemes.learned.patch_tables import patch_tables

WORDS = Words("schemes/learned.md.jinja")
# Published with the table alone; transformers ignores it and adds ALiBi.
TABLE_IGNORED = frozenset({"mpt"})
# On other encodings of a family that are not shown, and on tables that are not only added.
NOTES = {"bros": WORDS("beside_sinusoids"), "perceiver": WORDS("holds_queries")}


def find(files: Files) -> list[Encoding[Form]]:
    """Stored tables other than sinusoids, and tables of image patches.

    errors: RowError when a table and the config do not match, or a gate is missing
    """
    return [*_learned(files, stored_tables(files)), *patch_tables(files, SCHEME.key)]


def find_last(files: Files, is_claimed: Claimed) -> list[Encoding[Form]]:
    """Tables other than sinusoids that nothing but their shape tells.

    errors: RowError when a table and the config do not match
    """
    return _learned(files, guessed_tables(files, is_claimed))


def _learned(files: Files, tables: Sequence[StoredTable]) -> list[Encoding[Form]]:
    family, attention = files.config.family, files.config.section("attn_config")
    notes = (NOTES[family],) if family in NOTES else ()
    if family in TABLE_IGNORED and attention is not None and attention.flag("alibi") is False:
        notes = (WORDS("table_ignored"),)
    return [
        as_encoding(files, table, SCHEME.key, notes)
        for table in tables
        if table.arrangement is None
    ]


TOKENS = ("the", "cat", "and", "the", "dog")


def _numbers() -> Numbers:
    """Random vectors of words and of positions, and their sum: (n_tokens, 16) each."""
    draws = np.random.default_rng(0)
    words, positions = draws.normal(size=(len(TOKENS), 16)), draws.normal(size=(len(TOKENS), 16))
    # The same vector for every occurrence of a word.
    words = words[[TOKENS.index(token) for token in TOKENS]]
    return {"words": words, "positions": positions, "sum": words + positions}


def _draw(numbers: Numbers) -> Figure:
    titles = {"words": "word vectors", "positions": "position vectors", "sum": "sum"}
    shown = [Panel(title, numbers[name]) for name, title in titles.items()]
    figure = image_panels(
        shown, (-3.0, 3.0), DIVERGING, ("dimension", "position", "value"), square=False
    )
    for axes in figure.axes[:3]:
        axes.set_yticks(
            range(len(TOKENS)), [f"{position} {token}" for position, token in enumerate(TOKENS)]
        )
    return figure


PICTURE = Picture.of(
    WORDS,
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["positions"],
)


SCHEME = Scheme(
    key="learned",
    paper="1705.03122",
    plural="learned tables",
    also=("learned positional embedding", "absolute position embedding (BERT, GPT-2, ViT)"),
    acts_in="input",
    order=10,
    find=find,
    find_last=find_last,
    picture=PICTURE,
)
