"""Stored position tables, learned or sinusoidal, by the names of tensors, or else by their
shapes.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np

from generator.checkpoints.model import table_names, tensor_names
from generator.checkpoints.model.families import (
    AFTER_PADDING,
    AFTER_TWO,
    ANGLES_STORED,
    DECODERS,
    FIRST_ROW_ALONE,
    OF_BOTH_KINDS,
    TWO_TOWERS,
)
from generator.checkpoints.model.families_by_name import of_clips
from generator.checkpoints.model.patch_grid import Lattice, lattice_of
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
from generator.contracts.model_config import UNKNOWN
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable
from generator.encodings.sinusoids import FEW, TableArrangement, arrangement_of, shifted_arrangement
from generator.errors import RowError
from generator.numerics.arrays import Floats, frozen
from generator.text import tensor_in_words

NOTES = Wording("wording/notes.jinja")
QUESTIONS = Wording("wording/questions.jinja")
NAME = table_names.TABLE
# Random frequencies for points and boxes (SAM).
NO_TABLE = re.compile(r"shared(_image)?_embedding\.positional_embedding$")
QUERIES = "output_position_encodings"  # Of Perceiver: one for each output, which may be a class.
NOT_ADDED = frozenset({"rotary", "rope", "relative_key", "relative_key_query", "nope"})
OF_POSITIONS = re.compile(r"pos\w*_encoder")  # A module of positions, in no stack of that name.
PARTS = (("encoder", "encoder"), ("decoder", "decoder"), ("text", "text"))
IN_VISION = frozenset({"vision", "visual", "image", "img", "video", "pixel", "vit"})
# Names of tensors that only models of images have.
OF_IMAGES = re.compile(r"patch|cls_token|class_token|class_embedding", re.IGNORECASE)
OF_WORDS = re.compile(r"(tok|token|word)s?_?emb|wte|vocab", re.IGNORECASE)
# Stored sinusoids were computed in float32, some with other formulas for the same angle; half
# precision rounds once more.
TOLERANCE = {"F16": 5e-4, "BF16": 4e-3}
FLOAT32_TOLERANCE = 1e-4
# An angle in float32 is less exact the larger it is, and so is its sine far into a table.
ANGLE_TOLERANCE = 2e-7
WAVES = 5e-3  # Relative rounding of the sum of the squares of a row.
# PatchTST and PatchTSMixer, with a standard deviation of 1 / SCALE.
SCALED = re.compile(r"(^|\.)position_enc$")
SCALE = 10.0


@dataclass(frozen=True, eq=False)
class StoredTable:
    """A position table in a tensor.

    first_row: index of its first row that is a position
    lattice: the grid of the patches of an image; empty for a text
    vectors: the rows that are positions, (n_positions, d_model)
    arrangement: of the sinusoid that ``vectors`` equal within ``tolerance``, counted from 0
        or from ``first_row``; None where they are learned
    scale: that of the sinusoid
    """

    stored: TableTensor
    part: str
    modality: Modality
    stack: StackKind
    first_row: int
    lattice: Lattice
    vectors: Floats
    arrangement: TableArrangement | None
    tolerance: float
    scale: float = 1.0


# Of files that live, so that schemes share one read of each table.
_NAMED: WeakKeyDictionary[Files, tuple[tuple[StoredTable, ...], tuple[str, ...]]] = (
    WeakKeyDictionary()
)
# and what stays open
_GUESSED: WeakKeyDictionary[Files, tuple[tuple[StoredTable, ...], Search]] = WeakKeyDictionary()


def stored_tables(files: Files) -> tuple[StoredTable, ...]:
    """Every position table that the name of a tensor tells, or its name and a sinusoid in it.

    errors: RowError when a table has no row for a position, or no plain numbers
    """
    if files not in _NAMED:
        names = [*_named(files), *_with_sinusoid_name(files)]
        found = [TableTensor(name, name, files.tensors[name].shape) for name in names]
        tables = [_stored(files, table) for table in found if _is_table(table.name, table.shape)]
        doubts = [_doubt(files, table) for table in tables]
        certain = [table for table, words in zip(tables, doubts, strict=True) if not words]
        _NAMED[files] = _with_parts(certain), tuple(filter(None, doubts))
    return _NAMED[files][0]


def guessed_tables(files: Files, is_claimed: Claimed) -> tuple[StoredTable, ...]:
    """Position tables by the shapes of tensors that no scheme claims; none where a tensor has the
    name of one.

    errors: as of ``stored_tables``
    """
    if files not in _GUESSED:
        is_guess = bool(files.tensors) and _added(files) and not _named(files)
        guess = search(files, _is_name, _is_table, is_claimed) if is_guess else Search()
        _GUESSED[files] = _with_parts([_stored(files, table) for table in guess.found]), guess
    return _GUESSED[files][0]


def table_questions(files: Files) -> tuple[str, ...]:
    """A sentence for each position table that ``guessed_tables`` could not tell by its shape; it
    has to come first.
    """
    return _GUESSED[files][1].open if files in _GUESSED else ()


def unread_tables(files: Files) -> tuple[str, ...]:
    """A sentence for each tensor with the name of a position table that is none, or may be none,
    and for each table of the family that is not stored. ``guessed_tables`` has to come first.
    """
    misshapen = [
        QUESTIONS("misshapen", name=name, shape=files.tensors[name].shape)
        for name in _named(files)
        if not _is_table(name, files.tensors[name].shape)
    ]
    doubts = _NAMED[files][1] if files in _NAMED else ()
    missing = _GUESSED[files][1].missing if files in _GUESSED else ()
    return (*missing, *misshapen, *doubts)


def _named(files: Files) -> list[str]:
    """The tensors with the name of a position table, of whatever shape."""
    return [name for name in files.tensors if _is_name(name)] if _added(files) else []


def _with_sinusoid_name(files: Files) -> list[str]:
    return [
        name
        for name in files.tensors
        if table_names.SINUSOID.search(name) and not _is_name(name) and _added(files)
    ]


def _with_parts(tables: Sequence[StoredTable]) -> tuple[StoredTable, ...]:
    """``tables``, each with a part of its own."""
    counts = Counter(table.part for table in tables)
    around = [f"{table.part} {NAME.sub('', table.stored.name)}" for table in tables]
    return tuple(
        table
        if counts[table.part] == 1
        # Two of one place are told apart by their whole names.
        else replace(
            table, part=each if around.count(each) == 1 else f"{table.part} {table.stored.name}"
        )
        for table, each in zip(tables, around, strict=True)
    )


def _stored(files: Files, table: TableTensor) -> StoredTable:
    if _of_patches(table, files):
        lattice, modality = _patches(table, files.resolved.readable), _grid_modality(files)
        first_row = lattice.before
    else:
        lattice, modality = Lattice(), _sequence_modality(table.name, files)
        first_row = _first_row(files, table)
    vectors = _vectors(files, table, first_row, lattice.after)
    part = _part(table, files)
    kind: StackKind = "decoder" if part == "decoder" else "encoder"
    tolerance = TOLERANCE.get(files.tensors[table.tensor].dtype, FLOAT32_TOLERANCE)
    stored = StoredTable(table, part, modality, kind, first_row, lattice, vectors, None, tolerance)
    return _with_layout(stored)


def _is_name(name: str) -> bool:
    return NAME.search(name) is not None and not (
        NO_TABLE.search(name) or table_names.OTHER.search(name)
    )


def _is_table(name: str, shape: tuple[int, ...]) -> bool:
    """Whether a shape is [n, d], or for a name without ".weight" [1, n, d], [n, 1, d],
    [1, 1, n, d], [1, rows, columns, d] or [n, n, d]; a single row of QUERIES is none.
    """
    free = not name.endswith(".weight")
    beside = (
        1 in shape[:2] or shape[0] == shape[1]
        if len(shape) == 3
        else len(shape) == 4 and shape[0] == 1
    )
    is_query = QUERIES in name and shape[0] == 1
    return min(shape, default=0) > 0 and (not is_query if len(shape) == 2 else free and beside)


def _channels_first(shape: tuple[int, ...]) -> bool:
    """Whether a shape is [1, d, n, n], as in SAM 2; no other has n = n ≠ d at the end."""
    return len(shape) == 4 and shape[2] == shape[3] != shape[1]


def _size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Number of rows and width of the table in a tensor of this shape."""
    width = shape[1] if _channels_first(shape) else shape[-1]
    return math.prod(shape) // width, width


