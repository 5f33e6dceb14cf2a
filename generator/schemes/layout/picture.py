"""The picture that explains tables of page layout."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import DOTTED, Line, StraightLine, Text, add
from generator.figures.style import ACCENT, DIVERGING, INK, MUTED

# Of one word, in thousandths of the page.
BOX = {"left": 120, "top": 210, "right": 420, "bottom": 330}


def _numbers() -> Numbers:
    """The six rows for a box, of random tables, and their sum: (7, 16); and the indices of these
    rows: (6,).
    """
    left, top, right, bottom = BOX.values()
    draws = np.random.default_rng(0)
    x, y, height, width = draws.normal(size=(4, 1001, 16))
    rows = np.array([left, top, right, bottom, bottom - top, right - left])
    vectors = np.stack(
        [table[row] for table, row in zip((x, y, x, y, height, width), rows, strict=True)]
    )
    return {
        "rows": rows,
        "looked_up": np.concatenate([vectors, vectors.sum(axis=0, keepdims=True)]),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, (page, strips) = panels(2, height=3.6)
    left, top, right, bottom = BOX.values()
    corners = [left, right, right, left, left], [top, top, bottom, bottom, top]
    middle = ((left + right) / 2, (top + bottom) / 2)
    word = Text("word", middle, justify="center", baseline="center")
    add(page, Line(*corners, colour=ACCENT), word)
    page.vlines([left, right], 0, top, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    page.hlines([top, bottom], 0, left, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    page.set(
        xlim=(0, 1000),
        ylim=(1000, 0),
        xlabel="x (thousandths of the page)",
        ylabel="y (thousandths of the page)",
        box_aspect=1.3,
    )
    picture = image(strips, numbers["looked_up"], (-5.0, 5.0), DIVERGING)
    names = [
        f"{name} [{row}]"
        for name, row in zip(("x", "y", "x", "y", "height", "width"), numbers["rows"], strict=True)
    ]
    strips.set_yticks(range(len(names) + 1), [*names, "sum"])
    add(strips, StraightLine("y", len(names) - 0.5, colour=INK, width=1.2))
    strips.set(xlabel="dimension")
    colour_bar(figure, picture, [strips], "value")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["looked_up"],
)
