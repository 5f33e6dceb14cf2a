"""The picture that explains axial tables."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import StraightLine, add
from generator.figures.style import DIVERGING, INK
from generator.schemes.axial import composed


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
    add(axes[2], StraightLine("x", numbers["rows"].shape[1] - 0.5, colour=INK, width=1.2))
    colour_bar(figure, picture, axes, "value")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["joined"],
)