def _patches(table: TableTensor, config: ModelConfig) -> Lattice:
    shape = table.shape
    grid = shape[2:] if _channels_first(shape) else shape[-3:-1]
    if len(shape) > 2 and len(grid) == 2 and min(grid) > 1:
        return Lattice(grid=(grid[0], grid[1]), source=NOTES("by_shape"))
    return lattice_of(table.name, _size(shape)[0], config)


def _of_patches(table: TableTensor, files: Files) -> bool:
    """Whether a table is of patches: by its name, by a shape that tables of words do not have, or
    by a config of an image model.
    """
    words = set(tensor_names.words(table.name))
    alone = "patch_size" in files.config and "vocab_size" not in files.config
    beside = len(table.shape) > 2 and table.shape[:2] != (1, 1) and not _of_sequence(table, files)
    is_image = alone or beside or _of_image_model(table, files)
    return bool(IN_VISION & words) or ("text" not in words and is_image)


def _of_image_model(table: TableTensor, files: Files) -> bool:
    """Whether files without a config are those of an image model without words, whose patches the
    rows of ``table`` can be.
    """
    return (
        not files.config.settings
        and any(OF_IMAGES.search(name) for name in files.tensors)
        and not any(OF_WORDS.search(name) for name in files.tensors)
        and lattice_of(table.name, _size(table.shape)[0], files.config).grid is not None
    )


