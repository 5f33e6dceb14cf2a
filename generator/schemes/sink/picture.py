"""The picture that explains attention sinks."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.encodings.attention import sink_share
from generator.figures.canvas import Figure
from generator.figures.panels import logarithmic, panels
from generator.figures.scene import Line, add
from generator.figures.style import SERIES
from generator.text import rounded

LOGITS_SHOWN, MOST_KEYS = (-2.0, 0.0, 2.0, 4.0, 6.0), 4  # Made up for the picture; a power of ten.


def _numbers() -> Numbers:
    """The share of made-up sinks by the number of keys: (n_sinks, n)."""
    keys = np.logspace(0.0, MOST_KEYS, 81)
    return {
        "logits": np.array(LOGITS_SHOWN),
        "keys": keys,
        "shares": sink_share(np.array(LOGITS_SHOWN)[:, None], keys),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, height=3.2)
    for index, line in enumerate(numbers["shares"]):
        name = f"sink {rounded(numbers['logits'][index], 0)}"
        add(axes, Line(numbers["keys"], line, colour=SERIES[index], name=name))
    logarithmic(axes, "x")
    axes.set(
        xlabel="keys",
        ylabel="weight assigned to no key",
        ylim=(0.0, 1.02),
        xlim=(1.0, 10.0**MOST_KEYS),
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["shares"],
)
