"""The data of a figure as plain values, from which the site's script draws it anew, so that it
answers a hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist  # noqa: TID253  # Only what draws imports this module.
from matplotlib.collections import PolyCollection  # noqa: TID253
from matplotlib.colors import to_hex  # noqa: TID253
from matplotlib.lines import Line2D  # noqa: TID253
from matplotlib.patches import BoxStyle, StepPatch  # noqa: TID253
from matplotlib.ticker import FixedLocator  # noqa: TID253

from generator.encodings import SinusoidFormula
from generator.figures.packing import pack, rounded
from generator.figures.style import (
    ASIDE,
    BACKGROUND,
    COLOUR_BAR,
    DARK,
    END,
    MOSAIC,
    STATIC,
    STOPS,
)
from generator.numerics.arrays import Array, Floats, shrunk_by, thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

    from generator.figures.panels import PickedPanel

NAMELESS = "_child"  # Labels that matplotlib gives by itself.
NAMELESS_LINE = "values"
MOST_CELLS = 20_000  # of all images of a figure together; beyond, means of blocks, unless picked
MOST_POINTS = 1024  # of a line; of more, the extremes of each bin
BESIDE = 6.0  # Distance of a name from the end of its line, in points.
AT = 1.0  # Distance of a mark from the point that it marks, in points.
READ = 4  # Significant digits of a value that readers see.
EXACT = 10  # Significant digits of a frequency, which counts thousands of times.
Json = dict[str, Any]


class Note(Artist):
    """An artist that draws nothing, and holds what others that draw do not."""

    def __init__(self) -> None:
        super().__init__()
        self.set_in_layout(False)

    def draw(self, renderer: object) -> None:
        """Nothing."""


class Dots(Note):
    """Points that others, labelled STATIC, draw one by one.

    points: (n_points, 2), or (n_points, 3) for a curve that readers can turn; NaN where there is
        none
    joined: whether a line joins each point to the next; colour: None for colours from the first
        point to the last
    """

    def __init__(self, points: Floats, *, joined: bool, colour: str | None = None) -> None:
        super().__init__()
        self.points, self.joined, self.colour = points, joined, colour


class Picks(Note):
    """Which rows and columns the image in its axes shows.

    rows, columns: (n_shown,), int, their numbers as readers count them
    """

    def __init__(self, rows: Array, columns: Array, panel: "PickedPanel") -> None:
        super().__init__()
        self.rows, self.columns, self.panel = rows, columns, panel


def described(figure: "Figure") -> Json:
    """The panels of a figure that has been laid out, with their marks, series and scale of colours,
    as JSON can hold it.
    """
    width, height = figure.get_size_inches()
    panels = [axes for axes in figure.axes if axes.get_label() != COLOUR_BAR and axes.axison]
    series = _series(panels)
    scale = next(
        (_scale(axes, panels) for axes in figure.axes if axes.get_label() == COLOUR_BAR), None
    )
    n_images = max(sum(len(axes.images) for axes in panels), 1)
    return {
        "panels": [
            {**_panel(axes, height / width), "marks": list(_marks(axes, series, n_images))}
            for axes in panels
        ],
        "series": series,
        "scale": scale,
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
    ticks = None
    if isinstance(axis.get_major_locator(), FixedLocator):
        places = axis.get_majorticklocs()
        ticks = [
            [_short(place), name]
            for place, name in zip(
                places, axis.get_major_formatter().format_ticks(list(places)), strict=True
            )
        ]
    return {
        "label": " ".join(axis.get_label_text().split()),
        "scale": axis.get_scale(),
        "limits": [_short(limit) for limit in limits],
        "ticks": ticks,
    }


def _series(panels: "Sequence[Axes]") -> list[Json]:
    """Entries of the legend, each once; of a filled area with its opacity."""
    entries: dict[str, Json] = {}
    handle: Any
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            is_filled = not isinstance(handle, Line2D) and handle.get_fill()
            area = {"area": round(_alpha(handle), 3)} if is_filled else {}
            entries.setdefault(name, {"name": name, **_style(handle), **area})
    return list(entries.values())


def _style(artist: Any) -> Json:
    """Colour and dashes; the colour of an area is that of its face."""
    if isinstance(artist, Line2D):
        # matplotlib has no public way to read the pattern.
        _, pattern = vars(artist)["_unscaled_dash_pattern"]
        dash = None if pattern is None else [float(length) for length in pattern]
        return {"colour": _colour(artist.get_color()), "dash": dash}
    face = np.ravel(artist.get_facecolor())[:3]
    return {"colour": _colour(face if artist.get_fill() else artist.get_edgecolor()), "dash": None}


def _marks(axes: "Axes", series: Sequence[Json], n_images: int) -> Iterator[Json]:
    """The content of the axes, what is drawn first at first. n_images: of the whole figure"""
    yield from (_cells(axes, image, MOST_CELLS // n_images) for image in axes.images)
    children = [
        child
        for child in axes.get_children()
        if child.get_label() != STATIC and child.get_visible()
    ]
    named: dict[Artist, Json] = {
        child: _of_series(axes, child, series) for child in children if isinstance(child, DRAWN)
    }
    _join_asides(axes, named)
    for artist in sorted(children, key=lambda child: float(child.get_zorder())):
        if isinstance(artist, Line2D):
            if np.size(artist.get_xydata()):  # An entry of a legend has none.
                yield {**_line(axes, artist), **named[artist]}
        elif isinstance(artist, PolyCollection):
            yield {**_band(axes, artist, _line_of(artist, named)), **named[artist]}
        elif isinstance(artist, StepPatch):
            yield {**_steps(artist), **named[artist]}
        elif isinstance(artist, Dots):
            yield _points(artist)
    lines = {line: of for line, of in named.items() if isinstance(line, Line2D)}
    yield from (
        {**_text(text), "series": _series_at(axes, _place(text), lines)} for text in axes.texts
    )


def _join_asides(axes: "Axes", named: Mapping[Artist, Json]) -> None:
    """Give what marks a point of a line, and has no series of its own, that of the line."""
    lines = {line: of for line, of in named.items() if isinstance(line, Line2D) and not of["aside"]}
    for artist, of in named.items():
        if of["aside"] and of["series"] is None and isinstance(artist, Line2D):
            points = np.asarray(artist.get_xydata(), dtype=np.float64)
            if len(points) == 1:
                of["series"] = _series_at(axes, (float(points[0, 0]), float(points[0, 1])), lines)


def _series_at(
    axes: "Axes", place: tuple[float, float] | None, lines: Mapping[Line2D, Json]
) -> int | None:
    """The series whose line passes ``place``, in the coordinates of the axes."""
    if place is None:
        return None
    spot = axes.transData.transform(place)
    for line, of in lines.items():
        if of["series"] is None or line.get_transform() != axes.transData:
            continue
        points = axes.transData.transform(np.asarray(line.get_xydata(), dtype=np.float64))
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


def _place(text: "Text") -> tuple[float, float] | None:
    """Where a text points in the coordinates of its axes; None where it stands in the panel."""
    place = getattr(text, "xy", None)
    if place is None or getattr(text, "xycoords", None) != "data":
        return None
    return float(place[0]), float(place[1])


def _line_of(area: PolyCollection, named: Mapping[Artist, Json]) -> Line2D | None:
    """The line that a band is about: that of its name."""
    names = ((artist, of) for artist, of in named.items() if isinstance(artist, Line2D))
    return next((line for line, of in names if of == named[area]), None)


def _of_series(axes: "Axes", artist: Artist, series: Sequence[Json]) -> Json:
    """Name of a mark, and its place in the legend: by label, else by its style where that is of one
    entry alone. What has neither is called as its panel, or as the quantity on its upright axis.
    """
    label = str(artist.get_label())
    style = _style(artist)
    name = None if label.startswith((NAMELESS, ASIDE)) else label.removeprefix("_")
    alike = [place for place, entry in enumerate(series) if entry["colour"] == style["colour"]]
    if len(alike) > 1:
        alike = [place for place in alike if series[place]["dash"] == style["dash"]]
    named = [place for place, entry in enumerate(series) if entry["name"] == name]
    places = named or (alike if len(alike) == 1 else [])
    aside = label == ASIDE
    if name is None and not aside:
        title = axes.get_title(loc="left") or axes.get_title() or axes.get_ylabel()
        name = series[places[0]]["name"] if places else " ".join(title.split()) or NAMELESS_LINE
    return {"name": name, "series": places[0] if places else None, "aside": aside}


def _line(axes: "Axes", line: Line2D) -> Json:
    """A line across the whole panel at one value, or one through points.

    Of lines above one another, each with the name of a tick: its values from there, and the tick's
    place as ``base``. Of dots in rows, one for each such tick: that their values lie ``across``.
    """
    style = {**_style(line), "width": line.get_linewidth(), "alpha": line.get_alpha() or 1.0}
    x, y = (np.asarray(values, dtype=np.float64) for values in line.get_data(orig=False))
    if line.get_transform() == axes.get_yaxis_transform(which="grid"):
        return {"kind": "rule", "along": "x", "at": _short(y[0]), **style}
    if line.get_transform() == axes.get_xaxis_transform(which="grid"):
        return {"kind": "rule", "along": "y", "at": _short(x[0]), **style}
    x, y = thinned(x, y, MOST_POINTS, logarithmic=axes.get_xscale() == "log")
    marker = None if line.get_marker() in ("None", "", " ", None) else line.get_marker()
    hollow = marker is not None and to_hex(line.get_markerfacecolor()) != to_hex(line.get_color())
    drawn = line.get_linestyle() not in ("None", "", " ")
    levels = _levels(axes)
    named = str(line.get_label()).removeprefix("_")
    base = levels.get(named, 0.0)
    return {
        "kind": "line",
        **({"quiet": True} if line.get_gid() == BACKGROUND else {}),
        "x": _places(x),
        "y": rounded(y - base, READ),
        **({"base": _short(base)} if named in levels else {}),
        **({"across": True} if levels and not drawn else {}),
        **style,
        "width": style["width"] if drawn else 0.0,
        "marker": marker,
        "size": line.get_markersize(),
        "hollow": hollow,
        "steps": line.get_drawstyle() == "steps-mid",
    }


def _levels(axes: "Axes") -> dict[str, float]:
    """Places of the ticks of an upright axis with names of its own, by name."""
    axis = axes.yaxis
    if not isinstance(axis.get_major_locator(), FixedLocator):
        return {}
    places = axis.get_majorticklocs()
    return dict(zip(axis.get_major_formatter().format_ticks(list(places)), places, strict=True))


def _band(axes: "Axes", area: PolyCollection, line: Line2D | None) -> Json:
    """An area between two lines over the same places: matplotlib closes it along the first and back
    along the second. Of many places, those that the ``line`` within it keeps.
    """
    vertices = np.concatenate([path.vertices for path in area.get_paths()])
    xs, inverse = np.unique(vertices[:, 0], return_inverse=True)
    low, high = np.full(xs.size, np.inf), np.full(xs.size, -np.inf)
    np.minimum.at(low, inverse, vertices[:, 1])
    np.maximum.at(high, inverse, vertices[:, 1])
    places = _band_places(axes, xs, line)
    xs, low, high = (values[places] for values in (xs, low, high))
    return {
        "kind": "band",
        "x": _places(xs),
        "low": rounded(low, READ),
        "high": rounded(high, READ),
        **_style(area),
        "alpha": _alpha(area),
    }


def _band_places(axes: "Axes", xs: Floats, line: Line2D | None) -> Array:
    """Indices of at most MOST_POINTS of the places of a band."""
    if line is None or xs.size <= MOST_POINTS:
        return _spread(xs.size)
    x, y = (np.asarray(values, dtype=np.float64) for values in line.get_data(orig=False))
    return np.flatnonzero(
        np.isin(xs, thinned(x, y, MOST_POINTS, logarithmic=axes.get_xscale() == "log")[0])
    )


def _spread(count: int) -> Array:
    """Indices of at most MOST_POINTS of ``count`` values, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))


