"""The data of figures: what a drawing shows, as values."""

import json
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import sinusoid_formula
from generator.figures import spots, svg
from generator.figures.lines import DASHES, legend_below
from generator.figures.live import MOST_CELLS, MOST_POINTS, described
from generator.figures.panels import (
    colour_bar,
    image,
    image_panels,
    logarithmic,
    panels,
    ridges,
)
from generator.figures.scene import Band, Dots, Line, Panel, PickedPanel, StraightLine, Text, add
from generator.figures.short_text import ALPHABET, STEPS
from generator.figures.spots import DrawnPlace
from generator.figures.style import DIVERGING, INK, PICKED, SEQUENTIAL, STOPS
from generator.figures.trails import seen, trail, trail_scale

BLUE, ORANGE = "#3d7fd6", "#d9772b"
Json = dict[str, object]


def marks(figure: Figure, panel: int = 0) -> list[dict[str, object]]:
    content: list[dict[str, object]] = described(figure)["panels"][panel]["marks"]
    return content


def unpacked(cells: dict[str, object]) -> np.ndarray:
    """The values of packed cells, as their documentation says it."""
    levels, low, high = str(cells["levels"]), float(str(cells["low"])), float(str(cells["high"]))
    codes = np.array(
        [
            64 * ALPHABET.index(levels[at]) + ALPHABET.index(levels[at + 1])
            for at in range(0, len(levels), 2)
        ]
    )
    values = np.where(codes > STEPS, np.nan, low + (high - low) * codes / STEPS)
    return np.asarray(values.reshape(int(str(cells["rows"])), int(str(cells["columns"]))))


def test_a_line_has_its_points_style_and_place_in_the_legend() -> None:
    figure, (axes,) = panels(1)
    values = np.array([5.0, np.nan, 7.0, 8.0])
    add(axes, Line(np.arange(4), values, colour=BLUE, dash=DASHES[1], name="one"))
    legend_below(figure)
    [line] = marks(figure)
    assert line["x"] == {"first": 0.0, "step": 1.0, "count": 4}
    assert line["y"] == [5.0, None, 7.0, 8.0]
    assert (line["series"], line["name"], line["colour"], line["dash"]) == (
        0,
        "one",
        "#3d7fd6",
        [5.0, 2.0],
    )
    assert described(figure)["series"] == [{"name": "one", "colour": "#3d7fd6", "dash": [5.0, 2.0]}]


def test_lines_without_a_name_belong_to_the_series_of_their_style() -> None:
    figure, (axes,) = panels(1)
    for dash, name in zip(DASHES, ("one", "two"), strict=False):
        add(axes, Line([0, 1], [0, 1], colour=BLUE, dash=dash, name=name))
    add(axes, Line([0, 1], [1, 0], colour=BLUE, dash=DASHES[1], name="_two, shuffled"))
    add(axes, Line([0, 1], [2, 2], colour=ORANGE))
    assert [(mark["series"], mark["name"]) for mark in marks(figure)] == [
        (0, "one"),
        (1, "two"),
        (1, "two, shuffled"),
        (None, "values"),
    ]


def test_a_long_line_keeps_its_extremes() -> None:
    figure, (axes,) = panels(1)
    values = np.sin(np.arange(10_000.0))
    values[7_777] = 50.0
    add(axes, Line(np.arange(10_000), values, colour=BLUE))
    [line] = marks(figure)
    heights = np.array(line["y"], dtype=float)
    assert len(heights) <= MOST_POINTS
    assert heights.max() == 50.0
    assert heights.min() == pytest.approx(values.min(), rel=1e-3)  # Four digits are kept.


def test_rules_bands_and_steps_are_told_apart() -> None:
    figure, (axes,) = panels(1)
    add(axes, StraightLine("y", 0.5, colour=INK), StraightLine("x", 2.0))
    low, edges = np.array([0.0, 1.0, 0.0]), np.array([0.0, 2.0, 4.0])
    add(axes, Band(np.arange(3), low, low + 2, colour=BLUE, alpha=0.5))
    add(axes, Line([1.0, 3.0], [1.0, 4.0], colour=ORANGE, edges=edges))
    by_kind = {str(mark["kind"]) + str(mark.get("along", "")): mark for mark in marks(figure)}
    assert (by_kind["rulex"]["at"], by_kind["rulex"]["colour"]) == (0.5, "ink")
    assert by_kind["ruley"]["at"] == 2.0
    assert by_kind["band"]["low"] == [0, 1, 0]
    assert by_kind["band"]["high"] == [2, 3, 2]
    assert by_kind["band"]["alpha"] == 0.5
    assert by_kind["line"]["x"] == [1.0, 3.0]
    assert by_kind["line"]["y"] == [1.0, 4.0]
    assert by_kind["line"]["steps"]


