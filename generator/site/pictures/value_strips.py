"""Value strips: small pictures of a metric's values in all encodings, on which a page marks one
value.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import isfinite

from generator.contracts import Atlas, Metric
from generator.figures.style import DARK, MUTED

PATH = "assets/strips.svg"
WIDTH, HEIGHT, MARGIN = 120, 14, 6  # of a strip, in pixels
STEP = 3  # least distance of two strokes, in pixels
Key = tuple[str, str]
Values = Mapping[Key, Sequence[float]]
Named = tuple[float, str]  # A value and the name of the encoding that has it.


@dataclass(frozen=True)
class Standing:
    """Position of a value on the strip of its metric. strip: path of the picture; low, high: ends
    of the strip; x: of the value, in pixels; below, above: the nearest values that differ
    """

    strip: str
    low: float
    high: float
    x: int
    below: Named | None
    above: Named | None


def values_of(atlas: Atlas) -> Values:
    """Finite values of each metric in ascending order, by keys of analysis and metric."""
    return {key: [value for value, _ in named] for key, named in named_values_of(atlas).items()}


@lru_cache(maxsize=1)
def named_values_of(atlas: Atlas) -> Mapping[Key, Sequence[Named]]:
    """As ``values_of``, with the names of encodings."""
    values_by_key: dict[Key, list[Named]] = defaultdict(list)
    for outcome in atlas.outcomes:
        for reading in outcome.readings:
            for analysis, result in reading.results.items():
                for metric in result.metrics:
                    if metric.value is not None and isfinite(metric.value):
                        value = (metric.value, reading.label.title)
                        values_by_key[analysis, metric.key].append(value)
    return {key: sorted(values) for key, values in values_by_key.items()}


def standing(
    analysis: str, metric: Metric, values: Mapping[Key, Sequence[Named]]
) -> Standing | None:
    """Position of ``metric`` among ``values``; None where its value is not finite, all values are
    equal, or their span is infinite.
    """
    key = (analysis, metric.key)
    named = values.get(key, ())
    ascending, value = [number for number, _ in named], metric.value
    if value is None or not isfinite(value) or not _has_span(ascending):
        return None
    (step,) = _steps([value], ascending[0], ascending[-1])
    below = next((one for one in reversed(named) if one[0] < value), None)
    above = next((one for one in named if one[0] > value), None)
    path, x = f"{PATH}#{'.'.join(key)}", MARGIN + STEP * step
    return Standing(path, ascending[0], ascending[-1], x, below, above)


def strips(values: Values) -> bytes:
    """Strips of all metrics in one SVG, each as a view called "analysis.metric", with a stroke at
    each step that has a value.
    """
    lines = {key: ascending for key, ascending in sorted(values.items()) if _has_span(ascending)}
    views, paths = [], []
    for row, (key, ascending) in enumerate(lines.items()):
        views.append(f'<view id="{".".join(key)}" viewBox="0 {row * HEIGHT} {WIDTH} {HEIGHT}"/>')
        steps = _steps(ascending, ascending[0], ascending[-1])
        strokes = "".join(f"M{first} 0h{length}" for first, length in _runs(sorted(set(steps))))
        paths.append(
            f'<path transform="translate({MARGIN - STEP / 2} {(row + 0.5) * HEIGHT}) scale({STEP}'
            f' 1)" d="{strokes}"/>'
        )
    # The unit of a path is a step; its dashes are the strokes, one pixel wide, in the middle of a
    # step.
    style = (
        f"path{{stroke:{MUTED};stroke-width:8;stroke-dasharray:{1 / STEP:.4f}"
        f" {1 - 1 / STEP:.4f};stroke-dashoffset:-{1 / STEP:.4f}}}"
    )
    style += (
        ":root{color-scheme:light"
        f" dark}}@media(prefers-color-scheme:dark){{path{{stroke:{DARK[MUTED]}}}}}"
    )
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH}'
        f' {max(len(lines), 1) * HEIGHT}">'
    )
    return "\n".join([opening, f"<style>{style}</style>", *views, *paths, "</svg>\n"]).encode()


def _has_span(values: Sequence[float]) -> bool:
    return bool(values) and isfinite(span := values[-1] - values[0]) and span > 0.0


def _steps(values: Iterable[float], low: float, high: float) -> list[int]:
    return [
        round((WIDTH - 2 * MARGIN) // STEP * ((value - low) / (high - low))) for value in values
    ]


def _runs(steps: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First step and length of each run of consecutive steps. steps: distinct, ascending"""
    for _, pairs in groupby(enumerate(steps), key=lambda pair: pair[1] - pair[0]):
        run = [step for _, step in pairs]
        yield run[0], len(run)
