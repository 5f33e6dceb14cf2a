"""Answers of an analysis: which encodings have the lowest and the highest value of a metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from generator.contracts import Analysis, Metric, Reading
from generator.text import significant

DIGITS = 3


@dataclass(frozen=True)
class Extreme:
    """The lowest or highest value of a metric, as text.

    name: of the first encoding that has it; more: how many others have it too
    """

    value: str
    name: str
    more: int


@dataclass(frozen=True)
class Answer:
    """The range of a metric over all encodings. high: None where all values are equal"""

    metric: Metric
    low: Extreme
    high: Extreme | None


def answer_of(analysis: Analysis, key: str, readings: Sequence[Reading]) -> Answer | None:
    """The range of the metric ``key``, by values as they are shown."""
    found = [
        (metric, reading)
        for reading in readings
        for metric in reading.results[analysis.key].metrics
        if metric.key == key
    ]
    finite = [
        (metric.value, reading)
        for metric, reading in found
        if metric.value is not None and isfinite(metric.value)
    ]
    if not finite:
        return None
    names_of: dict[str, list[str]] = {}
    for value, reading in sorted(finite, key=lambda pair: pair[0]):
        names_of.setdefault(significant(value, DIGITS), []).append(reading.label.title)
    extremes = [Extreme(value, names[0], len(names) - 1) for value, names in names_of.items()]
    return Answer(found[0][0], extremes[0], extremes[-1] if len(extremes) > 1 else None)
