"""The picture that explains learned biases by distance."""

from typing import Any

import numpy as np

from generator.contracts import Numbers, Picture
from generator.encodings.buckets import buckets
from generator.figures.canvas import Figure
from generator.figures.panels import panels
from generator.figures.scene import Line, StraightLine, add
from generator.figures.style import SERIES
from generator.numerics.arrays import by_pair


def _numbers() -> Numbers:
    """Bucket by offset with the sizes of T5, in encoder and decoder: (n_offsets,) each."""
    both, past = np.arange(-128, 129), np.arange(-128, 1)
    of = {
        "encoder": buckets(both, 32, 128, causal=False),
        "decoder": buckets(past, 32, 128, causal=True),
    }
    return {"encoder_offsets": both, "decoder_offsets": past, **of}


def _draw(numbers: Numbers) -> Figure:
    figure, axes = panels(2, height=3.0, sharey=None)
    for panel, name, colour in zip(axes, ("encoder", "decoder"), SERIES, strict=False):
        style: dict[str, Any] = {"width": 0, "marker": "s", "size": 2.2}
        dots = Line(numbers[f"{name}_offsets"], numbers[name], colour=colour, **style)
        add(panel, dots, StraightLine("x", 0))
        panel.set_title(name)
        panel.set(
            xlabel="offset: key minus query (positions)",
            ylabel="bucket",
            xlim=(-132, 132),
            ylim=(-1, 32),
        )
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: by_pair(numbers["encoder"][96:161]),
)
