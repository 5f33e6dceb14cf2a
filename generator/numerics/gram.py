"""Singular values and leading components of a table from the Gram matrix of its shorter side, where a decomposition of the table would take minutes.

Values are squared on the way: those below about 1e-8 of the largest are rounding.
"""

import numpy as np

from generator.numerics.arrays import Floats


def squared_singular_values(rows: Floats) -> Floats:
    """Squares of the singular values in descending order: (min(n_rows, n_columns),).

    rows: (n_rows, n_columns), finite
    """
    return np.asarray(np.maximum(np.linalg.eigvalsh(_gram(rows))[::-1], 0.0))


def principal(rows: Floats, count: int) -> tuple[Floats, Floats]:
    """Squares of the singular values, and the coordinates of the rows along the first ``count`` right singular vectors.

    rows: (n_rows, n_columns), finite
    returns: (min(n_rows, n_columns),) in descending order, and (n_rows, count)
    """
    from scipy.linalg import eigh

    gram = _gram(rows)
    squares = np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0)
    vectors = eigh(gram, subset_by_index=(len(gram) - count, len(gram) - 1), overwrite_a=True)[1][:, ::-1]
    along = vectors * np.sqrt(squares[:count]) if _is_wide(rows) else rows @ vectors
    return np.asarray(squares), np.asarray(along)


def _gram(rows: Floats) -> Floats:
    return np.asarray(rows @ rows.T if _is_wide(rows) else rows.T @ rows)


def _is_wide(rows: Floats) -> bool:
    return bool(rows.shape[0] <= rows.shape[1])
