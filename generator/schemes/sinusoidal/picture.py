"""The picture that explains sinusoids."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.encodings import sinusoid
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import Line, add
from generator.figures.style import DIVERGING, SERIES


def _numbers() -> Numbers:
    """A table of 64 positions × 32 dimensions, and the cosine of position 0 with 128 positions for
    a width of 768: (128,).
    """
    wide = sinusoid(128, 768)
    return {"waves": sinusoid(64, 32), "cosines": wide @ wide[0] / (wide[0] @ wide[0])}


def _draw(numbers: Numbers) -> Figure:
    figure, (left, right) = panels(2, height=3.2)
    picture = image(left, numbers["waves"], (-1.0, 1.0), DIVERGING, n_images=2)
    left.set_title("64 positions, 32 dimensions")
    left.set(xlabel="dimension", ylabel="position")
    colour_bar(figure, picture, [left], "value")
    add(right, Line(np.arange(128), numbers["cosines"], colour=SERIES[0]))
    right.set_title("768 dimensions")
    right.set(
        xlabel="offset (positions)",
        ylabel="cosine of two positions",
        ylim=(0.0, 1.02),
        xlim=(0, 127),
    )
    right.grid(axis="y")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["waves"],
)
