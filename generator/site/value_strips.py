"""Where a value stands among those of all encodings of an atlas that have it."""

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
STEP = 3  # pixels between two strokes, at least
Key = tuple[str, str]
Values = Mapping[Key, Sequence[float]]


@dataclass(frozen=True)
class Standing:
    """A value on the line from the lowest of all to the highest. strip: the picture of that line; place: where the value lies on it, in pixels

    It says nothing of the others but where the line ends, so that a page stays the same while theirs change.
    """

    strip: str
    low: float
    high: float
    place: int


@lru_cache(maxsize=1)
def values_of(atlas: Atlas) -> Values:
    """All values of each metric, from the lowest up, by keys of analysis and metric."""
    found: dict[Key, list[float]] = defaultdict(list)
    for outcome in atlas.outcomes:
        for reading in outcome.readings:
            for analysis, result in reading.results.items():
                for metric in result.metrics:
                    if metric.value is not None and isfinite(metric.value):
                        found[analysis, metric.key].append(metric.value)
    return {key: sorted(values) for key, values in found.items()}


def standing(analysis: str, metric: Metric, values: Values) -> Standing | None:
    """Where ``metric`` stands among ``values``; None where it has none, or all are equal, so that there is no line to stand on."""
    key = (analysis, metric.key)
    of_all = values.get(key, ())
    if metric.value is None or not isfinite(metric.value) or not _is_line(of_all):
        return None
    (step,) = _steps([metric.value], of_all[0], of_all[-1])
    return Standing(f"{PATH}#{'.'.join(key)}", of_all[0], of_all[-1], MARGIN + STEP * step)


def strips(values: Values) -> bytes:
    """One SVG that holds the line of each metric as a view of its own: a stroke for each value, or for each run of pixels with some."""
    lines = {key: of_all for key, of_all in sorted(values.items()) if _is_line(of_all)}
    views, paths = [], []
    for row, (key, of_all) in enumerate(lines.items()):
        views.append(f'<view id="{".".join(key)}" viewBox="0 {row * HEIGHT} {WIDTH} {HEIGHT}"/>')
        steps = _steps(of_all, of_all[0], of_all[-1])
        strokes = "".join(f"M{first} 0h{length}" for first, length in _runs(sorted(set(steps))))
        paths.append(f'<path transform="translate({MARGIN - STEP / 2} {(row + 0.5) * HEIGHT}) scale({STEP} 1)" d="{strokes}"/>')
    # A path runs over steps; its dashes are the strokes, one pixel wide, each in the middle of its step.
    style = f"path{{stroke:{MUTED};stroke-width:8;stroke-dasharray:{1 / STEP:.4f} {1 - 1 / STEP:.4f};stroke-dashoffset:-{1 / STEP:.4f}}}"
    style += f":root{{color-scheme:light dark}}@media(prefers-color-scheme:dark){{path{{stroke:{DARK[MUTED]}}}}}"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {max(len(lines), 1) * HEIGHT}">'
    return "\n".join([opening, f"<style>{style}</style>", *views, *paths, "</svg>\n"]).encode()


def _is_line(values: Sequence[float]) -> bool:
    return bool(values) and isfinite(span := values[-1] - values[0]) and span > 0.0


def _steps(values: Iterable[float], low: float, high: float) -> list[int]:
    return [round((WIDTH - 2 * MARGIN) // STEP * ((value - low) / (high - low))) for value in values]


def _runs(steps: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and length of each run of neighbours. steps: distinct, from the lowest up"""
    for _, run in groupby(enumerate(steps), key=lambda pair: pair[1] - pair[0]):
        found = [step for _, step in run]
        yield found[0], len(found)
