"""Where a value stands among those of all encodings of an atlas that have it."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite

from generator.contracts import Atlas, Metric

WIDTH, MARGIN = 120, 6  # of a strip, in pixels
STEP = 3  # pixels between two strokes, at least
Values = Mapping[tuple[str, str], Sequence[float]]


@dataclass(frozen=True)
class Standing:
    """A value on the line from the lowest of all to the highest.

    rank, last: counted from the lowest, 1; they differ where others have the same value; place: where the value lies on the strip, in pixels; ticks: an SVG path along the strip, in
    steps, over each step that has a value; the style sheet makes it a stroke a step
    """

    rank: int
    last: int
    count: int
    place: int
    ticks: str


def values_of(atlas: Atlas) -> Values:
    """All values of each metric, from the lowest up, by keys of analysis and metric."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for outcome in atlas.outcomes:
        for reading in outcome.readings:
            for analysis, result in reading.results.items():
                for metric in result.metrics:
                    if metric.value is not None and isfinite(metric.value):
                        found[analysis, metric.key].append(metric.value)
    return {key: sorted(values) for key, values in found.items()}


def standing(metric: Metric, values: Sequence[float]) -> Standing | None:
    """Where ``metric`` stands among ``values``; None where it has none, or all are equal, so that there is no line to stand on."""
    if metric.value is None or not isfinite(metric.value) or not values or not isfinite(span := values[-1] - values[0]) or span == 0.0:
        return None
    steps = (WIDTH - 2 * MARGIN) // STEP
    taken = [round(steps * (value - values[0]) / span) for value in (*values, metric.value)]
    ticks = "".join(f"M{first} 0h{length}" for first, length in _runs(sorted(set(taken))))
    return Standing(
        bisect_left(values, metric.value) + 1, bisect_right(values, metric.value), len(values), MARGIN + STEP * taken[-1], ticks
    )


def _runs(steps: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and length of each run of neighbours. steps: distinct, from the lowest up"""
    for _, run in groupby(enumerate(steps), key=lambda pair: pair[1] - pair[0]):
        found = [step for _, step in run]
        yield found[0], len(found)
