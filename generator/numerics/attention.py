"""The attention that a bias gives to keys of equal content, and how near and how even it is."""

import numpy as np

from generator.numerics.arrays import Array, Floats


def attention(bias: Floats) -> Floats:
    """Softmax over the keys of each query; 0 where ``bias`` (n, n) is NaN. Each row sums to 1."""
    seen = np.where(np.isnan(bias), -np.inf, bias)
    with np.errstate(over="ignore"):  # Two huge biases may lie an infinity apart; its exponential is 0.
        weights = np.exp(seen - seen.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def locality(weights: Floats, columns: int) -> float:
    """mean_i Σ_j A[i, j] 2^−distance (Chen et al. 2023, arXiv 2310.12864): 1 if each position looks at itself alone.

    weights: (n, n), query by key; distance: rows plus columns between two patches, ``columns`` to a row
    """
    down, across = np.divmod(np.arange(len(weights)), columns)
    distances = np.abs(down[:, None] - down) + np.abs(across[:, None] - across)
    return float(np.mean(np.sum(weights * 0.5**distances, axis=1)))


def perplexity(weights: Floats) -> float:
    """exp of the entropy of each row, mean of rows: over how many keys attention is spread, 1 to n."""
    logarithms = np.log(np.where(weights > 0.0, weights, 1.0))
    return float(np.mean(np.exp(-np.sum(weights * logarithms, axis=1))))


def symmetry(bias: Floats, columns: int) -> float | None:
    """1 − ½ Σ_j |A[i, j] − A[i, j′]|, mean of queries i; j′ is j mirrored at i, and A all attention that goes to keys with such a j′.

    1 if mirrored keys get the same, 0 if one of each two gets all; None where no query has keys on two sides.
    bias: (n, n), query by key, ``columns`` patches to a row
    """
    if np.isnan(bias).any():
        return None
    n = len(bias)
    mirrored, inside = _mirrored(n, columns)
    asked = inside.any(axis=1)
    if not asked.any():
        return None
    weights = attention(np.where(inside, bias, np.nan)[asked])
    other = np.take_along_axis(weights, mirrored[asked], axis=1)
    apart = np.sum(np.abs(weights - other), axis=1, where=inside[asked]) / 2.0
    return float(np.mean(np.maximum(1.0 - apart, 0.0)))


def _mirrored(n: int, columns: int) -> tuple[Array, Array]:
    """The key on the other side of each query, itself where there is none, and whether there is one: (n, n) each."""
    index = np.arange(n)
    down, across = np.divmod(index, columns)
    rows, places = 2 * down[:, None] - down, 2 * across[:, None] - across
    keys = rows * columns + places
    inside = (rows >= 0) & (places >= 0) & (places < columns) & (keys < n) & ~np.eye(n, dtype=bool)
    return np.where(inside, keys, index), inside
