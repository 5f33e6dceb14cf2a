"""The picture that explains rotary encodings."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.encodings import BASE, Rotation
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import Line, add
from generator.figures.style import DIVERGING, SERIES
from generator.numerics.arrays import by_pair
from generator.schemes.rotary.turning_pairs import FURTHER


def _numbers() -> Numbers:
    """cos(δ θ) for a head of 64 components with base 10,000: (n_pairs, n_offsets), and the mean
    over pairs: (n_offsets,).
    """
    form = Rotation(BASE, 64, 64, 129)
    return {
        "cosines": np.cos(form.frequencies[:, None] * np.arange(129)),
        "mean": form.by_offset(129),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, (left, right) = panels(2, height=3.2)
    picture = image(left, numbers["cosines"], (-1.0, 1.0), DIVERGING, n_images=2)
    left.set_title("each pair")
    left.set(xlabel="offset (positions)", ylabel="rotation pair")
    colour_bar(figure, picture, [left], "cosine of the angle")
    add(right, Line(np.arange(129), numbers["mean"], colour=SERIES[0]))
    right.set_title("mean of all pairs")
    right.set(xlabel="offset (positions)", ylabel="mean cosine", ylim=(0.0, 1.02), xlim=(0, 128))
    right.grid(axis="y")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: by_pair(np.concatenate([numbers["mean"][64:0:-1], numbers["mean"][:65]])),
    further=FURTHER,
)
