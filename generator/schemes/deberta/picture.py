"""The picture that explains disentangled attention."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import panels
from generator.figures.scene import Line, StraightLine, add
from generator.figures.style import SERIES
from generator.numerics.arrays import by_pair
from generator.schemes.deberta import buckets


def _numbers() -> Numbers:
    """Row of the table by offset (key minus query), with the published sizes of both versions:
    (n_offsets,) each.
    """
    offsets = np.arange(-640, 641)
    return {
        "offsets": offsets,
        "first": np.clip(-offsets + 512, 0, 1023),
        "later": np.clip(buckets(-offsets, 256, 512) + 256, 0, 511),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, axes = panels(2, height=3.0)
    titles = {"first": "first version, 1,024 rows", "later": "versions 2 and 3, 512 rows"}
    for panel, (name, title), colour in zip(axes, titles.items(), SERIES, strict=False):
        add(panel, Line(numbers["offsets"], numbers[name], colour=colour), StraightLine("x", 0))
        panel.set_title(title)
        panel.set(xlabel="offset: key minus query (positions)", ylabel="row of the table")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: by_pair(numbers["later"][::20]),
)
