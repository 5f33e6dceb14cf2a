"""Figures that analyses declare: a curve of each result in one panel, a matrix of each as an
image.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from generator.contracts.results import Label, Overlay, Result, Results
from generator.figures.lines import (
    Dash,
    Line,
    dots,
    legend_below,
    mark_beyond,
    stand_back,
    with_line_styles,
)
from generator.figures.panels import Panel, image_panels, logarithmic, panels
from generator.figures.style import ASIDE, MUTED
from generator.numerics.arrays import Array, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Limits = tuple[float | None, float | None]
Points = Callable[[Result], tuple[Array, Array]]


def of_arrays(places: str, values: str) -> Points:
    """Arrays of the result, by name; places from 0 on where these have none."""
    return partial(_of_arrays, places, values)


def _of_arrays(places: str, values: str, result: Result) -> tuple[Array, Array]:
    y = result.arrays[values]
    return (result.arrays[places] if places else np.arange(y.size)), y


@dataclass(frozen=True)
class Rule:
    """A line across the panel at a value of an axis."""

    axis: Literal["x", "y"]
    at: float
    width: float = 0.6
    dash: Dash = "solid"


def diagonal(width: float) -> "Callable[[Axes, Results], None]":
    """Draws a line from 0 to 100% on both axes."""
    return partial(_diagonal, width)


def _diagonal(width: float, axes: "Axes", _: Results) -> None:
    axes.plot([0, 100], [0, 100], color=MUTED, linewidth=width, label=ASIDE)


@dataclass(frozen=True)
class Curves:
    """A curve of each result, in one panel.

    points: places and values, (n,) each; x, y: labels of the axes; log: the logarithmic axis
    ylim: also what makes the limits of all results; beyond: whether triangles mark values there
    style: of the curves, for matplotlib; dotted: whether few points are dots on their curve
    first: draws what belongs to no result before all curves, last after them; below, above: draw
        what belongs to a result, one of so many, before its curve and after it
    ascending: whether places rise
    """

    points: Points
    x: str
    y: str
    log: Literal["", "x", "y"] = ""
    xlim: Limits | None = None
    ylim: Limits | Callable[[Results], Limits] | None = None
    height: float = 3.2
    rules: tuple[Rule, ...] = ()
    style: Mapping[str, Any] = field(default_factory=dict)
    dotted: bool = False
    grid: Literal["", "x", "y", "both"] = "y"
    beyond: bool = False
    ascending: bool = True
    first: "Callable[[Axes, Results], None] | None" = None
    below: "Callable[[Axes, Label, Result, int], None] | None" = None
    above: "Callable[[Axes, Label, Result, Dash], None] | None" = None
    last: "Callable[[Axes, Results], None] | None" = None

    def __call__(self, results: Results) -> "Figure":
        """The figure."""
        figure, (axes,) = panels(1, height=self.height)
        for rule in self.rules:
            across = axes.axhline if rule.axis == "y" else axes.axvline
            across(rule.at, color=MUTED, linewidth=rule.width, linestyle=rule.dash)
        if self.first:
            self.first(axes, results)
        lines = [
            self._curve(axes, label, result, dash, len(results))
            for label, result, dash in with_line_styles(results)
        ]
        if self.last:
            self.last(axes, results)
        if self.log:
            logarithmic(axes, self.log)
        axes.set(xlabel=self.x, ylabel=self.y)
        if self.xlim:
            axes.set_xlim(*self.xlim)
        limits = self.ylim(results) if callable(self.ylim) else self.ylim
        if limits:
            axes.set_ylim(*limits)
            if self.beyond:
                mark_beyond(axes, lines, axes.get_ylim())
        if self.grid:
            axes.grid(axis=self.grid)
        legend_below(figure)
        return figure

    def _curve(self, axes: "Axes", label: Label, result: Result, dash: Dash, count: int) -> Line:
        before = [*axes.get_children()]
        if self.below:
            self.below(axes, label, result, count)
        x, y = self.points(result)
        style: dict[str, Any] = {"color": label.colour, "linestyle": dash, "label": label.title}
        if self.dotted:
            style |= {"marker": dots(x.size), "markersize": 2.5}
        [curve] = axes.plot(x, y, **{**style, **self.style})
        if self.above:
            self.above(axes, label, result, dash)
        if label.is_quiet:
            stand_back(axes, before, curve)
        return Line(x, y, label.colour, label.is_quiet)

    def overlay(self, how_to_read: str, title: str = "", y: str = "") -> Overlay:
        """The same curves on the compare page."""
        points = self.points if self.ascending else partial(_reversed, self.points)
        return Overlay(self.x, y or self.y, points, how_to_read, self.log, title)


def _reversed(points: Points, result: Result) -> tuple[Array, Array]:
    x, y = points(result)
    return x[::-1], y[::-1]


@dataclass(frozen=True)
class Images:
    """A matrix of each result as an image.

    matrix: name of an array that the result derives, or what returns it; labels: of columns, rows
        and values
    """

    matrix: str | Callable[[Result], Floats]
    limits: tuple[float, float]
    colours: str
    labels: tuple[str, str, str]
    square: bool = True

    def __call__(self, results: Results) -> "Figure":
        """The figure."""
        images = [
            Panel(
                label.title,
                result.derived[self.matrix]
                if isinstance(self.matrix, str)
                else self.matrix(result),
            )
            for label, result in results.items()
        ]
        return image_panels(images, self.limits, self.colours, self.labels, self.square)
