"""“Seams”: breaks in the cosine of each position with the next, and a step of the norms.

A pair of positions has the number of its first. Noise on tables that are stored in steps is left
out: the list has none.
"""

from dataclasses import dataclass, replace

import numpy as np

from tests.recomputed.published import Array, Metrics
from tests.recomputed.table import Table, deviation

WINDOW = 8  # pairs before, and after
LEVEL = 32  # pairs beside a break
SCALE = 1.4826  # times the median absolute deviation is a standard deviation of normal numbers


@dataclass(frozen=True)
class Break:
    """A break, by its first, its last and its deepest pair."""

    first: int
    last: int
    deepest: int


def seams(table: Table) -> Metrics:
    if not table.is_line:
        return {}
    tail = table.encoding.metrics["whole_table.tail"]
    if tail is not None:
        table = replace(table, vectors=table.vectors[: int(tail)], grid=(1, int(tail)))
    every = _cosines(table.units, 1)
    cosines = np.where(table.is_inlier[:-1] & table.is_inlier[1:], every, np.nan)
    depths = np.array([_depth(cosines, pair) for pair in range(len(cosines))])
    breaks = _breaks(depths)
    kinds = [_kind(table, cosines, one) for one in breaks]
    changed = [one for one, kind in zip(breaks, kinds, strict=True) if kind != "dips"]
    deepest = breaks[0].deepest if breaks else int(np.nanargmax(depths))
    return {
        "typical": float(np.nanmedian(every)),
        "first": every[0],
        "last": every[-1],
        **{kind: kinds.count(kind) for kind in ("seams", "slopes", "dips")},
        "spikes": _spikes(table, every, cosines),
        "at": deepest if depths[deepest] > 1e-9 else None,
        "depth": depths[deepest],
        "contrast": depths[deepest] / _variation(depths)[deepest],
        **_by_chance(table.inliers),
        "level_step": _level(cosines, changed[0])[0] if changed else None,
        **_strongest(changed, cosines),
        **_norm_step(np.linalg.norm(table.vectors, axis=1)),
    }


def _by_chance(inliers: Array) -> Metrics:
    """The deepest break in each of 16 random orders."""
    random, deepest = np.random.default_rng(0), []
    for _ in range(16):
        vectors = random.permutation(inliers)
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = np.sum(units[:-1] * units[1:], axis=1)
        deepest.append(np.nanmax([_depth(cosines, pair) for pair in range(len(cosines))]))
    return {"depth_shuffled": np.mean(deepest), "depth_spread": np.std(deepest, ddof=1)}


def _strongest(found: list[Break], cosines: Array) -> Metrics:
    """Levels beside the first of the seams, and its lowest cosine."""
    if not found:
        return dict.fromkeys(("before", "after", "lowest"))
    before = cosines[max(found[0].first - LEVEL, 0) : found[0].first]
    after = cosines[found[0].last + 1 : found[0].last + 1 + LEVEL]
    lowest = float(cosines[found[0].deepest])
    return {"before": _median(before), "after": _median(after), "lowest": lowest}


def _cosines(units: Array, apart: int) -> Array:
    return np.asarray(np.sum(units[:-apart] * units[apart:], axis=1))