def _steps(patch: StepPatch) -> Json:
    """A line of steps between edges, or the area between two of them."""
    values, edges, baseline = patch.get_data()
    middles = (np.asarray(edges[1:]) + np.asarray(edges[:-1])) / 2.0
    style = {**_style(patch), "alpha": patch.get_alpha() or 1.0, "steps": True}
    if patch.get_fill():
        low = np.broadcast_to(np.asarray(baseline, dtype=np.float64), values.shape)
        return {
            "kind": "band",
            "x": _places(middles),
            "low": rounded(low, READ),
            "high": rounded(np.asarray(values), READ),
            **style,
        }
    line = {
        "kind": "line",
        "x": _places(middles),
        "y": rounded(np.asarray(values), READ),
        "width": patch.get_linewidth(),
    }
    return {**line, **style, "marker": None, "size": 0.0, "hollow": False}


def _points(dots: Dots) -> Json:
    shown = _spread(len(dots.points))
    return {
        "kind": "curve" if dots.points.shape[1] == 3 else "points",
        "at": _places(shown.astype(np.float64)),
        "columns": [rounded(column, READ) for column in dots.points[shown].T],
        "joined": dots.joined,
        "colour": dots.colour,
    }


def _cells(axes: "Axes", image: "AxesImage", most: int) -> Json:
    """The values of an image, of a large one means of blocks, or those of picked rows and columns.

    A row or column with a name of its own, and the cells of a mosaic, are not averaged.
    """
    values: Floats = np.ma.filled(np.ma.asarray(image.get_array(), dtype=np.float64), np.nan)
    left, right, bottom, top = image.get_extent()
    picks = next((child for child in axes.get_children() if isinstance(child, Picks)), None)
    if picks is not None:
        return {**_grid(image, values, image.get_extent()), **_of_picks(picks)}
    is_mosaic = image.get_label() == MOSAIC
    is_exact = [
        is_mosaic or _is_named(axis, size)
        for axis, size in zip((axes.yaxis, axes.xaxis), values.shape, strict=True)
    ]
    values, (down, across) = shrunk_by(values, most, (is_exact[0], is_exact[1]))
    right, bottom = left + (right - left) * across, top + (bottom - top) * down
    return _grid(image, values, (left, right, bottom, top))


