"""Places of panels in a figure, from the labels that they will have: matplotlib's own engines draw
every label several times to measure it.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

# Only what draws imports this module.
from matplotlib.layout_engine import LayoutEngine  # noqa: TID253

from generator.figures.style import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

POINTS = 72  # per inch
# About the figure, and between panels. These and all lengths below are in points.
EDGE, GAP = 4.0, 9.0
LETTER, LINE = 0.62, 1.25  # Width of a letter, height of a line, by the size of the font.
TICK = 7.0  # Length of a tick, and the room between it and its label.
LABEL = 4.0  # Room between the labels of ticks and that of the axis.
TITLE = 1.0  # Room above a title.
# Width of a colour bar, room at its left, and its height as a share of that of the panels.
BAR, BESIDE, SHARE = 8.0, 8.0, 0.85


class Margins(NamedTuple):
    """Room for labels about a panel, in points."""

    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0


class PanelPlacement(LayoutEngine):
    """Panels in rows and columns of equal size, each colour bar at the right of a column, the
    legend of the figure below them.
    """

    _adjust_compatible, _colorbar_gridspec = True, False  # As the base class asks of every engine.

    def __init__(self) -> None:
        super().__init__()
        self.bars: dict[Axes, int] = {}

    def add_bar(self, bar: "Axes", beside: "Iterable[Axes]") -> None:
        """Let the colour bar stand at the right of the last column of these panels."""
        self.bars[bar] = max(_place(axes)[1] for axes in beside)

    def execute(self, fig: "Figure") -> None:
        """Set the positions of all panels and colour bars."""
        panels = {
            _place(axes): axes
            for axes in fig.axes
            if axes not in self.bars and axes.get_subplotspec() is not None
        }
        if not panels:
            return
        rows, columns = (max(place[axis] for place in panels) + 1 for axis in (0, 1))
        room = {place: _margins(axes) for place, axes in panels.items()}
        bars = np.zeros(columns)
        for bar, column in self.bars.items():
            bars[column] += BESIDE + BAR + _across(bar.yaxis)
        width, height = fig.get_size_inches() * POINTS
        below = sum(
            legend.get_window_extent().height * POINTS / fig.dpi + EDGE for legend in fig.legends
        )
        left, right = (_most(room, 1, side) for side in (0, 1))
        bottom, top = (_most(room, 0, side) for side in (2, 3))
        wide = width - 2 * EDGE - GAP * (columns - 1) - sum(left) - sum(right) - bars.sum()
        wide /= columns
        high = (height - 2 * EDGE - GAP * (rows - 1) - sum(bottom) - sum(top) - below) / rows
        beside = np.cumsum([0.0, *(np.array(right) + bars)[:-1]])
        xs = EDGE + np.cumsum(left) + np.arange(columns) * (wide + GAP) + beside
        above = np.cumsum([0.0, *bottom[:-1]])
        ys = height - EDGE - np.cumsum(top) - np.arange(rows) * (high + GAP) - above - high
        for (row, column), axes in panels.items():
            axes.set_position((xs[column] / width, ys[row] / height, wide / width, high / height))
        low, full = ys[-1], ys[0] + high - ys[-1]
        for bar, column in self.bars.items():
            x = xs[column] + wide + right[column] + BESIDE
            y = low + full * (1 - SHARE) / 2
            bar.set_position((x / width, y / height, BAR / width, full * SHARE / height))


def _most(room: Mapping[tuple[int, int], Margins], axis: int, side: int) -> list[float]:
    """The most room at a side of the panels of each row, axis 0, or column, axis 1."""
    count = max(place[axis] for place in room) + 1
    return [
        max(margins[side] for place, margins in room.items() if place[axis] == index)
        for index in range(count)
    ]


def _place(axes: "Axes") -> tuple[int, int]:
    """Row and column of a panel."""
    spec = axes.get_subplotspec()
    return (spec.rowspan.start, spec.colspan.start) if spec is not None else (0, 0)


def _margins(axes: "Axes") -> Margins:
    if not axes.axison:
        return Margins()
    title = axes.get_title(loc="left") or axes.get_title()
    start = (0, 1)
    lift = axes.title.get_transform().transform(start) - axes.transAxes.transform(start)
    above = n_lines(title) * LINE * STYLE["axes.titlesize"] + lift[1] * POINTS / _dpi(axes) + TITLE
    names = _names(axes.xaxis)
    size = _tick_size(axes.xaxis)
    below = (LINE * size * max(map(n_lines, names)) + TICK) if names else 0.0
    return Margins(
        _across(axes.yaxis),
        max(len(names[-1]) * LETTER * size / 2 if names else 0.0, _legend(axes)),
        below + _label(axes.xaxis) + _offset(axes.xaxis),
        max(above if title else 0.0, _offset(axes.yaxis)),
    )


def n_lines(text: str) -> int:
    """Lines of a text."""
    return text.count("\n") + 1


def _across(axis: "Axis") -> float:
    """Room that the labels of a vertical axis take at its side."""
    lines = [line for name in _names(axis) for line in name.split("\n")]
    ticks = max(map(len, lines)) * LETTER * _tick_size(axis) + TICK if lines else 0.0
    return ticks + _label(axis)


def _label(axis: "Axis") -> float:
    text = axis.get_label_text()
    return n_lines(text) * LINE * STYLE["axes.labelsize"] + LABEL if text else 0.0


def _names(axis: "Axis") -> list[str]:
    """Labels of the ticks within the view."""
    shown = axis.get_tick_params()
    if not any(shown.get(f"label{side}") for side in ("left", "right", "bottom", "top")):
        return []
    low, high = sorted(axis.get_view_interval())
    slack = (high - low) * 1e-9
    locations = list(axis.get_majorticklocs())
    names = axis.get_major_formatter().format_ticks(locations)
    return [
        name
        for place, name in zip(locations, names, strict=True)
        if name and low - slack <= place <= high + slack
    ]


def _offset(axis: "Axis") -> float:
    """Room for the factor or the summand that all labels of the ticks share."""
    return LINE * _tick_size(axis) if axis.get_major_formatter().get_offset() else 0.0


def _legend(axes: "Axes") -> float:
    """Room for a legend at the right of a panel; 0 for one within it."""
    legend = axes.get_legend()
    if legend is None:
        return 0.0
    beyond: float = legend.get_window_extent().x1 - axes.get_window_extent().x1
    return max(beyond, 0.0) * POINTS / _dpi(axes)


def _dpi(axes: "Axes") -> float:
    return float(axes.figure.dpi)


def _tick_size(axis: "Axis") -> float:
    size = axis.get_tick_params().get("labelsize")
    return float(size) if size is not None else STYLE["ytick.labelsize"]
