"""Shapes of kernels: profile by distance, half way to the far level, monotonicity, invariance.

They are those of “Decay with distance” and “Similarity by distance”. A kernel is a square matrix,
NaN where a pair does not count. Where distances are measured along several lines, each line has its
matrix.
"""

import math
from itertools import pairwise

import numpy as np

from tests.recomputed.published import Array

STEPS = 20  # from a position, of local monotonicity


def by_distance(lines: list[Array]) -> tuple[Array, Array]:
    """Mean over all pairs at each distance, in both directions, and their number."""
    longest = max(len(line) for line in lines)
    means, counts = np.full(longest, np.nan), np.zeros(longest)
    for distance in range(longest):
        sides = {distance, -distance}
        values = np.concatenate([np.diagonal(line, side) for line in lines for side in sides])
        values = values[~np.isnan(values)]
        counts[distance] = len(values)
        if len(values):
            means[distance] = values.mean()
    return means, counts


def first_below(
    profile: Array, level: float, start: int = 0, rounding: float = 1e-6
) -> float | None:
    """Distance beyond ``start`` at which a profile falls below a level by more than rounding."""
    known = [place for place in range(start, len(profile)) if not np.isnan(profile[place])]
    for before, after in pairwise(known):
        if profile[after] < level - rounding:
            fall = (profile[before] - level) / (profile[before] - profile[after])
            return before + float(fall) * (after - before)
    return None


def far_level(means: Array, counts: Array) -> float:
    """Mean over all pairs in the last quarter of the distances."""
    far = np.arange(len(means)) >= math.ceil(0.75 * (len(means) - 1))
    far &= counts > 0
    return float(np.average(means[far], weights=counts[far]))


def half_distance_of_head(lines: list[Array]) -> float | None:
    """The same of a head, None where it falls by less than 5% of the range of its means by signed
    offset, which offsets in the last quarter share.
    """
    means, counts = by_distance(lines)
    first, by_offset = math.ceil(0.75 * (len(means) - 1)), dict[int, list[float]]()
    for line in lines:
        for (query, key), value in np.ndenumerate(line):
            if not np.isnan(value):
                by_offset.setdefault(min(max(key - query, -first), first), []).append(value)
    of_offsets = [np.mean(values) for values in by_offset.values()]
    fall = np.nanmax(means) - far_level(means, counts)
    return half_distance(means, counts) if fall >= 0.05 * np.ptp(of_offsets) else None


def half_distance(means: Array, counts: Array) -> float | None:
    """Where a profile falls half-way from its maximum to the level of its last quarter."""
    level = far_level(means, counts)
    top = int(np.nanargmax(means))
    if means[top] - level <= 1e-9 * np.nanmax(np.abs(means)):
        return None
    fall = means[top] - level
    return first_below(means, level + fall / 2, top, 1e-6 * fall)


def monotonicity(lines: list[Array]) -> float:
    """Share of steps away from the diagonal at which the value falls, in per cent."""
    falling, steps = 0, 0
    for line in lines:
        for matrix in (line, line[::-1, ::-1]):
            for distance in range(min(STEPS, len(line) - 1)):
                near = np.diagonal(matrix, distance)[:-1]
                fall = near - np.diagonal(matrix, distance + 1)
                falling += int(np.sum(fall > 0))
                steps += int(np.sum(~np.isnan(fall)))
    return 100 * falling / steps


def by_chance(heads: list[list[Array]]) -> float:
    """Half of the steps that change, in per cent, mean over heads; each has lines."""
    negative = [[-line for line in lines] for lines in heads]
    return float(np.mean([monotonicity(one) for one in heads + negative]))


def of_heads_that_fall(heads: list[list[Array]]) -> dict[str, float | None]:
    """Steps that fall among those that change, and level ones, in per cent; each head has lines."""
    falling = [lines for lines in heads if half_distance_of_head(lines) is not None]
    if not falling or not (changing := 2 * by_chance(falling)):
        return {}
    falls = float(np.mean([monotonicity(lines) for lines in falling]))
    found: dict[str, float | None] = {"of_changes": 100 * falls / changing, "level": 100 - changing}
    each = [50 * monotonicity(one) / half for one in falling if (half := by_chance([one]))]
    return found | ({"of_changes_low": min(each), "of_changes_high": max(each)} if each[1:] else {})


def invariance(kernel: Array, offsets: Array) -> float | None:
    """Share of the variance off the diagonal that the means of equal offsets explain."""
    counted = ~np.eye(len(kernel), dtype=bool) & ~np.isnan(kernel)
    values, kinds = kernel[counted], np.unique(offsets[counted], return_inverse=True)[1]
    means = np.bincount(kinds, values) / np.bincount(kinds)
    total = np.sum((values - values.mean()) ** 2)
    return float(1 - np.sum((values - means[kinds]) ** 2) / total)


def symmetry(kernel: Array) -> float:
    """1 if both directions are equal, 0 if they are exact opposites."""
    return float(1 - np.linalg.norm(kernel - kernel.T) / (2 * np.linalg.norm(kernel)))


def offsets_between(count: int) -> Array:
    """Key minus query, for every two positions in a line."""
    return np.subtract.outer(np.arange(count), np.arange(count)).T
