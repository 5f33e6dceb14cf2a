"""Array functions in float64, independent of checkpoints."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from generator.errors import NotApplicableError

Array = NDArray[Any]
Floats = NDArray[np.float64]
FIRST = 1024  # Values that are looked at before all of them.
# Values of a large array that are worked on at once, where a changed copy of all would take as much
# memory again.
BLOCK = 2**20
FLAT = 1e-9  # Differences below this share of the largest value are rounding.


def frozen(values: ArrayLike) -> Floats:
    """Read-only float64 copy of ``values`` (…,), of the same shape."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def finite(values: Floats, what: str) -> Floats:
    """``values`` (…,) unchanged, after a check that all of them are finite.

    errors: NotApplicableError when a value is NaN or infinite, or when there is no value
    """
    if values.size == 0:
        raise NotApplicableError(f"{what} has no values")
    n_invalid = int(np.count_nonzero(~np.isfinite(values)))
    if n_invalid:
        raise NotApplicableError(f"{what} has {n_invalid:,} values that are NaN or infinite")
    return values


def narrowest(values: Array) -> Array:
    """Float64 ``values`` (…,) in float16 or float32 where that holds each exactly, as with values
    read in that type; else unchanged.
    """
    if values.dtype == np.float64:
        for dtype in (np.float16, np.float32):
            if _holds(dtype, values.reshape(-1)):
                return values.astype(dtype)
    return values


def _holds(dtype: type[np.floating[Any]], values: Floats) -> bool:
    """Whether ``dtype`` has every one of ``values`` (n,); it has infinities and NaN."""
    with np.errstate(over="ignore"):
        return all(
            np.all((values[part].astype(dtype) == values[part]) | np.isnan(values[part]))
            for part in (slice(FIRST), *blocks(values.size, 1))
        )


