"""What opens a checkpoint's page: the shape that its positions form, or its kernel; its table with
the rows that findings name; and the curve of similarity by distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generator.contracts import Analysis, Figure, Limit, Outcome, Overlay, Reading
from generator.encodings import PositionTable, Rotation
from generator.numerics.arrays import Array, Floats
from generator.site.outline import Outline, figures_of
from generator.text import ranges

WIDTH, HEIGHT = 300, 190  # of the curve, in pixels
MOST_POINTS = 90
PLAIN_TO = 64  # distances on a plain axis, where a circle of few positions shows
STAGE = "place"  # of the outline, which compares with other encodings
MOST_NAMED = 4  # runs of rows, in words
APART = 0.07  # Share of the height of a table, which the names of two marks need


@dataclass(frozen=True)
class RowMark:
    """Rows beside one another that a finding names. name: "" where there is no room; top, height:
    in percent of the table's height
    """

    name: str
    top: float
    height: float


@dataclass(frozen=True)
class TableMap:
    """The table of an encoding, a row for each position. last: the last position; n_rows: that
    findings name; named: these in words, "" for many; marks: on the table, the first at first
    limits: on the length of a text, shorter than the table, whose last position is such a row
    """

    figure: Figure
    last: int
    n_rows: int
    named: str
    marks: tuple[RowMark, ...]
    limits: tuple[Limit, ...]


@dataclass(frozen=True)
class Curve:
    """A line of an encoding.

    plain: whether its values are shown as they are; path: of an SVG in WIDTH × HEIGHT pixels
    levels: y of the values 1, 0.5 and 0 there; first, last: ends of the horizontal axis
    address: of the section that explains it
    """

    overlay: Overlay
    plain: bool
    path: str
    levels: tuple[float, float, float]
    first: float
    last: float
    address: str
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True)
class OpeningPicture:
    """What opens the page of a checkpoint, of one encoding, ``reading``.

    shape: the figure of the shape that its positions form, None where they form none; of: the
        analysis that finds it, "" for none; table: None for what is no table
    """

    reading: Reading
    shape: Figure | None
    of: str
    table: TableMap | None
    curve: Curve

    @property
    def is_similarity(self) -> bool:
        """Whether its kernel compares positions, and is no bias."""
        return self.reading.encoding.form in {PositionTable.__name__, Rotation.__name__}


def opening_picture(
    outcome: Outcome, readings: Sequence[Reading], analyses: Sequence[Analysis], outline: Outline
) -> OpeningPicture | None:
    """The picture of the first of ``readings`` that has a curve; None where none has."""
    for reading in readings:
        if curve := _curve(reading, analyses, outline):
            figures = [
                (analysis, figure)
                for analysis in analyses
                for figure in figures_of(outcome, reading, analysis)
            ]
            shapes = (
                (figure, analysis.key)
                for analysis, figure in figures
                if figure.spec.appeal(reading.results[analysis.key]) > 0.0
            )
            shape, of = next(shapes, (None, ""))
            mapped = next((figure for _, figure in figures if figure.spec.maps_rows), None)
            table = _table(reading, mapped, outcome.limits) if mapped else None
            return OpeningPicture(reading, shape, of, table, curve)
    return None


def _curve(reading: Reading, analyses: Sequence[Analysis], outline: Outline) -> Curve | None:
    """The line with which a page opens, else that by which it compares; None without either."""
    plain = [(one, one.opening, PLAIN_TO + 1) for one in analyses if one.opening]
    compared = [(one, one.overlay, None) for one in analyses if one.stage == STAGE and one.overlay]
    for analysis, overlay, most in (*plain, *compared):
        result = reading.results[analysis.key]
        if overlay is None or result.reason is not None:
            continue
        places, values = (one[:most] for one in overlay.points(result))
        if places.size > 1 and np.isfinite(values).any():
            return _drawn(overlay, places, values, outline.address(reading, analysis))
    return None


def _drawn(overlay: Overlay, places: Array, values: Floats, address: str) -> Curve:
    x = np.log(places) if overlay.logarithmic == "x" else places.astype(np.float64)
    x = (x - x[0]) / (x[-1] - x[0])
    chosen = np.unique(np.searchsorted(x, np.linspace(0.0, 1.0, MOST_POINTS)).clip(0, x.size - 1))
    finite = values[np.isfinite(values)]
    low, high = min(0.0, float(finite.min())), max(1.0, float(finite.max()))
    y = _from_top(values, low, high)
    levels = _from_top(np.array([1.0, 0.5, 0.0]), low, high)
    return Curve(
        overlay,
        not overlay.logarithmic,
        _path(WIDTH * x[chosen], y[chosen]),
        (float(levels[0]), float(levels[1]), float(levels[2])),
        float(places[0]),
        float(places[-1]),
        address,
    )


def _table(reading: Reading, figure: Figure, limits: Sequence[Limit]) -> TableMap | None:
    """The table with the rows that findings name."""
    extent = reading.form.load().extent
    if extent is None:
        return None
    findings = [one for result in reading.results.values() for one in result.findings]
    rows = np.array(sorted({row for finding in findings for row in finding.rows}), dtype=np.int64)
    n_runs = np.count_nonzero(np.diff(rows) > 1) + 1
    named = ranges(rows) if rows.size and n_runs <= MOST_NAMED else ""
    marks, ending = row_marks(rows, extent), limits_at(rows, extent, limits)
    return TableMap(figure, extent - 1, rows.size, named, marks, ending)


def limits_at(rows: Array, n_rows: int, limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """Limits whose last position is one of ``rows`` (n,), of a table of ``n_rows`` that is longer;
    the first of each length.
    """
    lengths = {one.length: one for one in reversed(limits) if one.length and one.length - 1 in rows}
    return tuple(one for length, one in sorted(lengths.items()) if length < n_rows)


def row_marks(rows: Array, n_rows: int) -> tuple[RowMark, ...]:
    """Marks of ``rows`` (n,), ascending, of ``n_rows``: runs of neighbours together, each with its
    name where there is room.
    """
    marks: list[RowMark] = []
    named = -1.0
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if rows.size else ():
        top, height = float(run[0]) / n_rows, run.size / n_rows
        middle = top + height / 2.0
        has_room = named < 0.0 or middle - named >= APART
        named = middle if has_room else named
        name = ranges(run) if has_room else ""
        marks.append(RowMark(name, round(100.0 * top, 2), round(100.0 * height, 2)))
    return tuple(marks)


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
