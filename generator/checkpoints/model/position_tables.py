"""Stored position tables, learned or sinusoidal, by the names of tensors, or else by their
shapes.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from generator.checkpoints.model import tensor_names
from generator.checkpoints.model.families import (
    AFTER_PADDING,
    AFTER_TWO,
    ANGLES_STORED,
    DECODERS,
    FIRST_ROW_ALONE,
)
from generator.checkpoints.model.patch_grid import Lattice, lattice_of
from generator.checkpoints.model.resolved import resolved
from generator.checkpoints.model.tables_by_shape import Search, TableTensor, search
from generator.contracts import (
    Claimed,
    Encoding,
    Files,
    Modality,
    ModelConfig,
    Provenance,
    StackKind,
)
from generator.encodings import Form, PositionTable
from generator.encodings.sinusoids import TableLayout, layout, shifted_layout
from generator.errors import RowError
from generator.numerics.arrays import Floats, frozen

NAME = re.compile(
    r"(^|\.)(position_embeddings?|positions_embed|embed_positions|wpe|(decoder_)?pos_embed"
    r"|positional_embedding(_vlm)?|position_embedding_table|position_embeds_layer"
    r"|char_position_embeddings|text_position_embedding|pos_emb|position_enc"
    r"|position_embeddings\.embedding|position_embd)"  # the last in files of llama.cpp
    r"(\.weight)?$"
)
# Random frequencies for points and boxes (SAM).
NO_TABLE = re.compile(r"shared(_image)?_embedding\.positional_embedding$")
NOT_ADDED = frozenset({"rotary", "rope", "relative_key", "relative_key_query", "nope"})
PARTS = (("encoder", "encoder"), ("decoder", "decoder"), ("text", "text"))
IN_VISION = frozenset({"vision", "visual", "image", "img", "video", "pixel"})
# Stored sinusoids were computed in float32, some with other formulas for the same angle; half
# precision rounds once more.
TOLERANCE = {"F16": 5e-4, "BF16": 4e-3}
FLOAT32_TOLERANCE = 1e-4
# PatchTST and PatchTSMixer, with a standard deviation of 1 / SCALE.
SCALED = re.compile(r"(^|\.)position_enc$")
SCALE = 10.0


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A position table in a tensor.

    first_row: index of its first row that is a position
    lattice: the grid of the patches of an image; empty for a text
    vectors: the rows that are positions, (n_positions, d_model)
    layout: the layout of the sinusoid that ``vectors`` equal within ``tolerance``, counted from 0
        or from ``first_row``; None where they are learned
    """

    stored: TableTensor
    part: str
    modality: Modality
    stack: StackKind
    first_row: int
    lattice: Lattice
    vectors: Floats
    layout: TableLayout | None
    tolerance: float


# Of files that live, so that schemes share one read of each table.
_NAMED: WeakKeyDictionary[Files, tuple[StoredTable, ...]] = WeakKeyDictionary()
# and what stays open
_GUESSED: WeakKeyDictionary[Files, tuple[tuple[StoredTable, ...], tuple[str, ...]]] = (
    WeakKeyDictionary()
)


def stored_tables(files: Files) -> tuple[StoredTable, ...]:
    """Every position table that the name of a tensor tells.

    errors: RowError when a table has no row for a position, or no plain numbers
    """
    if files not in _NAMED:
        found = [TableTensor(name, name, files.tensors[name].shape) for name in _named(files)]
        _NAMED[files] = _all_stored(
            files, [table for table in found if _is_table(table.name, table.shape)]
        )
    return _NAMED[files]


def guessed_tables(files: Files, is_claimed: Claimed) -> tuple[StoredTable, ...]:
    """Position tables by the shapes of tensors that no scheme claims; none where a tensor has the
    name of one.

    errors: as of ``stored_tables``
    """
    if files not in _GUESSED:
        is_guess = bool(files.tensors) and _added(files.config) and not _named(files)
        guess = search(files, _is_name, _is_table, is_claimed) if is_guess else Search()
        _GUESSED[files] = _all_stored(files, guess.found), guess.open
    return _GUESSED[files][0]


def table_questions(files: Files) -> tuple[str, ...]:
    """A sentence for each position table that ``guessed_tables`` could not tell by its shape; it
    has to come first.
    """
    return _GUESSED[files][1] if files in _GUESSED else ()


