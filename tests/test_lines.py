"""Lines that share a plot: cases counted by hand, asked of what matplotlib holds."""

import numpy as np
import pytest

from generator.contracts import Label
from generator.figures.lines import DASHES, Line, Point, dots, label_points, legend_below, mark_beyond, with_line_styles
from generator.figures.panels import panels
from generator.figures.style import SERIES


def test_a_line_is_dashed_where_its_colour_comes_again() -> None:
    labels = [Label("a", "#111111"), Label("b", "#222222"), Label("c", "#111111"), Label("d", "#111111")]
    found = [(label.title, result, dash) for label, result, dash in with_line_styles({label: index for index, label in enumerate(labels)})]
    assert found == [("a", 0, DASHES[0]), ("b", 1, DASHES[0]), ("c", 2, DASHES[1]), ("d", 3, DASHES[2])]


def test_as_many_checkpoints_as_a_figure_may_hold_all_look_different() -> None:
    labels = {Label(f"{index}", SERIES[index % len(SERIES)]): None for index in range(len(SERIES) * len(DASHES))}
    assert len({(label.colour, dash) for label, _, dash in with_line_styles(labels)}) == len(labels)


@pytest.mark.parametrize(
    ("values", "marked", "said"),
    [
        ([0.0, 1.0, 2.0, 1.0], [], []),
        ([9.0, 1.0, 1.0, 1.0], [(0.0, 3.0, "^")], ["↑ 9"]),
        ([1.0, 4.0, 5.0, 6.0], [(1.0, 3.0, "^")], ["↑ 6"]),
        ([1.0, -7.5, 1.0, 4.0], [(1.0, 0.0, "v"), (3.0, 3.0, "^")], ["↓ −7.5", "↑ 4"]),
        ([9.0, 9.0, 9.0, 9.0], [(0.0, 3.0, "^")], ["↑ 9"]),
        ([np.nan, 1.0, 4.0, 1.0], [(2.0, 3.0, "^")], ["↑ 4"]),
    ],
)
def test_where_a_line_leaves_is_marked_with_its_farthest_value(
    values: list[float], marked: list[tuple[float, float, str]], said: list[str]
) -> None:
    _, (axes,) = panels(1)
    mark_beyond(axes, [Line(np.arange(4), np.array(values), "#111111")], (0.0, 3.0))
    found = [(x, y, line.get_marker()) for line in axes.lines for x, y in line.get_xydata().tolist()]  # type: ignore[union-attr]
    assert found == marked
    assert [text.get_text() for text in axes.texts] == said


def test_only_the_farthest_of_several_lines_is_named() -> None:
    _, (axes,) = panels(1)
    mark_beyond(
        axes, [Line(np.arange(2), np.array([value, 0.0]), colour) for value, colour in ((5.0, "#111111"), (7.0, "#222222"))], (0, 3)
    )
    assert [text.get_text() for text in axes.texts] == ["↑ 7"]
    assert len(axes.lines) == 2


@pytest.mark.parametrize(
    ("xs", "said"),
    [
        ([50.0], [("50", "left")]),
        ([97.0], [("97", "right")]),
        ([40.0, 45.0], [("40", "right"), ("45", "left")]),
        ([40.0, 45.0, 50.0], [("40", "right"), ("50", "left")]),
        ([10.0, 60.0], [("10", "left"), ("60", "left")]),
    ],
)
def test_names_of_places_close_together_stand_on_either_side(xs: list[float], said: list[tuple[str, str]]) -> None:
    _, (axes,) = panels(1)
    axes.set_xlim(0.0, 100.0)
    label_points(axes, [Point(f"{x:.0f}", x, 0.5, "#111111") for x in xs])
    assert [(text.get_text(), text.get_horizontalalignment()) for text in axes.texts] == said


@pytest.mark.parametrize(("length", "columns"), [(5, 3), (40, 2), (60, 1)])
def test_a_legend_has_as_many_columns_as_fit_and_the_figure_grows_by_its_rows(length: int, columns: int) -> None:
    figure, (axes,) = panels(1, height=3.0)
    for _ in range(6):
        axes.plot([0, 1], label="m" * length)
    legend_below(figure)
    assert figure.legends[0]._ncols == columns  # type: ignore[attr-defined]
    assert figure.get_figheight() == pytest.approx(3.0 + (6 / columns - 1) * 13.5 / 72)


def test_points_are_dotted_where_they_are_few() -> None:
    assert (dots(1), dots(32), dots(33)) == ("o", "o", None)