def _median(values: Array, least: int = 1) -> float:
    """NaN where there are fewer than ``least``."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) >= least else np.nan


def _sides(cosines: Array, pair: int) -> tuple[float, float]:
    """Medians before and after a pair; NaN where a window is not full."""
    if not WINDOW <= pair < len(cosines) - WINDOW:
        return np.nan, np.nan
    before, after = cosines[pair - WINDOW : pair], cosines[pair + 1 : pair + 1 + WINDOW]
    return _median(before, 4), _median(after, 4)


def _depth(cosines: Array, pair: int) -> float:
    return float(np.max(_sides(cosines, pair)) - cosines[pair])


def _variation(depths: Array) -> Array:
    """Typical variation around each pair."""
    around = [depths[max(pair - 64, 0) : pair + 65] for pair in range(len(depths))]
    known = [values[~np.isnan(values)] for values in around]
    return np.array([max(SCALE * deviation(v), 1e-3) if len(v) else 1e-3 for v in known])


def _breaks(depths: Array) -> list[Break]:
    """Up to three, the deepest first."""
    is_hit = depths > 6 * _variation(depths)
    runs = np.array([depths[pair : pair + 4].mean() for pair in range(len(depths) - 3)])
    for pair in np.flatnonzero(runs > 6 * _variation(runs)):
        is_hit[pair : pair + 4] = True
    is_free = ~np.isnan(depths)
    left = np.where(is_hit & (depths > 0.1), depths, -np.inf)
    found: list[Break] = []
    while len(found) < 3 and left.max() > 0:
        deepest = int(left.argmax())
        is_half = is_free & (depths >= depths[deepest] / 2)
        first = deepest - int(np.argmin(is_half[deepest::-1])) + 1
        last = deepest + int(np.argmin(is_half[deepest:])) - 1
        found.append(Break(first, last, deepest))
        is_free[first : last + 1] = False
        left[max(first - WINDOW, 0) : last + WINDOW + 1] = -np.inf
    return found


def _level(cosines: Array, found: Break) -> tuple[float, bool]:
    """How the level changes, and whether by more than it varies."""
    before = cosines[max(found.first - LEVEL, 0) : found.first]
    after = cosines[found.last + 1 : found.last + 1 + LEVEL]
    change = _median(after) - _median(before)
    if np.isnan(change):
        return change, False
    varies = max(SCALE * deviation(side[~np.isnan(side)]) for side in (before, after))
    return change, abs(change) > max(0.02, 2 * varies)


def _kind(table: Table, cosines: Array, found: Break) -> str:
    change, is_another = _level(cosines, found)
    if is_another and _is_gradual(cosines, found, change):
        return "slopes"
    return "seams" if is_another or _divides(table, cosines, found) else "dips"


def _is_gradual(cosines: Array, found: Break, change: float) -> bool:
    """Whether two neighbouring pairs at the boundary, or beside it on the more similar side, go
    from level to level and are a quarter of the change away from both.
    """
    before = _median(cosines[max(found.first - LEVEL, 0) : found.first])
    way = (cosines - before) / change  # 0 at the level before, 1 at that after
    first, second = (found.first, -1) if change < 0.0 else (found.last, 1)
    start = first if 0.25 < way[first] < 0.75 else first + second
    return any(0.25 < way[pair] < way[pair + 1] < 0.75 for pair in (start - 1, start))


def _divides(table: Table, cosines: Array, found: Break) -> bool:
    """Whether the deepest pair is less similar than positions four apart on either side."""
    inlier = table.is_inlier
    apart = np.where(inlier[:-4] & inlier[4:], _cosines(table.units, 4), np.nan)
    before = apart[max(found.first - 3 - LEVEL, 0) : max(found.first - 3, 0)]
    after = apart[found.last + 1 : found.last + 1 + LEVEL]
    return bool(cosines[found.deepest] < np.nanmin([_median(before), _median(after)]) - 0.02)


def _spikes(table: Table, every: Array, cosines: Array) -> int:
    """Outliers between two inliers, unlike both."""
    found = 0
    for position in table.outliers:
        if not WINDOW <= position < len(every) - WINDOW:
            continue
        level = min(_sides(cosines, position))
        is_alone = table.is_inlier[position - 1] and table.is_inlier[position + 1]
        found += is_alone and level > 0.3 and max(every[position - 1 : position + 1]) < level - 0.1
    return found


def _norm_step(norms: Array) -> Metrics:
    """The largest ratio of median norms, and the place of the step."""
    pairs = range(WINDOW - 1, len(norms) - WINDOW)
    ratios = np.array([_ratio(norms, pair) for pair in pairs])
    largest = int(np.argmax(np.abs(np.log(ratios))))
    if np.abs(np.log(ratios[largest])) <= 1e-9:
        return {"norm_at": None, "norm_step": ratios[largest]}
    return {"norm_at": _place_of_step(norms, pairs[largest]), "norm_step": ratios[largest]}


def _place_of_step(norms: Array, pair: int) -> int:
    """The pair within a window of ``pair`` at which two levels explain the norms around it best."""
    start, end = max(pair - 2 * WINDOW, 0), pair + 2 * WINDOW + 2
    around = range(max(pair - WINDOW, 0), min(pair + WINDOW + 1, len(norms) - 1))
    misses = [_spread(norms[start : at + 1]) + _spread(norms[at + 1 : end]) for at in around]
    return around[int(np.argmin(misses))]


def _ratio(norms: Array, pair: int) -> float:
    before, after = norms[pair - WINDOW + 1 : pair + 1], norms[pair + 1 : pair + 1 + WINDOW]
    return float(np.median(after) / np.median(before))


def _spread(norms: Array) -> float:
    """What their mean leaves of norms, in squares."""
    return float(np.sum((norms - norms.mean()) ** 2))