def _part(table: TableTensor, files: Files) -> str:
    words = tensor_names.words(OF_POSITIONS.sub("", table.name))
    if _of_patches(table, files):
        clips = of_clips(files.resolved.readable, table.tensor, _size(table.shape)[0])
        if clips is not None and clips["is_own"]:
            return "image"
        default = "audio" if _grid_modality(files) == "audio" else "vision"
        return "decoder" if "decoder" in words and not IN_VISION & set(words) else default
    family = files.config.family
    default = "decoder" if family in DECODERS else "encoder"
    if family in TWO_TOWERS:
        default = "text"
    if family == UNKNOWN or family in OF_BOTH_KINDS:
        default = tensor_names.OF_UNKNOWN_FAMILY
    return next((title for word, title in PARTS if word in words), default)


def _of_sequence(table: TableTensor, files: Files) -> bool:
    """Whether the rows of a table with more than two axes are words or steps of time: by its name,
    by an axis of length 1 after that of the positions, or by files that tell of no image.
    """
    if table_names.OF_SEQUENCES.search(table.name) or (
        len(table.shape) == 3 and table.shape[0] > 1 == table.shape[1]
    ):
        return True
    return (
        not files.config.settings
        and len(table.shape) == 3
        and lattice_of(table.name, _size(table.shape)[0], files.config).grid is None
        and not any(OF_IMAGES.search(name) for name in files.tensors)
        and not any(len(info.shape) == 4 for name, info in files.tensors.items())
    )


def _grid_modality(files: Files) -> Modality:
    """The modality of patches: audio if the config has mel bins, otherwise image."""
    return "audio" if "num_mel_bins" in files.resolved.config else "image"


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


def _with_layout(table: StoredTable) -> StoredTable:
    """``table`` with the sinusoid that it holds."""
    name, vectors, first_row = table.stored.name, table.vectors, table.first_row
    far = table.tolerance + ANGLE_TOLERANCE * len(vectors)
    for tolerance in (table.tolerance, far):
        if found := arrangement_of(vectors, first_row, table.lattice.grid, tolerance):
            return replace(table, arrangement=found, tolerance=tolerance)
    if first_row == 0 and len(vectors) > FEW and not vectors[0].any():
        # A row for padding, before those of positions 1, 2 … (attention-is-all-you-need-pytorch).
        found = arrangement_of(vectors[1:], 1, None, far)
        if found is not None:
            return replace(
                table, first_row=1, vectors=vectors[1:], arrangement=found, tolerance=far
            )
    if SCALED.search(name):
        return replace(
            table, arrangement=shifted_arrangement(vectors, first_row, table.tolerance * SCALE)
        )
    # The cosines of position 0 are all 1.
    scale = float(vectors[0].max()) if table_names.OF_SEQUENCES.search(name) else 0.0
    found = arrangement_of(vectors / scale, first_row, None, far) if scale > far else None
    return table if found is None else replace(table, arrangement=found, tolerance=far, scale=scale)


