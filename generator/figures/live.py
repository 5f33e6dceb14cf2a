"""The data of a figure as plain values, from which the site's script draws it anew, so that it
answers a hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_hex  # noqa: TID253  # Only what draws imports this module.
from matplotlib.ticker import FixedLocator  # noqa: TID253

from generator.encodings import SinusoidFormula
from generator.figures.scene import (
    SHOWN,
    Band,
    Cells,
    Colour,
    Dots,
    Line,
    Mark,
    PickedPanel,
    StraightLine,
    Styled,
    Text,
)
from generator.figures.short_text import pack, rounded
from generator.figures.style import COLOUR_BAR, DARK, STOPS
from generator.numerics.arrays import Array, Floats, shrunk_by, thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

NAMELESS_LINE = "values"
MOST_CELLS = 20_000  # of all images of a figure together; beyond, means of blocks, unless picked
MOST_POINTS = 1024  # of a line; of more, the extremes of each bin
BESIDE = 6.0  # Distance of a name from the end of its line, in points.
AT = 1.0  # Distance of a mark from the point that it marks, in points.
READ = 4  # Significant digits of a value that readers see.
EXACT = 10  # Significant digits of a frequency, which counts thousands of times.
Json = dict[str, Any]


def described(figure: "Figure") -> Json:
    """The panels of a figure that has been laid out, with their marks, series and scale of colours,
    as JSON can hold it.
    """
    width, height = figure.get_size_inches()
    panels = [axes for axes in figure.axes if axes in SHOWN and axes.axison]
    shown = [SHOWN[axes] for axes in panels]
    images = [mark for marks in shown for mark in marks if isinstance(mark, Cells)]
    series = _series([mark for marks in shown for mark in marks if isinstance(mark, Styled)])
    bar = next((axes for axes in figure.axes if axes.get_label() == COLOUR_BAR), None)
    return {
        "panels": [
            {
                **_panel(axes, height / width),
                "marks": list(_marks(axes, marks, series, MOST_CELLS // max(len(images), 1))),
            }
            for axes, marks in zip(panels, shown, strict=True)
        ],
        "series": series,
        "scale": None if bar is None else _scale(bar, images),
    }


def _panel(axes: "Axes", shape: float) -> Json:
    """Place, titles and axes of a panel. shape: height of the figure by its width"""
    box, spec = axes.get_position(), axes.get_subplotspec()
    place = spec.num1 if spec is not None else 0
    columns = spec.get_gridspec().ncols if spec is not None else 1
    return {
        "column": place % columns,
        "title": axes.get_title(loc="left") or axes.get_title(),
        "shape": round(float(box.height / box.width * shape), 3),
        "square": axes.get_box_aspect() is not None,
        "x": _axis(axes.xaxis, axes.get_xlim()),
        "y": _axis(axes.yaxis, axes.get_ylim()),
    }


def _axis(axis: "Axis", limits: tuple[float, float]) -> Json:
    ticks = _ticks(axis)
    return {
        "label": " ".join(axis.get_label_text().split()),
        "scale": axis.get_scale(),
        "limits": [_short(limit) for limit in limits],
        "ticks": ticks and [[_short(place), name] for name, place in ticks],
    }


def _ticks(axis: "Axis") -> list[tuple[str, float]] | None:
    """Names and places of the ticks of an axis that has been given them; None of others."""
    if not isinstance(axis.get_major_locator(), FixedLocator):
        return None
    places = list(axis.get_majorticklocs())
    return list(zip(axis.get_major_formatter().format_ticks(places), places, strict=True))


def _scale(bar: "Axes", images: Sequence[Cells]) -> Json:
    """The scale of colours beside all panels; its stops are those of the first image, or the
    sequential ones of points.
    """
    return {
        "label": " ".join(bar.get_ylabel().split()),
        "limits": [_short(limit) for limit in bar.get_ylim()],
        "stops": STOPS[images[0].colours] if images else next(iter(STOPS.values())),
    }


def _series(marks: Sequence[Styled]) -> list[Json]:
    """Entries of the legend, each once; of a filled area with its opacity."""
    entries: dict[str, Json] = {}
    for mark in marks:
        if mark.in_legend:
            area = {"area": round(mark.alpha or 1.0, 3)} if isinstance(mark, Band) else {}
            entries.setdefault(mark.name, {"name": mark.name, **_style(mark), **area})
    return list(entries.values())


def _style(mark: Styled) -> Json:
    dash = None if isinstance(mark.dash, str) else [float(length) for length in mark.dash[1]]
    return {"colour": _colour(mark.colour), "dash": dash}


def _stroke(mark: Styled) -> Json:
    return {**_style(mark), "width": float(mark.width), "alpha": mark.alpha or 1.0}


def _marks(
    axes: "Axes", marks: Sequence[Mark], series: Sequence[Json], most: int
) -> Iterator[Json]:
    """The content of the axes, what is drawn first at first. most: cells of an image"""
    yield from (_cells(axes, mark, most) for mark in marks if isinstance(mark, Cells))
    named = {mark: _of_series(axes, mark, series) for mark in marks if isinstance(mark, Styled)}
    lines = {
        mark: of for mark, of in named.items() if isinstance(mark, Line) and mark.edges is None
    }
    _join_asides(axes, lines)
    drawn = [mark for mark in marks if isinstance(mark, Line | StraightLine | Band | Dots)]
    for mark in sorted(drawn, key=lambda mark: mark.order):
        if isinstance(mark, Dots):
            yield _dots(mark)
        elif isinstance(mark, StraightLine):
            yield {**_rule(mark), **named[mark]}
        elif isinstance(mark, Band):
            about = next((line for line, of in lines.items() if of == named[mark]), None)
            yield {**_band(axes, mark, about), **named[mark]}
        elif isinstance(mark, Line) and len(mark.x):  # An entry of a legend has no points.
            yield {**_line(axes, mark), **named[mark]}
    for text in (mark for mark in marks if isinstance(mark, Text)):
        # One that stands at a point itself, or in the panel, is about no line.
        is_about = (text.shift or text.beside) and "panel" not in text.within
        yield {**_text(text), "series": _series_at(axes, text.at, lines) if is_about else None}


def _of_series(axes: "Axes", mark: Styled, series: Sequence[Json]) -> Json:
    """Name of a mark, and its place in the legend: by name, else by its style where that is of one
    entry alone. What has neither is called as its panel, or as the quantity on its upright axis.
    """
    style, name = _style(mark), None if mark.is_aside else mark.name.removeprefix("_") or None
    alike = [place for place, entry in enumerate(series) if entry["colour"] == style["colour"]]
    if len(alike) > 1:
        alike = [place for place in alike if series[place]["dash"] == style["dash"]]
    named = [place for place, entry in enumerate(series) if entry["name"] == name]
    places = named or (alike if len(alike) == 1 else [])
    if name is None and not mark.is_aside:
        title = axes.get_title(loc="left") or axes.get_title() or axes.get_ylabel()
        name = series[places[0]]["name"] if places else " ".join(title.split()) or NAMELESS_LINE
    return {"name": name, "series": places[0] if places else None, "aside": mark.is_aside}


def _join_asides(axes: "Axes", lines: Mapping[Line, Json]) -> None:
    """Give what marks a point of a line, and has no series of its own, that of the line."""
    others = {line: of for line, of in lines.items() if not of["aside"]}
    for line, of in lines.items():
        if of["aside"] and of["series"] is None and len(line.x) == 1:
            of["series"] = _series_at(axes, (float(line.x[0]), float(line.y[0])), others)


def _series_at(axes: "Axes", place: tuple[float, float], lines: Mapping[Line, Json]) -> int | None:
    """The series whose line passes ``place``, in the coordinates of the axes."""
    spot = axes.transData.transform(place)
    for line, of in lines.items():
        if of["series"] is not None:
            points = axes.transData.transform(np.stack(_points(line), axis=1))
            if _is_on(spot, points):
                return int(of["series"])
    return None


def _is_on(spot: Floats, points: Floats) -> bool:
    """Whether a line through ``points`` (n, 2) passes ``spot`` (2,)."""
    starts, along = points, np.diff(points, axis=0, append=points[-1:])
    lengths = np.maximum(np.sum(along**2, axis=1), np.finfo(float).tiny)
    shares = np.clip(np.sum((spot - starts) * along, axis=1) / lengths, 0.0, 1.0)
    away = np.hypot(*(starts + shares[:, None] * along - spot).T)
    return bool(np.any(away < AT))


def _points(line: Line) -> tuple[Floats, Floats]:
    return np.asarray(line.x, dtype=np.float64), np.asarray(line.y, dtype=np.float64)


def _thinned(axes: "Axes", line: Line) -> tuple[Floats, Floats]:
    return thinned(*_points(line), MOST_POINTS, logarithmic=axes.get_xscale() == "log")


def _line(axes: "Axes", line: Line) -> Json:
    """A line through points, or in steps.

    Of lines above one another, each with the name of a tick: its values from there, and the tick's
    place as ``base``. Of dots in rows, one for each such tick: that their values lie ``across``.
    """
    x, y = _thinned(axes, line)
    if line.edges is not None:
        at = {"x": _places(x), "y": rounded(y, READ), "width": float(line.width)}
        further = {"steps": True, "marker": None, "size": 0.0, "hollow": False}
        return {"kind": "line", **at, **_stroke(line), **further}
    levels, name = dict(_ticks(axes.yaxis) or ()), line.name.removeprefix("_")
    return {
        "kind": "line",
        **({"quiet": True} if line.is_quiet else {}),
        "x": _places(x),
        "y": rounded(y - levels.get(name, 0.0), READ),
        **({"base": _short(levels[name])} if name in levels else {}),
        **({"across": True} if levels and not line.is_joined else {}),
        **_stroke(line),
        **({} if line.is_joined else {"width": 0.0}),
        "marker": line.marker,
        "size": float(line.size),
        "hollow": line.is_hollow,
        "steps": line.drawstyle == "steps-mid",
    }


def _rule(rule: StraightLine) -> Json:
    along = "x" if rule.axis == "y" else "y"
    return {"kind": "rule", "along": along, "at": _short(rule.at), **_stroke(rule)}


def _band(axes: "Axes", band: Band, line: Line | None) -> Json:
    """An area between two lines. Of many places, those that the ``line`` within it keeps."""
    x, low, high = (np.asarray(each, dtype=np.float64) for each in (band.x, band.low, band.high))
    if band.edges is None:
        known = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
        x, first = np.unique(x[known], return_index=True)
        low, high = low[known][first], high[known][first]
        if line is None or x.size <= MOST_POINTS:
            kept = _spread(x.size)
        else:
            kept = np.flatnonzero(np.isin(x, _thinned(axes, line)[0]))
        x, low, high = x[kept], np.minimum(low, high)[kept], np.maximum(low, high)[kept]
    return {
        "kind": "band",
        "x": _places(x),
        "low": rounded(low, READ),
        "high": rounded(high, READ),
        **_style(band),
        "alpha": band.alpha or 1.0,
        **({} if band.edges is None else {"steps": True}),
    }


def _spread(count: int) -> Array:
    """Indices of at most MOST_POINTS of ``count`` values, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))


