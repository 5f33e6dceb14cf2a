"""Breaks in a sequence of vectors: where neighbours stop being alike, and where lengths change."""

import numpy as np

from generator.numerics.arrays import Array, Floats, directions

WINDOW = 8  # pairs of neighbours on either side of the one in question
RUN = 4  # pairs in a row that may stand out together
MOST_SEAMS = 3
AROUND = 64  # pairs on either side over which variation is typical
NORMAL = 1.4826  # Standard deviations of a normal distribution in one median absolute deviation.
SMALLEST = 1e-3  # Variation counts as at least this.


def adjacent(vectors: Floats) -> Floats:
    """Cosine of each position with the next, from the vectors (n_positions, d_model): (n_positions − 1,); NaN beside a vector of zeros."""
    units = directions(vectors)
    return np.asarray(np.clip(np.sum(units[:-1] * units[1:], axis=1), -1.0, 1.0))


def windows(values: Floats) -> tuple[Floats, Floats]:
    """Median of the eight ``values`` (n,) before each, and of the eight after it: (n,) each; NaN where there are not eight, all defined."""
    medians = np.median(np.lib.stride_tricks.sliding_window_view(values, WINDOW), axis=1)  # (n − 7,), NaN where one is not defined
    before, after = np.full(values.size, np.nan), np.full(values.size, np.nan)
    before[WINDOW:], after[:-WINDOW] = medians[:-1], medians[1:]
    return before, after


def breaks(cosines: Floats) -> Floats:
    """How far the cosine of each two neighbours lies below the better of its two windows: (n,); NaN where these are not full."""
    before, after = windows(cosines)
    return np.asarray(np.maximum(before, after) - cosines)


def variation(depth: Floats) -> Floats:
    """Scaled median absolute deviation of ``depth`` (n,) among the 64 pairs on either side of each: (n,), at least 0.001."""
    typical = np.full(depth.size, SMALLEST)
    for place in range(depth.size):
        near = depth[max(place - AROUND, 0) : place + AROUND + 1]
        near = near[~np.isnan(near)]
        if near.size:
            typical[place] = max(NORMAL * float(np.median(np.abs(near - np.median(near)))), SMALLEST)
    return typical


def stand_out(depth: Floats, least: float, cutoff: float) -> Array:
    """Which pairs are deeper than ``least``, and beyond ``cutoff`` times the variation around: alone, or with three others in a row.

    depth: (n,), n ≥ 4
    returns: (n,), bool
    """
    runs = np.lib.stride_tricks.sliding_window_view(depth, RUN).mean(axis=1)  # (n − 3,)
    out = np.nan_to_num(depth / variation(depth)) > cutoff
    for start in np.flatnonzero(np.nan_to_num(runs / variation(runs)) > cutoff):
        out[start : start + RUN] = True
    return np.asarray(out & (np.nan_to_num(depth) > least))


def seams(depth: Floats, out: Array) -> list[tuple[int, int]]:
    """The first and the last pair of each seam among the pairs ``out`` (n,), bool: strongest first by ``depth`` (n,), a window apart, at most three.

    Neighbouring pairs that are at least half as deep as the deepest of them are one seam.
    """
    left = np.where(out, depth, -np.inf)
    found: list[tuple[int, int]] = []
    while len(found) < MOST_SEAMS and (deepest := left.max()) > -np.inf:
        first = last = int(left.argmax())
        while first > 0 and depth[first - 1] >= deepest / 2.0:
            first -= 1
        while last + 1 < depth.size and depth[last + 1] >= deepest / 2.0:
            last += 1
        found.append((first, last))
        left[max(first - WINDOW, 0) : last + WINDOW + 1] = -np.inf
    return found


def norm_steps(norms: Floats) -> Floats:
    """log of the median norm of the eight positions after each pair of neighbours by that of the eight before: (n_positions − 1,).

    NaN where there are not eight, and 0 where one of the medians is zero.
    """
    medians = np.median(np.lib.stride_tricks.sliding_window_view(norms, WINDOW), axis=1)  # (n − 7,)
    logs = np.log(np.where(medians > 0.0, medians, 1.0))
    steps = np.full(norms.size - 1, np.nan)
    both = (medians[WINDOW:] > 0.0) & (medians[:-WINDOW] > 0.0)
    steps[WINDOW - 1 : norms.size - WINDOW] = np.where(both, logs[WINDOW:] - logs[:-WINDOW], 0.0)
    return steps
