"""The figures of “Decay with distance”: profiles, rotations of several bases, and a strip of all
encodings.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from generator.contracts import Result, Results
from generator.encodings import Rotation
from generator.encodings.kernels import log_spaced
from generator.figures.canvas import Axes, Figure
from generator.figures.lines import (
    hidden,
    legend_below,
    mark_beyond,
    standing_back,
    with_line_styles,
)
from generator.figures.panels import logarithmic, panels
from generator.figures.scene import DOTTED, Band, Dash, Line, StraightLine, add
from generator.figures.style import GRID, MUTED, SERIES
from generator.numerics.arrays import Array
from generator.numerics.shapes import far_cosine, far_from, half_distance

LOWEST, HIGHEST, MARGIN = -0.6, 1.05, 0.05  # limits of the vertical axis
MOST_BANDS = 3  # encodings in one figure up to which the range of their windows is drawn
BASES, PER_OCTAVE = (1e4, 1e5, 1e6, 1e7), 24
NEAR, FARTHEST, LIMITS_OF_COSINES = 128, 131_072, (-0.25, 1.03)  # NEAR: positions, and components
TICKS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


def draw_profiles(results: Results) -> Figure:
    """Decay with distance, one line per encoding: within a window, and over all positions; one row
    of panels per unit of distance.
    """
    units = sorted({str(result.arrays["unit"]) for result in results.values()}, reverse=True)
    figure, axes = panels(2 * len(units), height=3.8)
    for row, unit in enumerate(units):
        in_unit = {
            label: result for label, result in results.items() if str(result.arrays["unit"]) == unit
        }
        window, every = axes[2 * row], axes[2 * row + 1]
        lines = _lines(results, in_unit, _within_window)
        _draw_lines(window, lines, lines)
        add(window, *_bands(in_unit))
        lines = _lines(results, in_unit, decay_over_all)
        shown = [replace(line, name=hidden(line.name)) for line in lines if not line.is_quiet]
        _draw_lines(every, lines, shown)  # The legend has them once.
        logarithmic(every, "x")
        window.set(xlabel=f"distance ({unit})", ylabel="similarity (1 = highest, 0 = far)")
        every.set(xlabel="distance over all positions")
    legend_below(figure)
    return figure


def _within_window(result: Result) -> tuple[Array, Array]:
    return np.arange(result.arrays["profile"].size), result.arrays["profile"]


def _lines(
    results: Results, some: Results, points: Callable[[Result], tuple[Array, Array]]
) -> list[Line]:
    """The ``points`` of ``some`` results, in the styles that these have among all."""
    lines = []
    for label, result, dash in with_line_styles(results):
        if label in some:
            x, y = points(result)
            name = label.title if not np.isnan(y).all() else f"{label.title} (does not fall)"
            line = Line(x, y, colour=label.colour, dash=dash, name=name)
            lines.append(standing_back(line) if label.is_quiet else line)
    return lines


def _draw_lines(axes: Axes, lines: Sequence[Line], shown: Sequence[Line]) -> None:
    """Plot the ``shown`` of the lines in a view with room for all."""
    values = np.concatenate([line.y for line in lines])
    low = max(LOWEST, values[np.isfinite(values)].min(initial=0.0) - MARGIN)
    styles: tuple[tuple[str, Dash], ...] = ((GRID, "solid"), (MUTED, DOTTED), (GRID, "solid"))
    for index, (colour, dash) in enumerate(styles):
        # In the second panel, published data have these names, which no page shows.
        name = "" if shown is lines else f"__child{index}"
        add(axes, StraightLine("y", index / 2.0, colour=colour, width=0.8, dash=dash, name=name))
    add(axes, *shown)
    ends = [end for line in lines for end in (line.x[0], line.x[-1])]
    axes.set(xlim=(min(ends), max(ends)), ylim=(low, HIGHEST))
    mark_beyond(axes, lines, (low, HIGHEST))


def _bands(results: Results) -> Iterator[Band]:
    """The range of the windows of each encoding, where there are few encodings."""
    if len(results) > MOST_BANDS:
        return
    for label, result in results.items():
        profiles = result.arrays["profiles"]
        has_band = len(profiles) > 1 and not np.isnan(profiles).all(axis=0).any()
        if has_band and not label.is_quiet:
            low, high = np.nanmin(profiles, axis=0), np.nanmax(profiles, axis=0)
            yield Band(np.arange(low.size), low, high, colour=label.colour, alpha=0.16)


def decay_over_all(result: Result) -> tuple[Array, Array]:
    """Distances from 1 over all positions, and the scaled similarity there: (n − 1,) each."""
    return result.arrays["context_distances"][1:], result.arrays["context"][1:]


def draw_bases(_: Results) -> Figure:
    """The mean cosine of rotations of one size and four bases, by distance, near and far."""
    figure, axes = panels(2, height=3.4)
    distances = log_spaced(FARTHEST, PER_OCTAVE)
    for base, colour in zip(BASES, SERIES, strict=False):
        form = Rotation(base, NEAR, NEAR, NEAR)
        near, far = form.by_offset(NEAR), far_cosine(form.frequencies, NEAR)
        name = f"base {base:,.0f}"
        level: Any = {"colour": colour, "is_aside": True}
        half = half_distance(np.arange(NEAR), (near - far) / (1.0 - far)) or 0.0
        add(axes[0], Line(np.arange(NEAR), near, colour=colour, name=name))
        add(axes[0], Line([far_from(NEAR), NEAR - 1], [far, far], dash=DOTTED, **level))
        add(axes[0], Line([half], [(1.0 + far) / 2.0], marker="o", is_joined=False, **level))
        every = np.cos(distances[1:, None] * form.frequencies).mean(axis=1)
        add(axes[1], Line(distances[1:], every, colour=colour, name=hidden(name)))
    logarithmic(axes[1], "x")
    for panel, end in zip(axes, (NEAR - 1, FARTHEST), strict=True):
        panel.set(xlabel="distance (positions)", ylim=LIMITS_OF_COSINES, xlim=(None, end))
        panel.grid(axis="y")
    axes[0].set_ylabel("mean cosine of the angles")
    legend_below(figure)
    return figure


@dataclass(frozen=True)
class StripDot:
    """An encoding of a strip, or the median of those of a model that differ by layer alone.

    order: of its row, the first above; row: name of that; half: in positions or patches; far: a
        cosine, None of what is none, or has no common one
    """

    order: int
    row: str
    name: str
    half: float
    far: float | None


def draw_strip(dots: Sequence[StripDot], _: Results) -> Figure:
    """A dot for each encoding, in a row for each scheme: half way to the far level, and that."""
    figure, (above, below) = panels(2, columns=1, height=0.9 + 0.2 * len({d.row for d in dots}))
    _rows_of_dots(above, [(dot.row, dot.name, dot.half) for dot in dots])
    _rows_of_dots(below, [(dot.row, dot.name, dot.far) for dot in dots if dot.far is not None])
    above.set_xlabel("half way (positions or patches)")
    below.set_xlabel("far level (cosine)")
    logarithmic(above, "x")
    above.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    return figure


def _rows_of_dots(axes: Axes, dots: Sequence[tuple[str, str, float]]) -> None:
    """dots: row, name and value of each, the uppermost row first"""
    rows = list(dict.fromkeys(row for row, _, _ in reversed(dots)))
    for place in range(len(rows)):
        add(axes, StraightLine("y", place, colour=GRID, order=0.0))
    for row, name, value in dots:
        style: Any = {"marker": "o", "size": 5.0, "is_joined": False, "alpha": 0.75}
        add(axes, Line([value], [rows.index(row)], colour=SERIES[0], name=hidden(name), **style))
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(rows) - 0.4)