def _dots(dots: Dots) -> Json:
    shown = _spread(len(dots.points))
    return {
        "kind": "curve" if dots.points.shape[1] == 3 else "points",
        "at": _places(shown.astype(np.float64)),
        "columns": [rounded(column, READ) for column in dots.points[shown].T],
        "joined": dots.is_joined,
        "colour": dots.colour,
    }


def _cells(axes: "Axes", cells: Cells, most: int) -> Json:
    """The values of an image, of a large one means of blocks, or those of picked rows and columns.

    A row or column with a name of its own is not averaged.
    """
    values, (left, right, bottom, top) = cells.values, cells.extent
    if cells.picks is None:
        down, across = (
            cells.panel.is_exact or len(_ticks(axis) or ()) == size
            for axis, size in zip((axes.yaxis, axes.xaxis), values.shape, strict=True)
        )
        values, by = shrunk_by(values, most, (down, across))
        right, bottom = left + (right - left) * by[1], top + (bottom - top) * by[0]
    return {
        "kind": "cells",
        "rows": values.shape[0],
        "columns": values.shape[1],
        "extent": [float(edge) for edge in (left, right, bottom, top)],
        **pack(values),
        "limits": [float(limit) for limit in cells.limits],
        "stops": STOPS[cells.colours],
        **_picks(cells),
    }


