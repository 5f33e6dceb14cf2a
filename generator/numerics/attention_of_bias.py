"""Attention from a bias alone, at equal content, and its locality, spread and symmetry."""

import numpy as np

from generator.numerics.arrays import Array, Floats


def attention(bias: Floats) -> Floats:
    """Attention weights from a bias alone: its softmax over the keys of each query, 0 where the
    bias is NaN.

    bias: (n, n), query by key, logits
    returns: (n, n), every row sums to 1
    """
    logits = np.where(np.isnan(bias), -np.inf, bias)
    # The difference of two huge biases may overflow to infinity; its exponential is 0.
    with np.errstate(over="ignore"):
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def locality(weights: Floats, columns: int) -> float:
    """mean_i Σ_j A[i, j] 2^−distance(i, j): 1 if every position attends to itself alone.

    Chen et al. 2023 (arXiv 2310.12864) for sequences, where the distance is |i − j|; that of two
    patches, rows plus columns, is ours.
    weights: (n, n), query by key, with ``columns`` patches per row, n or more for a sequence
    returns: within (0, 1]
    """
    down, across = np.divmod(np.arange(len(weights)), columns)
    distances = np.abs(down[:, None] - down) + np.abs(across[:, None] - across)
    return float(np.mean(np.sum(weights * 0.5**distances, axis=1)))


def perplexity(weights: Floats) -> float:
    """exp of the entropy of each row, averaged over rows: the effective number of keys, 1 to n.

    weights: (n, n), query by key
    """
    logarithms = np.log(np.where(weights > 0.0, weights, 1.0))
    return float(np.mean(np.exp(-np.sum(weights * logarithms, axis=1))))


def symmetry(bias: Floats, columns: int) -> float | None:
    """1 − ½ Σ_j |A[i, j] − A[i, j′]|, mean over queries i; j′ is key j mirrored at i, A the
    attention among keys with a mirror image.

    1 if mirrored keys get the same attention, 0 if one key of each pair gets all of it; None for a
    causal bias, or where no key has a mirror image.
    bias: (n, n), query by key, logits, with ``columns`` patches per row
    returns: within [0, 1]
    """
    if np.isnan(bias).any():
        return None
    n = len(bias)
    mirrored, inside = _mirrored(n, columns)
    paired = inside.any(axis=1)
    if not paired.any():
        return None
    weights = attention(np.where(inside, bias, np.nan)[paired])
    opposite = np.take_along_axis(weights, mirrored[paired], axis=1)
    difference = np.sum(np.abs(weights - opposite), axis=1, where=inside[paired]) / 2.0
    return float(np.mean(np.maximum(1.0 - difference, 0.0)))


def _mirrored(n: int, columns: int) -> tuple[Array, Array]:
    """Index of each key mirrored at each query, and whether that is another key: (n, n), query by
    key, int and bool.

    Where it is none, the index is that of the key itself.
    """
    index = np.arange(n)
    down, across = np.divmod(index, columns)
    row, column = 2 * down[:, None] - down, 2 * across[:, None] - across
    keys = row * columns + column
    inside = (row >= 0) & (column >= 0) & (column < columns) & (keys < n) & ~np.eye(n, dtype=bool)
    return np.where(inside, keys, index), inside
