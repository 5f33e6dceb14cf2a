"""Data of the compare page: a catalogue of all encodings, and one script for each, which registers its data.

Browsers do not let a page that was opened from disk fetch files, but run its scripts; so the data are scripts.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from generator.contracts import Atlas, Outcome, Reading
from generator.encodings import Form
from generator.encodings.kernels import Kernel, first_kernel
from generator.figures.packing import Layout, pack, rounded
from generator.figures.style import DIVERGING, SEQUENTIAL, STOPS
from generator.numerics.arrays import Floats, offsets_between
from generator.numerics.similarity import shape
from generator.site.outline import addresses_of

FOLDER = "data/compare"
POSITIONS = 128
COORDINATES = "coordinates"  # Array (n_positions, 3) of any analysis, drawn as a curve.
MOST_POINTS = 512


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each file, by path below the docs folder."""
    scripts = {path: make for outcome in atlas.outcomes for path, make in makers_of(outcome).items()}
    return {f"{FOLDER}/index.js": partial(_catalogue, atlas), **scripts}


def makers_of(outcome: Outcome) -> dict[str, Callable[[], bytes]]:
    """``makers`` for the files of one checkpoint."""
    return {f"{FOLDER}/{outcome.path_of(reading)}.js": partial(_script, outcome, reading) for reading in outcome.readings}


def _catalogue(atlas: Atlas) -> bytes:
    return _call("list", catalogue(atlas))


def _script(outcome: Outcome, reading: Reading) -> bytes:
    return _call("add", outcome.path_of(reading), record(reading))


def catalogue(atlas: Atlas) -> dict[str, Any]:
    """Encodings to choose from, and titles of analyses and metrics."""
    addresses = addresses_of(atlas)
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    return {
        "encodings": [
            {
                "name": outcome.path_of(reading),
                "title": reading.label.title,
                "colour": reading.label.colour,
                "group": outcome.checkpoint.group,
                "kind": titles.get(reading.encoding.scheme, reading.encoding.scheme),
                "form": reading.encoding.form,
                "page": addresses[outcome.path_of(reading)],
            }
            for outcome, reading in atlas.encodings
        ],
        "analyses": {analysis.key: analysis.title for analysis in atlas.analyses},
        "metrics": _metrics(atlas),
        "colormaps": {"sequential": STOPS[SEQUENTIAL], "diverging": STOPS[DIVERGING]},
    }


def record(reading: Reading) -> dict[str, Any]:
    """Kernels, curve and metrics of one encoding."""
    values = {
        f"{analysis}.{metric.key}": metric.reason if metric.value is None else rounded(np.array(metric.value))[0]
        for analysis, result in reading.results.items()
        for metric in result.metrics
    }
    return {"kernels": _kernels(reading.form.load()), "curve": _curve(reading), "metrics": values}


def _kernels(form: Form) -> dict[str, Any]:
    """Kernel in the form's unit, mean of heads, and its shape, both with a profile; outliers of a table have no shape."""
    heads = form.kernel(POSITIONS)  # (n_heads, n, n)
    layout = Layout(heads.shape[1], _columns(form, heads.shape[1]))
    inliers = first_kernel(form.inliers, POSITIONS)
    scaled = shape(inliers.heads, inliers.lines)
    with np.errstate(over="ignore", invalid="ignore"):  # Means of huge numbers may overflow to values that are packed as NaN.
        stored = _packed(layout, inliers, heads.mean(axis=0))
        return {
            "n": layout.n,
            "columns": layout.columns,
            "heads": len(heads),
            "quantity": form.quantity,
            "stored": stored,
            "shape": None if scaled is None else _without(stored["levels"], _packed(layout, inliers, scaled)),
        }


def _without(levels: str, packed: dict[str, Any]) -> dict[str, Any]:
    """``packed`` with None in place of the same ``levels``."""
    return {**packed, "levels": None} if packed["levels"] == levels else packed


def _packed(layout: Layout, kernel: Kernel, matrix: Floats) -> dict[str, Any]:
    finite = np.where(np.isfinite(matrix), matrix, np.nan)
    return {**pack(layout.entries(finite)), "profile": rounded(_by_offset(kernel, finite))}


def _by_offset(kernel: Kernel, matrix: Floats) -> Floats:
    """Mean of ``matrix`` (n, n) at each offset from 1 − n to n − 1, on a grid along rows and columns: (2n − 1,); NaN where none is defined."""
    n = len(matrix)
    sums, counts = np.zeros(2 * n - 1), np.zeros(2 * n - 1)
    for line in kernel.along(matrix):
        defined = ~np.isnan(line)
        offsets = (offsets_between(len(line)) + n - 1)[defined]
        counts += np.bincount(offsets, minlength=2 * n - 1)
        sums += np.bincount(offsets, line[defined], 2 * n - 1)
    return np.asarray(sums / np.where(counts == 0, np.nan, counts))


def _columns(form: Form, n: int) -> int | None:
    """``Layout.columns`` for the kernel of a form."""
    if not form.depends_on_offset:
        return None
    return n if form.grid is None else form.grid[1]


def _curve(reading: Reading) -> dict[str, Any] | None:
    """Coordinates of every ``step``-th position and the last, and patches per row of a grid; None where no analysis gives them."""
    arrays = (result.arrays[COORDINATES] for result in reading.results.values() if COORDINATES in result.arrays)
    points = next(arrays, None)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or not len(points):
        return None
    step = -(-len(points) // MOST_POINTS)
    indices = np.unique(np.append(np.arange(0, len(points), step), len(points) - 1))
    grid = reading.form.load().grid
    return {"step": step, "last": len(points) - 1, "columns": None if grid is None else grid[1], **pack(points[indices].astype(np.float64))}


def _metrics(atlas: Atlas) -> dict[str, tuple[str, str]]:
    return {
        f"{analysis}.{metric.key}": (metric.title, metric.unit)
        for outcome in atlas.outcomes
        for reading in outcome.readings
        for analysis, result in reading.results.items()
        for metric in result.metrics
    }


def _call(function: str, *arguments: object) -> bytes:
    """JavaScript that calls a function of the page. JSON in ASCII is valid JavaScript."""
    return f"atlas.{function}({', '.join(_json(arguments))});\n".encode()


def _json(arguments: tuple[object, ...]) -> Iterator[str]:
    return (json.dumps(argument, separators=(",", ":"), allow_nan=False) for argument in arguments)