def _picks(cells: Cells) -> Json:
    """The numbers of rows and columns that are shown, and where the values of all come from."""
    panel = cells.panel
    if cells.picks is None or not isinstance(panel, PickedPanel):
        return {}
    n_rows, n_columns = panel.matrix.shape
    numbers = {
        "at": {"rows": cells.picks[0].tolist(), "columns": cells.picks[1].tolist()},
        "of": {"rows": n_rows, "columns": n_columns},
        **({} if panel.together is None else {"paired": True}),
    }
    if panel.table is None or cells.values.shape == panel.matrix.shape:
        return numbers
    whole = {
        "rows": n_rows,
        "columns": n_columns,
        "unit": panel.unit,
        "table": panel.table,
        "formula": None if panel.formula is None else _waves(panel.formula),
    }
    return {**numbers, "whole": whole}


def _waves(formula: SinusoidFormula) -> Json:
    """What the values of a sinusoid follow from, exact enough for four digits at any position."""
    return {
        "places": [_places(axis) for axis in formula.places.T],
        "frequencies": [rounded(axis, EXACT) for axis in formula.frequencies],
        "cosines": formula.is_cosine.astype(int).tolist(),
        "scale": formula.scale,
    }


def _text(text: Text) -> Json:
    at_end = text.beside is not None
    return {
        "kind": "text",
        "at": [_short(value) for value in text.at],
        "within": list(text.within),
        "shift": [BESIDE, 0.0] if at_end else [float(value) for value in text.shift or (0, 0)],
        "text": text.text,
        "colour": _colour(text.colour),
        "justify": text.justify,
        "baseline": text.baseline,
        "size": float(text.size),
        "ringed": text.is_ringed,
        **({"end": True} if at_end else {}),
    }


def _colour(colour: Colour) -> str:
    """#rrggbb, or the name of a colour that changes with the reader's scheme."""
    code = str(to_hex(colour))
    return ROLES.get(code, code)


def _places(values: Floats) -> list[float | None] | Json:
    """Evenly spaced values by the first, the step and their number; others as a list."""
    steps = np.diff(values)
    if (
        len(values) > 2
        and np.all(np.isfinite(values))
        and np.allclose(steps, steps[0], rtol=1e-9, atol=0.0)
        and steps[0] != 0
    ):
        return {"first": _short(values[0]), "step": _short(steps[0]), "count": len(values)}
    return rounded(values)


def _short(value: float) -> float | None:
    return rounded(np.array(value, dtype=np.float64))[0]


ROLES = dict(zip(DARK, ("ink", "muted", "grid", "paper"), strict=True))
