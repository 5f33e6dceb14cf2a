"""The picture beside the first findings on a checkpoint's page: a kernel, and below it the curve by
which the page compares it with other encodings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generator.contracts import Analysis, Overlay, Reading
from generator.numerics.arrays import Array, Floats
from generator.site.outline import Outline

WIDTH, HEIGHT = 300, 120  # of the curve, in pixels
MOST_POINTS = 90
STAGE = "place"  # of the outline, which compares with other encodings


@dataclass(frozen=True)
class OpeningPicture:
    """A kernel with its curve.

    reading: of the encoding; overlay: whose line the curve is
    curve: of an SVG path in WIDTH × HEIGHT pixels; levels: y of the values 1, 0.5 and 0 there
    first, last: ends of the horizontal axis; address: of the section that explains the curve
    """

    reading: Reading
    overlay: Overlay
    curve: str
    levels: tuple[float, float, float]
    first: float
    last: float
    address: str
    width: int = WIDTH
    height: int = HEIGHT


def opening_picture(
    readings: Sequence[Reading], analyses: Sequence[Analysis], outline: Outline
) -> OpeningPicture | None:
    """The picture of the first of ``readings`` that has a curve; None where none has."""
    for reading in readings:
        for analysis in analyses:
            overlay = analysis.overlay
            if overlay and analysis.stage == STAGE and not reading.results[analysis.key].reason:
                places, values = overlay.points(reading.results[analysis.key])
                if places.size > 1 and np.isfinite(values).any():
                    address = outline.address(reading, analysis)
                    return _drawn(reading, overlay, places, values, address)
    return None


def _drawn(
    reading: Reading, overlay: Overlay, places: Array, values: Array, address: str
) -> OpeningPicture:
    x = np.log(places) if overlay.logarithmic == "x" else places.astype(np.float64)
    x = (x - x[0]) / (x[-1] - x[0])
    chosen = np.unique(np.searchsorted(x, np.linspace(0.0, 1.0, MOST_POINTS)).clip(0, x.size - 1))
    finite = values[np.isfinite(values)]
    low, high = min(0.0, float(finite.min())), max(1.0, float(finite.max()))
    y = _from_top(values, low, high)
    levels = _from_top(np.array([1.0, 0.5, 0.0]), low, high)
    return OpeningPicture(
        reading,
        overlay,
        _path(WIDTH * x[chosen], y[chosen]),
        (float(levels[0]), float(levels[1]), float(levels[2])),
        float(places[0]),
        float(places[-1]),
        address,
    )


def _from_top(values: Floats, low: float, high: float) -> Floats:
    return (HEIGHT * (high - values) / (high - low)).round(1)


def _path(x: Floats, y: Floats) -> str:
    """Lines between neighbouring points that are both defined."""
    steps, is_open = [], False
    for across, down in zip(x.round(1).tolist(), y.tolist(), strict=True):
        if np.isfinite(down):
            steps.append(f"{'L' if is_open else 'M'}{across:g} {down:g}")
        is_open = bool(np.isfinite(down))
    return "".join(steps)
