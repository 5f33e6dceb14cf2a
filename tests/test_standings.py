"""Where a value stands among all."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.contracts import Metric
from generator.standings import MARGIN, WIDTH, standing


def metric(value: float | None) -> Metric:
    return Metric("key", "Title", value, reason=None if value is not None else "none")


@pytest.mark.parametrize(("value", "rank", "last", "place"), [(1.0, 1, 1, MARGIN), (2.0, 2, 3, WIDTH // 2), (3.0, 4, 4, WIDTH - MARGIN)])
def test_the_lowest_is_first_and_left_and_the_highest_last_and_right(value: float, rank: int, last: int, place: int) -> None:
    found = standing(metric(value), (1.0, 2.0, 2.0, 3.0))
    assert found is not None
    assert (found.rank, found.last, found.count, found.place) == (rank, last, 4, place)


def strokes(ticks: str) -> list[int]:
    """The steps that a path runs over."""
    runs = [(int(first), int(length)) for first, length in re.findall(r"M(\d+) 0h(\d+)", ticks)]
    return [step for first, length in runs for step in range(first, first + length)]


def test_equal_values_share_a_stroke() -> None:
    found = standing(metric(2.0), (1.0, 2.0, 2.0, 3.0))
    assert found is not None
    assert strokes(found.ticks) == [0, 18, 36]


def test_neighbours_are_one_run_of_strokes() -> None:
    found = standing(metric(2.0), (0.0, 1.0, 2.0, 5.0, 36.0))
    assert found is not None
    assert (found.ticks, strokes(found.ticks)) == ("M0 0h3M5 0h1M36 0h1", [0, 1, 2, 5, 36])


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=1_000))
def test_however_many_there_are_a_strip_is_short(values: list[float]) -> None:
    found = standing(metric(values[0]), sorted(values))
    assert found is None or len(found.ticks) <= 150


@pytest.mark.parametrize("values", [(), (2.0,), (2.0, 2.0), (-1.7e308, 1.7e308)])
def test_without_a_line_to_stand_on_there_is_no_standing(values: tuple[float, ...]) -> None:
    assert standing(metric(2.0), values) is None


def test_what_does_not_apply_stands_nowhere() -> None:
    assert standing(metric(None), (1.0, 2.0)) is None
