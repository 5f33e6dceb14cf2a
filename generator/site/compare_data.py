"""The data of the compare page: one small script for each encoding, which registers itself, and a catalogue of all.

A page that was opened from a disk may run scripts but not fetch files, so data come as scripts.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from generator.contracts import Atlas, Outcome, Reading
from generator.encodings import Form
from generator.figures.style import DIVERGING, SEQUENTIAL, STOPS
from generator.numerics.arrays import Floats
from generator.numerics.similarity import shape
from generator.site.compare_packing import Layout, pack, rounded

FOLDER = "data/compare"
POSITIONS = 128
COORDINATES = "coordinates"  # The name of an array that places each position in three dimensions, whichever analysis gives it.
MOST_POINTS = 512


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Paths below the docs folder, with what makes their bytes; nothing of checkpoints that could not be read."""
    own = {path: make for outcome in atlas.outcomes for path, make in makers_of(outcome).items()}
    return {f"{FOLDER}/index.js": partial(_catalogue, atlas), **own}


def makers_of(outcome: Outcome) -> dict[str, Callable[[], bytes]]:
    """Those that hold one checkpoint alone."""
    return {f"{FOLDER}/{outcome.place(reading)}.js": partial(_script, outcome, reading) for reading in outcome.readings}


def _catalogue(atlas: Atlas) -> bytes:
    return _call("list", catalogue(atlas))


def _script(outcome: Outcome, reading: Reading) -> bytes:
    return _call("add", outcome.place(reading), record(reading))


def catalogue(atlas: Atlas) -> dict[str, Any]:
    """What there is to choose from, and what the metrics are called."""
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    return {
        "encodings": [
            {
                "name": outcome.place(reading),
                "title": reading.label.title,
                "colour": reading.label.colour,
                "group": outcome.checkpoint.group,
                "kind": titles.get(reading.encoding.scheme, reading.encoding.scheme),
                "form": reading.encoding.form,
                "page": f"checkpoints/{outcome.checkpoint.slug}.html",
            }
            for outcome in atlas.outcomes
            for reading in outcome.readings
        ],
        "analyses": {analysis.key: analysis.title for analysis in atlas.analyses},
        "metrics": _metrics(atlas),
        "colormaps": {"sequential": STOPS[SEQUENTIAL], "diverging": STOPS[DIVERGING]},
    }


def record(reading: Reading) -> dict[str, Any]:
    """All that the compare page shows of one encoding."""
    values = {
        f"{analysis}.{metric.key}": metric.reason if metric.value is None else rounded(np.array(metric.value))[0]
        for analysis, result in reading.results.items()
        for metric in result.metrics
    }
    return {"kernels": _kernels(reading.form.load()), "curve": _curve(reading), "metrics": values}


def _kernels(form: Form) -> dict[str, Any]:
    """The mean of all heads, and their common shape; each with its mean at every offset (key minus query) from 1 − n to n − 1."""
    heads = form.kernel(POSITIONS)  # (n_heads, n, n)
    layout = Layout(heads.shape[1], _columns(form, heads.shape[1]))
    own = shape(heads)
    alike = {"levels": None} if len(heads) == 1 else {}  # One head has the same levels either way.
    with np.errstate(over="ignore", invalid="ignore"):  # Means of huge numbers may overflow; they are then not defined.
        return {
            "n": layout.n,
            "columns": layout.columns,
            "heads": len(heads),
            "quantity": form.quantity,
            "stored": _packed(layout, heads.mean(axis=0)),
            "shape": None if own is None else {**_packed(layout, own), **alike},
        }


def _packed(layout: Layout, kernel: Floats) -> dict[str, Any]:
    finite = np.where(np.isfinite(kernel), kernel, np.nan)
    return {**pack(layout.entries(finite)), "profile": rounded(_by_offset(finite))}


def _by_offset(kernel: Floats) -> Floats:
    """Mean of ``kernel`` (n, n) along every diagonal, from offset 1 − n to n − 1: (2n − 1,); NaN where nothing is defined."""
    n = len(kernel)
    defined = ~np.isnan(kernel)
    diagonal = (np.arange(n) - np.arange(n)[:, None] + n - 1)[defined]
    counts, sums = np.bincount(diagonal, minlength=2 * n - 1), np.bincount(diagonal, kernel[defined], 2 * n - 1)
    return np.asarray(sums / np.where(counts == 0, np.nan, counts))


def _columns(form: Form, n: int) -> int | None:
    """The columns of a ``Layout`` of its kernel."""
    if not form.depends_on_offset:
        return None
    return n if form.grid is None else form.grid[1]


def _curve(reading: Reading) -> dict[str, Any] | None:
    """The positions as points in three dimensions, every ``step``-th of them and the last; None without such an array."""
    found = (result.arrays[COORDINATES] for result in reading.results.values() if COORDINATES in result.arrays)
    points = next(found, None)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or not len(points):
        return None
    step = -(-len(points) // MOST_POINTS)
    places = np.unique(np.append(np.arange(0, len(points), step), len(points) - 1))
    return {"step": step, "last": len(points) - 1, **pack(points[places].astype(np.float64))}


def _metrics(atlas: Atlas) -> dict[str, tuple[str, str]]:
    return {
        f"{analysis}.{metric.key}": (metric.title, metric.unit)
        for outcome in atlas.outcomes
        for reading in outcome.readings
        for analysis, result in reading.results.items()
        for metric in result.metrics
    }


def _call(function: str, *arguments: object) -> bytes:
    """A call of one of the page's functions; JSON in ASCII is JavaScript as well."""
    return f"atlas.{function}({', '.join(_json(arguments))});\n".encode()


def _json(arguments: tuple[object, ...]) -> Iterator[str]:
    return (json.dumps(argument, separators=(",", ":"), allow_nan=False) for argument in arguments)
