"""The picture that explains attention temperature."""

from typing import Any

import numpy as np

from generator.contracts import Numbers, Picture
from generator.encodings import Temperature
from generator.figures.canvas import Figure
from generator.figures.panels import logarithmic, panels
from generator.figures.scene import Line, add
from generator.figures.style import SERIES
from generator.schemes.temperature import FLOOR_SCALE, STRENGTH

FARTHEST = 7  # A power of ten.


def _numbers() -> Numbers:
    """The factor of Llama 4's rule with its default settings, by position: (n_positions,)."""
    positions = np.floor(np.logspace(3.0, FARTHEST, 801))
    return {
        "positions": positions,
        "factor": (
            Temperature(STRENGTH, FLOOR_SCALE, 1, "steps", (), 10**FARTHEST).factor(positions)
        ),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, height=3.0)
    style: dict[str, Any] = {"colour": SERIES[0], "drawstyle": "steps-post"}
    add(axes, Line(numbers["positions"], numbers["factor"], **style))
    logarithmic(axes, "x")
    axes.set(xlabel="position of the query", ylabel="factor on the logits", ylim=(0.95, 1.8))
    axes.grid(axis="y")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["factor"][None, ::8],
)
