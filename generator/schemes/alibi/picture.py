"""The picture that explains ALiBi."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import panels
from generator.figures.scene import Line, add
from generator.figures.style import SERIES
from generator.numerics.arrays import by_pair
from generator.schemes.alibi import slopes
from generator.text import rounded


def _numbers() -> Numbers:
    """The bias of 8 heads over the last 64 positions: (n_heads, n_offsets)."""
    offsets = np.arange(-64, 1)
    return {"slopes": slopes(8), "offsets": offsets, "lines": slopes(8)[:, None] * offsets}


def _draw(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, height=3.2)
    for head, line in enumerate(numbers["lines"]):
        name = f"head {head + 1}: slope 1/{rounded(1 / numbers['slopes'][head], 0)}"
        add(axes, Line(numbers["offsets"], line, colour=SERIES[head], name=name))
    axes.set(
        xlabel="offset: key minus query (positions)",
        ylabel="bias (logit)",
        xlim=(-64, 0),
        ylim=(-10.0, 0.3),
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: by_pair(np.pad(numbers["lines"][4], (0, 64), constant_values=np.nan)),
)
