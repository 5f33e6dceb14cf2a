"""How alike two encodings are: as tables of vectors, and in the shape of their kernels."""

from collections.abc import Sequence

import numpy as np

from generator.numerics.arrays import FLAT, Array, Floats, on_own_ranges


def centred_gram(rows: Floats) -> Floats | None:
    """Inner products of the rows, each less the mean row, scaled to Frobenius norm 1; None where all rows are alike.

    rows: (n, any width)
    returns: (n, n)
    """
    scaled = rows / (float(np.max(np.abs(rows), initial=0.0)) or 1.0)  # Squares then neither overflow nor vanish.
    centred = scaled - scaled.mean(axis=0)
    if float(np.max(np.abs(centred), initial=0.0)) <= FLAT:
        return None
    gram = centred @ centred.T  # (n, n)
    return np.asarray(gram / np.linalg.norm(gram))


def without_chance(gram: Floats) -> Floats | None:
    """``gram`` (n, n) as the estimate of HSIC without bias takes it: no diagonal, centred so that unrelated rows come to 0 on average.

    Székely & Rizzo 2014 (arXiv 1310.2926, section 2); equal to HSIC₁ of Song et al. 2012 (JMLR 13, section 5.1).
    returns: (n, n) of Frobenius norm 1; None for n < 4, or where nothing is left
    """
    n = len(gram)
    if n < 4:
        return None
    off = gram - np.diag(np.diagonal(gram))
    sums = off.sum(axis=0) / (n - 2)
    centred = off - sums[:, None] - sums[None, :] + off.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0.0)
    norm = float(np.linalg.norm(centred))
    return np.asarray(centred / norm) if norm > FLAT * float(np.linalg.norm(gram)) else None


def alignment(first: Floats, second: Floats) -> float:
    """Linear centred kernel alignment of two tables, from their centred Gram matrices.

    ‖Yᵀ X‖²_F / (‖Xᵀ X‖_F ‖Yᵀ Y‖_F), columns centred (Kornblith et al. 2019, arXiv 1905.00414, section 3): from 0, no linear
    map of one tells anything of the other, to 1, equal but for rotation and size. From Gram matrices ``without_chance`` it is
    the estimate without bias (Nguyen et al. 2021, arXiv 2010.15327, section 3), 0 on average for random tables, from −1 to 1.
    """
    return float(np.clip(np.sum(first * second), -1.0, 1.0))


def shape(heads: Floats) -> Floats | None:
    """The mean of all heads of a kernel (n_heads, n, n), each first on its own range from 0 to 1: (n, n); None where all is alike or not finite."""
    scaled = [] if np.isinf(heads).any() or np.isnan(heads).all() else on_own_ranges(heads)
    return np.asarray(np.mean(scaled, axis=0)) if scaled else None


def shape_difference(first: Floats, second: Floats) -> float | None:
    """Root mean square difference of two shapes over the positions and pairs that both define, from 0 to 1; None where there are none."""
    n = min(len(first), len(second))
    apart = (first[:n, :n] - second[:n, :n]).ravel()
    defined = apart[~np.isnan(apart)]
    return float(np.sqrt(np.mean(defined**2))) if defined.size else None


def clustered(distances: Floats) -> list[int]:
    """An order in which alike ones stand together: leaves of average linkage, turned so that neighbours are as near as may be.

    distances: (n, n), symmetric, finite (Bar-Joseph et al. 2001 for the order of leaves)
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(distances) < 3:
        return list(range(len(distances)))
    # Rounded, so that ties are ties on every machine.
    condensed = squareform(np.round(distances, 9), checks=False)
    return [int(leaf) for leaf in leaves_list(linkage(condensed, "average", optimal_ordering=True))]


def most_different(shapes: Sequence[Floats], count: int) -> list[int]:
    """``count`` of the shapes, in order: the first, then always the one farthest from all that were taken (Gonzalez 1985)."""
    taken, nearest = [0], np.full(len(shapes), np.inf)
    while len(taken) < min(count, len(shapes)):
        nearest = np.minimum(nearest, _to_all(shapes, taken[-1]))
        nearest[taken] = -1.0
        taken.append(int(np.argmax(np.round(nearest, 9))))
    return sorted(taken)


def _to_all(shapes: Sequence[Floats], one: int) -> Array:
    return np.array([shape_difference(shapes[one], other) or 0.0 for other in shapes])
