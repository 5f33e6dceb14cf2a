"""Line plots of several encodings in one figure: line styles, legends, and markers for clipped
values.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from generator.figures.panels import wrapped
from generator.figures.scene import Dash, Line, Text, add
from generator.figures.style import PAPER, STYLE, WIDTH
from generator.numerics.arrays import Array
from generator.text import measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES: tuple[Dash, ...] = ("solid", (0, (5, 2)), (0, (6, 2, 1, 2)), (0, (9, 2, 1, 1.5, 1, 1.5)))
POINTS = 72  # per inch
# Of a legend, in points: width of a letter, width of a line sample, height of a row.
CHARACTER, HANDLE, ROW = 5.6, 52.0, 13.5
MOST_COLUMNS = 3
LONGEST = 84  # letters of a line of a legend
MOST_DOTS = 32  # With more, the dashes between them disappear.
# Of a line that stands back; the last is below matplotlib's order of lines, 2.
THIN: dict[str, Any] = {"width": 0.8, "alpha": 0.6, "order": 1.9}
ROOM = 0.09  # Width of a label, as a share of the axes.
SMALL: float = 0.833 * STYLE["font.size"]  # Of a name at the end of a line.
LEAST_APART = 0.055  # Distance of two names at ends of lines, as a share of the axes.


class Coloured(Protocol):
    """Anything with a colour."""

    @property
    def colour(self) -> str:
        """A colour in a format that matplotlib accepts."""


LabelT = TypeVar("LabelT", bound=Coloured)
ValueT = TypeVar("ValueT")


def with_line_styles(results: Mapping[LabelT, ValueT]) -> Iterator[tuple[LabelT, ValueT, Dash]]:
    """Label, value and line style of every result: of those with one colour, the first is solid,
    and the next have the other DASHES in turn; a fifth is solid again.
    """
    uses: Counter[str] = Counter()
    for label, result in results.items():
        yield label, result, DASHES[uses[label.colour] % len(DASHES)]
        uses[label.colour] += 1


def hidden(title: str) -> str:
    """``title`` as the label of a line without a place in the legend."""
    return f"_{title}"


def standing_back(line: Line) -> Line:
    """``line`` thin behind others."""
    return replace(line, dash="solid", marker=None, is_quiet=True, **THIN)


def dots(n_points: int) -> str | None:
    """The marker of a line's points; None when there are more than ``MOST_DOTS``."""
    return "o" if n_points <= MOST_DOTS else None


