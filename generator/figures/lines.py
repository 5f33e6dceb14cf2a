"""Lines that share one plot: how they are told apart, named below it, and marked where they leave it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from generator.figures.style import INK, PAPER, WIDTH
from generator.numerics.arrays import Array, Floats
from generator.text import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Dash = str | tuple[int, tuple[float, ...]]
DASHES: tuple[Dash, ...] = ("solid", (0, (5, 2)), (0, (6, 2, 1, 2)), (0, (9, 2, 1, 1.5, 1, 1.5)))
DOTTED: Dash = (0, (1, 1.5))  # For what a line is held against, so never one of DASHES.
POINTS = 72  # of an inch
CHARACTER, HANDLE, ROW = 5.6, 52.0, 13.5  # points: a letter's width, what stands before a name, a line's height; of a legend
MOST_COLUMNS = 3
MOST_DOTS = 32  # More of them, and no dash between them is seen.
ROOM = 0.09  # of the width, which the name of a place takes


class Coloured(Protocol):
    """Whatever is drawn in a colour of its own."""

    @property
    def colour(self) -> str:
        """As matplotlib takes it."""


Named = TypeVar("Named", bound=Coloured)
Shown = TypeVar("Shown")


def with_line_styles(results: Mapping[Named, Shown]) -> Iterator[tuple[Named, Shown, Dash]]:
    """Each with its line style: solid where a colour comes first, dashed where it comes again, as for a checkpoint's parts."""
    drawn: Counter[str] = Counter()
    for label, result in results.items():
        yield label, result, DASHES[drawn[label.colour] % len(DASHES)]
        drawn[label.colour] += 1


def dots(n_points: int) -> str | None:
    """The marker of a line's points, where they are few."""
    return "o" if n_points <= MOST_DOTS else None


def legend_below(figure: "Figure") -> None:
    """The names of all lines below the axes, in as many columns as fit; the figure grows by the rows, so that the axes keep their height."""
    named = [pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    longest = max((len(name) for _, name in named), default=0)
    columns = min(MOST_COLUMNS, max(1, int(WIDTH * POINTS / (HANDLE + CHARACTER * longest))), max(len(named), 1))
    rows = -(-len(named) // columns)
    figure.set_figheight(figure.get_figheight() + (rows - 1) * ROW / POINTS)
    figure.legend([line for line, _ in named], [name for _, name in named], loc="outside lower center", ncols=columns, handlelength=2.8)


@dataclass(frozen=True)
class Line:
    """places, values: (n_points,), the places rising"""

    places: Array
    values: Floats
    colour: str


@dataclass(frozen=True)
class Place:
    """A point with its name."""

    name: str
    x: float
    y: float
    colour: str


def mark_beyond(axes: "Axes", lines: Sequence[Line], limits: tuple[float, float]) -> None:
    """Triangles where ``lines`` leave ``limits``, and at either limit the value that lies farthest beyond."""
    for edge, sign, marker in ((limits[0], -1.0, "v"), (limits[1], 1.0, "^")):
        leaving = [(line, sign * (line.values - edge)) for line in lines if np.any(sign * (line.values - edge) > 0)]
        for line, excess in leaving:
            places = line.places[_turns(excess > 0)]
            axes.plot(places, np.full(places.size, edge), marker, color=line.colour, markersize=4.5, clip_on=False)
        if leaving:
            line, excess = max(leaving, key=lambda pair: float(np.nanmax(pair[1])))
            turns, farthest = _turns(excess > 0), int(np.nanargmax(excess))
            at = float(line.places[turns[np.abs(turns - farthest).argmin()]])
            _name_value(axes, Place(significant(line.values[farthest], 3), at, edge, line.colour), sign)


def _turns(beyond: Array) -> Array:
    """Where a line goes beyond or comes back: the first and last place of each stretch, but for the ends of the line."""
    inside = np.concatenate([[False], ~beyond, [False]])
    turns = np.flatnonzero(beyond & (inside[:-2] | inside[2:]))
    return turns if turns.size else np.flatnonzero(beyond)[[0]]


def _name_value(axes: "Axes", place: Place, sign: float) -> None:
    low, high = axes.get_xlim()
    right = place.x > (low + high) / 2.0
    where: dict[str, Any] = {"ha": "right" if right else "left", "va": "top" if sign > 0 else "bottom", "textcoords": "offset points"}
    ground = {"facecolor": PAPER, "linewidth": 0, "alpha": 0.8, "pad": 0.6}
    text = f"{'↑' if sign > 0 else '↓'} {place.name}"
    axes.annotate(text, (place.x, place.y), (-6 if right else 6, -5 * sign), fontsize=8, color=INK, bbox=ground, **where)


def name_places(axes: "Axes", places: Sequence[Place]) -> None:
    """The names of ``places`` beside them, within the present limits: of several close together, those of the first and the last."""
    low, high = axes.get_xlim()
    room = ROOM * (high - low)
    xs = [-np.inf, *sorted(place.x for place in places), np.inf]
    for index, place in enumerate(sorted(places, key=lambda place: place.x), start=1):
        before, after = place.x - xs[index - 1] < 2.0 * room, xs[index + 1] - place.x < 2.0 * room
        left = after or (not before and place.x > high - room)
        if not (before and after):
            where: dict[str, Any] = {"ha": "right" if left else "left", "textcoords": "offset points"}
            axes.annotate(place.name, (place.x, place.y), (-5 if left else 5, -9), fontsize=8, color=place.colour, **where)
