"""Drawings of figures read back: lines, areas and images of an SVG by panel, in its own units."""

import base64
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np

from generator.figures.style import DARK
from generator.numerics.arrays import Floats

SVG, LINKED = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
DRAWN = tuple(SVG + name for name in ("path", "use", "image"))
CLASS = re.compile(r"\.(c\d+)\{([^}]*)\}")
CLIP = re.compile(r"url\(#(.+)\)")
TRANSFORM = re.compile(r"(\w+)\(([^)]*)\)")
STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
SPACING = 0.2  # of points along a trace, in units of the drawing
ROLES = dict(zip(DARK, ("ink", "muted", "grid", "paper"), strict=True))


@dataclass
class DrawnPanel:
    """What is drawn within one panel.

    box: left, top, width, height; traces: by colour, of lines, areas and markers, each
        (n_points, 2); image: pixels (n_rows, n_columns, 4) and where they lie, or None
    """

    box: tuple[float, float, float, float]
    traces: dict[str, list[Floats]] = field(default_factory=dict)
    image: tuple[np.ndarray, tuple[float, float, float, float]] | None = None


def panels_of(drawing: bytes) -> list[DrawnPanel]:
    """The panels of a drawing, in the order in which they are drawn."""
    root = ElementTree.fromstring(drawing)  # noqa: S314 (our own)
    styles = dict(CLASS.findall(drawing.decode().partition("@media")[0]))
    named = {element.get("id"): element for element in root.iter() if element.get("id")}
    found: dict[str, DrawnPanel] = {}
    for element, clip in _drawn(root, None):
        if clip not in found:
            found[clip] = DrawnPanel(_box(next(named[clip].iter(f"{SVG}rect"))))
        panel = found[clip]
        if element.tag == f"{SVG}image":
            panel.image = (_pixels(element.get(LINKED, "")), _moved(element))
            continue
        path = named[element.get(LINKED, "#")[1:]] if element.tag == f"{SVG}use" else element
        shift = [float(element.get(name, 0)) for name in "xy"]
        middle = [np.array([shift])] if element.tag == f"{SVG}use" else []  # Of a marker.
        for colour in _colours(styles.get(element.get("class", ""), "")):
            panel.traces.setdefault(colour, []).extend(
                (*middle, *(part + shift for part in _parts(path.get("d", ""))))
            )
    return list(found.values())


def _drawn(
    element: ElementTree.Element, clip: str | None
) -> Iterator[tuple[ElementTree.Element, str]]:
    """Elements within a clip in their order, each with its name, but for what is only referred
    to.
    """
    given = CLIP.match(element.get("clip-path", ""))
    clip = given[1] if given else clip
    if element.tag in (f"{SVG}defs", f"{SVG}clipPath"):
        return
    if clip and element.tag in DRAWN:
        yield element, clip
    for child in element:
        yield from _drawn(child, clip)


def _box(element: ElementTree.Element) -> tuple[float, float, float, float]:
    left, top, width, height = (
        float(element.get(name, 0)) for name in ("x", "y", "width", "height")
    )
    return left, top, width, height


def _moved(element: ElementTree.Element) -> tuple[float, float, float, float]:
    """The box of an image after its transform; its height is negative where it is turned over."""
    left, top, width, height = _box(element)
    steps = TRANSFORM.findall(element.get("transform", ""))
    for name, given in reversed(steps):
        numbers = [float(number) for number in NUMBER.findall(given)]
        if name == "matrix":
            a, _, _, d, e, f = numbers
        elif name == "scale":
            a, d, e, f = numbers[0], numbers[-1], 0.0, 0.0
        else:
            assert name == "translate", name
            a, d, e, f = 1.0, 1.0, numbers[0], numbers[-1]
        left, top, width, height = a * left + e, d * top + f, a * width, d * height
    return left, top, width, height


def _colours(style: str) -> set[str]:
    return {ROLES.get(colour, colour) for colour in re.findall(r"(?:fill|stroke):(#\w+)", style)}


def _pixels(address: str) -> np.ndarray:
    from PIL import Image

    raw = base64.b64decode(address.partition("base64,")[2])
    return np.asarray(Image.open(io.BytesIO(raw)).convert("RGBA"))


def _parts(path: str) -> list[Floats]:
    """The pieces of a path without gaps, (n_points, 2) each."""
    parts: list[list[tuple[float, float]]] = []
    x = y = 0.0
    for letter, rest in STEP.findall(path):
        numbers = [float(number) for number in NUMBER.findall(rest)]
        kind, relative = letter.lower(), letter.islower()
        size = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "z": 0}[kind]
        if kind == "z":
            parts[-1].append(parts[-1][0])
            x, y = parts[-1][0]
            continue
        for start in range(0, len(numbers), size):
            step = numbers[start : start + size]
            across = {"h": step[0], "v": 0.0 if relative else x}.get(
                kind, step[-2] if size > 1 else 0.0
            )
            down = {"v": step[0], "h": 0.0 if relative else y}.get(kind, step[-1])
            x, y = (x + across, y + down) if relative else (across, down)
            if kind == "m" and start == 0:
                parts.append([])
            parts[-1].append((x, y))
    return [np.array(part) for part in parts]


def away(points: Floats, traces: list[Floats]) -> Floats:
    """Distance of each of ``points`` (n, 2) from the nearest of ``traces``, within SPACING."""
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(np.concatenate([_dense(trace) for trace in traces])).query(points)[0])


def _dense(trace: Floats) -> Floats:
    """Points along a trace, not farther than SPACING from each other."""
    if len(trace) == 1:
        return trace
    lengths = np.hypot(*np.diff(trace, axis=0).T)
    pieces = np.maximum(np.ceil(lengths / SPACING).astype(int), 1)
    starts = np.repeat(np.arange(len(lengths)), pieces)
    shares = (np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)) / pieces[
        starts
    ]
    between = trace[starts] + shares[:, None] * np.diff(trace, axis=0)[starts]
    return np.concatenate([between, trace[-1:]])
