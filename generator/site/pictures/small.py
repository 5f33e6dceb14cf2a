"""Small drawings of the first panel of a figure, made from its data: the thumbnails of closed rows,
and what opens a checkpoint's page.
"""

import base64
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from generator.contracts import Analysis, Atlas, Json, Maker, Outcome, Reading
from generator.figures import svg
from generator.figures.style import DARK, DIVERGING, MUTED, REFERENCE, SEQUENTIAL, STOPS
from generator.figures.trails import VIEW, seen
from generator.numerics.arrays import Array, Floats, thinned

WIDTH, HEIGHT = 144, 81  # of a thumbnail, in pixels
SIDE = 300  # of what opens a page
EDGE = 3.0  # around what is drawn
MOST_POINTS = 160  # of a line
MOST_CELLS = {WIDTH: 44, SIDE: 104}  # of a side of an image, by the width of the drawing
NAMED = dict(zip(("ink", "muted", "grid", "paper"), DARK, strict=True))
RULES = (
    "<style>:root{color-scheme:light dark}image{image-rendering:pixelated}"
    "path{fill:none;stroke-linecap:round;stroke-linejoin:round}"
)
TURNED = "@media(prefers-color-scheme:dark){image{filter:invert(1) hue-rotate(180deg)}}"


def thumbnail_of(figure: str) -> str:
    """Path of the thumbnail of the figure with this path."""
    return f"{figure}-small.svg"


def opening_of(figure: str) -> str:
    """Path of the first panel of the figure with this path, square and without axes."""
    return f"{figure}-opening.svg"


def makers(atlas: Atlas) -> dict[str, Maker]:
    """Functions that make the thumbnail of the first figure of each analysis of an encoding, and
    the panels that open pages, by path.
    """
    return {
        path: make
        for outcome in atlas.outcomes
        for reading in outcome.readings
        for analysis in atlas.analyses
        for path, make in _of_analysis(outcome, reading, analysis)
    }


def _of_analysis(
    outcome: Outcome, reading: Reading, analysis: Analysis
) -> Iterator[tuple[str, Maker]]:
    drawn = [one for one in analysis.figures if f"{analysis.key}-{one.key}" in reading.drawings]
    for spec in drawn:
        name = f"{analysis.key}-{spec.key}"
        path = f"figures/{outcome.path_of(reading)}/{name}"
        if spec is drawn[0]:
            yield thumbnail_of(path), partial(_small, reading, name, (WIDTH, HEIGHT))
        if spec.maps_rows or spec.appeal(reading.results[analysis.key]):
            yield opening_of(path), partial(_small, reading, name, (SIDE, SIDE))


def _small(reading: Reading, name: str, size: tuple[int, int]) -> bytes:
    return small(reading.drawings[name], size)


def small(drawing: bytes, size: tuple[int, int]) -> bytes:
    """The first panel of a drawing, as an SVG of this width and height; empty without panels."""
    picture, data = svg.parts(drawing)
    panels = json.loads(data).get("panels") or [None]
    width, height = size
    parts = [] if panels[0] is None else list(_panel(panels[0], picture, size))
    is_diverging = STOPS[DIVERGING].encode() in data
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">{RULES}{TURNED * is_diverging}</style>'
        f"{''.join(parts)}</svg>\n"
    ).encode()


def _panel(panel: Json, picture: bytes, size: tuple[int, int]) -> Iterator[str]:
    """Its marks as elements of an SVG; of text none."""
    for mark in panel["marks"]:
        kind = mark["kind"]
        if kind == "cells":
            yield _image(picture, size)
        elif kind in {"curve", "points"}:
            yield from _trail(mark, panel, size)
        elif kind == "band":
            x = _values(mark["x"])
            x, y = np.append(x, x[::-1]), np.append(_values(mark["low"]), mark["high"][::-1])
            colour, shade = _colour(mark), mark["alpha"]
            yield f'<path d="{_path(panel, x, y, size)}z" style="fill:{colour};opacity:{shade}"/>'
        elif kind == "line" and not mark["aside"]:
            yield _line(mark, panel, size)


