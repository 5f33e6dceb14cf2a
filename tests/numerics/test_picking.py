"""Rows and columns that stand for a large matrix."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from generator.analyses.whole_table import pairs
from generator.encodings import sinusoid_formula
from generator.numerics.arrays import Floats
from generator.numerics.picking import picked


@pytest.mark.parametrize("shape", [(512, 384), (5000, 3), (7, 4000), (1, 9000)])
def test_picks_are_few_enough_ascend_and_come_from_all_parts(shape: tuple[int, int]) -> None:
    for picks, size in zip(picked(np.ones(shape), 2000), shape, strict=True):
        groups = picks * len(picks) // size
        # Groups of nearly equal size, whose borders are rounded.
        assert np.all(np.abs(groups - np.arange(len(picks))) <= 1)
        assert np.all(np.diff(picks) > 0)
    rows, columns = picked(np.ones(shape), 2000)
    assert 1000 < rows.size * columns.size <= 2000


def test_all_are_picked_where_there_is_room() -> None:
    rows, columns = picked(np.ones((30, 20)), 600)
    assert (rows.tolist(), columns.tolist()) == (list(range(30)), list(range(20)))


def test_what_stands_out_is_picked() -> None:
    matrix = np.random.default_rng(0).normal(size=(400, 300))
    matrix[:, [7, 123, 298]] *= 8.0
    matrix[[0, 251]] *= 8.0
    rows, columns = picked(matrix, 1600)
    assert {0, 251} <= set(rows.tolist())
    assert {7, 123, 298} <= set(columns.tolist())


def test_a_fast_wave_does_not_turn_into_a_slow_one() -> None:
    """Every eighth value of a wave of period 8.1 is a slow wave; picked ones have no period."""
    wave = np.sin(2.0 * np.pi * np.arange(1600) / 8.1)
    rows, _ = picked(np.repeat(wave[:, None], 5, axis=1), 1000)
    assert rows.size == 200

    def peak(values: Floats) -> float:
        power = np.abs(np.fft.rfft(values - values.mean())) ** 2
        return float(power[:20].max() / power.sum())

    assert peak(wave[::8]) > 0.5
    assert peak(wave[rows]) < 0.1


def test_a_symmetric_matrix_has_the_same_rows_and_columns() -> None:
    half = np.random.default_rng(0).normal(size=(300, 300))
    rows, columns = picked(half + half.T, 900)
    assert_array_equal(rows, columns)


@pytest.mark.parametrize(
    ("arrangement", "changes"), [("interleaved", 1.0), ("halves", None), ("tensor2tensor", None)]
)
def test_whole_pairs_are_picked_so_that_what_alternates_is_seen_to(
    arrangement: Any, changes: float | None
) -> None:
    """Sines and cosines by turns, or one change where they are in halves."""
    formula = sinusoid_formula(512, 384, arrangement)
    together = pairs(384, formula)
    rows, columns = picked(formula.table, 40_000, together)
    kinds = formula.is_cosine[columns]
    expected = 1.0 / (kinds.size - 1) if changes is None else changes
    assert np.mean(np.diff(kinds.astype(int)) != 0) == pytest.approx(expected)
    assert 30_000 < rows.size * columns.size <= 40_000
    drawn = formula.frequencies[0, columns]
    assert_allclose(np.sort(drawn[~kinds]), np.sort(drawn[kinds]))  # Each with its other half.


def test_a_pair_with_a_column_that_stands_out_is_picked() -> None:
    matrix = np.random.default_rng(0).normal(size=(400, 300))
    matrix[:, [7, 122]] *= 8.0
    columns = picked(matrix, 1600, pairs(300, None))[1]
    assert {6, 7, 122, 123} <= set(columns.tolist())
    assert np.all(columns[1::2] == columns[::2] + 1)
    assert pairs(301, None) is None
