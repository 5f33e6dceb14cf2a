"""Numbered marks at the points of a figure that sentences speak of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.figures.scene import Line, Text, add
from generator.figures.style import INK, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AWAY = 11.0  # Distance of a number from its point in both directions, in points.
NEAR = 0.88  # Share of the axes beyond which a number turns to their middle.
# Share of the axes; a point at its edge may stand for a value beyond, which is written there.
EDGE = 0.01
APART = 0.05  # Share of the axes within which two marks would overlap.


@dataclass(frozen=True)
class DrawnPlace:
    """A numbered point. panel: which axes of the figure; x, y: in their coordinates"""

    number: int
    panel: int
    x: float
    y: float


def mark(figure: "Figure", places: Sequence[DrawnPlace]) -> None:
    """Add a ring at every place, and its number beside it."""
    taken: list[tuple[int, float, float]] = []
    ring: dict[str, Any] = {
        "colour": INK,
        "marker": "o",
        "size": 5.5,
        "is_hollow": True,
        "is_joined": False,
        "is_aside": True,
        "order": 4.0,
        "more": {"markeredgecolor": INK, "clip_on": False, "scalex": False, "scaley": False},
    }
    box = {"boxstyle": "circle,pad=0.25", "facecolor": PAPER, "edgecolor": INK, "linewidth": 0.9}
    style: dict[str, Any] = {
        "justify": "center",
        "baseline": "center",
        "size": 8.0,
        "is_ringed": True,
        "more": {"bbox": box, "zorder": 5, "annotation_clip": False, "in_layout": False},
    }
    for place in places:
        axes = figure.axes[place.panel]
        across, down = _shares(axes, place)
        crowd = sum(
            panel == place.panel and abs(x - across) < APART and abs(y - down) < 2 * APART
            for panel, x, y in taken
        )
        taken.append((place.panel, across, down))
        add(axes, Line([place.x], [place.y], **ring))
        at_edge = 2.0 if down > 1.0 - EDGE or down < EDGE else 1.0
        shift = (
            -AWAY if across > NEAR else AWAY,
            at_edge * (-AWAY if down > NEAR else AWAY) - 1.6 * AWAY * crowd,
        )
        add(axes, Text(f"{place.number}", (place.x, place.y), shift, **style))


def _shares(axes: "Axes", place: DrawnPlace) -> tuple[float, float]:
    """Where a place lies in its axes, from 0, left and bottom, to 1."""
    axes.get_xlim(), axes.get_ylim()  # Until they are asked for, limits are not those of the lines.
    across, down = axes.transAxes.inverted().transform(axes.transData.transform((place.x, place.y)))
    return float(across), float(down)
