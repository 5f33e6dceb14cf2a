"""Scales of kernels and distances half way, against theorems, direct sums and cases by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from generator.numerics.arrays import Floats, mean_by_distance
from generator.numerics.shapes import (
    decay_scaled,
    far_cosine,
    far_from,
    far_level,
    half_distance,
    scaled_by_levels,
)
from tests.support import close

moderate = st.floats(-1e3, 1e3, allow_subnormal=False)
THREE = np.array([[4.0, 1.0, 0.0], [2.0, 4.0, 1.0], [0.0, 2.0, 4.0]])


def half(profile: list[float]) -> float | None:
    return half_distance(np.arange(len(profile)), np.array(profile))


def scaled(matrix: Floats) -> Floats:
    """A matrix (n, n) that is not constant, scaled along one line."""
    values = scaled_by_levels(matrix, [matrix])
    assert values is not None
    return values


@pytest.mark.parametrize(("n", "first"), [(3, 2), (4, 3), (5, 3), (16, 12), (128, 96)])
def test_the_last_quarter_of_distances_is_far(n: int, first: int) -> None:
    assert far_from(n) == first


def test_the_far_level_is_the_mean_over_far_pairs_by_hand() -> None:
    """Of 5 positions, 3 and 4 apart: 1, 2, 6 above the diagonal, 3, 4, 2 below; NaN is left out."""
    matrix = np.zeros((5, 5))
    matrix[0, 3], matrix[1, 4], matrix[0, 4] = 1.0, 2.0, 6.0
    matrix[3, 0], matrix[4, 1], matrix[4, 0] = 3.0, 4.0, np.nan
    assert far_level([matrix]) == pytest.approx(16.0 / 5.0)
    # Of 128 positions, the 32 distances from 96 on have 32 · 33 / 2 pairs, in either direction.
    matrix = np.zeros((128, 128))
    matrix[0, 127] = 1.0
    assert far_level([matrix]) == pytest.approx(1.0 / (32 * 33))


@given(arrays(np.float64, st.integers(2, 12), elements=moderate))
def test_a_scaled_decay_has_a_maximum_of_1_and_its_half_lies_beyond(row: Floats) -> None:
    """A mean is no lower than its lowest value: the profile passes ½ unless it rises in the end."""
    lines = [row[np.abs(np.subtract.outer(np.arange(row.size), np.arange(row.size)))]]
    decay = decay_scaled(mean_by_distance(lines), far_level(lines))
    if decay is not None:
        distance = half_distance(np.arange(row.size), decay)
        assert decay.max() == pytest.approx(1.0)
        assert distance is None or np.argmax(decay) <= distance <= row.size - 1
        assert distance is not None or np.argmax(decay) >= far_from(row.size)


def test_half_distances_and_scales_by_hand() -> None:
    assert half([1.0, np.nan, 0.75, np.nan, 0.25, 0.0]) == 3.0
    assert half_distance(np.array([0, 1, 2, 10]), np.array([1.0, 0.9, 0.75, 0.25])) == 6.0
    assert half([0.2, 1.0, 0.5, 0.0]) == 2.0
    assert half([0.2, 0.6, 1.0]) is None
    # Means at offsets −2 … 2: 0, 2, 4, 1, 0.
    assert_allclose(scaled(THREE), THREE / 4.0)


@given(arrays(np.float64, (5, 5), elements=moderate), st.floats(1e-3, 1e3), moderate)
def test_a_scaled_matrix_has_no_unit(matrix: Floats, factor: float, constant: float) -> None:
    plain, moved = (scaled_by_levels(each, [each]) for each in (matrix, factor * matrix + constant))
    if (
        plain is not None
        and np.ptp(plain) < 1e3
        and np.ptp(matrix) > 1e-3 * (1.0 + abs(constant) / factor)
    ):
        assert moved is not None
        close(moved, plain, 1e-4)


def test_one_odd_pair_hardly_changes_the_scale() -> None:
    """By lowest and highest entry, a pair of −9 among cosines would move all others above 0.9."""
    index = np.arange(128)
    matrix = np.exp(-np.abs(np.subtract.outer(index, index)) / 10.0)
    odd = matrix.copy()
    odd[0, 120] = -9.0
    assert np.median(np.abs(scaled(matrix) - scaled(odd))) < 0.02
    flat = np.array([[0.0, 1.0], [1.0, 2.0]])
    assert_allclose(scaled(flat), flat / 2.0)


@pytest.mark.parametrize("value", [0.0, 3.0, np.nan, np.inf])
def test_a_constant_matrix_has_no_scale(value: float) -> None:
    matrix = np.full((4, 4), value)
    assert scaled_by_levels(matrix, [matrix]) is None


@pytest.mark.parametrize("n_positions", [2, 3, 13, 128, 4096])
def test_the_mean_cosine_over_far_pairs_equals_its_direct_sum(n_positions: int) -> None:
    frequencies = np.append(10_000.0 ** -(np.arange(16) / 16), [0.0, 1e-10, np.pi, 2.0 * np.pi])
    distances = np.arange(far_from(n_positions), n_positions)
    cosines = np.cos(distances[:, None] * frequencies).mean(axis=1)
    direct = np.average(cosines, weights=n_positions - distances)
    assert far_cosine(frequencies, n_positions) == pytest.approx(direct, abs=1e-9)
