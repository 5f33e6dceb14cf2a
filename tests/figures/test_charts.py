"""Figures that analyses declare, and lines that stand back behind those that a figure speaks of."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from generator.contracts import Label, Metric, Result
from generator.figures.charts import Curves
from generator.figures.lines import THIN, hidden
from generator.figures.live import described
from generator.figures.scene import Band, Dash, Line, Mark, StraightLine
from generator.figures.style import QUIET
from generator.numerics.arrays import Array

RESULT = Result((Metric("size", "Size", 0.6667),), {"y": np.array([1.0, 2.0, 9.0])})
GREY, BLUE = Label(hidden("grey"), QUIET, is_quiet=True), Label("blue", "#3d7fd6")


def points(result: Result) -> tuple[Array, Array]:
    return np.arange(3), result.arrays["y"]


def band(label: Label, result: Result, _: int) -> list[Mark]:
    x, y = points(result)
    return [Band(x, np.zeros(3), y, colour=label.colour, alpha=0.2)]


def marks(label: Label, result: Result, dash: Dash) -> list[Mark]:
    again = Line(*points(result), colour=label.colour, dash=dash, name=f"_{label.title}, again")
    point = Line([1.0], [2.0], colour=label.colour, marker="o", is_joined=False, is_aside=True)
    return [again, point, StraightLine("y", 0.5, colour=label.colour)]


CURVES = Curves(points, x="place", y="value", ylim=(0.0, 5.0), rules=(StraightLine("y", 1.0),),
                style={"marker": "."}, beyond=True, below=band, above=marks)  # fmt: skip


@pytest.fixture(scope="module")
def drawn() -> Figure:
    return CURVES({GREY: RESULT, BLUE: RESULT})


def of_colour(axes: Axes, colour: str) -> list[Any]:
    return [line for line in axes.lines if line.get_color() == colour]


def test_only_the_curve_of_a_quiet_result_is_left_behind_the_others(drawn: Figure) -> None:
    [axes] = drawn.axes
    [quiet] = of_colour(axes, QUIET)
    assert (quiet.get_linestyle(), quiet.get_marker()) == ("-", "None")
    others = [line.get_zorder() for line in axes.lines if line is not quiet]
    assert quiet.get_zorder() == THIN["order"] < min(others)
    assert len(of_colour(axes, BLUE.colour)) == 5  # Curve, again, point, rule, and a triangle.
    assert len(axes.collections) == 1


def test_it_has_a_name_where_readers_point_and_no_place_in_the_legend(drawn: Figure) -> None:
    [legend] = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["blue"]
    data = described(drawn)
    lines = [mark for mark in data["panels"][0]["marks"] if mark["kind"] == "line"]
    assert [mark["name"] for mark in lines if mark.get("quiet")] == ["grey"]
    assert [entry["name"] for entry in data["series"]] == ["blue"]


def test_the_compare_page_lays_the_same_curve_over_others_from_the_left() -> None:
    overlay = CURVES.overlay("other")
    assert (overlay.x, overlay.y) == ("place", "other")
    assert overlay.points is points
    falling = Curves(points, x="", y="", ascending=False).overlay().points(RESULT)
    assert_array_equal(falling, [[2, 1, 0], [9.0, 2.0, 1.0]])
