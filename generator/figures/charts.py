"""Figures that analyses declare: a curve of each result in one panel, a matrix of each as an
image.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from generator.contracts.results import Label, Overlay, Result, Results
from generator.figures.lines import dots, legend_below, mark_beyond, standing_back, with_line_styles
from generator.figures.panels import image_panels, logarithmic, panels
from generator.figures.scene import Dash, Line, Mark, Panel, StraightLine, add, make_room
from generator.figures.style import MUTED
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


def diagonal(width: float) -> Line:
    """A line from 0 to 100% on both axes."""
    return Line([0, 100], [0, 100], colour=MUTED, width=width, is_aside=True)


def _nothing(*_: object) -> tuple[Mark, ...]:
    return ()


@dataclass(frozen=True)
class Curves:
    """A curve of each result, in one panel.

    points: places and values, (n,) each; x, y: labels of the axes; log: the logarithmic axis
    ylim: also what makes the limits of all results; beyond: whether triangles mark values there
    style: fields of each curve; dotted: whether few points are dots on their curve
    first: what belongs to no result and is drawn before all curves, last after them; below, above:
        what belongs to a result, one of so many, and is drawn before its curve, and after it
    finish: changes the axes; ascending: whether places rise
    """

    points: Points
    x: str
    y: str
    log: Literal["", "x", "y"] = ""
    xlim: Limits | None = None
    ylim: Limits | Callable[[Results], Limits] | None = None
    height: float = 3.2
    rules: tuple[StraightLine | Line, ...] = ()
    style: Mapping[str, Any] = field(default_factory=dict)
    dotted: bool = False
    grid: Literal["", "x", "y", "both"] = "y"
    beyond: bool = False
    ascending: bool = True
    first: Callable[[Results], Iterable[Mark]] = _nothing
    below: Callable[[Label, Result, int], Iterable[Mark]] = _nothing
    above: Callable[[Label, Result, Dash], Iterable[Mark]] = _nothing
    last: Callable[[Results], Iterable[Mark]] = _nothing
    finish: "Callable[[Axes, Results], None] | None" = None

    def __call__(self, results: Results) -> "Figure":
        """The figure."""
        figure, (axes,) = panels(1, height=self.height)
        curves = self._show(axes, results)
        if self.finish:
            self.finish(axes, results)
        if self.log:
            logarithmic(axes, self.log)
        axes.set(xlabel=self.x, ylabel=self.y)
        if self.xlim:
            axes.set_xlim(*self.xlim)
        limits = self.ylim(results) if callable(self.ylim) else self.ylim
        if limits:
            axes.set_ylim(*limits)
            if self.beyond:
                mark_beyond(axes, curves, axes.get_ylim())
        if self.grid:
            axes.grid(axis=self.grid)
        legend_below(figure)
        return figure

    def _show(self, axes: "Axes", results: Results) -> list[Line]:
        """Add all marks. returns: the curves"""
        curves = []
        add(axes, *self.rules, *self.first(results))
        for label, result, dash in with_line_styles(results):
            below, above = self.below(label, result, len(results)), self.above(label, result, dash)
            curve = self._curve(label, result, dash)
            if label.is_quiet:
                make_room(axes, *below, *above)
                add(axes, curve)
            else:
                add(axes, *below, curve, *above)
            curves.append(curve)
        add(axes, *self.last(results))
        return curves

    def _curve(self, label: Label, result: Result, dash: Dash) -> Line:
        x, y = self.points(result)
        dotted = {"marker": dots(x.size), "size": 2.5} if self.dotted else {}
        style: dict[str, Any] = {"dash": dash, "name": label.title, **dotted, **self.style}
        line = Line(x, y, colour=label.colour, **style)
        return standing_back(line) if label.is_quiet else line

    def overlay(self, y: str = "") -> Overlay:
        """The same curves on the compare page."""
        points = self.points if self.ascending else partial(_reversed, self.points)
        return Overlay(self.x, y or self.y, points, self.log)


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
