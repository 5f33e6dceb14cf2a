"""Probes of the first positions of a table: by regression, and by order."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tests.recomputed.published import Array, Metrics
from tests.recomputed.table import Table

POSITIONS = 512
FOLDS = 5
Fit: TypeAlias = Callable[[Array, Array], Array]  # from centred vectors and numbers to weights
PENALTIES = 10.0 ** np.arange(-6, 2.6, 0.5)  # times the mean eigenvalue


def position_probe(table: Table) -> Metrics:
    if not table.is_line:
        return {}
    vectors = table.vectors[:POSITIONS]
    numbers = np.arange(len(vectors))
    seeds = range(20)
    missed = np.array([_misses(vectors, numbers, seed, _least_squares) for seed in seeds])
    errors = [
        np.mean([of_split[fold].mean() for fold in _folds(len(vectors), seed)])
        for seed, of_split in zip(seeds, missed, strict=True)
    ]
    worst = missed.mean(axis=0)
    return {
        **_by_ridge(vectors, table.is_inlier[:POSITIONS]),
        "error": np.mean(errors),
        "spread": np.std(errors, ddof=1),
        "exact": 100 * np.mean(missed == 0),
        "worst": worst.max(),
        "worst_at": int(worst.argmax()) if worst.max() > 0 else None,
        "left_out": np.sum(~table.is_inlier[:POSITIONS]),
        "middle": np.abs(numbers - np.round(numbers.mean())).mean(),
        "probed": len(vectors),
    }


def _by_ridge(vectors: Array, is_inlier: Array) -> Metrics:
    kept, numbers = vectors[is_inlier], np.flatnonzero(is_inlier)
    noise = np.random.default_rng(0).normal(size=kept.T.shape).T
    errors = [_misses(kept, numbers, seed, _ridge) for seed in range(4)]
    return {
        "ridge": np.mean(errors),
        "ridge_spread": np.std(np.mean(errors, axis=1), ddof=1),
        "of_noise": _misses(noise, numbers, 0, _ridge).mean(),
    }


def _folds(count: int, seed: int) -> list[Array]:
    return np.array_split(np.random.default_rng(seed).permutation(count), FOLDS)


def _misses(vectors: Array, numbers: Array, seed: int, fit: Fit) -> Array:
    """By how much each number is missed by the fit to the folds without it."""
    missed = np.zeros(len(vectors))
    for held in _folds(len(vectors), seed):
        train = np.setdiff1d(np.arange(len(vectors)), held)
        middle, number = vectors[train].mean(axis=0), numbers[train].mean()
        weights = fit(vectors[train] - middle, numbers[train] - number)
        read = np.round((vectors[held] - middle) @ weights + number)
        missed[held] = np.abs(read - numbers[held])
    return missed


def _least_squares(vectors: Array, numbers: Array) -> Array:
    return np.asarray(np.linalg.lstsq(vectors, numbers, rcond=None)[0])


def _ridge(vectors: Array, numbers: Array) -> Array:
    """With the penalty of the least generalised cross-validation error."""
    left, lengths, right = np.linalg.svd(vectors, full_matrices=False)
    along = left.T @ numbers
    beside = numbers @ numbers - along @ along
    best, chosen = np.inf, np.zeros(len(lengths))
    for penalty in PENALTIES * np.sum(lengths**2) / min(vectors.shape):
        kept = lengths**2 / (lengths**2 + penalty)
        error = beside + np.sum(((1 - kept) * along) ** 2)
        if len(numbers) <= 1.4 * kept.sum():
            continue
        criterion = error / (len(numbers) - 1.4 * kept.sum()) ** 2
        if criterion < best:
            best, chosen = criterion, along * lengths / (lengths**2 + penalty)
    return np.asarray(right.T @ chosen)
