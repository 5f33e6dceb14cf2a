"""Whether a table has any structure: what random numbers of its size would not show, and what it
would not show with its rows in another order.
"""

import hashlib
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from generator.numerics.arrays import Array, Floats, largest

ALARM = 0.0005  # Share of random tables that each of the tests below may take for structure.
WIDER = 1.15  # Norms of short vectors are only nearly normal.
EDGE = 4.5  # Tracy-Widom law: 1 random matrix of 10,000 has a larger rescaled eigenvalue.
MOST_LAGS = 8
SHUFFLES = 99  # Orders with which that of the rows is compared.
# Of a larger table, its start, its middle and its end are looked at, with so many values each, in
# at least so many rows.
MOST_VALUES, FEWEST_ROWS = 2**18, 256
MOST_COMPARED = 512  # The first rows, whose order is compared.
FEWEST = 16  # Rows and columns from which randomness can be told.
FEWEST_ALIKE = 4  # Equal rows that are a tail.
ROWS_TRIED = 64  # Before all rows are looked at for steps.
MOST_STEPS = 4096  # Between the least and the greatest value of a row that is stored in steps.
TO_MULTIPLES = 1e-3  # Relative difference of single precision, and of scales in half precision.
LEAST_TAIL = 32  # Rows of a tail that is told from the rest.


@dataclass(frozen=True)
class Tail:
    """The last rows of a table, all of one kind.

    start: the first of them; kind: all zero, exact copies of the first, or such that nothing tells
        them from random numbers
    """

    start: int
    kind: Literal["zero", "copies", "random"]


Kind = Literal["", "small", "constant", "random", "unordered"]


@dataclass(frozen=True)
class Structure:
    """What a table lacks.

    kind: small where they are too few, or too narrow, to show any; constant where all rows are
        equal; random where nothing tells them from random numbers; unordered where they show no
        order; "" otherwise. Outliers, and the tail, are left out
    n_copies: rows before the tail, other than zeros, that exactly equal an earlier one; copy: the
        first of them, and the row that it equals; None without one
    zeros: indices of rows of zeros before the tail, int
    """

    kind: Kind = ""
    tail: Tail | None = None
    n_copies: int = 0
    copy: tuple[int, int] | None = None
    zeros: tuple[int, ...] = ()


def structure(rows: Floats, outliers: Array) -> Structure:
    """The structure of a table.

    rows: (n_rows, d_model), finite; outliers: (n_outliers,), int, indices of rows
    """
    if len(rows) < FEWEST_ALIKE or rows.shape[1] < 2:
        return Structure("small")
    if _first_of_equal(rows) == 0:
        return Structure("constant")
    inliers = np.delete(rows, outliers, axis=0) if outliers.size else rows
    end, before = tail(inliers), inliers
    if end is not None:
        before = inliers[: end.start]
        end = Tail(int(np.delete(np.arange(len(rows)), outliers)[end.start]), end.kind)
    n_before = len(rows) if end is None else end.start
    kind: Kind = ""
    if looks_random(before):
        kind = "random"
    elif not is_ordered(before):
        kind = "unordered"
    n_copies, copy = _copies(rows[:n_before])
    zeros = np.flatnonzero(~np.any(rows[:n_before], axis=1))
    return Structure(kind, end, n_copies, copy, tuple(int(row) for row in zeros))


def _copies(rows: Floats) -> tuple[int, tuple[int, int] | None]:
    """How many rows equal an earlier one, zeros aside, and the first with the row that it
    equals.
    """
    seen: dict[bytes, int] = {}
    copies = []
    for index, row in enumerate(rows):
        digest = hashlib.blake2b(row.tobytes(), digest_size=16).digest()
        first = seen.setdefault(digest, index)
        if first != index and np.any(row):
            copies.append((index, first))
    return len(copies), copies[0] if copies else None


