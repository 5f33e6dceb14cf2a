"""Axial position embeddings (Reformer): a table composed of two smaller ones, for the rows and
columns of a grid of positions.
"""

import re

import numpy as np

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, PositionTable
from generator.errors import RowError
from generator.numerics.arrays import Floats, frozen

WORDING = Wording("schemes/axial.md.jinja")
NAME = re.compile(r"(^|\.)position_embeddings\.weights\.0$")
MOST_VALUES = 2**23  # 64 MB in float64; a larger grid is cut to whole rows.


def find(files: Files) -> list[Encoding[Form]]:
    """One table for every pair of axial tensors; none if the config disables them.

    errors: RowError when the shapes of a pair do not match, or one row of the grid exceeds
        ``MOST_VALUES``
    """
    is_axial = files.config.value("axial_pos_embds", True) is True
    return [_encoding(files, name) for name in files.tensors if is_axial and NAME.search(name)]


def _encoding(files: Files, name: str) -> Encoding[Form]:
    second = f"{name[:-1]}1"
    shape = files.tensors[name].shape
    other = files.tensors[second].shape if second in files.tensors else ()
    if (
        not len(shape) == len(other) == 3
        or min(shape + other) < 1
        or (shape[1], other[0]) != (1, 1)
    ):
        raise RowError(
            f"{files.where}: {name} has shape {shape} and {second} {other}; expected (rows, 1,"
            " width) and (1, columns, width)"
        )
    n_rows, n_columns, width = shape[0], other[1], shape[2] + other[2]
    shown = min(n_rows, MOST_VALUES // (n_columns * width))
    if not shown:
        raise RowError(
            f"{files.where}: a row of {n_columns:,} positions × {width:,}; expected at most"
            f" {MOST_VALUES:,} values"
        )
    notes = [
        WORDING("two_tables", n_first=shape[2], width=width, n_rows=n_rows, n_columns=n_columns)
    ]
    if shown < n_rows:
        notes.append(WORDING("cut", n_shown=shown * n_columns, n_positions=n_rows * n_columns))
    table = frozen(composed(files.tensor(name)[:shown], files.tensor(second)))
    form = PositionTable(table, grid=(shown, n_columns))
    return Encoding("encoder", SCHEME.key, form, Provenance.of(files, name), tuple(notes))


def composed(rows: Floats, columns: Floats) -> Floats:
    """The composed table: (n_rows · n_columns, d_rows + d_columns), the vector of the row, then
    that of the column.

    rows: (n_rows, 1, d_rows); columns: (1, n_columns, d_columns)
    """
    grid = (rows.shape[0], columns.shape[1])
    both = [np.broadcast_to(part, (*grid, part.shape[2])) for part in (rows, columns)]
    return np.concatenate(both, axis=2).reshape(grid[0] * grid[1], -1)


SCHEME = Scheme(
    key="axial",
    paper="1912.12180",
    plural="axial tables",
    also=("axial position embedding (Reformer)",),
    acts_in="input",
    after="learned",
    find=find,
)