def test_cells_keep_values_gaps_and_colours() -> None:
    figure, (axes,) = panels(1)
    matrix = np.array([[0.0, 0.25, np.nan], [0.5, 0.75, 1.0]])
    colour_bar(figure, image(axes, matrix, (0.0, 1.0), SEQUENTIAL), [axes], "share")
    [cells] = marks(figure)
    assert_allclose(unpacked(cells), matrix, atol=0.5 / STEPS)  # Half a step.
    assert cells["extent"] == [-0.5, 2.5, 1.5, -0.5]
    assert cells["stops"] == STOPS[SEQUENTIAL]
    assert cells["limits"] == [0.0, 1.0]
    assert described(figure)["scale"] == {
        "label": "share",
        "limits": [0.0, 1.0],
        "stops": STOPS[SEQUENTIAL],
    }


@pytest.mark.parametrize("size", [512, 700])
def test_cells_of_a_large_matrix_are_means_of_blocks_that_lie_where_they_are(size: int) -> None:
    figure, (axes,) = panels(1)
    rows = np.arange(float(size))
    image(axes, np.repeat(rows[:, None], size, axis=1), (0.0, float(size)), SEQUENTIAL)
    figure.draw_without_rendering()
    [cells] = marks(figure)
    values = unpacked(cells)
    _, _, bottom, top = np.array(cells["extent"], dtype=float)
    # Where the figure shows the rows.
    middles = top + (np.arange(len(values)) + 0.5) * (bottom - top) / len(values)
    assert values.size <= MOST_CELLS
    assert_allclose(values[:-1, 0], middles[:-1], atol=size / STEPS)
    assert axes.get_ylim() == (size - 0.5, -0.5)


def test_rows_with_names_and_cells_of_a_mosaic_are_not_averaged() -> None:
    figure, (named, mosaic) = panels(2)
    image(named, np.ones((13, 4096)), (0.0, 1.0), SEQUENTIAL)
    named.set_yticks(range(13), list("abcdefghijklm"))
    image(mosaic, Panel("", np.eye(200), is_exact=True), (0.0, 1.0), SEQUENTIAL)
    figure.draw_without_rendering()
    first, second = (unpacked(marks(figure, panel)[0]) for panel in range(2))
    assert len(first) == 13
    assert first.size <= MOST_CELLS // 2
    assert_array_equal(second, np.eye(200))


def test_axes_have_names_scale_and_ticks() -> None:
    figure, axes = panels(2)
    add(axes[0], Line([1, 10_000], [0, 1], colour=BLUE))
    logarithmic(axes[0], "x")
    axes[0].set(xlabel="distance\n(positions)", ylim=(0, 2))
    ridges(axes[1], np.zeros((2, 3)), ["first", "second"], "#3d7fd6", 2.0)
    left, right = described(figure)["panels"]
    assert left["x"]["scale"] == "log"
    assert left["x"]["label"] == "distance (positions)"
    assert left["y"]["limits"] == [0.0, 2.0]
    assert left["x"]["ticks"] is None
    assert right["y"]["ticks"] == [[0.0, "first"], [2.0, "second"]]
    assert (left["column"], right["column"]) == (0, 1)


def test_a_trail_is_one_mark_with_all_positions() -> None:
    points = np.random.default_rng(0).normal(size=(50, 3))
    points[7] = np.nan
    figure, (axes,) = panels(1)
    trail(axes, seen(points, 0.0, 0.0), joined=True, points=points)
    colour_bar(figure, trail_scale(), [axes], "position")
    [curve] = marks(figure)
    assert (curve["kind"], curve["joined"], curve["colour"]) == ("curve", True, None)
    assert_allclose(np.array(curve["columns"], dtype=float).T, points, rtol=1e-3)


def test_a_turn_by_a_right_angle_shows_the_third_axis_and_a_tilt_looks_from_above() -> None:
    points = np.eye(3)
    assert_allclose(seen(points, 0.0, 0.0), [[1, 0], [0, 1], [0, 0]], atol=1e-12)
    assert_allclose(seen(points, 90.0, 0.0), [[0, 0], [0, 1], [1, 0]], atol=1e-12)
    assert_allclose(seen(points, 0.0, 90.0), [[1, 0], [0, 0], [0, -1]], atol=1e-12)


