import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from generator.encodings import OffsetBias, sinusoid
from generator.numerics.arrays import Array, Floats, frozen
from generator.numerics.similarity import (
    alignment,
    centred_gram,
    clustered,
    most_different,
    shape,
    shape_difference,
    without_chance,
)

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(12, 5)), rng.normal(size=(12, 7))
TRIANGLE = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])


def cka(first: Floats, second: Floats) -> float:
    """Centred kernel alignment of two tables (n, any width)."""
    grams = centred_gram(first), centred_gram(second)
    assert grams[0] is not None
    assert grams[1] is not None
    return alignment(grams[0], grams[1])


def unbiased(first: Floats, second: Floats) -> float:
    """Its unbiased estimate, for two tables (n, any width)."""
    grams = [
        without_chance(k) for table in (first, second) if (k := centred_gram(table)) is not None
    ]
    assert grams[0] is not None
    assert grams[1] is not None
    return alignment(grams[0], grams[1])


def by_features(x: Floats, y: Floats) -> float:
    """As printed (Kornblith et al. 2019, section 3), by covariances of features (n, any width)."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return float(np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)))


def hsic(k: Floats, l: Floats) -> float:  # noqa: E741 (the source's letters)
    """tr(K H L H) / (n − 1)², H centring (Gretton et al. 2005), for Gram matrices (n, n)."""
    h = np.eye(len(k)) - 1.0 / len(k)
    return float(np.trace(k @ h @ l @ h)) / (len(k) - 1) ** 2


def hsic_1(k: Floats, l: Floats) -> float:  # noqa: E741
    """The unbiased estimate of Song et al. 2012 (JMLR 13, 1393–1434), for Gram matrices (n, n)."""
    n, one = len(k), np.ones(len(k))
    k, l = k - np.diag(np.diagonal(k)), l - np.diag(np.diagonal(l))  # noqa: E741
    inner = (
        np.trace(k @ l)
        + (one @ k @ one) * (one @ l @ one) / ((n - 1) * (n - 2))
        - 2.0 / (n - 2) * (one @ k @ l @ one)
    )
    return float(inner) / (n * (n - 3))


def test_cka_by_hand_and_by_its_definitions() -> None:
    """Centred (−⅓, ⅔, −⅓), (⅔, −⅓, −⅓) against the first: ‖YᵀX‖² = 5/9, norms √10/3, 2/3."""
    assert cka(TRIANGLE, TRIANGLE[:, :1]) == pytest.approx(np.sqrt(10) / 4)
    assert cka(X, Y) == pytest.approx(by_features(X, Y), rel=1e-12)
    k, other = X @ X.T, Y @ Y.T
    assert cka(X, Y) == pytest.approx(
        hsic(k, other) / np.sqrt(hsic(k, k) * hsic(other, other)), rel=1e-12
    )
    k, other = X @ X.T, Y @ Y.T
    assert unbiased(X, Y) == pytest.approx(
        hsic_1(k, other) / np.sqrt(hsic_1(k, k) * hsic_1(other, other)), rel=1e-10
    )


@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
def test_cka_is_invariant_to_rotation_scale_and_shift(seed: int, factor: float) -> None:
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(7, 7)))[0]
    assert cka(X, factor * Y @ turn + random.normal(size=7)) == pytest.approx(cka(X, Y), abs=1e-7)


def test_a_table_aligns_with_its_permuted_columns() -> None:
    table = sinusoid(64, 16)
    assert cka(table, table[:, ::-1]) == pytest.approx(1.0)


def test_cka_of_random_tables_is_the_value_on_the_page() -> None:
    """E ≈ d / (n + d), 768 / 1280, and 0 for the unbiased estimate."""
    first, second = (np.random.default_rng(seed).normal(size=(512, 768)) for seed in (1, 2))
    assert cka(first, second) == pytest.approx(0.60, abs=0.005)
    assert unbiased(first, second) == pytest.approx(0.0, abs=0.005)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_cka_neither_overflows_nor_vanishes(factor: float) -> None:
    assert cka(factor * X, Y) == pytest.approx(cka(X, Y))


def test_equal_rows_have_no_gram_matrix() -> None:
    assert centred_gram(np.full((5, 3), 0.1)) is None


def test_unbiased_cka_needs_four_positions() -> None:
    assert without_chance(np.eye(3)) is None


def test_a_shape_is_the_mean_of_scaled_heads() -> None:
    heads = np.array([[[0.0, 2.0], [4.0, 0.0]], [[0.0, -1.0], [0.0, 0.0]], [[7.0] * 2] * 2])
    mean_shape = shape(heads, [np.arange(2)])
    assert mean_shape is not None
    # The third is constant.
    assert_allclose(mean_shape, np.array([[0.5, 0.25], [1.0, 0.5]]))


@pytest.mark.parametrize("value", [3.0, np.nan, np.inf])
def test_constant_and_not_finite_kernels_have_no_shape(value: float) -> None:
    assert shape(np.full((1, 4, 4), value), [np.arange(4)]) is None


def test_the_difference_is_taken_over_pairs_that_both_define() -> None:
    causal = np.array([[1.0, np.nan], [0.0, 1.0]])
    assert shape_difference(
        causal, np.array([[1.0, 9.0, 9.0], [0.6, 1.0, 9.0], [9.0, 9.0, 9.0]])
    ) == pytest.approx(0.6 / np.sqrt(3))


def test_independent_noise_differs_by_the_value_on_the_page() -> None:
    """√(2 · 1/12) = 0.408 for two uniform variables."""
    first, second = np.random.default_rng(3).uniform(size=(2, 400, 400))
    assert shape_difference(first, second) == pytest.approx(np.sqrt(1 / 6), abs=0.002)


def test_slopes_of_alibi_have_equal_shapes() -> None:
    offsets = frozen(np.arange(-32, 1))
    steep, flat = (
        OffsetBias(frozen([slope * offsets]), offsets, True, "linear").kernel(32)
        for slope in (0.5, 0.01)
    )
    first, second = shape(steep, [np.arange(32)]), shape(flat, [np.arange(32)])
    assert first is not None
    assert second is not None
    assert shape_difference(first, second) == pytest.approx(0.0, abs=1e-12)


def test_clustering_orders_points_along_a_line() -> None:
    points: Array = np.array([3.0, 0.0, 7.0, 1.0, 4.1])
    order = clustered(np.abs(points[:, None] - points))
    assert order in ([1, 3, 0, 4, 2], [2, 4, 0, 3, 1])


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_keep_their_order(count: int) -> None:
    assert clustered(np.zeros((count, count))) == list(range(count))


def test_the_most_different_exclude_similar_shapes() -> None:
    shapes = [np.full((4, 4), value) for value in (0.0, 0.01, 1.0, 0.99, 0.5)]
    assert most_different(shapes, 3) == [0, 2, 4]
    assert most_different(shapes, 9) == [0, 1, 2, 3, 4]
