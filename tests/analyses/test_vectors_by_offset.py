from itertools import permutations
from typing import Any

import numpy as np
import pytest

from generator.analyses.vectors_by_offset import compute, draw_matrix
from generator.contracts import Result
from generator.encodings import RelativeTable
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from tests.analyses.on import values_of
from tests.support import LABELS, subject


def table(vectors: list[list[float]], first: int) -> RelativeTable:
    return RelativeTable(frozen(vectors), frozen(np.arange(first, first + len(vectors))))


def result_of(form: RelativeTable) -> Result:
    return compute(subject(form))


BY_HAND = table([[3.0, 0.0], [0.0, 2.0], [0.0, 5.0]], first=-1)


def test_all_offsets_are_in_the_picture_of_their_cosines() -> None:
    axes = draw_matrix({LABELS[0]: result_of(BY_HAND)}).axes[0]
    left, right, bottom, top = axes.images[0].get_extent()
    assert (axes.get_xlim(), axes.get_ylim()) == ((left, right), (bottom, top))
    assert (left, right, bottom, top) == (-1.5, 1.5, 1.5, -1.5)


MIRRORED = np.random.default_rng(0).normal(size=(6, 8)).tolist()
ONE_TO_THE_OTHER = [[-1.0, 2.0], [5.0, 5.0], [1.0, -2.0]]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (BY_HAND, {"adjacent": 0.5, "mean": 1 / 3, "sides": 0.0, "shortest": 2.0, "longest": 5.0}),
        (table([*MIRRORED[:0:-1], *MIRRORED], first=-5), {"sides": 1.0}),
        (table(ONE_TO_THE_OTHER, first=-1), {"sides": -1.0}),
        (table([[7.0, 7.0], *ONE_TO_THE_OTHER], first=-2), {"sides": -1.0}),
        (table([[1.0, 0.0], [0.0, 1.0]], first=0), {"sides": None}),
        (
            table([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], first=-1),
            {"adjacent": None, "mean": 1.0, "sides": 1.0},
        ),
    ],
    ids=["three offsets", "mirrored", "opposite", "without its opposite", "one side", "zeros"],
)
def test_the_measures_by_hand(form: RelativeTable, expected: dict[str, float | None]) -> None:
    values = values_of(result_of(form))
    assert {key: values[key] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("form", "to_zero"),
    [(BY_HAND, [0.0, 1.0, 1.0]), (table([[1.0, 0.0], [0.0, 1.0]], first=2), [1.0, 0.0])],
)
def test_vectors_are_compared_with_that_nearest_0(form: Any, to_zero: list[float]) -> None:
    assert result_of(form).arrays["to_zero"].tolist() == to_zero


def test_a_single_vector_is_not_applicable() -> None:
    with pytest.raises(NotApplicableError, match="fewer than two offsets"):
        result_of(table([[1.0, 0.0]], first=0))


def test_zero_vectors_take_no_part_in_random_orders() -> None:
    """Nine vectors have four pairs in every order, with a zero vector at either end or without."""
    rows = np.random.default_rng(0).normal(size=(9, 8)).tolist()
    padded = [[0.0] * 8, *rows, [0.0] * 8]
    of_rows, of_padded = (
        values_of(result_of(table(vectors, first=-(len(vectors) // 2))))
        for vectors in (rows, padded)
    )
    assert of_rows["sides_spread"] == pytest.approx(of_padded["sides_spread"])


def test_the_spread_over_all_orders_is_that_of_many() -> None:
    """Seven vectors have 5,040 orders."""
    rows = np.random.default_rng(0).normal(size=(7, 3))
    spread = values_of(result_of(table(rows.tolist(), first=-3)))["sides_spread"]
    directions = rows / np.linalg.norm(rows, axis=1)[:, None]
    means = [
        np.mean(np.sum(directions[list(order[:3])] * directions[list(order[3:6])], axis=1))
        for order in permutations(range(7))
    ]
    assert spread == pytest.approx(np.std(means))


def test_random_vectors_get_a_sentence_in_few_cases() -> None:
    """Adjacent offsets in 2 of 200 cases on average, opposite ones in fewer."""
    tables = (np.random.default_rng(seed).normal(size=(9, 96)).tolist() for seed in range(200))
    n_found = sum(len(result_of(table(rows, first=-4)).findings) for rows in tables)
    assert n_found <= 10


@pytest.mark.parametrize(("mixed", "start"), [
    (0.0, "An offset and its opposite have more similar vectors than two offsets in general"),
    (0.02, "The table hardly distinguishes before from after"),
])  # fmt: skip
def test_how_similar_opposite_offsets_are_decides_what_is_said(mixed: float, start: str) -> None:
    """Those of one distance share a vector, and differ by noise of twice, or a tenth, its size."""
    draws = np.random.default_rng(1)
    by_distance, noise = draws.normal(size=(9, 64)), draws.normal(size=(17, 64))
    rows = by_distance[np.abs(np.arange(-8, 9))] + (mixed or 1.0) * noise
    texts = [finding.text for finding in result_of(table(rows.tolist(), first=-8)).findings]
    assert next(text for text in texts if "opposite" in text).startswith(start)