def _doubt(files: Files, table: StoredTable) -> str:
    """Why a tensor with the name of a position table may be none, as a sentence; "" without a
    reason.

    A config.json says what a model is. Without one, the tensor itself has to.
    """
    name, (n_rows, width) = table.stored.name, _size(table.stored.shape)
    tensor = tensor_in_words(name, table.stored.shape)
    if table.arrangement is None and not _is_name(name):
        return QUESTIONS("no_sinusoid", tensor=tensor)
    if table.arrangement is not None or files.config.settings:
        return ""
    if n_rows == 1:
        return QUESTIONS("one_row", tensor=tensor)
    if _is_of_waves(table.vectors):
        return QUESTIONS("waves", tensor=tensor)
    others = (info.shape for other, info in files.tensors.items() if other != name)
    sizes = set(chain.from_iterable(others))
    if width in sizes or n_rows not in sizes:
        return ""
    return QUESTIONS("transposed", tensor=tensor, n_rows=n_rows, width=width)


def _is_of_waves(vectors: Floats) -> bool:
    """Whether each row holds pairs of a sine and a cosine, so that its squares add up to d / 2.

    vectors: (n_positions, d_model)
    """
    squares = np.square(vectors).sum(axis=1)
    return np.allclose(squares, vectors.shape[1] / 2, rtol=WAVES) and np.abs(vectors).max() < 1.01


def as_encoding(
    files: Files, table: StoredTable, scheme: str, notes: tuple[str, ...] = ()
) -> Encoding[Form]:
    """The encoding of ``table`` under the scheme with the key ``scheme``."""
    about_rows = (
        _patches_note(files, table)
        if _of_patches(table.stored, files)
        else _rows_note(files, table)
    )
    divided = (NOTES("divided"),) if table_names.DIVIDED.search(table.stored.name) else ()
    form = PositionTable(table.vectors, table.first_row, table.lattice.grid)
    origin = Provenance.of(files, table.stored.tensor)
    return Encoding(
        table.part,
        scheme,
        form,
        origin,
        (*table.stored.notes, *about_rows, *divided, *notes),
        table.modality,
        table.stack,
    )


def _added(files: Files) -> bool:
    """Whether stored tables are added to the input; ESM-2 and DeBERTa may store an unused one,
    RoFormer one of angles. With ALiBi there is none, whatever the class of the family has.
    """
    config = files.config
    elsewhere = (
        config.text("position_embedding_type") in NOT_ADDED
        or files.resolved.config.flag("alibi") is True
        or config.family in ANGLES_STORED | FIRST_ROW_ALONE
    )
    return not elsewhere and config.flag("position_biased_input") is not False


def _first_row(files: Files, table: TableTensor) -> int:
    name, n_rows = table.name, _size(table.shape)[0]
    families = (
        {files.config.family, files.config.text_model.family, files.config.claimed}
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
        notes.append(NOTES("first_rows", n_rows=n_rows, first_row=table.first_row))
    configured, stored = files.config.size("n_positions"), n_rows - table.first_row
    if configured is not None and configured not in (n_rows, stored):
        notes.append(NOTES("other_length", configured=configured, stored=stored))
    return tuple(notes)


def _patches_note(files: Files, table: StoredTable) -> tuple[str, ...]:
    n_rows = _size(table.stored.shape)[0]
    lattice = table.lattice
    notes = []
    if lattice.before or lattice.after:
        notes.append(
            NOTES("special_rows", n_rows=n_rows, before=lattice.before, after=lattice.after)
        )
    count = n_rows - lattice.before - lattice.after
    if of_clips(files.resolved.readable, table.stored.tensor, n_rows):  # Which says more of them.
        return tuple(notes)
    notes.append(NOTES("patches", count=count, grid=lattice.grid, source=lattice.source))
    if f"{table.stored.tensor}_window" in files.tensors:
        notes.append(NOTES("tiles"))
    return tuple(notes)
