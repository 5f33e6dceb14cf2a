"""Rows and columns that stand for a matrix with more values than a picture has room for."""

from math import isqrt

import numpy as np

from generator.numerics.arrays import Array, Floats, root_mean_square, row_norms

# A row or column whose root mean square is that many times the typical one is always picked.
STANDS_OUT = 2.0


def picked(matrix: Floats, most: int, together: Array | None = None) -> tuple[Array, Array]:
    """Indices of rows and of columns that together have at most ``most`` values; all where these
    are few enough.

    One of each group of neighbours: the largest where it stands out, else one at random. Means
    would pale what changes from row to row, the largest values would hide all small ones, and equal
    steps would turn fast waves into slow ones.
    matrix: (n_rows, n_columns); together: (n_groups, n_together), int, columns that are picked
        together, each once, groups in the order of their first; None for each alone
    returns: two ascending arrays of int, which are equal for a symmetric matrix and columns alone
    """
    n_rows, n_columns = matrix.shape
    columns = min(n_columns, max(isqrt(most), most // max(n_rows, 1)))
    rows = min(n_rows, max(most // max(columns, 1), 1))
    typical = STANDS_OUT * root_mean_square(matrix)
    groups = np.arange(n_columns)[:, None] if together is None else together
    sizes = (row_norms(matrix.T) / np.sqrt(n_rows))[groups].max(axis=1)
    chosen = _picked(sizes, typical, max(columns // groups.shape[1], 1))
    return (
        _picked(row_norms(matrix) / np.sqrt(n_columns), typical, rows),
        np.sort(groups[chosen], axis=None),
    )


def _picked(sizes: Array, limit: float, count: int) -> Array:
    """One index of each of ``count`` groups of ``sizes`` (n,): of the largest where it is above
    ``limit``, else a random one.
    """
    if count >= sizes.size:
        return np.arange(sizes.size)
    edges = np.arange(count + 1) * sizes.size // count
    picks = np.random.default_rng(0).integers(edges[:-1], edges[1:])
    for group in np.unique(np.searchsorted(edges, np.flatnonzero(sizes > limit), "right")) - 1:
        start, stop = edges[group], edges[group + 1]
        picks[group] = start + np.argmax(sizes[start:stop])
    return picks
