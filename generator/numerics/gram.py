"""Singular values and leading components of a table from the Gram matrix of its shorter side, where
a decomposition of the table would take minutes.

Values are squared on the way: those below about 1e-8 of the largest are rounding.
"""

import numpy as np

from generator.numerics.arrays import Floats, blocks, column_means


def squared_singular_values(rows: Floats, unit: float) -> Floats:
    """Squares of the singular values in descending order, in multiples of ``unit``²: (min(n_rows,
    n_columns),).

    rows: (n_rows, n_columns), finite; unit: at least their largest magnitude
    """
    return np.asarray(
        np.maximum(np.linalg.eigvalsh(_gram(rows, unit, np.zeros(rows.shape[1])))[::-1], 0.0)
    )


def principal(rows: Floats, unit: float, count: int) -> tuple[Floats, Floats]:
    """Of the rows without their mean: squares of the singular values, and coordinates along the
    first ``count`` right singular vectors.

    rows: (n_rows, n_columns), finite; unit: of the results, at least their largest magnitude
    returns: (min(n_rows, n_columns),) in descending order, and (n_rows, count)
    """
    from scipy.linalg import eigh

    mean = column_means(rows, unit)
    gram = _gram(rows, unit, mean)
    squares = np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0)
    vectors = eigh(gram, subset_by_index=(len(gram) - count, len(gram) - 1), overwrite_a=True)[1][
        :, ::-1
    ]
    if _is_wide(rows):
        return np.asarray(squares), np.asarray(vectors * np.sqrt(squares[:count]))
    return np.asarray(squares), np.vstack(
        [(rows[part] / unit - mean) @ vectors for part in blocks(*rows.shape)]
    )


def _gram(rows: Floats, unit: float, mean: Floats) -> Floats:
    """Inner products of all pairs of rows, or of columns where there are fewer, after a division by
    ``unit`` and without ``mean`` (n_columns,).
    """
    gram = np.zeros((min(rows.shape),) * 2)
    if _is_wide(rows):
        for part in blocks(rows.shape[1], rows.shape[0]):
            block = rows[:, part] / unit - mean[part]
            gram += block @ block.T
    else:
        for part in blocks(*rows.shape):
            block = rows[part] / unit - mean
            gram += block.T @ block
    return gram


def _is_wide(rows: Floats) -> bool:
    return bool(rows.shape[0] <= rows.shape[1])