def _named(files: Files) -> list[str]:
    """The tensors with the name of a position table, of whatever shape."""
    return [name for name in files.tensors if _is_name(name)] if _added(files.config) else []


def _all_stored(files: Files, found: Sequence[TableTensor]) -> tuple[StoredTable, ...]:
    return tuple(_stored(files, table, part) for table, part in _parts(files, found))


def _parts(files: Files, found: Sequence[TableTensor]) -> list[tuple[TableTensor, str]]:
    """Each position table with its part."""
    parts = [_part(table, files) for table in found]
    counts = Counter(parts)
    return [
        (table, part if counts[part] == 1 else f"{part} {NAME.sub('', table.name)}")
        for table, part in zip(found, parts, strict=True)
    ]


def _stored(files: Files, table: TableTensor, part: str) -> StoredTable:
    if _of_patches(table, files):
        lattice, modality = _patches(table, files.config), _grid_modality(files)
        first_row = lattice.before
    else:
        lattice, modality = Lattice(), _sequence_modality(table.name, files)
        first_row = _first_row(files, table)
    tolerance = TOLERANCE.get(files.tensors[table.tensor].dtype, FLOAT32_TOLERANCE)
    vectors = _vectors(files, table, first_row, lattice.after)
    kind: StackKind = "decoder" if _part(table, files) == "decoder" else "encoder"
    table_layout = _layout(table.name, vectors, first_row, lattice, tolerance)
    return StoredTable(
        table, part, modality, kind, first_row, lattice, vectors, table_layout, tolerance
    )


def _is_name(name: str) -> bool:
    return NAME.search(name) is not None and not NO_TABLE.search(name)


def _is_table(name: str, shape: tuple[int, ...]) -> bool:
    """Whether a shape is [n, d], or for a name without ".weight" [1, n, d], [1, 1, n, d], [1, rows,
    columns, d] or [n, n, d].
    """
    free = not name.endswith(".weight")
    beside = (
        shape[0] == 1 or shape[0] == shape[1]
        if len(shape) == 3
        else len(shape) == 4 and shape[0] == 1
    )
    return min(shape, default=0) > 0 and (len(shape) == 2 or (free and beside))


def _channels_first(shape: tuple[int, ...]) -> bool:
    """Whether a shape is [1, d, n, n], as in SAM 2; no other layout has n = n ≠ d at the end."""
    return len(shape) == 4 and shape[2] == shape[3] != shape[1]


