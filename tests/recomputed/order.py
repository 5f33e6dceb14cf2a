"""“Order probe”: which of two positions comes first, by logistic regression."""

import numpy as np
from scipy.optimize import minimize

from tests.recomputed.published import Array, Metrics
from tests.recomputed.table import Table

POSITIONS = 512
FOLDS = 5
FEW, MANY = 512, 8192  # pairs


def order_probe(table: Table) -> Metrics:
    if not table.is_line:
        return {}
    vectors = _in_singular_directions(table.vectors[:POSITIONS])
    numbers = np.arange(len(vectors))
    few = [_error(vectors, numbers, seed, FEW) for seed in range(20)]
    shuffled = [
        _error(vectors, np.random.default_rng(seed).permutation(numbers), seed, FEW)
        for seed in range(8)
    ]
    enough = len(vectors) ** 2 >= MANY
    many = [_error(vectors, numbers, seed, MANY) for seed in range(3)] if enough else []
    return {
        "error": np.mean(few),
        "spread": np.std(few, ddof=1),
        "shuffled": np.mean(shuffled),
        "spread_shuffled": np.std(shuffled, ddof=1),
        "error_many": np.mean(many) if enough else None,
        "spread_many": np.std(many, ddof=1) if enough else None,
        "probed": len(vectors),
    }


def _in_singular_directions(vectors: Array) -> Array:
    left, lengths, _ = np.linalg.svd(vectors, full_matrices=False)
    return np.asarray(left * lengths)[:, lengths > 1e-12 * lengths[0]]


def _error(vectors: Array, numbers: Array, seed: int, size: int) -> float:
    """Share of wrong orders in per cent, mean over the folds of one sample of pairs of vectors,
    whose positions are ``numbers``.
    """
    count = len(vectors)
    drawn = np.random.default_rng(seed).choice(count**2, min(size, count**2), replace=False)
    pairs = np.stack(np.divmod(drawn, count), axis=1)
    is_after = numbers[pairs[:, 1]] > numbers[pairs[:, 0]]
    folds = _stratified(is_after)
    wrong = []
    for fold in range(FOLDS):
        held = folds == fold
        weights = _fit(vectors, pairs[~held], is_after[~held])
        wrong.append(np.mean((_logits(vectors, pairs[held], weights) > 0) != is_after[held]))
    return 100 * float(np.mean(wrong))


def _stratified(is_after: Array) -> Array:
    """Folds as scikit-learn's StratifiedKFold makes them, without shuffling: each class in its
    order, as many of it in each fold as there are among every fifth of the sorted classes.
    """
    kinds = is_after != is_after[0]  # Classes are numbered as they appear.
    numbers = np.sort(kinds)
    folds = np.empty(len(kinds), dtype=int)
    for kind in (False, True):
        sizes = [np.sum(numbers[fold::FOLDS] == kind) for fold in range(FOLDS)]
        folds[kinds == kind] = np.repeat(np.arange(FOLDS), sizes)
    return folds


def _logits(vectors: Array, pairs: Array, weights: Array) -> Array:
    first, second, intercept = np.split(weights, [vectors.shape[1], -1])
    return np.asarray((vectors @ first)[pairs[:, 0]] + (vectors @ second)[pairs[:, 1]] + intercept)


def _fit(vectors: Array, pairs: Array, is_after: Array) -> Array:
    """The minimum of the summed logistic loss plus half the square of the weights."""
    signs = np.where(is_after, 1.0, -1.0)

    def loss(weights: Array) -> tuple[float, Array]:
        margins = signs * _logits(vectors, pairs, weights)
        pulls = -signs * np.exp(-np.logaddexp(0, margins))
        sides = [np.bincount(side, pulls, len(vectors)) @ vectors for side in pairs.T]
        gradient = np.concatenate([*sides, [pulls.sum()]])
        gradient[:-1] += weights[:-1]
        return np.logaddexp(0, -margins).sum() + weights[:-1] @ weights[:-1] / 2, gradient

    options = {"maxiter": 20_000, "maxfun": 40_000, "gtol": 1e-5, "ftol": 0, "maxcor": 30}
    start = np.zeros(2 * vectors.shape[1] + 1)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)
