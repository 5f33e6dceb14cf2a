"""Similarity of two encodings: of their tables, and of the shapes of their kernels."""

from collections.abc import Sequence

import numpy as np

from generator.numerics.arrays import FLAT, Array, Floats, largest
from generator.numerics.shapes import scaled_heads


def centred_gram(rows: Floats) -> Floats | None:
    """Gram matrix of the mean-centred rows, scaled to Frobenius norm 1: (n_rows, n_rows); None when
    all rows are equal.

    rows: (n_rows, n_columns)
    """
    # Squares then neither overflow nor vanish.
    scaled = rows / (largest(rows) or 1.0)
    centred = scaled - scaled.mean(axis=0)
    if largest(centred) <= FLAT:
        return None
    gram = centred @ centred.T  # (n, n)
    return np.asarray(gram / np.linalg.norm(gram))


def without_chance(gram: Floats) -> Floats | None:
    """Gram matrix for the unbiased estimate of HSIC: zero diagonal, centred such that unrelated
    tables align with 0 on average.

    U-centring of Székely and Rizzo 2014 (arXiv 1310.2926); the inner product of two such matrices
    is a multiple of HSIC₁, the unbiased estimate of Song et al. 2012 (JMLR 13, 1393–1434).
    gram: (n, n)
    returns: (n, n) of Frobenius norm 1; None for n < 4, or when the centred matrix is zero
    """
    n = len(gram)
    if n < 4:
        return None
    off_diagonal = gram - np.diag(np.diagonal(gram))
    sums = off_diagonal.sum(axis=0) / (n - 2)
    centred = (
        off_diagonal - sums[:, None] - sums[None, :] + off_diagonal.sum() / ((n - 1) * (n - 2))
    )
    np.fill_diagonal(centred, 0.0)
    norm = float(np.linalg.norm(centred))
    return np.asarray(centred / norm) if norm > FLAT * float(np.linalg.norm(gram)) else None


def alignment(first: Floats, second: Floats) -> float:
    """Linear centred kernel alignment (CKA) of two tables, from their centred Gram matrices (n, n).

    ‖Yᵀ X‖²_F / (‖Xᵀ X‖_F ‖Yᵀ Y‖_F), columns centred (Kornblith et al. 2019, arXiv 1905.00414,
    section 3): 0 for tables without any linear relation, 1 for tables equal up to rotation and
    scale. From Gram matrices ``without_chance`` it is the unbiased estimate (Nguyen et al. 2021,
    arXiv 2010.15327, section 3), 0 on average for random tables, within [−1, 1].
    """
    return float(np.clip(np.sum(first * second), -1.0, 1.0))


def shape(heads: Floats, lines: Sequence[Array]) -> Floats | None:
    """Mean over heads of a kernel, each head first scaled by its levels, cut to [0, 1]: (n, n);
    None when all heads are constant, or a value is infinite.

    heads: (n_heads, n, n), query by key; lines: index arrays of consecutive positions
    """
    scaled = [] if np.isinf(heads).any() else scaled_heads(heads, lines)
    return np.clip(np.mean(scaled, axis=0), 0.0, 1.0) if scaled else None


def shape_difference(first: Floats, second: Floats) -> float | None:
    """Root mean square difference of two shapes, over the pairs of positions that both define; None
    when there are none.

    first, second: (n, n), of any sizes, values within [0, 1]
    returns: within [0, 1]
    """
    n = min(len(first), len(second))
    difference = (first[:n, :n] - second[:n, :n]).ravel()
    defined = difference[~np.isnan(difference)]
    return float(np.sqrt(np.mean(defined**2))) if defined.size else None


def clustered(distances: Floats) -> list[int]:
    """Order of the leaves of average linkage with neighbours as close as possible (Bar-Joseph et
    al. 2001): n indices.

    distances: (n, n), symmetric, finite
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(distances) < 3:
        return list(range(len(distances)))
    # Rounded, so that ties are ties on every machine.
    condensed = squareform(np.round(distances, 9), checks=False)
    return [int(leaf) for leaf in leaves_list(linkage(condensed, "average", optimal_ordering=True))]


def most_different(shapes: Sequence[Floats], count: int) -> list[int]:
    """Indices of ``count`` shapes, of all where there are no more, by farthest-point sampling from
    the first (Gonzalez 1985), in ascending order.

    shapes: arrays (n, n), of any sizes
    """
    chosen, nearest = [0], np.full(len(shapes), np.inf)
    while len(chosen) < min(count, len(shapes)):
        last = shapes[chosen[-1]]
        to_last = [shape_difference(last, other) or 0.0 for other in shapes]
        nearest = np.minimum(nearest, to_last)
        nearest[chosen] = -1.0
        chosen.append(int(np.argmax(np.round(nearest, 9))))
    return sorted(chosen)
