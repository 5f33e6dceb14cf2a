"""Plain mathematics on arrays, float64 throughout; knows nothing of checkpoints."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from generator.errors import NotApplicableError

Array = NDArray[Any]
Floats = NDArray[np.float64]


def frozen(values: ArrayLike) -> Floats:
    """A read-only float64 copy of ``values``."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def finite(values: Floats, what: str) -> Floats:
    """``values`` unchanged, or the reason why nothing can be computed from them.

    errors: NotApplicableError when any value is NaN or infinite, or when there is no value at all.
    """
    if values.size == 0:
        raise NotApplicableError(f"{what} has no values")
    wrong = int(np.count_nonzero(~np.isfinite(values)))
    if wrong:
        raise NotApplicableError(f"{what} has {wrong:,} values that are NaN or infinite")
    return values


def root_mean_square(values: Floats) -> float:
    """√(mean of squares), in the unit of ``values``; scaled first, so that it neither overflows nor vanishes."""
    largest = float(np.max(np.abs(values), initial=0.0))
    return 0.0 if largest == 0.0 else largest * float(np.sqrt(np.mean((values / largest) ** 2)))


def cosine_matrix(rows: Floats) -> Floats:
    """Cosine similarity of every row with every row; NaN where a row is all zeros.

    rows: (n_rows, n_columns)
    returns: (n_rows, n_rows), dimensionless, within [−1, 1], exactly symmetric
    """
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest == 0.0, 1.0, largest)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    directions = scaled / np.where(norms == 0.0, np.nan, norms)
    cosines = np.clip(directions @ directions.T, -1.0, 1.0)  # (n_rows, n_rows)
    cosines = (cosines + cosines.T) / 2.0
    diagonal = np.diagonal(cosines)
    np.fill_diagonal(cosines, np.where(np.isnan(diagonal), np.nan, 1.0))
    return cosines


def mean_by_offset(matrix: Floats) -> Floats:
    """Mean of ``matrix`` along each diagonal from the main one outwards, leaving out what is not defined.

    matrix: (n, n)
    returns: (n,), index = column minus row; NaN where a diagonal holds no defined value
    """
    means = np.full(matrix.shape[0], np.nan)
    for offset in range(matrix.shape[0]):
        diagonal = np.diagonal(matrix, offset)
        defined = diagonal[~np.isnan(diagonal)]
        if defined.size:
            means[offset] = defined.mean()
    return means


def off_diagonal(matrix: Floats) -> Floats:
    """The defined entries of a square ``matrix`` that do not lie on its main diagonal, as one vector."""
    values = matrix[~np.eye(matrix.shape[0], dtype=bool)]
    return values[~np.isnan(values)]


def shrink(image: Floats, n_rows: int, n_columns: int) -> Floats:
    """``image`` averaged over equal blocks until it fits into ``n_rows`` × ``n_columns``; unchanged if it fits already.

    Blocks at the far edges may hold fewer values. What is not defined is left out of its block's mean.
    """
    for axis, most in ((0, n_rows), (1, n_columns)):
        step = -(-image.shape[axis] // most)
        if step > 1:
            starts = np.arange(0, image.shape[axis], step)
            defined = ~np.isnan(image)
            counts = np.add.reduceat(defined, starts, axis=axis, dtype=np.int64)
            sums = np.add.reduceat(np.where(defined, image, 0.0), starts, axis=axis)
            image = sums / np.where(counts == 0, np.nan, counts)
    return image
