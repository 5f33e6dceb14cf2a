import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import cosine_similarity

from generator.errors import NotApplicableError
from generator.numerics.arrays import (
    Array,
    Floats,
    cosine_matrix,
    finite,
    frozen,
    local_monotonicity,
    mean_by_distance,
    min_max_scaled,
    narrowest,
    off_diagonal,
    root_mean_square,
    row_norms,
    shrink,
    symmetry,
    thinned,
    translation_invariance,
)
from tests.support import close

SEEDS = range(5)
SIZES = [(2, 3), (1, 1), (7, 1), (40, 16)]
EXTREMES = [1e-320, 1e-200, 1e-30, 1e30, 1e200, 1e307]
moderate = st.floats(-1e3, 1e3, allow_subnormal=False)
tables = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=moderate)


def random_table(seed: int, n_rows: int = 12, n_columns: int = 8) -> Floats:
    """Standard normal values: (n_rows, n_columns)."""
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns))


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("seed", SEEDS)
def test_cosine_matrix_equals_scikit_learns(seed: int, shape: tuple[int, int]) -> None:
    rows = random_table(seed, *shape)
    close(cosine_matrix(rows), cosine_similarity(rows))


@pytest.mark.parametrize("wrong", [[0.0, 0.0], [1.0, np.nan], [1.0, np.inf]])
def test_a_row_of_zeros_or_one_that_is_not_finite_has_no_cosine(wrong: list[float]) -> None:
    cosines = cosine_matrix(np.array([wrong, [1.0, 0.0], [0.0, 2.0]]))
    assert np.isnan(cosines[0]).all()
    assert np.isnan(cosines[:, 0]).all()
    assert_array_equal(cosines[1:, 1:], np.eye(2))


@given(tables)
def test_cosines_are_symmetric_within_one_and_one_on_the_diagonal(rows: Floats) -> None:
    """Cauchy and Schwarz: |x·y| ≤ ‖x‖ ‖y‖."""
    cosines = cosine_matrix(rows)
    defined = cosines[~np.isnan(cosines)]
    assert_array_equal(cosines, cosines.T)
    assert np.all(np.abs(defined) <= 1.0)
    assert set(np.diagonal(cosines)[rows.any(axis=1)]) <= {1.0}


@given(tables, st.integers(-60, 60))
def test_cosines_are_invariant_to_scale(rows: Floats, exponent: int) -> None:
    """cos(cx, cy) = cos(x, y) for c > 0; powers of two scale without rounding."""
    assert_array_equal(cosine_matrix(rows * 2.0**exponent), cosine_matrix(rows))


@pytest.mark.parametrize("size", EXTREMES)
def test_cosines_of_huge_and_tiny_values_neither_overflow_nor_vanish(size: float) -> None:
    rows = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.0]])
    expected = cosine_similarity(rows)
    close(cosine_matrix(size * rows), expected)


def test_cosines_of_rows_of_very_different_size_are_those_of_their_directions() -> None:
    rows = np.array([[1e300, 1e300], [1e-300, 1e-300], [-1e-300, 1e-300]])
    close(cosine_matrix(rows), [[1, 1, 0], [1, 1, 0], [0, 0, 1]], 1e-15)


@pytest.mark.parametrize("size", [1.0, *EXTREMES])
def test_root_mean_square_of_huge_and_tiny_values(size: float) -> None:
    values = size * np.array([[1.0, -7.0], [5.0, 5.0]])
    assert root_mean_square(values) == pytest.approx(5.0 * size, rel=1e-3)


@pytest.mark.parametrize("size", [0.0, 1.0, *EXTREMES])
def test_row_norms_of_huge_and_tiny_values_neither_overflow_nor_vanish(size: float) -> None:
    assert_allclose(row_norms(size * np.array([[3, -4], [0, 1]])), [5.0 * size, size], rtol=1e-3)


@given(tables)
def test_row_norms_equal_those_of_the_standard_library(rows: Floats) -> None:
    assert_allclose(row_norms(rows), [math.hypot(*row) for row in rows], rtol=1e-12)


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 3)])
def test_root_mean_square_of_nothing_but_zeros_is_zero(shape: tuple[int, ...]) -> None:
    assert root_mean_square(np.zeros(shape)) == 0.0


def test_off_diagonal_and_shrink_by_hand() -> None:
    matrix = np.array([[0.0, 1.0, np.nan], [2.0, 0.0, 3.0], [4.0, 5.0, 0.0]])
    assert off_diagonal(matrix).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    image = np.array([[1.0, 3.0, 5.0], [3.0, 5.0, 7.0], [10.0, 20.0, 30.0]])
    assert_array_equal(shrink(image, 2, 2), [[3.0, 6.0], [15.0, 30.0]])
    image = np.array([[1.0, np.nan, np.nan, np.nan], [3.0, np.nan, np.nan, 8.0]])
    assert_array_equal(shrink(image, 2, 2), [[1.0, np.nan], [3.0, 8.0]])


@given(tables, st.integers(1, 9), st.integers(1, 9))
def test_a_shrunken_image_stays_within_its_range(image: Any, n_rows: int, n_columns: int) -> None:
    """A mean lies between the least and the greatest of its values."""
    small = shrink(image, n_rows, n_columns)
    assert small.shape[0] <= n_rows
    assert small.shape[1] <= n_columns
    slack = 1e-9  # rounding, for values up to 1e3
    assert image.min() - slack <= small.min() <= small.max() <= image.max() + slack


