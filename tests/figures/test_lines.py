"""Line plots, by the artists that matplotlib holds, against cases by hand."""

from typing import Any

import numpy as np
import pytest
from matplotlib.text import Annotation

from generator.contracts import Label
from generator.figures.lines import (
    DASHES,
    LEAST_APART,
    dots,
    label_points,
    legend_below,
    mark_beyond,
    names_at_ends,
    with_line_styles,
)
from generator.figures.panels import panels
from generator.figures.scene import Line, add
from generator.figures.style import SERIES


def test_a_line_is_dashed_when_its_colour_recurs() -> None:
    labels = [Label("a", "#111111"), Label("b", "#222222"), Label("c", "#111111"),
              Label("d", "#111111")]  # fmt: skip
    styles = [
        (label.title, result, dash)
        for label, result, dash in with_line_styles(
            {label: index for index, label in enumerate(labels)}
        )
    ]
    assert styles == [
        ("a", 0, DASHES[0]),
        ("b", 1, DASHES[0]),
        ("c", 2, DASHES[1]),
        ("d", 3, DASHES[2]),
    ]


def test_the_most_lines_of_a_figure_all_look_different() -> None:
    labels = {
        Label(f"{index}", SERIES[index % len(SERIES)]): None
        for index in range(len(SERIES) * len(DASHES))
    }
    assert len({(label.colour, dash) for label, _, dash in with_line_styles(labels)}) == len(labels)


def test_names_at_ends_are_apart_within_the_axes_in_the_order_of_the_lines() -> None:
    _, (axes,) = panels(1)
    ends = (("_low", 0.0), ("one", 0.99), ("other", 1.0), ("third", 1.0))
    lines = [Line([0, 1], [0.5, end], colour="#111111", name=name) for name, end in ends]
    add(axes, *lines)
    names_at_ends(axes, lines)
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert list(places) == ["low", "one", "other", "third"]
    heights = [y for _, y in places.values()]
    low, high = axes.get_ylim()
    assert min(np.diff(heights)) >= LEAST_APART * (high - low) - 1e-9
    assert low <= heights[0] <= heights[-1] <= high
    assert all(1.0 < x < axes.get_xlim()[1] for x, _ in places.values())


@pytest.mark.parametrize(("values", "markers", "texts"), [
    ([0.0, 1.0, 2.0, 1.0], [], []),
    ([9.0, 1.0, 1.0, 1.0], [(0.0, 3.0, "^")], ["↑ 9"]),
    ([1.0, 4.0, 5.0, 6.0], [(1.0, 3.0, "^")], ["↑ 6"]),
    ([1.0, -7.5, 1.0, 4.0], [(1.0, 0.0, "v"), (3.0, 3.0, "^")], ["↓ −7.50", "↑ 4"]),
    ([9.0, 9.0, 9.0, 9.0], [(0.0, 3.0, "^")], ["↑ 9"]),
    ([np.nan, 1.0, 4.0, 1.0], [(2.0, 3.0, "^")], ["↑ 4"]),
])  # fmt: skip
def test_a_line_beyond_the_limits_is_marked(values: Any, markers: Any, texts: list[str]) -> None:
    _, (axes,) = panels(1)
    mark_beyond(axes, [Line(np.arange(4), np.array(values), colour="#111111")], (0.0, 3.0))
    drawn = [
        (float(x), float(y), line.get_marker())
        for line in axes.lines
        for x, y in np.asarray(line.get_xydata())
    ]
    assert drawn == markers
    assert [text.get_text() for text in axes.texts] == texts


def test_only_the_farthest_of_several_lines_is_labelled() -> None:
    _, (axes,) = panels(1)
    mark_beyond(
        axes,
        [
            Line(np.arange(2), np.array([value, 0.0]), colour=colour)
            for value, colour in ((5.0, "#111111"), (7.0, "#222222"))
        ],
        (0, 3),
    )
    assert [text.get_text() for text in axes.texts] == ["↑ 7"]
    assert len(axes.lines) == 2


@pytest.mark.parametrize(("xs", "labels"), [
    ([50.0], [("50", "left")]),
    ([97.0], [("97", "right")]),
    ([40.0, 45.0], [("40", "right"), ("45", "left")]),
    ([40.0, 45.0, 50.0], [("40", "right"), ("50", "left")]),
    ([10.0, 60.0], [("10", "left"), ("60", "left")]),
])  # fmt: skip
def test_labels_of_close_points_are_on_either_side(xs: list[float], labels: Any) -> None:
    _, (axes,) = panels(1)
    axes.set_xlim(0.0, 100.0)
    label_points(axes, [(f"{x:.0f}", (x, 0.5)) for x in xs])
    texts = [text for text in axes.texts if isinstance(text, Annotation)]
    assert [(text.get_text(), text.get_horizontalalignment()) for text in texts] == labels
    # They end, or start, a little beside the point.
    assert ["right" if text.xyann[0] < 0 else "left" for text in texts] == [
        side for _, side in labels
    ]


@pytest.mark.parametrize(("length", "columns"), [(5, 3), (40, 2), (60, 1)])
def test_a_legend_has_as_many_columns_as_fit(length: int, columns: int) -> None:
    figure, (axes,) = panels(1, height=3.0)
    for _ in range(6):
        axes.plot([0, 1], label="m" * length)
    legend_below(figure)
    assert figure.legends[0]._ncols == columns  # type: ignore[attr-defined]
    assert figure.get_figheight() == pytest.approx(3.0 + (6 / columns - 1) * 13.5 / 72)


def test_few_points_have_markers() -> None:
    assert (dots(1), dots(32), dots(33)) == ("o", "o", None)
