"""The picture that explains rotary encodings in two dimensions."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.encodings import BASE, Rotation
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import SEQUENTIAL

REACH = 13  # Largest offset, as in an image of 14 × 14 patches.


def _numbers() -> Numbers:
    """Mean cosine by row and column offset, for a head of 64 components: (2 · REACH + 1, 2 · REACH
    + 1) each.
    """
    of_distance = Rotation(BASE, 32, 64, REACH + 1).by_offset(REACH + 1)
    along = of_distance[np.abs(np.arange(-REACH, REACH + 1))]
    rows, columns = np.meshgrid(along, along, indexing="ij")
    return {"rows": rows, "columns": columns, "all": (rows + columns) / 2}


def _draw(numbers: Numbers) -> Figure:
    titles = {"rows": "pairs for rows", "columns": "pairs for columns", "all": "all pairs"}
    shown = [Panel(title, numbers[name]) for name, title in titles.items()]
    figure = image_panels(
        shown, (0.5, 1.0), SEQUENTIAL, ("columns across", "rows down", "mean cosine"), square=True
    )
    for axes in figure.axes[: len(shown)]:
        axes.set_xticks([0, REACH, 2 * REACH], [f"−{REACH}", "0", f"{REACH}"])
        axes.set_yticks([0, REACH, 2 * REACH], [f"−{REACH}", "0", f"{REACH}"])
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["all"],
)