def test_a_drawing_is_taken_apart_into_a_picture_and_its_data() -> None:
    def draw() -> Figure:
        figure, (axes,) = panels(1)
        add(axes, Line([0, 1], [0, 1], colour=BLUE, name="</metadata><script>&"))
        legend_below(figure)
        return figure

    drawing = svg.encode(draw)
    picture, data = svg.parts(drawing)
    assert b"<metadata>" not in picture
    assert picture.rstrip().endswith(b"</svg>")
    assert b"<" not in data
    assert json.loads(data)["series"][0]["name"] == "</metadata><script>&"


def test_what_matplotlib_alone_draws_is_in_the_picture_alone() -> None:
    figure, (axes, other) = panels(2)
    axes.plot([0, 1])
    add(axes, Dots(np.zeros((2, 2)), is_joined=False))
    other.plot([0, 1])
    [panel] = described(figure)["panels"]
    assert [mark["kind"] for mark in panel["marks"]] == ["points"]


def cells_of(panel: PickedPanel) -> Any:
    """The only mark of a figure of one panel, within ±3."""
    labels = ("column", "row", "value")
    [cells] = marks(image_panels([panel], (-3.0, 3.0), DIVERGING, labels, square=False))
    return cells


def test_picked_cells_have_the_numbers_of_their_rows_and_columns() -> None:
    matrix = np.random.default_rng(0).normal(size=(700, 400))
    panel = PickedPanel("A table", matrix, 2.0, table=3)
    cells = cells_of(panel)
    rows, columns = cells["at"]["rows"], cells["at"]["columns"]
    assert PICKED / 2 < len(rows) * len(columns) <= PICKED
    assert_allclose(unpacked(cells), matrix[np.ix_(rows, columns)] / 2.0, atol=2e-3)
    assert cells["extent"] == [-0.5, 399.5, 699.5, -0.5]
    assert cells["whole"] == {"rows": 700, "columns": 400, "unit": 2.0, "table": 3, "formula": None}
    panel = PickedPanel("A matrix", np.eye(3), order=np.array([2, 0, 1]))
    cells = cells_of(panel)
    assert cells["at"] == {"rows": [2, 0, 1], "columns": [2, 0, 1]}
    assert cells["of"] == {"rows": 3, "columns": 3}
    assert "whole" not in cells


def test_all_values_of_a_picked_sinusoid_follow_from_its_data() -> None:
    formula = sinusoid_formula(900, 300)
    panel = PickedPanel("A sinusoid", formula.table, 0.5, table=0, formula=formula)
    waves = cells_of(panel)["whole"]["formula"]
    [places] = waves["places"]
    angles = np.outer(
        places["first"] + places["step"] * np.arange(places["count"]), waves["frequencies"][0]
    )
    table = waves["scale"] * np.where(waves["cosines"], np.cos(angles), np.sin(angles))
    assert_allclose(table, formula.table, atol=1e-5)


def test_what_marks_a_point_of_a_line_goes_with_its_series() -> None:
    figure, (axes,) = panels(1)
    for height, name in ((0.0, "low"), (1.0, "high")):
        add(axes, Line([0, 1, 2], [height] * 3, colour=BLUE, name=name))
    spots.mark(figure, [DrawnPlace(1, 0, 1.4, 1.0)])  # Between two points.
    add(axes, Text("apart", (0.5, 0.5), (0, 0)))
    content = marks(figure)
    (ring,) = [one for one in content if one.get("aside")]
    of_texts = [one["series"] for one in content if one["kind"] == "text"]
    assert (ring["series"], of_texts) == (1, [1, None])


def test_lines_above_one_another_keep_their_values_and_the_places_of_their_ticks() -> None:
    figure, (axes,) = panels(1)
    ridges(axes, np.array([[0.25, 0.5], [-0.125, 0.0]]), ["18", "94"], "#3d7fd6", 2.0)
    lines = [one for one in marks(figure) if one["kind"] == "line"]
    assert [(one["name"], one["base"], one["y"]) for one in lines] == [
        ("18", 0.0, [0.25, 0.5]),
        ("94", 2.0, [-0.125, 0.0]),
    ]


def test_a_long_band_has_its_lines_places_and_an_entry_of_a_legend_is_no_line() -> None:
    figure, (axes,) = panels(1)
    x = np.arange(5000.0)
    add(axes, Band(x, np.sin(x) - 1, np.sin(x) + 1, colour=BLUE, alpha=0.2))
    add(axes, Line(x, np.sin(x), colour=BLUE, name="one"))
    band, line = marks(figure)
    assert (band["x"], band["name"]) == (line["x"], line["name"])
    figure, (axes,) = panels(1)
    add(axes, Line([], [], colour=BLUE, name="before scaling"))
    assert marks(figure) == []
    series: Any = described(figure)["series"]
    assert [one["name"] for one in series] == ["before scaling"]
