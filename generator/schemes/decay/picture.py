"""The picture that explains decays."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.contracts.wording import Wording
from generator.figures.canvas import Figure
from generator.figures.panels import panels
from generator.figures.scene import DOTTED, Line, StraightLine, add
from generator.figures.style import SERIES
from generator.numerics.arrays import by_pair
from generator.schemes.decay import retention

WORDING = Wording("schemes/decay.md.jinja")
N_SHOWN, HEADS_SHOWN = 256, 4


def _numbers() -> Numbers:
    """Shares left by distance (n_heads, n_distances): of RetNet's first heads, and of a key's
    weight by the slopes of ALiBi.
    """
    distances = np.arange(N_SHOWN + 1)
    slopes = 2.0 ** -np.arange(2.0, 2.0 * HEADS_SHOWN + 1, 2.0)  # Every second one of 8 heads.
    return {
        "distances": distances,
        "retention": np.exp(-retention(HEADS_SHOWN)[:, None] * distances),
        "slopes": np.exp(-slopes[:, None] * distances),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, axes = panels(2, height=3.2)
    heads = range(HEADS_SHOWN)
    of_retention = [f"head {head + 1}: 1 − 1/{2 ** (head + 5)} per position" for head in heads]
    of_slopes = [f"head {2 * head + 2} of 8: slope 1/{4 ** (head + 1)}" for head in heads]
    shown = (
        ("retention", "RetNet: state", of_retention),
        ("slopes", WORDING("picture_of_alibi"), of_slopes),
    )
    for ax, (name, title, labels) in zip(axes, shown, strict=True):
        add(ax, StraightLine("y", 0.5, width=0.8, dash=DOTTED))
        for head, line in enumerate(numbers[name]):
            add(ax, Line(numbers["distances"], line, colour=SERIES[head], name=labels[head]))
        ax.set(
            xlabel="distance (positions)",
            ylabel="remaining share",
            xlim=(0, N_SHOWN),
            ylim=(0.0, 1.02),
        )
        ax.set_title(title)
        ax.legend(loc="upper right")
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: by_pair(
        np.pad(numbers["retention"][0][192::-3], (0, 64), constant_values=np.nan)
    ),
)
