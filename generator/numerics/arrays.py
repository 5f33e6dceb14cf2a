"""Plain mathematics on arrays, float64 throughout; knows nothing of checkpoints."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from generator.errors import NotApplicableError

Array = NDArray[Any]
Floats = NDArray[np.float64]
FLAT = 1e-9  # Differences below this share of the largest value are rounding.


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


def _by_largest(rows: Floats) -> tuple[Floats, Floats]:
    """Each row divided by the largest size in it, so that squares neither overflow nor vanish, and these sizes: (n_rows, 1)."""
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):  # Infinity by infinity is not defined, and NaN says so.
        return rows / np.where(largest == 0.0, 1.0, largest), largest


def row_norms(rows: Floats) -> Floats:
    """Euclidean length of each row: (n_rows,), in the unit of ``rows``."""
    scaled, largest = _by_largest(rows)
    return np.asarray(np.linalg.norm(scaled, axis=1) * largest[:, 0])


def directions(rows: Floats) -> Floats:
    """Each row divided by its length: (n_rows, n_columns); NaN where a row is all zeros, or not finite."""
    scaled, _ = _by_largest(rows)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(norms == 0.0, np.nan, norms))


def cosine_matrix(rows: Floats) -> Floats:
    """Cosine similarity of every row with every row; NaN where a row is all zeros, or not finite.

    rows: (n_rows, n_columns)
    returns: (n_rows, n_rows), dimensionless, within [−1, 1], exactly symmetric
    """
    cosines = np.clip((units := directions(rows)) @ units.T, -1.0, 1.0)  # (n_rows, n_rows)
    cosines = (cosines + cosines.T) / 2.0
    diagonal = np.diagonal(cosines)
    np.fill_diagonal(cosines, np.where(np.isnan(diagonal), np.nan, 1.0))
    return cosines


def mean_of_defined(values: Floats) -> float | None:
    """Mean of those ``values`` (n,) that are not NaN, or None where all are."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


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


def mean_by_distance(lines: Sequence[Floats]) -> Floats:
    """Mean of square matrices over both of their diagonals at each distance from the main one, leaving out what is not defined.

    lines: one matrix for each line of positions, query by key
    returns: (n,) for n positions of the longest, index = distance; NaN where no value is defined
    """
    means = np.full(max(len(line) for line in lines), np.nan)
    for distance in range(means.size):
        sides = [np.diagonal(line, offset) for line in lines if distance < len(line) for offset in (distance, -distance)]
        both = np.concatenate(sides)
        defined = both[~np.isnan(both)]
        if defined.size:
            means[distance] = defined.mean()
    return means


def from_one_to_zero(profile: Floats) -> Floats | None:
    """``profile`` (n,) moved and scaled so that its highest value is 1 and its last 0; None where the last is the highest."""
    defined = profile[~np.isnan(profile)]
    span = float(defined.max() - defined[-1]) if defined.size else 0.0
    return (profile - defined[-1]) / span if span > FLAT * float(np.max(np.abs(defined), initial=0.0)) else None


def half_distance(profile: Floats) -> float:
    """Index, with its fraction by a straight line, at which ``profile`` (n,), from 1 to 0, first falls below ½ beyond its highest value."""
    at = np.flatnonzero(~np.isnan(profile))
    at = at[int(np.argmax(profile[at])) :]
    step = int(np.argmax(profile[at] < 0.5))
    before, after = at[step - 1], at[step]
    share = (profile[before] - 0.5) / (profile[before] - profile[after])
    return float(before + share * (after - before))


def offsets_between(n_positions: int) -> Array:
    """Column minus row, for every pair of positions: (n_positions, n_positions)."""
    index = np.arange(n_positions)
    return np.asarray(index[None, :] - index[:, None])


def local_monotonicity(lines: Sequence[Floats], width: int) -> float | None:
    """Share of steps away from the main diagonal of each matrix, the first ``width`` on either side, at which the value falls.

    That is A[i, i ± k] > A[i, i ± (k + 1)] for k = 0 … width − 1, for all i where both are defined; None where there is none.
    """
    fell, defined = 0, 0
    for side in (each for line in lines for each in (line, line[::-1, ::-1])):
        for distance in range(min(width, len(side) - 1)):
            near, far = np.diagonal(side, distance)[: len(side) - distance - 1], np.diagonal(side, distance + 1)
            fell += int(np.count_nonzero(near > far))
            defined += int(np.count_nonzero(~np.isnan(near) & ~np.isnan(far)))
    return fell / defined if defined else None


def translation_invariance(matrix: Floats, offsets: Array) -> float | None:
    """Share of the variance of ``matrix`` off its main diagonal that the means of equal offsets explain; None without any variance.

    1 − Σ_k Σ_i (A[i, i+k] − mean_k)² / Σ (A − mean)², k ≠ 0: the R² of the nearest matrix that depends on the offset alone.
    offsets: (n, n) whole numbers, the same for pairs with the same offset
    """
    kept = ~np.eye(len(matrix), dtype=bool) & ~np.isnan(matrix)
    away = matrix[kept]
    flat = (FLAT * float(np.max(np.abs(away), initial=0.0))) ** 2 * away.size
    away -= away.mean() if away.size else 0.0
    if (whole := float(away @ away)) <= flat:
        return None
    group = offsets[kept] - offsets.min()
    away -= (np.bincount(group, away) / np.maximum(np.bincount(group), 1))[group]
    return 1.0 - float(away @ away) / whole


def symmetry(matrix: Floats) -> float:
    """1 − ‖A − Aᵀ‖_F / (2 ‖A‖_F) of a square matrix that is defined and not zero: 1 if it equals its mirror image, 0 if it is its negative."""
    return 1.0 - float(np.linalg.norm(matrix - matrix.T) / (2.0 * np.linalg.norm(matrix)))


def to_own_range(values: Floats) -> Floats | None:
    """``values`` moved and scaled so that the lowest is 0 and the highest 1; None where all defined ones are equal.

    Divided by the largest first, so that nothing overflows.
    """
    largest = float(np.nanmax(np.abs(values))) if not np.isnan(values).all() else 0.0
    scaled = values / (largest or 1.0)
    low, high = (float(np.nanmin(scaled)), float(np.nanmax(scaled))) if largest else (0.0, 0.0)
    return (scaled - low) / (high - low) if high - low > FLAT else None


def on_own_ranges(heads: Floats) -> list[Floats]:
    """Each of ``heads`` (n_heads, n, n) moved and scaled to its own range; those in which all is alike are left out."""
    return [own for head in heads if (own := to_own_range(head)) is not None]


def centred_slice(count: int, most: int) -> slice:
    """The middle of ``count`` places, ``most`` of them at most."""
    shown = min(count, most)
    return slice((count - shown) // 2, (count - shown) // 2 + shown)