def legend_below(figure: "Figure") -> None:
    """Add one legend of all axes below them, in as many columns as fit, MOST_COLUMNS at most; the
    figure grows by all rows but the first, not at the cost of the axes.
    """
    entries = [
        pair for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)
    ]
    names = [wrapped(name, LONGEST) for _, name in entries]
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    most_lines = max((name.count("\n") + 1 for name in names), default=1)
    columns = min(
        MOST_COLUMNS,
        max(1, int(WIDTH * POINTS / (HANDLE + CHARACTER * longest))),
        max(len(entries), 1),
    )
    rows = -(-len(entries) // columns)
    figure.set_figheight(figure.get_figheight() + (rows * most_lines - 1) * ROW / POINTS)
    figure.legend(
        [line for line, _ in entries],
        names,
        loc="outside lower center",
        ncols=columns,
        handlelength=2.8,
    )


def names_at_ends(
    axes: "Axes", lines: Sequence[Line], width: float = WIDTH, apart: float = LEAST_APART
) -> None:
    """Write the name of each of ``lines`` at its right end, in its colour, none over another; the
    horizontal axis grows by the room that they take.

    width: of the axes, in inches; apart: distance of two names, as a share of their height
    """
    from scipy.optimize import isotonic_regression

    ascending = sorted(lines, key=lambda line: float(line.y[-1]))
    names = [line.name.removeprefix("_") for line in ascending]
    ends = [(float(line.x[-1]), float(line.y[-1])) for line in ascending]
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    steps = np.arange(len(ends)) * apart * (high - low)
    places = isotonic_regression(np.array([y for _, y in ends]) - steps).x + steps
    places += min(0.0, high - float(places[-1]))
    left, right = axes.get_xlim()
    room = (CHARACTER * max(map(len, names)) + CHARACTER) / (width * POINTS)
    axes.set_xlim(left, left + (right - left) / (1.0 - min(room, 0.5)))
    for line, name, (x, y), place in zip(ascending, names, ends, places, strict=True):
        beside = (x + (right - left) / 60.0, float(place))
        style: dict[str, Any] = {"colour": line.colour, "baseline": "center", "size": SMALL}
        add(axes, Text(name, (x, y), beside=beside, **style))


def mark_beyond(axes: "Axes", lines: Sequence[Line], limits: tuple[float, float]) -> None:
    """Mark with triangles where lines leave the limits of the y axis, and label the value farthest
    beyond each limit.
    """
    for edge, sign, marker in ((limits[0], -1.0, "v"), (limits[1], 1.0, "^")):
        leaving = [
            (line, sign * (np.asarray(line.y) - edge))
            for line in lines
            if np.any(sign * (np.asarray(line.y) - edge) > 0)
        ]
        for line, excess in leaving:
            if not line.is_quiet:
                x = np.asarray(line.x)[_turns(excess > 0)]
                style: dict[str, Any] = {"marker": marker, "size": 4.5, "is_joined": False}
                style |= {"colour": line.colour, "is_aside": True, "more": {"clip_on": False}}
                add(axes, Line(x, np.full(x.size, edge), **style))
        if leaving:
            line, excess = max(leaving, key=lambda pair: float(np.nanmax(pair[1])))
            turns, farthest = _turns(excess > 0), int(np.nanargmax(excess))
            at = float(line.x[turns[np.abs(turns - farthest).argmin()]]), edge
            _label_value(axes, measured(line.y[farthest]), at, sign)


def _turns(beyond: Array) -> Array:
    """Indices at which a line crosses a limit: first and last of each stretch beyond it, without
    the ends of the line.

    beyond: (n_points,), bool
    returns: (n_turns,), int; never empty where ``beyond`` has a true value
    """
    inside = np.concatenate([[False], ~beyond, [False]])
    turns = np.flatnonzero(beyond & (inside[:-2] | inside[2:]))
    return turns if turns.size else np.flatnonzero(beyond)[[0]]


def _label_value(axes: "Axes", value: str, at: tuple[float, float], sign: float) -> None:
    low, high = axes.get_xlim()
    right = at[0] > (low + high) / 2.0
    box = {"facecolor": PAPER, "linewidth": 0, "alpha": 0.8, "pad": 0.6}
    style: dict[str, Any] = {"justify": "right" if right else "left", "size": 8.0}
    style |= {"baseline": "top" if sign > 0 else "bottom", "more": {"bbox": box}}
    shift = (-6 if right else 6, -5 * sign)
    add(axes, Text(f"{'↑' if sign > 0 else '↓'} {value}", at, shift, **style))


def label_points(axes: "Axes", names: Sequence[tuple[str, tuple[float, float]]]) -> None:
    """Write names next to their points, within the present x limits; of several close together, the
    first and the last.
    """
    low, high = axes.get_xlim()
    room = ROOM * (high - low)
    xs = [-np.inf, *sorted(x for _, (x, _) in names), np.inf]
    for index, (name, at) in enumerate(sorted(names, key=lambda one: one[1][0]), start=1):
        before, after = at[0] - xs[index - 1] < 2.0 * room, xs[index + 1] - at[0] < 2.0 * room
        left = after or (not before and at[0] > high - room)
        if not (before and after):
            style: dict[str, Any] = {"justify": "right" if left else "left", "size": 8.0}
            add(axes, Text(name, at, (-5 if left else 5, -9), **style))