def test_a_thinned_line_keeps_the_extremes_of_equally_long_stretches() -> None:
    x, y = thinned(np.arange(10.0), np.array([0.0, 5, 1, 1, 1, 9, 2, 2, -3, 2]), 4)
    assert_array_equal([x, y], [[0, 1, 5, 8], [0, 5, 9, -3]])
    # 512 stretches in 12 octaves, 43 in each: offsets below 16 lie in stretches of their own.
    x = np.arange(1.0, 4097.0)
    kept, _ = thinned(x, np.cos(x), 1024, logarithmic=True)
    assert_array_equal(kept[:16], x[:16])
    assert len(kept) <= 1024


@pytest.mark.parametrize("x", [[0.0, 1.0, 1.0, 2.0, 3.0], [0.0, 3.0, 1.0, 4.0, 5.0], [0.0, 1.0]])
def test_a_line_that_is_short_or_does_not_rise_is_not_thinned(x: list[float]) -> None:
    y = np.arange(len(x), dtype=float)
    assert_array_equal(thinned(np.array(x), y, 2), [x, y])


def test_frozen_and_finite_arrays() -> None:
    source = np.zeros(2)
    copy = frozen(source)
    source[0] = 1.0
    assert copy.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 1.0
    values = random_table(1)
    assert finite(values, "the table") is values
    for wrong, problem in (
        (np.array([np.nan, np.inf, -np.inf, 0.0]), "has 3 values that are NaN or infinite"),
        (np.empty((0, 4)), "has no values"),
    ):
        with pytest.raises(NotApplicableError, match=problem):
            finite(wrong, "the table")


def offsets(size: int) -> Array:
    """Column index minus row index: (size, size)."""
    return np.asarray(np.arange(size)[None, :] - np.arange(size)[:, None])


@given(arrays(np.float64, st.integers(1, 8), elements=moderate))
def test_mean_by_distance_of_constant_diagonals_is_the_first_row(row: Floats) -> None:
    index = np.arange(row.size)
    assert_allclose(mean_by_distance([row[np.abs(index[:, None] - index)]]), row, rtol=1e-12)


def test_mean_by_distance_and_invariance_by_hand() -> None:
    matrix = np.array([[1.0, np.nan, np.nan], [0.0, 4.0, np.nan], [5.0, 2.0, 7.0]])
    assert_array_equal(mean_by_distance([matrix]), [4.0, 1.0, 5.0])
    # At distance 1 lie 2, 6, 0, 2 of the first and 8, 6 of the second: 24 / 6.
    first, second = (np.array([[1.0, 2.0, 9.0], [0.0, 4.0, 6.0], [5.0, 2.0, 7.0]]),
                     np.array([[1.0, 8.0], [6.0, 2.0]]))  # fmt: skip
    assert_array_equal(mean_by_distance([first, second]), [3.0, 4.0, 7.0])
    # Offsets 1, 1, 2 with 1, 3, 5 on both sides: 4 of 16 squares about 3 are within the first.
    matrix, given = (np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 3.0], [5.0, 3.0, 0.0]]),
                     np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]]))  # fmt: skip
    assert translation_invariance(matrix, given) == pytest.approx(1.0 - 4.0 / 16.0)


@given(tables)
def test_min_max_scaled_values_range_from_0_to_1(values: Floats) -> None:
    scaled = min_max_scaled(values)
    assert scaled is None or (scaled.min(), scaled.max()) == (0.0, 1.0)


@given(st.integers(3, 8), st.integers(0, 5))
def test_matrices_of_offsets_are_symmetric_or_antisymmetric(size: int, seed: int) -> None:
    row = np.random.default_rng(seed).normal(size=2 * size - 1)
    matrix = row[np.arange(size)[None, :] - np.arange(size)[:, None] + size - 1]
    assert translation_invariance(matrix, offsets(size)) == pytest.approx(1.0)
    assert symmetry(matrix + matrix.T) == pytest.approx(1.0)
    assert symmetry(matrix - matrix.T) == pytest.approx(0.0)


def test_invariance_of_random_entries_and_monotonicity_by_hand() -> None:
    """Of n(n − 1) independent entries, 2(n − 1) means explain about 2/n: here 2%."""
    assert translation_invariance(random_table(0, 100, 100), offsets(100)) == pytest.approx(
        0.02, abs=0.005
    )
    assert translation_invariance(np.eye(4) + 0.3, offsets(4)) is None
    # Rightwards 3 > 2, 2 > 4 not, 1 > 5 not; leftwards 1 > 0, 6 > 7 not, 7 > 1.
    matrix = np.array([[3.0, 2.0, 4.0], [0.0, 1.0, 5.0], [1.0, 7.0, 6.0]])
    assert local_monotonicity([matrix], 2) == pytest.approx(3 / 6)
    assert local_monotonicity([matrix], 1) == pytest.approx(2 / 4)
    assert local_monotonicity([np.eye(1)], 3) is None


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_what_was_read_in_a_narrow_type_is_exact_in_it(dtype: type) -> None:
    values: Array = np.append(
        np.random.default_rng(0).standard_normal(3000), [np.nan, np.inf, -0.0]
    ).astype(dtype)
    assert_array_equal(narrowest(values.astype(np.float64)), values, strict=True)


@pytest.mark.parametrize("last", [1 / 3, 1e300, 1e-300])
def test_one_value_that_a_narrow_type_has_not_keeps_all_in_double_precision(last: float) -> None:
    values = np.append(np.zeros(3000), last)
    assert narrowest(values) is values


def test_what_is_no_float64_stays_as_it_is() -> None:
    assert [
        narrowest(values).dtype.kind for values in (np.arange(3), np.array(["text"]), np.zeros(0))
    ] == ["i", "U", "f"]