def _grid(image: "AxesImage", values: Floats, extent: Sequence[float]) -> Json:
    return {
        "kind": "cells",
        "rows": values.shape[0],
        "columns": values.shape[1],
        "extent": [float(edge) for edge in extent],
        **pack(values),
        "limits": [float(limit) for limit in image.get_clim()],
        "stops": STOPS[image.get_cmap().name],
    }


def _of_picks(picks: Picks) -> Json:
    """The numbers of rows and columns that are shown, and where the values of all come from."""
    panel = picks.panel
    numbers = {"at": {"rows": picks.rows.tolist(), "columns": picks.columns.tolist()}}
    is_whole = (picks.rows.size, picks.columns.size) == panel.matrix.shape
    if panel.table is None or is_whole:
        return numbers
    formula = panel.formula
    whole = {
        "rows": panel.matrix.shape[0],
        "columns": panel.matrix.shape[1],
        "unit": panel.unit,
        "table": panel.table,
        "formula": None if formula is None else _waves(formula),
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


def _is_named(axis: "Axis", count: int) -> bool:
    """Whether each of ``count`` rows or columns has a tick of its own."""
    return (
        isinstance(axis.get_major_locator(), FixedLocator)
        and len(axis.get_majorticklocs()) == count
    )


def _text(text: "Text") -> Json:
    x, y = text.get_position()
    place = getattr(text, "xy", (x, y))
    at_end = text.get_gid() == END
    shift = (BESIDE, 0.0) if at_end else (x, y) if hasattr(text, "xy") else (0.0, 0.0)
    system = getattr(text, "xycoords", "data")
    within = list(system) if isinstance(system, tuple) else [system, system]
    box = text.get_bbox_patch()
    return {
        "kind": "text",
        "at": [_short(value) for value in place],
        "within": ["panel" if "axes" in str(part) else "data" for part in within],
        "shift": [float(value) for value in shift],
        "text": text.get_text(),
        "colour": _colour(text.get_color()),
        "justify": text.get_horizontalalignment(),
        "baseline": text.get_verticalalignment(),
        "size": float(text.get_fontsize()),
        "ringed": box is not None and isinstance(box.get_boxstyle(), BoxStyle.Circle),
        **({"end": True} if at_end else {}),
    }


def _scale(axes: "Axes", panels: "Sequence[Axes]") -> Json:
    """The scale of colours beside all panels; its stops are those of the first image, or the
    sequential ones of points.
    """
    images = [image for panel in panels for image in panel.images]
    stops = STOPS[images[0].get_cmap().name] if images else next(iter(STOPS.values()))
    return {
        "label": " ".join(axes.get_ylabel().split()),
        "limits": [_short(limit) for limit in axes.get_ylim()],
        "stops": stops,
    }


def _colour(colour: Any) -> str:
    """#rrggbb, or the name of a colour that changes with the reader's scheme."""
    code = str(to_hex(colour))
    return ROLES.get(code, code)


def _alpha(area: PolyCollection | StepPatch) -> float:
    return float(np.ravel(area.get_facecolor())[3])


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


DRAWN = (Line2D, PolyCollection, StepPatch)
ROLES = dict(zip(DARK, ("ink", "muted", "grid", "paper"), strict=True))
