"""Learned absolute position embeddings: a table with one trained vector for each position."""

from collections.abc import Iterator, Sequence

from generator.checkpoints.model.families_by_name import of_clips
from generator.checkpoints.model.position_tables import (
    StoredTable,
    as_encoding,
    guessed_tables,
    stored_tables,
)
from generator.checkpoints.model.resizing import resizing_of
from generator.contracts import Claimed, Encoding, Files, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form
from generator.schemes.learned.patch_tables import patch_tables

WORDING = Wording("schemes/learned.md.jinja")
# Published with the table alone; transformers ignores it and adds ALiBi.
TABLE_IGNORED = frozenset({"mpt"})
# On tables that are not only added.
NOTES = {"perceiver": "holds_queries"}


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
    notes = (WORDING(NOTES[family]),) if family in NOTES else ()
    if family in TABLE_IGNORED and attention is not None and attention.flag("alibi") is False:
        notes = (WORDING("table_ignored"),)
    return [
        as_encoding(files, table, SCHEME.key, (*notes, *_of_images(files, table)))
        for table in tables
        if table.arrangement is None
    ]


def _of_images(files: Files, table: StoredTable) -> Iterator[str]:
    """What the family's code does with the table of an image for images of another size, or with
    that of a video.
    """
    n_others = table.lattice.before + table.lattice.after
    n_rows = len(table.vectors) + n_others
    if clips := of_clips(files.resolved.readable, table.stored.tensor, n_rows):
        yield WORDING("of_clips", **clips)
    elif table.lattice.grid is not None:
        way = resizing_of(files.resolved.config)
        yield WORDING("resized", way=way, n_others=n_others) if way else WORDING("resized_unknown")


SCHEME = Scheme(
    key="learned",
    paper="1705.03122",
    plural="learned tables",
    also=("learned positional embedding", "absolute position embedding (BERT, GPT-2, ViT)"),
    acts_in="input",
    find=find,
    find_last=find_last,
)
