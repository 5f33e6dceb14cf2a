"""The picture that explains decomposed relative positions."""

from typing import Any

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Line, Panel, add
from generator.figures.style import ACCENT, DIVERGING, INK

GRID, QUERY = (6, 8), (2, 3)


def _numbers() -> Numbers:
    """Logits of one query for the rows, the columns and both, from random vectors: (n_rows,
    n_columns) each.
    """
    draws = np.random.default_rng(0)
    query, tables = draws.normal(size=4), [draws.normal(size=(2 * side - 1, 4)) for side in GRID]
    offsets = [np.arange(side) - place for side, place in zip(GRID, QUERY, strict=True)]
    rows, columns = (
        table[offset + side - 1] @ query
        for table, offset, side in zip(tables, offsets, GRID, strict=True)
    )
    down, across = np.meshgrid(rows, columns, indexing="ij")
    return {"down": down, "across": across, "both": down + across}


def _draw(numbers: Numbers) -> Figure:
    titles = {"down": "by rows, from H", "across": "by columns, from W", "both": "their sum"}
    shown = [Panel(title, numbers[name]) for name, title in titles.items()]
    figure = image_panels(
        shown,
        (-2.0, 2.0),
        DIVERGING,
        ("column of the key", "row of the key", "added to the logit"),
        square=False,
    )
    for axes in figure.axes[: len(shown)]:
        style: dict[str, Any] = {"marker": "o", "size": 7.0, "more": {"markeredgecolor": INK}}
        add(axes, Line([QUERY[1]], [QUERY[0]], colour=ACCENT, is_aside=True, **style))
        axes.set_box_aspect(GRID[0] / GRID[1])
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["both"],
)