def _line(mark: Json, panel: Json, size: tuple[int, int]) -> str:
    x, y = _values(mark["x"]), _values(mark["y"]) + mark.get("base", 0.0)
    if not mark["width"]:  # Dots are strokes too short to see.
        x, y = (np.stack([one, one + 1e-9, one * np.nan], axis=1).ravel() for one in (x, y))
    else:
        x, y = thinned(x, y, MOST_POINTS, logarithmic=panel["x"]["scale"] == "log")
    width = min(max(mark["width"], 1.0), 2.0) if mark["width"] else 2.5
    return _stroke(_path(panel, x, y, size), _colour(mark), width)


def _trail(mark: Json, panel: Json, size: tuple[int, int]) -> Iterator[str]:
    """Positions by their order, in the colours of one, or from the first to the last."""
    points = np.array(mark["columns"], dtype=np.float64).T
    plane = seen(points, *VIEW) if points.shape[1] == 3 else points
    stops = [f"#{one}" for one in STOPS[SEQUENTIAL].split()]
    colours = [mark["colour"]] if mark["colour"] else stops
    edges = np.linspace(0, len(plane) - 1, len(colours) + 1).astype(int)
    for colour, (start, stop) in zip(colours, pairwise(edges), strict=True):
        drawn = plane[start : stop + 1]
        if not mark["joined"]:
            gaps = np.full_like(drawn, np.nan)
            drawn = np.stack([drawn, drawn + 1e-9, gaps], axis=1).reshape(-1, 2)
        width = 1.2 if mark["joined"] else 3.0
        yield _stroke(_path(panel, drawn[:, 0], drawn[:, 1], size), colour, width)


def _stroke(path: str, colour: str, width: float) -> str:
    return f'<path d="{path}" stroke="{colour}" stroke-width="{width:g}"/>'


def _path(panel: Json, x: Floats, y: Floats, size: tuple[int, int]) -> str:
    """Lines between neighbouring points that are both defined."""
    across, up = (
        _shares(panel[axis], values) for axis, values in (("x", x), ("y", np.asarray(y, float)))
    )
    places = np.stack(
        [
            EDGE + (size[0] - 2.0 * EDGE) * across,
            size[1] - EDGE - (size[1] - 2.0 * EDGE) * up,
        ],
        axis=1,
    )
    text, is_open = "", False
    for place in places.round(1).tolist():
        is_defined = bool(np.isfinite(place).all())
        if is_defined:
            text += f"{'L' if is_open else 'M'}{place[0]:g} {place[1]:g}"
        is_open = is_defined
    return text


def _shares(axis: Json, values: Floats) -> Floats:
    """Where values are between the ends of an axis, from 0 to 1; NaN for undefined ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high, placed = (
            _scaled(axis["scale"], np.asarray(one, dtype=np.float64))
            for one in (*axis["limits"], values)
        )
    shares = (placed - low) / ((high - low) or 1.0)
    return np.where(np.isfinite(shares), np.clip(shares, 0.0, 1.0), np.nan)


def _scaled(scale: str, values: Floats) -> Floats:
    if scale == "log":
        return np.log(values)
    return np.sign(values) * np.log1p(np.abs(values)) if scale == "symlog" else values


def _values(given: Json | Sequence[float | None]) -> Floats:
    if isinstance(given, Mapping):
        return np.asarray(given["first"] + given["step"] * np.arange(given["count"]))
    return np.array(given, dtype=np.float64)


def _colour(mark: Json) -> str:
    """A colour that is legible on a light and on a dark page."""
    colour = NAMED.get(mark["colour"], mark["colour"])
    return REFERENCE if colour in DARK or colour == MUTED else str(colour)


def _image(picture: bytes, size: tuple[int, int]) -> str:
    """The first image of a picture; of a large one every second, third … row and column."""
    from PIL import Image

    found = svg.raster(picture)
    if found is None:
        return ""
    image = Image.open(io.BytesIO(found))
    kept = [_spread(length, MOST_CELLS[size[0]]) for length in (image.height, image.width)]
    smaller = Image.fromarray(np.asarray(image)[np.ix_(*kept)])
    if image.mode == "P":
        smaller.putpalette(image.getpalette() or [])
    buffer = io.BytesIO()
    smaller.save(buffer, format="PNG", optimize=True)
    text = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<image width="{size[0]}" height="{size[1]}" preserveAspectRatio="none"'
        f' href="data:image/png;base64,{text}"/>'
    )


def _spread(length: int, most: int) -> Array:
    return np.linspace(0, length - 1, min(length, most)).astype(int)
