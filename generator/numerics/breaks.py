"""Breaks of a table: pairs of neighbours less alike than those around."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from generator.numerics.arrays import Floats
from generator.numerics.change_points import (
    NORMAL,
    WINDOW,
    cosines_apart,
    seams,
    significant_breaks,
)

LEAST = 0.1  # Depth from which a break is worth a sentence.
LEVEL = 4 * WINDOW  # pairs on either side of a break of which a level is the median
# positions: two that are so far apart on one side are more alike than the two at a break that
# divides the table
FAR = 4
# Levels differ by more than both: a cosine, and typical deviations from them.
LEAST_STEP, DEVIATIONS = 0.02, 2.0
CUTOFF = 6.0  # times the local variation; 60 random tables of 1,024 × 64 stay below
# Of the change of a level: a pair that lies so far from both levels is on its way between them.
ON_ITS_WAY, GRADUAL = 0.25, 2  # One such pair may lie at a seam; two in a row are a slope.


@dataclass(frozen=True)
class Break:
    """Pairs of neighbours less alike than those around. first, last: these, each by the first of
    two positions; deepest: that of the lowest cosine

    lowest: this cosine; before, after: median cosine of neighbours on either side; deviation:
        typical one from these
    far: median cosine of positions ``FAR`` apart, on the side where it is lower; ratio: of the
        norms, after by before
    on_its_way: consecutive pairs at the break whose cosines go from one level to the other
    """

    first: int
    last: int
    deepest: int
    lowest: float
    before: float
    after: float
    deviation: float
    far: float
    ratio: float
    on_its_way: range = range(0)

    @property
    def changes_level(self) -> bool:
        """Whether neighbours are more alike on one side than on the other."""
        return abs(self.after - self.before) > max(LEAST_STEP, DEVIATIONS * self.deviation)

    @property
    def divides(self) -> bool:
        """Whether the two positions at the break are less alike, by over ``LEAST_STEP``, than two
        that are ``FAR`` apart on either side of it.
        """
        return self.lowest < self.far - LEAST_STEP

    @property
    def kind(self) -> Literal["seams", "slopes", "dips"]:
        """Seams, where the table is another after the break, or turned away from what was before;
        slopes, where it becomes another over several steps; dips, where one step is larger than
        others.
        """
        if self.changes_level and len(self.on_its_way) >= GRADUAL:
            return "slopes"
        return "seams" if self.changes_level or self.divides else "dips"

    @property
    def boundary(self) -> int:
        """Last position before the break: of its first pair, or of its last where neighbours are
        more alike from there on.
        """
        return self.last if self.changes_level and self.after > self.before else self.first


def breaks(vectors: Floats, cosines: Floats, depth: Floats, steps: Floats) -> list[Break]:
    """The significant breaks of a table, strongest first, at most ``MOST_SEAMS``.

    vectors: (n_positions, d_model), NaN for outliers; cosines, depth, steps: (n_pairs,), of their
        neighbours, of breaks, and of the norm as log ratios
    """
    apart = cosines_apart(vectors, FAR)
    return [
        _break(bounds, cosines, apart, depth, steps)
        for bounds in seams(depth, significant_breaks(depth, LEAST, CUTOFF))
    ]


def _break(
    bounds: tuple[int, int], cosines: Floats, apart: Floats, depth: Floats, steps: Floats
) -> Break:
    """apart: (n_positions − FAR,), cosines of positions ``FAR`` apart; the others as in
    ``breaks``.
    """
    first, last = bounds
    deepest = first + int(np.argmax(depth[first : last + 1]))
    (before, around), (after, around_after) = (
        _level(side) for side in _sides(cosines, first, last + 1)
    )
    far = min(_level(side)[0] for side in _sides(apart, first + 1 - FAR, last + 1))
    ratio = float(np.exp(np.nan_to_num(steps[deepest])))
    edge = last if after > before else first
    return Break(
        first,
        last,
        deepest,
        float(cosines[deepest]),
        before,
        after,
        max(around, around_after),
        far,
        ratio,
        _on_its_way(cosines, edge, before, after),
    )


def _on_its_way(cosines: Floats, edge: int, before: float, after: float) -> range:
    """The consecutive pairs around ``edge``, or next to it on the more alike side, whose cosines
    (n_pairs,) go from one level towards the other and are near neither.
    """
    fall = before - after
    margin = ON_ITS_WAY * abs(fall)
    low, high = min(before, after) + margin, max(before, after) - margin
    is_between = np.append((low < cosines) & (cosines < high), False)
    goes_on = is_between[:-1] & is_between[1:] & (np.append(np.diff(cosines), 0.0) * fall < 0.0)
    first = edge if is_between[edge] else edge + (1 if fall < 0.0 else -1)
    if first < 0 or not is_between[first]:
        return range(0)
    last = first
    while first > 0 and goes_on[first - 1]:
        first -= 1
    while goes_on[last]:
        last += 1
    return range(first, last + 1)


def _sides(values: Floats, stop: int, start: int) -> tuple[Floats, Floats]:
    """The last ``LEVEL`` of ``values`` (n,) before ``stop``, and the first from ``start`` on."""
    return values[max(stop - LEVEL, 0) : max(stop, 0)], values[start : start + LEVEL]


def _level(values: Floats) -> tuple[float, float]:
    """Median of ``values`` (n,) without NaN, and the scaled median absolute deviation from it; NaN
    and 0 without values.
    """
    defined = values[~np.isnan(values)]
    if not defined.size:
        return float("nan"), 0.0
    level = float(np.median(defined))
    return level, NORMAL * float(np.median(np.abs(defined - level)))
