"""The picture that explains convolutions over positions."""

from typing import Any

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import Line, add
from generator.figures.style import DIVERGING, SERIES

N_SHOWN, WIDTH_SHOWN = 24, 8


def _numbers() -> Numbers:
    """A convolution of width 8 over 24 frames: offset by frame and input frame (24, 24), NaN out of
    reach, and inputs by frame (24,).
    """
    index = np.arange(N_SHOWN)
    offsets = (index[None, :] - index[:, None]).astype(np.float64)
    reached = (offsets >= -(WIDTH_SHOWN // 2)) & (offsets < WIDTH_SHOWN - WIDTH_SHOWN // 2)
    return {"offsets": np.where(reached, offsets, np.nan), "heard": reached.sum(axis=1)}


def _draw(numbers: Numbers) -> Figure:
    figure, (left, right) = panels(2, height=3.4)
    picture = image(left, numbers["offsets"], (-WIDTH_SHOWN // 2, WIDTH_SHOWN // 2), DIVERGING)
    left.set_box_aspect(1)
    left.set(xlabel="input frame", ylabel="output frame")
    colour_bar(figure, picture, [left], "offset")
    style: dict[str, Any] = {"colour": SERIES[0], "marker": "o", "size": 3}
    add(right, Line(np.arange(N_SHOWN), numbers["heard"], **style))
    right.set(xlabel="frame", ylabel="input frames in reach", ylim=(0, WIDTH_SHOWN + 0.5))
    right.grid(axis="y")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["offsets"],
)