def blocks(count: int, size: int) -> Iterator[slice]:
    """Consecutive slices of ``count`` rows of ``size`` values, or of as many columns, with about
    ``BLOCK`` values each.
    """
    step = max(BLOCK // max(size, 1), 1)
    return (slice(start, start + step) for start in range(0, count, step))


def largest(values: Floats) -> float:
    """The largest magnitude in ``values`` (…,), in their unit; 0 for an empty array, NaN where one
    is NaN.
    """
    return float(np.maximum(np.max(values, initial=0.0), -np.min(values, initial=0.0)))


def root_mean_square(values: Floats) -> float:
    """Root mean square of ``values`` (…,), in their unit; 0 for an empty array.

    Scaled by the largest magnitude first, so that squares neither overflow nor vanish.
    """
    unit = largest(values)
    if unit == 0.0:
        return 0.0
    flat = values.reshape(-1)
    return unit * float(
        np.sqrt(sum(np.sum((flat[part] / unit) ** 2) for part in blocks(flat.size, 1)) / flat.size)
    )


def column_means(rows: Floats, unit: float) -> Floats:
    """Mean of each column of ``rows`` (n_rows, n_columns), in multiples of ``unit``, which is at
    least their largest magnitude: (n_columns,).
    """
    return np.concatenate(
        [np.mean(rows[:, part] / unit, axis=0) for part in blocks(rows.shape[1], len(rows))]
    )


def _scales(rows: Floats) -> tuple[Floats, Floats]:
    """Largest magnitude of each row, by which it is divided so that squares neither overflow nor
    vanish, and its norm after that.

    rows: (n_rows, n_columns)
    returns: (n_rows, 1) and (n_rows, 1); 1 and 0 for a row of zeros, NaN for the norm of one that
        is not finite
    """
    scale, norms = np.ones((len(rows), 1)), np.zeros((len(rows), 1))
    with np.errstate(invalid="ignore"):  # Infinity divided by infinity is NaN.
        for part in blocks(*rows.shape):
            size = np.max(np.abs(rows[part]), axis=1, keepdims=True, initial=0.0)
            scale[part] = np.where(size == 0.0, 1.0, size)
            norms[part] = np.linalg.norm(rows[part] / scale[part], axis=1, keepdims=True)
    return scale, norms


def row_norms(rows: Floats, unit: float = 1.0) -> Floats:
    """Euclidean norm of each row, in multiples of ``unit``; NaN for one that is not finite.

    rows: (n_rows, n_columns)
    returns: (n_rows,)
    """
    scale, norms = _scales(rows)
    return np.asarray((norms * (scale / unit))[:, 0])


def directions(rows: Floats) -> Floats:
    """Rows scaled to unit norm; NaN for a row that is zero or not finite.

    rows: (n_rows, n_columns)
    returns: (n_rows, n_columns), dimensionless
    """
    return _directed(rows, *_scales(rows))


def direction_blocks(rows: Floats) -> Iterator[Floats]:
    """``directions`` of ``rows`` (n_rows, n_columns), a few columns at a time: (n_rows, ≤
    n_columns), dimensionless.
    """
    scales = _scales(rows)
    return (_directed(rows[:, part], *scales) for part in blocks(rows.shape[1], len(rows)))


def _directed(rows: Floats, scale: Floats, norms: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # Infinity divided by infinity is NaN.
        units = rows / scale
        units /= np.where(norms == 0.0, np.nan, norms)
    return np.asarray(units)


def cosines_of_pairs(rows: Floats, first: Array, second: Array) -> Floats:
    """Cosine similarity of the rows ``first`` and ``second`` (n_pairs,), int, pair by pair; NaN
    where one is zero or not finite.

    rows: (n_rows, n_columns)
    returns: (n_pairs,), dimensionless, within [−1, 1]
    """
    (scale, norms), cosines = _scales(rows), np.empty(len(first))
    with np.errstate(invalid="ignore"):  # Infinity divided by infinity is NaN.
        for part in blocks(len(first), rows.shape[1]):
            one, other = (rows[index] / scale[index] for index in (first[part], second[part]))
            cosines[part] = np.sum(np.multiply(one, other, out=one), axis=1)
    lengths = norms[first, 0] * norms[second, 0]
    return np.clip(cosines / np.where(lengths == 0.0, np.nan, lengths), -1.0, 1.0)


def cosine_matrix(rows: Floats) -> Floats:
    """Cosine similarity between all pairs of rows; NaN for a row that is zero or not finite.

    rows: (n_rows, n_columns)
    returns: (n_rows, n_rows), dimensionless, within [−1, 1], exactly symmetric
    """
    cosines = np.zeros((len(rows), len(rows)))
    for units in direction_blocks(rows):
        cosines += units @ units.T
    cosines = cosines + cosines.T
    cosines /= 2.0
    np.clip(cosines, -1.0, 1.0, out=cosines)
    diagonal = np.diagonal(cosines)
    np.fill_diagonal(cosines, np.where(np.isnan(diagonal), np.nan, 1.0))
    return cosines


def mean_of_defined(values: Floats) -> float | None:
    """Mean of ``values`` (n,) without NaN; None when all are NaN."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def mean_of_rows(rows: Floats) -> Floats:
    """Mean over ``rows`` (n_rows, n_columns) without NaN: (n_columns,); NaN where no value is
    defined.
    """
    counts = np.count_nonzero(~np.isnan(rows), axis=0)
    return np.asarray(np.nansum(rows, axis=0) / np.where(counts == 0, np.nan, counts))


def row_medians(rows: Floats, least: int = 1) -> Floats:
    """Median of each row of ``rows`` (n, m), without NaN, which sorting puts last: (n,); NaN for a
    row with fewer than ``least`` values.
    """
    ascending, counts = np.sort(rows, axis=1), np.count_nonzero(~np.isnan(rows), axis=1)
    index = np.arange(len(rows))
    low = ascending[index, np.maximum(counts - 1, 0) // 2]
    high = ascending[index, np.minimum(counts // 2, rows.shape[1] - 1)]
    return np.where(counts >= least, (low + high) / 2.0, np.nan)


def off_diagonal(matrix: Floats) -> Floats:
    """Entries of ``matrix`` (n, n) off the main diagonal, without NaN, in row order:
    (n_defined,).
    """
    values = matrix[~np.eye(matrix.shape[0], dtype=bool)]
    return values[~np.isnan(values)]


def shrink(image: Floats, n_rows: int, n_columns: int) -> Floats:
    """``image`` averaged over equal blocks so that it fits into ``n_rows`` × ``n_columns``;
    unchanged if it fits already.

    Blocks at the far edges may be smaller. NaN is left out of a block's mean.
    image: (height, width)
    returns: (≤ n_rows, ≤ n_columns), in the unit of ``image``
    """
    for axis, limit in ((0, n_rows), (1, n_columns)):
        step = -(-image.shape[axis] // limit)
        if step > 1:
            starts = np.arange(0, image.shape[axis], step)
            defined = ~np.isnan(image)
            counts = np.add.reduceat(defined, starts, axis=axis, dtype=np.int64)
            sums = np.add.reduceat(np.where(defined, image, 0.0), starts, axis=axis)
            image = sums / np.where(counts == 0, np.nan, counts)
    return image


def shrunk_by(
    image: Floats, most: int, kept: tuple[bool, bool] = (False, False)
) -> tuple[Floats, tuple[float, float]]:
    """``image`` averaged over equal blocks so that it has about ``most`` values, and how far its
    blocks reach, as shares of height and width.

    image: (height, width); a share above 1 belongs to a last block that is smaller than the others
    kept: whether rows, and columns, stay as they are
    returns: (≤ height, ≤ width), in the unit of ``image``
    """
    scale = max(1.0, image.size / most) ** (1.0 if any(kept) else 0.5)
    limits = [
        size if stays else ceil(size / scale) for size, stays in zip(image.shape, kept, strict=True)
    ]
    small = shrink(image, *limits)
    reach = [
        count * -(-size // limit) / size
        for count, size, limit in zip(small.shape, image.shape, limits, strict=True)
    ]
    return small, (reach[0], reach[1])


def thinned(x: Floats, y: Floats, most: int, *, logarithmic: bool = False) -> tuple[Floats, Floats]:
    """Of a line of more than ``most`` points, the lowest and the highest in each of ``most`` // 2
    stretches that are equally long as drawn.

    x, y: (n,); a line whose x do not rise throughout is returned unchanged
    logarithmic: whether the axis of ``x`` is; one that begins at 0 or below counts as linear
    returns: two arrays (≤ most,), (n,) of an unchanged line
    """
    if len(x) <= most or np.any(np.diff(x) <= 0):
        return x, y
    along = np.log(x) if logarithmic and x[0] > 0 else x
    edges = np.linspace(along[0], along[-1], most // 2 + 1)[1:-1]
    stretches = np.split(np.arange(len(x)), np.searchsorted(along, edges))
    kept = [
        index
        for stretch in stretches
        if stretch.size
        for index in sorted({stretch[np.argmin(y[stretch])], stretch[np.argmax(y[stretch])]})
    ]
    return x[kept], y[kept]


def neighbours(n_positions: int, columns: int) -> tuple[Array, Array]:
    """Indices of all pairs of neighbours: the first and the second of each, (n_pairs,) and
    (n_pairs,), int.

    On a grid filled row by row, patches side by side and above each other, none across the end of a
    row; a sequence is one row.
    columns: patches per row, ``n_positions`` or more for a sequence
    """
    index = np.arange(n_positions)
    beside = index[:-1][(index[:-1] + 1) % columns != 0]
    above = index[: max(n_positions - columns, 0)]
    return np.concatenate([beside, above]), np.concatenate([beside + 1, above + columns])


def mean_by_distance(lines: Sequence[Floats]) -> Floats:
    """Mean along the two diagonals at each distance from the main one, over all matrices, without
    NaN.

    lines: square matrices (n_line, n_line), query by key, one per line of positions
    returns: (n,) for the longest line of n positions, index = distance in positions; NaN where no
        value is defined
    """
    means = np.full(max(len(line) for line in lines), np.nan)
    for distance in range(means.size):
        sides = [
            np.diagonal(line, offset)
            for line in lines
            if distance < len(line)
            for offset in (distance, -distance)
        ]
        mean = mean_of_defined(np.concatenate(sides))
        if mean is not None:
            means[distance] = mean
    return means


def offsets_between(n_positions: int) -> Array:
    """Column index minus row index of every entry: (n_positions, n_positions), int."""
    index = np.arange(n_positions)
    return np.asarray(index[None, :] - index[:, None])


def by_pair(values: Array) -> Floats:
    """Values of offsets −(n − 1) to n − 1 (2 n − 1,) for each query and key: (n, n)."""
    n = (len(values) + 1) // 2
    return np.asarray(values, dtype=np.float64).take(offsets_between(n) + n - 1)


def local_monotonicity(lines: Sequence[Floats], width: int) -> float | None:
    """Share of outward steps at which the value falls, within ``width`` steps of the main diagonal
    on either side.

    A step falls when A[i, i ± k] > A[i, i ± (k + 1)], k = 0 … width − 1. Pairs with NaN do not
    count; None without any defined step.
    lines: square matrices (n_line, n_line), query by key, one per line of positions
    returns: within [0, 1]
    """
    n_falls, n_defined = 0, 0
    for side in (side for line in lines for side in (line, line[::-1, ::-1])):
        for distance in range(min(width, len(side) - 1)):
            outer = np.diagonal(side, distance + 1)
            inner = np.diagonal(side, distance)[: outer.size]
            n_falls += int(np.count_nonzero(inner > outer))
            n_defined += int(np.count_nonzero(~np.isnan(inner) & ~np.isnan(outer)))
    return n_falls / n_defined if n_defined else None


def translation_invariance(matrix: Floats, offsets: Array) -> float | None:
    """R² of the nearest matrix that depends on the offset alone, off the main diagonal; None
    without variance.

    1 − Σ_k Σ_i (A[i, i+k] − mean_k)² / Σ (A − mean)², k ≠ 0.
    matrix: (n, n); NaN is left out
    offsets: (n, n), int, equal for pairs with the same offset
    returns: within [0, 1], dimensionless
    """
    valid = ~np.eye(len(matrix), dtype=bool) & ~np.isnan(matrix)
    entries = matrix[valid]
    rounding = (FLAT * float(np.max(np.abs(entries), initial=0.0))) ** 2 * entries.size
    entries -= entries.mean() if entries.size else 0.0
    if (total := float(entries @ entries)) <= rounding:
        return None
    group = offsets[valid] - offsets.min()
    entries -= (np.bincount(group, entries) / np.maximum(np.bincount(group), 1))[group]
    return 1.0 - float(entries @ entries) / total


def symmetry(matrix: Floats) -> float:
    """1 − ‖A − Aᵀ‖_F / (2 ‖A‖_F): 1 for a symmetric matrix, 0 for an antisymmetric one.

    matrix: (n, n), finite, not all zeros
    returns: within [0, 1]
    """
    return 1.0 - float(np.linalg.norm(matrix - matrix.T) / (2.0 * np.linalg.norm(matrix)))


def min_max_scaled(values: Floats) -> Floats | None:
    """``values`` (…,) scaled linearly to [0, 1], NaN aside, of the same shape; None when the
    defined values are equal, or all are NaN.
    """
    # Divided by the largest magnitude first, so that nothing overflows.
    largest = float(np.nanmax(np.abs(values))) if not np.isnan(values).all() else 0.0
    scaled = values / (largest or 1.0)
    low, high = (float(np.nanmin(scaled)), float(np.nanmax(scaled))) if largest else (0.0, 0.0)
    return (scaled - low) / (high - low) if high - low > FLAT else None


def centred_slice(count: int, most: int) -> slice:
    """The middle ``most`` of ``count`` indices, or all of them where there are no more."""
    shown = min(count, most)
    return slice((count - shown) // 2, (count - shown) // 2 + shown)
