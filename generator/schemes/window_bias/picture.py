"""The picture that explains biases within windows."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import cell_numbers, image, panels
from generator.figures.style import SEQUENTIAL

SIDE = 3


def _numbers() -> Numbers:
    """Index by offset in a window of 3 × 3 patches (5, 5), and by pair of patches (9, 9), query by
    key.
    """
    patch = np.arange(SIDE * SIDE)
    down, across = (
        part[None, :] - part[:, None] + SIDE - 1 for part in (patch // SIDE, patch % SIDE)
    )
    reach = 2 * SIDE - 1
    return {
        "offsets": np.arange(reach * reach).reshape(reach, reach),
        "pairs": down * reach + across,
    }


def _draw(numbers: Numbers) -> Figure:
    figure, (left, right) = panels(2, height=3.6)
    limits = (0.0, float(numbers["offsets"].max()))
    for axes, name in ((left, "offsets"), (right, "pairs")):
        image(axes, numbers[name], limits, SEQUENTIAL)
        cell_numbers(axes, numbers[name], limits, SEQUENTIAL)
        axes.set_box_aspect(1)
    places = range(2 * SIDE - 1)
    offsets = [f"{place - SIDE + 1}".replace("-", "−") for place in places]
    left.set_xticks(places, offsets)
    left.set_yticks(places, offsets)
    left.set_title("25 offsets")
    left.set(xlabel="columns across", ylabel="rows down")
    right.set_title("9 × 9 pairs of patches")
    right.set(xlabel="key patch", ylabel="query patch")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["pairs"],
)
