"""Change points in a sequence of vectors: where the cosine of neighbours drops, and where the norm
changes.
"""

import numpy as np

from generator.numerics.arrays import Array, Floats, cosines_of_pairs, row_medians

WINDOW = 8  # pairs of neighbours on either side of a pair
RUN = 4  # consecutive pairs that are also tested by their mean
MOST_SEAMS = 3
AROUND = 64  # pairs on either side over which the variation is estimated
NORMAL = 1.4826  # Standard deviation of a normal distribution, in median absolute deviations.
SMALLEST = 1e-3  # Lower bound of the variation.


def adjacent_cosines(vectors: Floats) -> Floats:
    """Cosine of each position with the next: (n_positions − 1,), within [−1, 1]; NaN where one of
    the two is zero or not finite.

    vectors: (n_positions, d_model)
    """
    return cosines_apart(vectors, 1)


def cosines_apart(vectors: Floats, distance: int) -> Floats:
    """Cosine of each position with the one at this distance after it: (n_positions − distance,),
    within [−1, 1]; NaN where one is zero or not finite.

    vectors: (n_positions, d_model)
    """
    first = np.arange(len(vectors) - distance)
    return cosines_of_pairs(vectors, first, first + distance)


def window_medians(values: Floats) -> tuple[Floats, Floats]:
    """Medians of the ``WINDOW`` values before and of those after each value, without NaN; NaN where
    fewer exist or most are not defined.

    values: (n,), at least ``WINDOW``
    returns: (n,) and (n,), in the unit of ``values``
    """
    windows = np.lib.stride_tricks.sliding_window_view(values, WINDOW)  # (n − 7, 8)
    medians = row_medians(windows, least=WINDOW // 2)
    before, after = np.full(values.size, np.nan), np.full(values.size, np.nan)
    before[WINDOW:], after[:-WINDOW] = medians[:-1], medians[1:]
    return before, after


def break_depths(cosines: Floats) -> Floats:
    """How far each cosine lies below the higher of its two window medians: (n,); NaN where a window
    is incomplete.

    cosines: (n,), of neighbouring positions
    """
    before, after = window_medians(cosines)
    return np.asarray(np.maximum(before, after) - cosines)


def variation(depth: Floats) -> Floats:
    """Scaled median absolute deviation of ``depth`` (n,) among the ``AROUND`` pairs on either side:
    (n,), at least ``SMALLEST``.
    """
    typical = np.full(depth.size, SMALLEST)
    for index in range(depth.size):
        neighbours = depth[max(index - AROUND, 0) : index + AROUND + 1]
        neighbours = neighbours[~np.isnan(neighbours)]
        if neighbours.size:
            typical[index] = max(
                NORMAL * float(np.median(np.abs(neighbours - np.median(neighbours)))), SMALLEST
            )
    return typical


def significant_breaks(depth: Floats, least: float, cutoff: float) -> Array:
    """Pairs deeper than ``least`` and beyond ``cutoff`` times the local variation, alone or as a
    run of ``RUN`` pairs.

    depth: (n,), n ≥ RUN
    returns: (n,), bool
    """
    runs = np.lib.stride_tricks.sliding_window_view(depth, RUN).mean(axis=1)  # (n − 3,)
    significant = np.nan_to_num(depth / variation(depth)) > cutoff
    for start in np.flatnonzero(np.nan_to_num(runs / variation(runs)) > cutoff):
        significant[start : start + RUN] = True
    return np.asarray(significant & (np.nan_to_num(depth) > least))


def seams(depth: Floats, significant: Array) -> list[tuple[int, int]]:
    """First and last pair of each seam, strongest first, at most ``MOST_SEAMS``.

    A seam starts from the deepest pair that lies more than ``WINDOW`` pairs away from every
    stronger seam, and takes in neighbouring pairs at least half as deep that belong to no stronger
    one.
    depth: (n,); significant: (n,), bool, the pairs at which a seam may lie
    """
    remaining, free = np.where(significant, depth, -np.inf), ~np.isnan(depth)
    bounds: list[tuple[int, int]] = []
    while len(bounds) < MOST_SEAMS and (deepest := remaining.max()) > -np.inf:
        first = last = int(remaining.argmax())
        belongs = free & (np.nan_to_num(depth) >= deepest / 2.0)
        while first > 0 and belongs[first - 1]:
            first -= 1
        while last + 1 < depth.size and belongs[last + 1]:
            last += 1
        bounds.append((first, last))
        free[first : last + 1] = False
        remaining[max(first - WINDOW, 0) : last + WINDOW + 1] = -np.inf
    return bounds


def norm_steps(norms: Floats) -> Floats:
    """Log ratio of the median norms after and before each step from a position to the next:
    (n_positions − 1,).

    Medians of the ``WINDOW`` positions up to the first of the two, and of as many from the second
    on; NaN where fewer exist, and 0 where a median is zero.
    norms: (n_positions,)
    """
    medians = np.median(np.lib.stride_tricks.sliding_window_view(norms, WINDOW), axis=1)  # (n − 7,)
    logs = np.log(np.where(medians > 0.0, medians, 1.0))
    steps = np.full(norms.size - 1, np.nan)
    both = (medians[WINDOW:] > 0.0) & (medians[:-WINDOW] > 0.0)
    steps[WINDOW - 1 : norms.size - WINDOW] = np.where(both, logs[WINDOW:] - logs[:-WINDOW], 0.0)
    return steps


def norm_change(norms: Floats) -> tuple[Floats, int, bool]:
    """Changes of the norm (n_pairs,) as log ratios, the position before the largest, and whether it
    lies there and not all along.

    norms: (n_positions,), at least 2 · ``WINDOW``
    """
    steps = norm_steps(norms)
    index = int(np.nanargmax(np.abs(steps)))
    at = _place_of_step(norms, index)
    return steps, at, _is_sudden(norms, at, float(steps[index]))


def _place_of_step(norms: Floats, around: int) -> int:
    """The last position before a change of the norm: the one within ``WINDOW`` of ``around`` where
    two levels, one before and one after, explain the norms best (least squares).

    norms: (n_positions,); around: where medians of windows differ most
    """
    first, last = max(around - 2 * WINDOW, 0), min(around + 2 * WINDOW + 2, norms.size)
    window = norms[first:last]
    splits = range(max(around - WINDOW, 0), min(around + WINDOW + 1, norms.size - 1))
    unexplained = [
        sum(float(np.sum((part - part.mean()) ** 2)) for part in np.split(window, [at + 1 - first]))
        for at in splits
    ]
    return splits[int(np.argmin(unexplained))]


def _is_sudden(norms: Floats, at: int, step: float) -> bool:
    """Whether the two norms at a change make up at least half of it, its log ratio ``step`` being
    that of medians around it: otherwise norms change all along.

    norms: (n_positions,); at: the position before it
    """
    before, after = norms[at : at + 2]
    is_zero = min(before, after) == 0.0
    return bool(is_zero or np.log(after / before) * np.sign(step) > abs(step) / 2.0)