def _size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Number of rows and width of the table in a tensor of this shape."""
    width = shape[1] if _channels_first(shape) else shape[-1]
    return math.prod(shape) // width, width


def _patches(table: TableTensor, config: ModelConfig) -> Lattice:
    shape = table.shape
    grid = shape[2:] if _channels_first(shape) else shape[-3:-1]
    if len(shape) > 2 and len(grid) == 2 and min(grid) > 1:
        return Lattice(grid=(grid[0], grid[1]), source="as the tensor's shape says")
    return lattice_of(table.name, _size(shape)[0], config)


def _of_patches(table: TableTensor, files: Files) -> bool:
    """Whether a table is of patches: by its name, by a shape that tables of words do not have, or
    by a config of an image model.
    """
    words = set(tensor_names.words(table.name))
    alone = "patch_size" in files.config and "vocab_size" not in files.config
    beside = len(table.shape) > 2 and table.shape[:2] != (1, 1)
    return bool(IN_VISION & words) or ("text" not in words and (alone or beside))


def _part(table: TableTensor, files: Files) -> str:
    words = tensor_names.words(table.name)
    if _of_patches(table, files):
        default = "audio" if _grid_modality(files) == "audio" else "vision"
        return "decoder" if "decoder" in words and not IN_VISION & set(words) else default
    default = "decoder" if files.config.family in DECODERS else "encoder"
    return next((title for word, title in PARTS if word in words), default)


def _grid_modality(files: Files) -> Modality:
    """The modality of patches: audio if the config has mel bins, otherwise image."""
    return "audio" if "num_mel_bins" in resolved(files.config).config else "image"


def _sequence_modality(name: str, files: Files) -> Modality:
    """The modality of a sequence: audio for the encoder of a config with mel bins (Whisper),
    otherwise by the name of the tensor.
    """
    is_of_frames = "num_mel_bins" in files.config and {"decoder", "text"}.isdisjoint(
        tensor_names.words(name)
    )
    return "audio" if is_of_frames else tensor_names.modality(name)


def _vectors(files: Files, table: TableTensor, first_row: int, n_after: int) -> Floats:
    """The rows that are positions: (n_positions, d_model)."""
    stored = files.tensor(table.tensor)
    values = (stored.squeeze().T if table.is_transposed else stored).reshape(table.shape)
    matrix = (np.moveaxis(values, 1, -1) if _channels_first(table.shape) else values).reshape(
        _size(table.shape)
    )
    return frozen(matrix[first_row : len(matrix) - n_after])


def _layout(
    name: str, vectors: Floats, first_row: int, lattice: Lattice, tolerance: float
) -> TableLayout | None:
    plain = layout(vectors, first_row, lattice.grid, tolerance)
    is_scaled = plain is None and SCALED.search(name) is not None
    return shifted_layout(vectors, first_row, tolerance * SCALE) if is_scaled else plain


def as_encoding(
    files: Files, table: StoredTable, scheme: str, notes: tuple[str, ...] = ()
) -> Encoding[Form]:
    """The encoding of ``table`` under the scheme with the key ``scheme``."""
    about_rows = (
        _patches_note(files, table)
        if _of_patches(table.stored, files)
        else _rows_note(files, table)
    )
    form = PositionTable(table.vectors, table.first_row, table.lattice.grid)
    origin = Provenance.of(files, table.stored.tensor)
    return Encoding(
        table.part,
        scheme,
        form,
        origin,
        (*table.stored.notes, *about_rows, *notes),
        table.modality,
        table.stack,
    )


def _added(config: ModelConfig) -> bool:
    """Whether stored tables are added to the input; ESM-2 and DeBERTa may store an unused one,
    RoFormer one of angles.
    """
    elsewhere = (
        config.text("position_embedding_type") in NOT_ADDED
        or config.family in ANGLES_STORED | FIRST_ROW_ALONE
    )
    return not elsewhere and config.flag("position_biased_input") is not False


def _first_row(files: Files, table: TableTensor) -> int:
    name, n_rows = table.name, _size(table.shape)[0]
    families = (
        {files.config.family, files.config.text_model.family}
        if "qformer" not in name
        else set[str]()
    )
    first_row = 2 if families & AFTER_TWO else 0
    if SCALED.search(name) and files.config.flag("use_cls_token") is True:
        first_row = 1
    if families & AFTER_PADDING:
        padding = files.config.text_model.integer("pad_token_id")
        first_row = (1 if padding is None else padding) + 1
    if not 0 <= first_row < n_rows:
        raise RowError(
            f"{files.where}: {table.tensor} has {n_rows:,} rows, and positions begin at row"
            f" {first_row}; expected at least one row of positions"
        )
    return first_row


def _rows_note(files: Files, table: StoredTable) -> tuple[str, ...]:
    notes, n_rows = [], _size(table.stored.shape)[0]
    if table.first_row:
        notes.append(
            f"The tensor has {n_rows:,} rows; the first {table.first_row} are not positions in this"
            " family; they are left out."
        )
    configured, stored = files.config.size("n_positions"), n_rows - table.first_row
    if configured is not None and configured not in (n_rows, stored):
        notes.append(
            f"config.json gives {configured:,} positions; the tensor has {stored:,}, which are"
            " shown."
        )
    return tuple(notes)


def _patches_note(files: Files, table: StoredTable) -> tuple[str, ...]:
    n_rows = _size(table.stored.shape)[0]
    before, after, grid = table.lattice.before, table.lattice.after, table.lattice.grid
    notes = []
    if left := [
        rows
        for count, rows in ((before, f"the first {before}"), (after, f"the last {after}"))
        if count
    ]:
        notes.append(
            f"The tensor has {n_rows:,} rows; {' and '.join(left)} belong to special tokens, not to"
            " patches; they are left out."
        )
    laid = (
        f"{grid[0]} rows by {grid[1]} columns, {table.lattice.source}"
        if grid
        else "their grid of rows and columns is unknown"
    )
    notes.append(
        f"The {n_rows - before - after:,} positions are patches, numbered row by row: {laid}."
    )
    if f"{table.stored.tensor}_window" in files.tensors:
        notes.append(
            "The model resizes this table to the grid of its input and adds a second, smaller table"
            " as tiles. The two are shown separately."
        )
    return tuple(notes)
