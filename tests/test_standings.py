"""Where a value stands among all."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.contracts import Metric
from generator.site.value_strips import MARGIN, WIDTH, standing, strips

KEY = ("analysis", "key")


def metric(value: float | None) -> Metric:
    return Metric("key", "Title", value, reason=None if value is not None else "none")


def strokes(svg: bytes) -> list[int]:
    """The steps that the paths run over."""
    runs = [(int(first), int(length)) for first, length in re.findall(r"M(\d+) 0h(\d+)", svg.decode())]
    return [step for first, length in runs for step in range(first, first + length)]


@pytest.mark.parametrize(("value", "place"), [(1.0, MARGIN), (2.0, WIDTH // 2), (3.0, WIDTH - MARGIN)])
def test_the_lowest_is_left_and_the_highest_right(value: float, place: int) -> None:
    found = standing("analysis", metric(value), {KEY: (1.0, 2.0, 2.0, 3.0)})
    assert found is not None
    assert (found.low, found.high, found.place) == (1.0, 3.0, place)


def test_a_page_stays_the_same_while_the_ends_of_the_line_do() -> None:
    before, after = (standing("analysis", metric(2.0), {KEY: values}) for values in ((1.0, 2.0, 3.0), (1.0, 1.5, 2.0, 2.7, 3.0)))
    assert before == after


def test_equal_values_share_a_stroke() -> None:
    assert strokes(strips({KEY: (1.0, 2.0, 2.0, 3.0)})) == [0, 18, 36]


def test_neighbours_are_one_run_of_strokes() -> None:
    drawn = strips({KEY: (0.0, 1.0, 2.0, 5.0, 36.0)})
    assert b'd="M0 0h3M5 0h1M36 0h1"' in drawn
    assert strokes(drawn) == [0, 1, 2, 5, 36]


def test_each_metric_has_a_view_of_its_own() -> None:
    drawn = ElementTree.fromstring(strips({("a", "x"): (0.0, 1.0), ("b", "y"): (2.0,), ("b", "z"): (0.0, 3.0)}))  # noqa: S314 (it is ours)
    views = [(view.get("id"), view.get("viewBox")) for view in drawn.iter("{http://www.w3.org/2000/svg}view")]
    assert views == [("a.x", "0 0 120 14"), ("b.z", "0 14 120 14")]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=1_000))
def test_however_many_there_are_a_strip_is_short(values: list[float]) -> None:
    assert len(strips({KEY: sorted(values)})) <= 800


def test_the_widest_span_is_a_line_too() -> None:
    found = standing("analysis", metric(8e307), {KEY: (-8e307, 0.0, 8e307)})
    assert found is not None
    assert found.place == WIDTH - MARGIN
    assert strokes(strips({KEY: (-8e307, 0.0, 8e307)})) == [0, 18, 36]


@pytest.mark.parametrize("values", [(), (2.0,), (2.0, 2.0), (-1.7e308, 1.7e308)])
def test_without_a_line_to_stand_on_there_is_no_standing(values: tuple[float, ...]) -> None:
    assert standing("analysis", metric(2.0), {KEY: values}) is None


def test_what_does_not_apply_stands_nowhere() -> None:
    assert standing("analysis", metric(None), {KEY: (1.0, 2.0)}) is None
