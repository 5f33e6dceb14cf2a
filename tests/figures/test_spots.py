"""Marks at the points that sentences speak of: they lie on what the figure shows."""

from functools import cache

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from generator.contracts import Analysis, Finding, Label, Result, Spot
from generator.figures.panels import panels
from generator.figures.spots import DrawnPlace, mark
from generator.figures.style import SERIES, STYLE
from tests.analyses.test_all import ANALYSES, CASES, result_of

LABEL = Label("encoding", SERIES[0])
# of the axes: lines are drawn through sampled points, and spots interpolate between these
SLACK = 0.03


@cache
def drawn(analysis_key: str, name: str, figure_key: str) -> Figure:
    """A figure of a case."""
    analysis = next(analysis for analysis in ANALYSES if analysis.key == analysis_key)
    spec = next(spec for spec in analysis.figures if spec.key == figure_key)
    with mpl.rc_context(STYLE):
        return spec.draw({LABEL: result_of(analysis, name)})


def paths(axes: Axes) -> list[np.ndarray]:
    """Points of every line and outline, as shares of the axes."""
    lines = [
        np.clip(np.column_stack(line.get_data()), -1e9, 1e9)
        for line in axes.lines
        if line.get_transform() == axes.transData
    ]
    steps = [patch.get_path().vertices for patch in axes.patches if isinstance(patch, StepPatch)]
    return [shares(axes, points) for points in (*lines, *steps) if len(points)]


def shares(axes: Axes, points: np.ndarray) -> np.ndarray:
    """Points (n, 2) in data coordinates as shares of the axes."""
    axes.get_xlim(), axes.get_ylim()  # Else limits would not be those of the lines yet.
    return np.asarray(axes.transAxes.inverted().transform(axes.transData.transform(points)))


def distance(point: np.ndarray, path: np.ndarray) -> float:
    """From a point to the nearest segment of a path."""
    if len(path) == 1:
        return float(np.linalg.norm(point - path[0]))
    starts, steps = path[:-1], np.diff(path, axis=0)
    lengths = np.maximum(np.sum(steps**2, axis=1), 1e-30)
    along = np.clip(np.sum((point - starts) * steps, axis=1) / lengths, 0.0, 1.0)[:, None]
    return float(np.nanmin(np.linalg.norm(starts + along * steps - point, axis=1)))


def spots_of(analysis: Analysis, name: str) -> list[Spot]:
    return [spot for finding in result_of(analysis, name).findings for spot in finding.spots]


def is_on_what_is_drawn(spot: Spot, axes: Axes) -> bool:
    (place,) = shares(axes, np.array([[spot.x, spot.y]]))
    is_within = bool(np.all((place > -SLACK) & (place < 1.0 + SLACK)))
    return is_within and (
        bool(axes.images) or min(distance(place, path) for path in paths(axes)) < SLACK
    )


def test_every_spot_lies_on_what_is_drawn() -> None:
    spots = [(each.key, name, spot) for each, name in CASES for spot in spots_of(each, name)]
    astray = [
        (key, name, spot)
        for key, name, spot in spots
        if not is_on_what_is_drawn(spot, drawn(key, name, spot.figure).axes[spot.panel])
    ]
    assert astray == []
    marked = {analysis.key for analysis, name in CASES if spots_of(analysis, name)}
    assert len(marked) >= 12


def test_findings_are_numbered_where_figures_mark_them() -> None:
    spot = Spot("lines", 1.0, 2.0)
    result = Result(
        findings=(
            Finding("a"),
            Finding("b", spots=(spot, spot)),
            Finding("c", spots=(Spot("other", 0.0, 0.0),)),
        )
    )
    assert [number for number, _ in result.numbered] == [None, 1, 2]
    assert result.spots("lines") == ((1, spot), (1, spot))


def test_a_mark_leaves_the_limits_and_turns_to_the_middle() -> None:
    figure, (axes,) = panels(1)
    axes.plot([0.0, 10.0], [0.0, 1.0])
    axes.set(xlim=(0.0, 10.0), ylim=(0.0, 1.0))
    mark(figure, [DrawnPlace(1, 0, 0.5, 0.5), DrawnPlace(2, 0, 9.9, 0.95)])
    (left, middle), (right, top) = (text.get_position() for text in axes.texts)
    assert left > 0.0
    assert middle > 0.0
    assert right < 0.0
    assert top < 0.0
    assert axes.get_xlim() == (0.0, 10.0)
    assert [text.get_text() for text in axes.texts] == ["1", "2"]


def test_numbers_of_one_place_do_not_cover_one_another() -> None:
    figure, (axes,) = panels(1)
    axes.set(xlim=(0.0, 10.0), ylim=(0.0, 1.0))
    mark(figure, [DrawnPlace(1, 0, 5.0, 0.5), DrawnPlace(2, 0, 5.01, 0.5)])
    (_, first), (_, second) = (text.get_position() for text in axes.texts)
    assert abs(first - second) > 14.0  # points: the height of a ring with a number
