"""“Decay with distance”, for each form of encoding."""

import math
from collections.abc import Sequence

import numpy as np

from tests.recomputed import shapes
from tests.recomputed.biases import matrices
from tests.recomputed.published import Array, Encoding, Metrics, Profile
from tests.recomputed.table import Table

WINDOW = 128  # positions
SIDE = 16  # patches


def of_table(table: Table) -> Metrics:
    windows = _windows(table)
    kernels = [_of_window(table, window) for window in windows]
    rows, columns = windows[0].shape
    metrics: Metrics = {
        "positions": rows * columns,
        "farthest": max(rows, columns) - 1,
        "left_out": len(table.outliers),
        **_of_noise(max(rows, columns), rows in (1, columns)),
        **_constant(),
        **_over_windows(kernels),
    }
    if len(windows) > 1:
        everything = np.arange(len(table.vectors)).reshape(table.grid)
        metrics["half_context"] = shapes.half_distance(
            *shapes.by_distance(_lines(table, everything))
        )
    return metrics


def _of_noise(side: int, is_even: bool) -> Metrics:
    """The steps that fall in random numbers: the first of each row of a triangle, and half of the
    others, of at most 20 steps.
    """
    if not is_even:
        return {}
    firsts, others = side - 1, sum(side - 1 - step for step in range(1, min(20, side - 1)))
    return {"monotonicity_noise": 100 * (firsts + others / 2) / (firsts + others)}


def _constant(rising: int = 0) -> Metrics:
    """What a kernel of one head has."""
    return {"symmetry": None, "constant": 0, "rising": rising}


def _windows(table: Table) -> list[Array]:
    """Numbers of the positions of each window, in rows and columns."""
    numbers = np.arange(len(table.vectors)).reshape(table.grid)
    rows, columns = table.grid
    if table.is_line:
        length = min(columns, WINDOW)
        starts = sorted({0, (columns - length) // 2, columns - length})
        return [numbers[:, start : start + length] for start in starts]
    down, across = min(rows, SIDE), min(columns, SIDE)
    middle = ((rows - down) // 2, (columns - across) // 2)
    corners = dict.fromkeys([middle, (0, 0), (rows - down, columns - across)])
    return [numbers[top : top + down, left : left + across] for top, left in corners]


def _lines(table: Table, window: Array) -> list[Array]:
    """Cosines within each row and each column of a window."""
    vectors = np.where(table.is_inlier[:, None], table.units, np.nan)
    lines = [*window, *window.T] if len(window) > 1 else [*window]
    return [vectors[line] @ vectors[line].T for line in lines]


def _of_window(table: Table, window: Array) -> Metrics:
    lines = _lines(table, window)
    vectors = np.where(table.is_inlier[:, None], table.units, np.nan)[window.ravel()]
    down, across = np.indices(window.shape).reshape(2, -1)
    offsets = np.subtract.outer(down, down) * 2 * window.size + np.subtract.outer(across, across)
    return {
        "half": shapes.half_distance(*shapes.by_distance(lines)),
        "far": shapes.far_level(*shapes.by_distance(lines)),
        "monotonicity": shapes.monotonicity(lines),
        "invariance": shapes.invariance(vectors @ vectors.T, offsets),
    }


def _over_windows(kernels: list[Metrics]) -> Metrics:
    metrics: Metrics = {"invariance": mean([kernel["invariance"] for kernel in kernels])}
    for key, floor, most in (("half", 1.0, 2.0), ("monotonicity", 0.0, 1.25)):
        values = [value for kernel in kernels if (value := kernel[key]) is not None]
        is_stable = max(*values, floor) <= most * max(min(values), floor)
        metrics[key] = mean(values) if is_stable and len(values) == len(kernels) else None
        if len(kernels) > 1:
            metrics |= {f"{key}_low": min(values), f"{key}_high": max(values)}
    levels = [kernel["far"] for kernel in kernels]
    metrics["far"] = mean(levels) if max(levels) - min(levels) <= 0.1 else None
    if len(kernels) > 1:
        metrics |= {"far_low": min(levels), "far_high": max(levels)}
    return metrics


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that there are."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def of_bias(encoding: Encoding) -> Metrics:
    heads = matrices(encoding)
    shaped = [head for head in heads if np.ptp(head[~np.isnan(head)]) > 0]
    halves = [shapes.half_distance_of_head([head]) for head in shaped]
    falling = halves
    if "slopes" in encoding.parameters:  # A straight line, as of ALiBi.
        halves = []
        noise: Metrics = {}
    else:
        noise = {
            "monotonicity_noise": shapes.by_chance([[head] for head in shaped]),
            **shapes.of_heads_that_fall([[head] for head in shaped]),
        }
    is_causal = encoding.parameters["causal"]
    count = len(heads[0])
    return {
        **noise,
        "positions": count,
        "farthest": count - 1,
        "half": mean(halves),
        "far": None,
        "monotonicity": mean([shapes.monotonicity([head]) for head in shaped]),
        "invariance": mean(
            [shapes.invariance(head, shapes.offsets_between(count)) for head in shaped]
        ),
        "symmetry": None if is_causal else mean([shapes.symmetry(head) for head in shaped]),
        "constant": len(heads) - len(shaped),
        "rising": falling.count(None),
    }


def of_profile(
    profile: Profile, context: int, window: int = WINDOW, is_cosine: bool = False
) -> Metrics:
    """Of a kernel that a function of the distance gives."""
    count = min(window, context)
    offsets = shapes.offsets_between(count)
    kernel = profile(np.arange(count))[np.abs(offsets)]
    half = shapes.half_distance(*shapes.by_distance([kernel]))
    metrics: Metrics = {
        "positions": count,
        "farthest": count - 1,
        "half": half,
        "far": shapes.far_level(*shapes.by_distance([kernel])) if is_cosine else None,
        "monotonicity": shapes.monotonicity([kernel]),
        "invariance": shapes.invariance(kernel, offsets),
        **_constant(int(half is None)),
    }
    if context > window:
        metrics["half_context"] = _half_over(profile, context)
    return metrics


def _half_over(profile: Profile, context: int) -> float | None:
    """Half way to the far level over a whole context, of a profile whose maximum is at 0."""
    total, pairs = 0.0, 0.0
    for distances in _blocks(math.ceil(0.75 * (context - 1)), context, 1 << 14):
        total += float(np.sum((context - distances) * profile(distances)))
        pairs += float(np.sum(context - distances))
    level = (float(profile(np.zeros(1))[0]) + total / pairs) / 2
    for distances in _blocks(0, context, 1 << 12):
        around = np.append(distances, distances[-1] + 1)
        half = shapes.first_below(profile(around), level)
        if half is not None:
            return float(distances[0]) + half
    return None


def _blocks(start: int, end: int, length: int) -> list[Array]:
    return [
        np.arange(first, min(first + length, end), dtype=float)
        for first in range(start, end, length)
    ]
