"""The picture that explains Shaw's relative positions."""

from typing import Any

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import cell_numbers, image, panels
from generator.figures.scene import Line, add
from generator.figures.style import DIVERGING, SERIES

LIMIT = 4  # In the picture.


def _numbers() -> Numbers:
    """Clipped offset by pair of 12 positions (12, 12), query by key, and by offset (21,) (Shaw et
    al. 2018, section 3.2).
    """
    index, offsets = np.arange(12), np.arange(-10, 11)
    pairs, clipped = (
        np.clip(offset, -LIMIT, LIMIT) for offset in (index[None, :] - index[:, None], offsets)
    )
    return {"pairs": pairs, "offsets": offsets, "clipped": clipped}


def _draw(numbers: Numbers) -> Figure:
    figure, (left, right) = panels(2, height=3.6)
    image(left, numbers["pairs"], (-LIMIT, LIMIT), DIVERGING)
    cell_numbers(left, numbers["pairs"], (-LIMIT, LIMIT), DIVERGING)
    left.set_box_aspect(1)
    left.set(xlabel="key position", ylabel="query position")
    style: dict[str, Any] = {"colour": SERIES[0], "marker": "o", "size": 3}
    add(right, Line(numbers["offsets"], numbers["clipped"], **style))
    right.set(xlabel="offset: key minus query (positions)", ylabel="offset whose vector is used")
    right.set_xticks(range(-10, 11, 5))
    right.grid(axis="y")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["pairs"],
)
