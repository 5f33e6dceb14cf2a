"""Shapes of kernels: decay with distance, and scales on which kernels of different units can be
compared.

Both are anchored at means over many pairs of positions, so that no single pair decides them.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np

from generator.numerics.arrays import FLAT, Array, Floats, min_max_scaled, offsets_between

ROUNDING = 1e-6  # A value this near a level is at it, in float32.
FAR = 0.75  # Share of the longest distance from which on pairs count as far.


def along(matrix: Floats, lines: Sequence[Array]) -> list[Floats]:
    """The submatrix of ``matrix`` (n, n) for each line of positions, an index array (n_line,): a
    list of (n_line, n_line).
    """
    return [matrix[np.ix_(line, line)] for line in lines]


def far_from(n_positions: int) -> int:
    """Smallest far distance, in positions, within a line of ``n_positions``."""
    return ceil(FAR * (n_positions - 1))


def far_level(lines: Sequence[Floats]) -> float:
    """Mean over all pairs at far distances, in both directions, without NaN; NaN where no such pair
    is defined.

    lines: square matrices (n_line, n_line), query by key, one per line of positions
    """
    start = far_from(max(len(line) for line in lines))
    far = np.concatenate([line[np.abs(offsets_between(len(line))) >= start] for line in lines])
    far = far[~np.isnan(far)]
    return float(far.mean()) if far.size else float("nan")


def decay_scaled(profile: Floats, far: float) -> Floats | None:
    """``profile`` (n,) scaled linearly to a maximum of 1, and to 0 at the level ``far``; None where
    the maximum is no higher than that, or one of the two is not defined.
    """
    if np.isnan(far) or np.isnan(profile).all():
        return None
    highest = float(np.nanmax(profile))
    is_higher = highest - far > FLAT * max(float(np.nanmax(np.abs(profile))), abs(far))
    return (profile - far) / (highest - far) if is_higher else None


def half_distance(distances: Array, profile: Floats) -> float | None:
    """Distance at which ``profile`` first falls below ½ beyond its maximum, interpolated linearly
    between defined values.

    distances: (n,), in positions, ascending; profile: (n,), of maximum 1
    returns: None where it never does
    """
    defined = ~np.isnan(profile)
    distances, profile = distances[defined], profile[defined]
    highest = int(np.argmax(profile))
    return falls_below(0.5, distances[highest:], profile[highest:])


def falls_below(level: float, distances: Array, profile: Floats) -> float | None:
    """Distance at which ``profile``, at first no lower than ``level``, first falls below it,
    interpolated linearly; None where it never does.

    distances: (n,), in positions, ascending; profile: (n,)
    """
    below = np.flatnonzero(profile < level - ROUNDING)
    if not below.size:
        return None
    after = int(below[0])
    share = (profile[after - 1] - level) / (profile[after - 1] - profile[after])
    return float(distances[after - 1] + share * (distances[after] - distances[after - 1]))


def scaled_heads(heads: Floats, lines: Sequence[Array]) -> list[Floats]:
    """Heads (n_heads, n, n) scaled one by one by ``scaled_by_levels``: a list of (n, n), without
    constant heads.
    """
    return [
        scaled
        for head in heads
        if (scaled := scaled_by_levels(head, along(head, lines))) is not None
    ]


def scaled_by_levels(matrix: Floats, lines: Sequence[Floats]) -> Floats | None:
    """``matrix`` scaled linearly such that the lowest of its levels is 0 and the highest 1; None
    where it is constant, or has an infinite value.

    A level is the mean over all pairs of one signed offset; far offsets of one sign share a level.
    Single entries may lie beyond. Where all levels are equal, the lowest entry is 0 and the highest
    1.
    matrix: (n, n), query by key; lines: its submatrices (n_line, n_line) along lines of positions;
        NaN is left out
    """
    largest = float(np.max(np.abs(matrix[~np.isnan(matrix)]), initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return None
    levels = _levels([line / largest for line in lines])
    low, high = (float(levels.min()), float(levels.max())) if levels.size else (0.0, 0.0)
    return (matrix / largest - low) / (high - low) if high - low > FLAT else min_max_scaled(matrix)


def _levels(lines: Sequence[Floats]) -> Floats:
    """Mean over the pairs at each signed offset that is not far, and over the far ones on either
    side: (n_levels,), without NaN.
    """
    start = far_from(max(len(line) for line in lines))
    offsets = (
        np.concatenate(
            [np.clip(offsets_between(len(line)), -start, start).ravel() for line in lines]
        )
        + start
    )
    entries = np.concatenate([line.ravel() for line in lines])
    defined = ~np.isnan(entries)
    counts, sums = np.bincount(offsets[defined]), np.bincount(offsets[defined], entries[defined])
    return np.asarray(sums[counts > 0] / counts[counts > 0])


def far_cosine(frequencies: Floats, n_positions: int) -> float:
    """Mean of cos(distance · frequency) over all pairs of ``n_positions`` at far distances and over
    all frequencies, within [−1, 1].

    In closed form: n_positions − k pairs are k apart, so that the sum over pairs is one of
    Dirichlet's kernels.
    frequencies: (n_pairs,), radians per position
    """
    start = far_from(n_positions)
    count = n_positions - start  # far distances
    half_sines = np.sin(0.5 * frequencies)
    whole = np.abs(half_sines) < FLAT  # Whole turns per position, or none: every cosine is 1.
    sines = np.where(whole, 1.0, half_sines)
    ends = (
        np.sin(0.5 * (start + n_positions) * frequencies)
        * np.sin(0.5 * count * frequencies)
        / sines
    )
    sums = (ends - count * np.sin((start - 0.5) * frequencies)) / (2.0 * sines)
    return float(np.where(whole, 1.0, 2.0 * sums / (count * (count + 1))).mean())
