"""Where a value stands among all."""

import re

import pytest

from generator.contracts import Metric
from generator.standings import MARGIN, WIDTH, standing


def metric(value: float | None) -> Metric:
    return Metric("key", "Title", value, reason=None if value is not None else "none")


@pytest.mark.parametrize(("value", "rank", "place"), [(1.0, 1, MARGIN), (2.0, 2, WIDTH // 2), (3.0, 4, WIDTH - MARGIN)])
def test_the_lowest_is_first_and_left_and_the_highest_last_and_right(value: float, rank: int, place: int) -> None:
    found = standing(metric(value), (1.0, 2.0, 2.0, 3.0))
    assert found is not None
    assert (found.rank, found.count, found.place) == (rank, 4, place)


def test_equal_values_share_a_stroke() -> None:
    found = standing(metric(2.0), (1.0, 2.0, 2.0, 3.0))
    assert found is not None
    assert len(re.findall("M", found.ticks)) == 3


@pytest.mark.parametrize("values", [(), (2.0,), (2.0, 2.0), (-1.7e308, 1.7e308)])
def test_without_a_line_to_stand_on_there_is_no_standing(values: tuple[float, ...]) -> None:
    assert standing(metric(2.0), values) is None


def test_what_does_not_apply_stands_nowhere() -> None:
    assert standing(metric(None), (1.0, 2.0)) is None
