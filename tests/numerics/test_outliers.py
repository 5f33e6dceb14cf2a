"""Outliers among rows: norms by hand, and directions in tables with an odd row put in."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import PositionTable, sinusoid
from generator.numerics.arrays import Floats, frozen
from generator.numerics.outliers import nearest_cosines, outlier_rows, outliers, unlike_neighbours

rng = np.random.default_rng(0)


def unit(width: int, seed: int) -> Floats:
    """A random direction: (width,)."""
    row = np.random.default_rng(seed).normal(size=width)
    return np.asarray(row / np.linalg.norm(row))


def test_an_outlier_has_a_modified_z_score_above_three_and_a_half_by_hand() -> None:
    """Median 10, MAD 1: 0.6745 · 5.1 = 3.44, 0.6745 · 5.3 = 3.57."""
    usual = [9.0] * 12 + [11.0] * 11 + [10.0]
    assert [np.asarray(outliers(np.array([*usual, last]))).tolist() for last in (15.1, 15.3)] == [
        [],
        [24],
    ]


@pytest.mark.parametrize(
    ("sizes", "indices"),
    [([1.0] * 20 + [1.19], []), ([1.0] * 20 + [1.21], [20]), ([1.0] * 18 + [5.0] * 2, [18, 19])],
)
def test_of_equal_norms_an_outlier_differs_by_a_fifth(sizes: Any, indices: list[int]) -> None:
    assert np.asarray(outliers(np.array(sizes))).tolist() == indices


def test_more_than_a_tenth_are_not_outliers() -> None:
    assert outliers(np.array([1.0] * 17 + [5.0] * 3)) is None


def test_the_cosine_with_the_nearest_neighbour_by_hand() -> None:
    """0°, 0°, 90°, 120°, and a row of zeros, which has no direction."""
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [-0.5, np.sqrt(0.75)], [0.0, 0.0]])
    assert_allclose(
        nearest_cosines(rows, 5), [1.0, 1.0, np.sqrt(0.75), np.sqrt(0.75), np.nan], atol=1e-15
    )


def test_neighbours_on_a_grid_are_beside_above_and_below_and_not_across_the_end_of_a_row() -> None:
    """a b / c a: in reading order b and c are neighbours, on the grid they are not."""
    a, b = [1.0, 0.0], [0.0, 1.0]
    rows = np.array([a, b, b, a])
    assert_array_equal(nearest_cosines(rows, 4), [0.0, 1.0, 1.0, 0.0])
    assert_array_equal(nearest_cosines(rows, 2), [0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("position", [0, 40, 127])
def test_an_odd_direction_in_a_sinusoid_is_the_only_outlier(position: int) -> None:
    """Every other row has a neighbour with the cosine of all neighbours left."""
    table = sinusoid(128, 64).copy()
    table[position] = unit(64, 1) * np.linalg.norm(table[0])
    assert outlier_rows(table, 128).tolist() == [position]


def test_a_direction_is_compared_with_those_around_it() -> None:
    """Neighbours that grow less alike evenly are no outliers; one row that does so at once is."""
    angles = np.cumsum(np.linspace(0.05, 1.2, 200))
    spiral = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert np.asarray(unlike_neighbours(spiral, 200)).size == 0
    spiral[20] = [np.cos(angles[20] + 1.5), np.sin(angles[20] + 1.5)]
    assert np.asarray(unlike_neighbours(spiral, 200)).tolist() == [20]
    # Each row at a seam still has its neighbour on the one side.
    halves = [
        np.tile(unit(64, seed), (50, 1)) + 0.02 * rng.normal(size=(50, 64)) for seed in (1, 2)
    ]
    assert outlier_rows(np.vstack(halves), 100).size == 0
    table = np.tile(unit(64, 1), (40, 1))
    table[::8] = np.eye(64)[:5]
    assert unlike_neighbours(table, 40) is None


@pytest.mark.parametrize(
    "values", [np.zeros((20, 4)), np.full((20, 4), np.nan), np.ones((20, 4)), np.ones((1, 4))]
)
def test_tables_of_one_value_have_no_outliers(values: Floats) -> None:
    assert outlier_rows(values, len(values)).size == 0


def test_inliers_have_no_vector_in_place_of_an_outlier() -> None:
    table = sinusoid(64, 16).copy()
    table[5] *= 9.0
    inliers = PositionTable(frozen(table)).inliers.vectors
    assert np.isnan(inliers[5]).all()
    assert_array_equal(np.delete(inliers, 5, axis=0), np.delete(table, 5, axis=0))
    form = PositionTable(sinusoid(64, 16))
    assert form.inliers is form


def test_a_table_is_gone_with_its_last_name_and_not_with_the_next_collection_of_cycles() -> None:
    form = PositionTable(sinusoid(64, 16))
    assert form.inliers.extent == 64
    table = weakref.ref(form)
    gc.disable()
    del form
    gc.enable()
    assert table() is None
