"""Outliers among the rows of a table: vectors of unusual norm, and vectors unlike all of their
neighbours.
"""

import numpy as np

from generator.numerics.arrays import (
    Array,
    Floats,
    cosines_of_pairs,
    neighbours,
    row_medians,
    row_norms,
)

CUTOFF = 3.5  # Iglewicz and Hoaglin 1993: a modified z-score beyond this is a potential outlier.
NORMAL = 0.6745  # The median absolute deviation of a normal distribution, in standard deviations.
# Of the median norm, or a difference of cosines; among nearly equal ones, the rule alone would make
# outliers of rounding.
LEAST = 0.2
MOST = 0.1  # of all; more than that are not outliers.
AROUND = 32  # positions on either side which, with itself, a position is compared with


def outliers(sizes: Floats) -> Array | None:
    """Indices with a modified z-score 0.6745 |x − median| / MAD above ``CUTOFF`` that differ from
    the median by over ``LEAST`` of it.

    Iglewicz and Hoaglin 1993. None when more than ``MOST`` of all would be outliers.
    sizes: (n,)
    returns: (n_outliers,), int
    """
    deviations = np.abs(sizes - np.median(sizes))
    limit = max(CUTOFF * float(np.median(deviations)) / NORMAL, LEAST * float(np.median(sizes)))
    return _few(deviations > limit)


def unlike_neighbours(vectors: Floats, columns: int) -> Array | None:
    """Rows whose highest cosine with a neighbour lies far below that of the positions around: the
    same rule, one-sided, with ``AROUND``.

    None when more than ``MOST`` of all would be.
    vectors: (n_positions, d_model), with ``columns`` patches per row of a grid, or n_positions for
        a sequence
    returns: (n_outliers,), int
    """
    nearest = nearest_cosines(vectors, columns)  # (n_positions,)
    padded = np.pad(nearest, AROUND, constant_values=np.nan)
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1)  # (n_positions, 65)
    median = row_medians(around)
    deviation = row_medians(np.abs(around - median[:, None]))
    return _few(
        np.nan_to_num(median - nearest)
        > np.maximum(CUTOFF * np.nan_to_num(deviation) / NORMAL, LEAST)
    )


def nearest_cosines(vectors: Floats, columns: int) -> Floats:
    """Cosine of each row with the most similar of its neighbours, which on a grid are up to four:
    (n_positions,); NaN without one.

    vectors: (n_positions, d_model), n_positions a multiple of ``columns``
    """
    pairs = neighbours(len(vectors), columns)
    cosines, highest = cosines_of_pairs(vectors, *pairs), np.full(len(vectors), -np.inf)
    for side in pairs:
        np.fmax.at(highest, side, cosines)
    return np.where(np.isfinite(highest), highest, np.nan)


def outlier_rows(vectors: Floats, columns: int) -> Array:
    """Rows of unusual norm or unlike their neighbours, in ascending order: (n_outliers,), int; none
    of a table that is not finite.

    Each of the two rules applies only where it concerns few rows.
    vectors: (n_positions, d_model), with ``columns`` patches per row of a grid, or n_positions for
        a sequence
    """
    if not vectors.size or not np.all(np.isfinite(vectors)):
        return np.zeros(0, dtype=np.int64)
    found = (outliers(row_norms(vectors)), unlike_neighbours(vectors, columns))
    indices = [np.zeros(0, dtype=np.int64), *(rows for rows in found if rows is not None)]
    return np.unique(np.concatenate(indices))


def _few(is_outlier: Array) -> Array | None:
    indices = np.flatnonzero(is_outlier)
    return indices if indices.size <= MOST * is_outlier.size else None
