"""Value strips, and the position of a value on its strip."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.contracts import Metric
from generator.site.pictures.value_strips import MARGIN, WIDTH, standing, strips

KEY = ("analysis", "key")


def metric(value: float | None) -> Metric:
    return Metric("key", "Title", value, reason=None if value is not None else "none")


def named(*values: float) -> dict[tuple[str, str], tuple[tuple[float, str], ...]]:
    """Values of encodings without a name."""
    return {KEY: tuple((value, "") for value in values)}


def strokes(svg: bytes) -> list[int]:
    """Steps with a stroke."""
    runs = [map(int, run) for run in re.findall(r"M(\d+) 0h(\d+)", svg.decode())]
    return [step for first, length in runs for step in range(first, first + length)]


@pytest.mark.parametrize(("value", "x"), [(1.0, MARGIN), (2.0, WIDTH // 2), (3.0, WIDTH - MARGIN)])
def test_the_lowest_value_is_left_and_the_highest_right(value: float, x: int) -> None:
    position = standing("analysis", metric(value), named(1.0, 2.0, 2.0, 3.0))
    assert position is not None
    assert (position.low, position.high, position.x) == (1.0, 3.0, x)


def test_the_neighbours_of_a_value_are_the_nearest_that_differ() -> None:
    values = {KEY: ((1.0, "a"), (1.5, "b"), (2.0, "c"), (2.0, "d"), (3.0, "e"))}
    found = [standing("analysis", metric(value), values) for value in (1.0, 2.0, 3.0)]
    assert [(one.below, one.above) for one in found if one] == [
        (None, (1.5, "b")), ((1.5, "b"), (3.0, "e")), ((2.0, "d"), None),
    ]  # fmt: skip


def test_equal_values_share_a_stroke() -> None:
    assert strokes(strips({KEY: (1.0, 2.0, 2.0, 3.0)})) == [0, 18, 36]


def test_consecutive_steps_are_one_run_of_strokes() -> None:
    svg = strips({KEY: (0.0, 1.0, 2.0, 5.0, 36.0)})
    assert b'd="M0 0h3M5 0h1M36 0h1"' in svg
    assert strokes(svg) == [0, 1, 2, 5, 36]


def test_each_metric_with_different_values_has_a_view() -> None:
    drawn = strips({("a", "x"): (0.0, 1.0), ("b", "y"): (2.0,), ("b", "z"): (0.0, 3.0)})
    svg = ElementTree.fromstring(drawn)  # noqa: S314 (our own)
    found = svg.iter("{http://www.w3.org/2000/svg}view")
    views = [(view.get("id"), view.get("viewBox")) for view in found]
    assert views == [("a.x", "0 0 120 14"), ("b.z", "0 14 120 14")]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=1_000))
def test_a_strip_of_many_values_is_below_800_bytes(values: list[float]) -> None:
    assert len(strips({KEY: sorted(values)})) <= 800


def test_the_widest_finite_span_has_a_strip() -> None:
    position = standing("analysis", metric(8e307), named(-8e307, 0.0, 8e307))
    assert position is not None
    assert position.x == WIDTH - MARGIN
    assert strokes(strips({KEY: (-8e307, 0.0, 8e307)})) == [0, 18, 36]


def test_values_without_a_finite_span_and_no_value_have_no_strip() -> None:
    cases: list[tuple[float, ...]] = [(), (2.0,), (2.0, 2.0), (-1.7e308, 1.7e308)]
    assert [one for one in cases if standing("analysis", metric(2.0), named(*one))] == []
    assert standing("analysis", metric(None), named(1.0, 2.0)) is None
