"""Positions as trails whose colour runs from the first to the last: in a plane, or in space seen
from one side.
"""

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from generator.figures.scene import Dots, add
from generator.figures.style import SEQUENTIAL
from generator.numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

COLOURS = 48  # stretches of a trail, one colour each
MOST = 1536  # points of a trail
VIEW = 60.0, 20.0  # degrees of turn and tilt: a curve that winds shows as a coil; as figure.js


def trail(
    axes: "Axes", plane: Floats, *, joined: bool, points: Floats | None = None, most: int = MOST
) -> None:
    """Plot positions by their order.

    plane: (n_positions, 2), NaN for those without a place; points: (n_positions, 3) of which
        ``plane`` is one view
    joined: by a line, otherwise as dots, which are strokes too short to see: a third of the bytes
        of markers
    most: points that are drawn, but for the last of each colour, which comes with it
    """
    from matplotlib import colormaps

    colours, shown = colormaps[SEQUENTIAL], np.flatnonzero(~np.isnan(plane).any(axis=1))
    every = ceil(len(plane) / most)
    edges = np.unique(np.linspace(0, shown.size - 1, COLOURS + 1).astype(int))
    for start, stop in pairwise(edges):
        indices = shown[np.unique(np.append(np.arange(start, stop, every), stop))]
        drawn = plane[indices]
        if not joined:
            drawn = np.stack([drawn, drawn + 1e-6, np.full_like(drawn, np.nan)], axis=1).reshape(
                -1, 2
            )
        colour = colours((shown[start] + shown[stop]) / 2.0 / (len(plane) - 1))
        axes.plot(
            *drawn.T,
            color=colour,
            linewidth=0.9 if joined else 2.4,
            solid_capstyle="round",
        )
    add(axes, Dots(plane if points is None else points, joined))


def seen(points: Floats, turn: float, tilt: float) -> Floats:
    """Points in space as they are seen after a turn about the upright axis and then a tilt towards
    the reader.

    points: (n_points, 3); turn, tilt: degrees; returns: (n_points, 2), across and upwards
    """
    about, towards = np.radians(turn), np.radians(tilt)
    across = points[:, 0] * np.cos(about) + points[:, 2] * np.sin(about)
    depth = points[:, 2] * np.cos(about) - points[:, 0] * np.sin(about)
    return np.stack([across, points[:, 1] * np.cos(towards) - depth * np.sin(towards)], axis=1)


def trail_scale() -> "ScalarMappable":
    """The scale of colours of all trails: 0 for the first position, 1 for the last."""
    from matplotlib.cm import ScalarMappable

    return ScalarMappable(cmap=SEQUENTIAL)