def looks_random(rows: Floats) -> bool:
    """Whether nothing tells ``rows`` (n_rows, d_model) from independent random numbers of one
    distribution; not so where they are too few to tell, or all zero.

    Three tests, each of which takes at most ``ALARM`` of random tables for structure: the largest
    singular value (Johnstone 2001, Annals of Statistics 29), the norms of rows and of columns
    (Wilson and Hilferty 1931), and the cosines of rows at short and long distances.
    """
    if min(rows.shape) < 2 or max(rows.shape) < FEWEST:
        return False
    most = max(MOST_VALUES // rows.shape[1], FEWEST_ROWS)
    if len(rows) > most:
        starts = (0, (len(rows) - most) // 2, len(rows) - most)
        return all(looks_random(rows[start : start + most]) for start in starts)
    scaled = rows / (largest(rows) or 1.0)
    variance = float(np.mean(scaled**2))
    if variance == 0.0:
        return False
    scaled /= math.sqrt(variance)
    kurtosis = float(np.mean(np.square(np.square(scaled))))
    return (
        _has_random_norms(scaled, kurtosis)
        and _has_random_norms(scaled.T, kurtosis)
        and _has_random_cosines(scaled)
        and _has_random_spectrum(scaled)
    )


def _has_random_spectrum(unit: Floats) -> bool:
    """unit: entries of variance 1"""
    n_rows, width = unit.shape
    small = unit.T @ unit if n_rows > width else unit @ unit.T
    top = float(np.linalg.eigvalsh(small)[-1])
    root, other = math.sqrt(max(n_rows - 1, 1)), math.sqrt(width)
    scale = (root + other) * (1.0 / root + 1.0 / other) ** (1.0 / 3.0)
    return bool((top - (root + other) ** 2) / scale < EDGE)


def _has_random_norms(unit: Floats, kurtosis: float) -> bool:
    """kurtosis: mean fourth power of the entries, whose variance is 1"""
    n_rows, width = unit.shape
    freedom = 2.0 * width / max(kurtosis - 1.0, 1e-9)
    variance = 2.0 / (9.0 * freedom)
    roots = np.cbrt(np.einsum("ij,ij->i", unit, unit) / width)
    scores = (roots - (1.0 - variance)) / math.sqrt(variance)
    farthest, mean = float(np.abs(scores).max()), float(np.mean(scores**2))
    tolerance = two_sided(ALARM) * math.sqrt(2.0 / n_rows) + 2.0 / width
    return bool(farthest < WIDER * two_sided(ALARM / n_rows) and abs(mean - 1.0) < tolerance)


def _has_random_cosines(unit: Floats) -> bool:
    lags = _lags(len(unit))
    directions = _directions(unit)
    scores = [
        float(np.einsum("ij,ij->i", directions[lag:], directions[:-lag]).mean())
        * math.sqrt(unit.shape[1] * (len(unit) - lag))
        for lag in lags
    ]
    return max(map(abs, scores)) < two_sided(ALARM / len(lags))


def _directions(rows: Floats) -> Floats:
    """``rows`` (n_rows, d_model) at norm 1; those of zeros unchanged."""
    norms = np.linalg.norm(rows, axis=1)
    return np.asarray(rows / np.where(norms > 0.0, norms, 1.0)[:, None])


def _lags(n_rows: int) -> list[int]:
    """Distances 1, 2, 3 … to ``MOST_LAGS``, then doubled, below half of the rows."""
    most = max(n_rows // 2, 1)
    short = range(1, min(MOST_LAGS, most) + 1)
    long = (2**power for power in range(MOST_LAGS.bit_length(), most.bit_length()))
    return [*short, *(lag for lag in long if lag <= most)]


def two_sided(share: float) -> float:
    """The size beyond which a standard normal number lies with this probability."""
    return -NormalDist().inv_cdf(share / 2.0)


def is_ordered(rows: Floats) -> bool:
    """Whether the order of ``rows`` (n_rows, d_model) shows: in the cosines or the norms of rows at
    some distance, more than in any of ``SHUFFLES`` random orders of the same rows, of which the
    first ``MOST_COMPARED`` are looked at.

    Of tables whose order means nothing, 1 in 100 passes.
    """
    some = rows[:MOST_COMPARED] / (largest(rows) or 1.0)
    if len(some) < 4:
        return True  # Too few to say that it does not.
    directions = _directions(some)
    ranks = np.argsort(np.argsort(np.linalg.norm(some, axis=1))) / len(some) - 0.5
    tables = [directions @ directions.T, -np.abs(ranks[:, None] - ranks[None, :])]
    lags = _lags(len(some))
    order = np.arange(len(some))
    draws = np.random.default_rng(0)
    orders = [order, *(draws.permutation(order) for _ in range(SHUFFLES))]
    by_lag = np.array(
        [
            [table[other[lag:], other[:-lag]].mean() for table in tables for lag in lags]
            for other in orders
        ]
    )
    spread = np.maximum(by_lag.std(axis=0), 1e-12)
    farthest = np.abs((by_lag - by_lag.mean(axis=0)) / spread).max(axis=1)
    return bool(farthest[0] > farthest[1:].max())


def tail(rows: Floats) -> Tail | None:
    """The longest tail of ``rows`` (n_rows, d_model) that holds nothing.

    None without one of at least ``LEAST_TAIL`` rows, or of ``FEWEST_ALIKE`` equal ones, or where it
    is all of them.
    """
    n_rows = len(rows)
    same = _first_of_equal(rows)
    if 0 < same <= n_rows - FEWEST_ALIKE:
        return Tail(same, "copies" if np.any(rows[-1]) else "zero")
    most = n_rows - LEAST_TAIL
    if most < 1 or not looks_random(rows[most:]) or looks_random(rows):
        return None
    low, high = 0, most  # The tail from ``low`` is not random, that from ``high`` is.
    while high - low > 1:
        middle = (low + high) // 2
        if looks_random(rows[middle:]):
            high = middle
        else:
            low = middle
    return Tail(_after_last_alike(rows, high), "random")


def _first_of_equal(rows: Floats) -> int:
    """The first of the last rows that are all equal."""
    for stop in range(len(rows), 0, -FEWEST_ROWS):
        start = max(stop - FEWEST_ROWS, 0)
        if after := _last_change(np.any(rows[start:stop] != rows[-1:], axis=1)):
            return start + after
    return 0


def _last_change(differs: Array) -> int:
    """Index after the last True; 0 without one."""
    found = np.flatnonzero(differs)
    return int(found[-1]) + 1 if found.size else 0


def _after_last_alike(rows: Floats, start: int) -> int:
    """The first row from which on no row of the next ``LEAST_TAIL`` is like the one before it; rows
    shortly before ``start`` are looked at, since a few of another kind do not show in a long tail.
    """
    first, last = max(start - 2 * LEAST_TAIL, 0), min(start + LEAST_TAIL, len(rows) - 1)
    unit = _directions(rows[first : last + 1])
    cosines = np.einsum("ij,ij->i", unit[1:], unit[:-1])
    alike = np.abs(cosines) > two_sided(ALARM / len(cosines)) / math.sqrt(rows.shape[1])
    return first + _last_change(alike) + 1 if alike.any() else start


def steps(rows: Floats) -> Floats | None:
    """The step of each row, of which all differences of its values are multiples, by at most
    ``MOST_STEPS``.

    rows: (n_rows, d_model), finite
    returns: (n_rows,), 0 for a row without one; None where half of some rows or more have none, as
        those of numbers with a floating point, and where rows are shorter than ``FEWEST``
    """
    if rows.shape[1] < FEWEST or not len(rows):
        return None
    some = [_step(row) for row in rows[:: -(-len(rows) // ROWS_TRIED)]]
    if np.count_nonzero(some) <= len(some) / 2:
        return None
    return np.array([_step(row) for row in rows])


def _step(row: Floats) -> float:
    """The step of a row (d_model,); 0 without one."""
    levels = np.unique(row)
    gaps = np.diff(levels)
    step = float(gaps.min(initial=np.inf))
    if not 0.0 < step < np.inf or levels[-1] - levels[0] > MOST_STEPS * step:
        return 0.0
    multiples = gaps / step
    are_whole = np.abs(multiples - np.round(multiples)) < TO_MULTIPLES * multiples
    return step if bool(np.all(are_whole)) else 0.0


def dithered(rows: Floats, sizes: Floats, seed: int) -> Floats:
    """``rows`` (n_rows, d_model) with uniform noise of up to half a step, which rounding hides.

    sizes: (n_rows,), the step of each row, 0 for none; seed: of the noise
    """
    noise = np.random.default_rng(seed).uniform(-0.5, 0.5, rows.shape)
    return np.asarray(rows + noise * sizes[:, None])
