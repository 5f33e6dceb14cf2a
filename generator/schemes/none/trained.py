"""The picture of what a small model without an encoding learns, trained for this page."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from generator.contracts import FurtherPicture, Numbers
from generator.figures.canvas import Figure
from generator.figures.lines import hidden, legend_below
from generator.figures.panels import panels
from generator.figures.scene import DOTTED, Band, Line, add
from generator.figures.style import REFERENCE, SERIES

# Losses in nats per byte by seed, and shares of the position's variance by seed and layer, which
# ``python -m benchmarks.without_encoding`` writes.
FILE = Path(__file__).with_name("trained.json")
TRAINED = json.loads(FILE.read_text(encoding="utf-8"))
LOSSES = {
    "with": "with a table",
    "without": "without any",
    "taken away": "with one, which is\nthen taken away",
}


def _numbers() -> Numbers:
    """trained, random: (n_seeds, n_layers + 1), shares of the position's variance; losses: (3,
    n_seeds), in nats per byte, in the order of ``LOSSES``; frequencies: (1,), that of how often
    each byte occurs
    """
    shares = {name: np.array(values) for name, values in TRAINED["shares"].items()}
    losses = np.array([TRAINED["losses"][name] for name in LOSSES])
    return {**shares, "losses": losses, "frequencies": np.array([TRAINED["frequencies"]])}


def _draw(numbers: Numbers) -> Figure:
    figure, (left, right) = panels(2, height=3.0)
    for key, title, colour, dash in (
        ("trained", "trained", SERIES[0], "solid"),
        ("random", "random weights", REFERENCE, DOTTED),
    ):
        shares = numbers[key]
        layers, low, high = np.arange(shares.shape[1]), shares.min(axis=0), shares.max(axis=0)
        band = Band(layers, low, high, colour=colour, alpha=0.2, name=hidden(f"{title}, seeds"))
        mean = Line(layers, shares.mean(axis=0), colour=colour, dash=dash, name=title)
        add(left, band, mean)
    left.set(xlabel="after layer", ylabel="share of the position's\nvariance", ylim=(-0.08, 1.0))
    left.set_title("position in the states")
    left.grid(axis="y")
    style: dict[str, Any] = {"marker": "o", "is_joined": False, "colour": SERIES[0]}
    for place, (title, losses) in enumerate(zip(LOSSES.values(), numbers["losses"], strict=True)):
        name = hidden(title.replace("\n", " "))
        add(right, Line(losses, np.full(losses.size, place), name=name, **style))
    right.set_yticks(range(len(LOSSES)), [*LOSSES.values()])
    right.set(xlabel="loss (nats per byte)", xlim=(1.7, 2.7), ylim=(len(LOSSES) - 0.5, -0.5))
    right.set_title("next byte of a text")
    right.grid(axis="x")
    legend_below(figure)
    return figure


PICTURE = FurtherPicture(_numbers, _draw)
