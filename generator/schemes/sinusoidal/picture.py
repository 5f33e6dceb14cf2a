"""The pictures that explain sinusoids."""

from typing import TYPE_CHECKING, Any

import numpy as np

from generator.contracts import FurtherPicture, Numbers, Picture
from generator.encodings import sinusoid
from generator.figures.canvas import Figure
from generator.figures.lines import legend_below
from generator.figures.panels import colour_bar, image, panels
from generator.figures.scene import Dash, Line, StraightLine, Text, add
from generator.figures.style import DIVERGING, MUTED, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from generator.numerics.arrays import Floats

LAP = 12  # Positions of a turn in the picture of waves.
SAME = (1, 5)  # Two positions there with the same sine.
STEP = 2  # positions, by which both are moved
DASHED: Dash = (0, (2.0, 1.0))


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


def _waves() -> Numbers:
    """Sine and cosine of positions 0 to ``LAP``, every tenth of one, with a turn in ``LAP``
    positions: (121,) each.
    """
    angles = 2.0 * np.pi * np.arange(10 * LAP + 1) / (10 * LAP)
    return {"sine": np.sin(angles), "cosine": np.cos(angles)}


def _draw_waves(numbers: Numbers) -> Figure:
    figure, (one, pair, turned) = panels(3, columns=3, height=2.5)
    sine, cosine = numbers["sine"], numbers["cosine"]
    places = np.arange(sine.size) / 10
    _draw_wave(one, places, sine, SERIES[0], "sine")
    one.set_title("one sine")
    add(one, StraightLine("y", float(sine[10 * SAME[0]]), colour=MUTED))
    for wave, colour, name in ((sine, SERIES[0], "_sine"), (cosine, SERIES[1], "cosine")):
        _draw_wave(pair, places, wave, colour, name)
    pair.set_title("a pair")
    add(turned, Line(cosine, sine, colour=MUTED, width=0.8, name="_circle"))
    for position in range(LAP):
        x, y = 1.22 * cosine[10 * position], 1.22 * sine[10 * position]
        add(turned, Text(str(position), (x, y), justify="center", baseline="center"))
    for start, colour in zip(SAME, SERIES[2:], strict=False):
        for position, dash in ((start, "solid"), (start + STEP, DASHED)):
            hand = [[0.0, wave[10 * position]] for wave in (cosine, sine)]
            name = f"_hand of position {position}"
            add(turned, Line(*hand, colour=colour, dash=dash, width=2.0, name=name))
    turned.set_title("a rotation")
    turned.set(xlim=(-1.45, 1.45), ylim=(-1.45, 1.45), xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    turned.set(xlabel="cosine across, sine upwards")
    turned.set_box_aspect(1)
    legend_below(figure)
    return figure


def _draw_wave(axes: "Axes", places: "Floats", wave: "Floats", colour: str, name: str) -> None:
    add(axes, Line(places, wave, colour=colour, name=name))
    same = list(SAME)
    values = [float(wave[10 * position]) for position in same]
    marks: Any = {"marker": "o", "is_joined": False, "is_aside": True}
    add(axes, Line(same, values, colour=colour, name=name, **marks))
    axes.set(xlabel="position", xticks=[*same, LAP], xlim=(0, LAP), ylim=(-1.1, 1.1))
    axes.set_yticks([-1, 0, 1])


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["waves"],
    further={"waves": FurtherPicture(_waves, _draw_waves)},
)
