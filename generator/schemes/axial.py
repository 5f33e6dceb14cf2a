"""Axial position embeddings (Reformer): a table composed of two smaller ones, for the rows and
columns of a grid of positions.
"""

import re

import numpy as np

from generator.contracts import Encoding, Files, Numbers, Picture, Provenance, Scheme
from generator.contracts.words import Words
from generator.encodings import Form, PositionTable
from generator.errors import RowError
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import Rule, add
from generator.figures.style import DIVERGING, INK
from generator.numerics.arrays import Floats, frozen

WORDS = Words("schemes/axial.md.jinja")
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
    notes = [WORDS("two_tables", n_first=shape[2], width=width, n_rows=n_rows, n_columns=n_columns)]
    if shown < n_rows:
        notes.append(WORDS("cut", n_shown=shown * n_columns, n_positions=n_rows * n_columns))
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


def _numbers() -> Numbers:
    """Random vectors of 4 rows (4, 4) and 8 columns (8, 12), and their table of 32 positions: (32,
    16).
    """
    draws = np.random.default_rng(0)
    rows, columns = draws.normal(size=(4, 4)), draws.normal(size=(8, 12))
    return {"rows": rows, "columns": columns, "joined": composed(rows[:, None], columns[None])}


def _draw(numbers: Numbers) -> Figure:
    figure, axes = panels(3, columns=3, height=3.4)
    names = {
        "rows": ("4 rows", "row"),
        "columns": ("8 columns", "column"),
        "joined": ("32 positions", "position"),
    }
    for panel, (name, (title, quantity)) in zip(axes, names.items(), strict=True):
        picture = image(panel, numbers[name], (-3.0, 3.0), DIVERGING, n_images=3)
        panel.set_title(title)
        panel.set(xlabel="dimension", ylabel=quantity)
        panel.set_xticks(range(0, numbers[name].shape[1], 4))
        panel.set_yticks(range(0, len(numbers[name]), 4 if quantity == "position" else 1))
    add(axes[2], Rule("x", numbers["rows"].shape[1] - 0.5, colour=INK, width=1.2))
    colour_bar(figure, picture, axes, "value")
    return figure


PICTURE = Picture.of(
    WORDS,
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["joined"],
)


SCHEME = Scheme(
    key="axial",
    paper="1912.12180",
    plural="axial tables",
    also=("axial position embedding (Reformer)",),
    acts_in="input",
    order=12,
    find=find,
    picture=PICTURE,
)
