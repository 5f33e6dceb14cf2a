"""The picture that explains KERPLE."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import panels
from generator.figures.scene import Line, add
from generator.figures.style import SERIES
from generator.schemes.kerple import bias


def _numbers() -> Numbers:
    """A bias of two heads over 64 distances: (2, 64), logits."""
    return {"bias": bias(np.array([1.0, 1.0]), np.array([0.1, 1.0]), np.arange(64.0))}


def _draw(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, height=3.0)
    for line, colour, steepness in zip(numbers["bias"], SERIES, ("0.1", "1"), strict=False):
        add(axes, Line(np.arange(64), line, colour=colour, name=f"r₂ = {steepness}"))
    axes.set(xlabel="distance (positions)", ylabel="bias (logits)")
    axes.legend()
    return figure


PICTURE = Picture(numbers=_numbers, draw=_draw, card=lambda numbers: numbers["bias"])
