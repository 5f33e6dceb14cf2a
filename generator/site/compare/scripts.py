"""Data of the compare page: a catalogue of all encodings, and two scripts for each, which register
its data.

The second script holds the kernels of longer windows, and is loaded only when a reader chooses
these.

Browsers do not let a page that was opened from disk fetch files, but run its scripts; so the data
are scripts.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from generator.cache.lazy import Lazy
from generator.contracts import Analysis, Atlas, Outcome, Overlay, Reading, Result
from generator.encodings import Form
from generator.figures.short_text import pack, rounded
from generator.figures.style import DIVERGING, SEQUENTIAL, SERIES, STOPS
from generator.numerics.arrays import Floats, thinned
from generator.site.compare.kernel_images import POSITIONS, WINDOWS, kernels, windows
from generator.site.outline import chapter
from generator.site.rankings.columns import Column, columns_of, in_words
from generator.site.rankings.peers import in_order, may_be_ranked, repeats

FOLDER = "data/compare"
COORDINATES = "coordinates"  # Array (n_positions, 3) of any analysis, drawn as a curve.
MOST_POINTS = 512  # of a curve
MOST_ON_LINE = 512
READ = 4  # Significant digits of a value on a line.
UNIT = "positions"  # Another one for words, patches and frames.
OTHER = "overlay_title"  # Text of an analysis whose line has another title.
IMAGE = "imshow"  # In lines of Python that plot no line.


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each file, by path below the docs folder."""
    scripts: dict[str, Callable[[], bytes]] = {
        f"{FOLDER}/index.js": lambda: _call("list", catalogue(atlas))
    }
    for outcome in atlas.outcomes:
        for reading in outcome.readings:
            name = outcome.path_of(reading)
            scripts[f"{FOLDER}/{name}.js"] = partial(_script, name, reading, atlas, outcome)
            path, longer = f"{FOLDER}/{name}-windows.js", partial(_windows, name, reading.form)
            scripts[path] = atlas.submit(f"{path} {outcome.key}", longer) if outcome.key else longer
    return scripts


def _script(name: str, reading: Reading, atlas: Atlas, outcome: Outcome) -> bytes:
    whole = record(reading, atlas.analyses)
    used = {found.key: found.result for found in outcome.use if found.is_of(reading.encoding.part)}
    whole["lines"] |= dict(_lines(used, atlas.measures))
    return _call("add", name, whole)


def _windows(name: str, form: Lazy[Form]) -> bytes:
    return _call("addWindows", name, windows(form.load()))


def catalogue(atlas: Atlas) -> dict[str, Any]:
    """Encodings to choose from, titles of analyses and metrics, values of all encodings, and how
    lines are drawn over each other.
    """
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    return {
        "encodings": [
            {
                "name": outcome.path_of(reading),
                "title": reading.label.title,
                "group": outcome.checkpoint.group,
                "kind": titles.get(reading.encoding.scheme, reading.encoding.scheme),
                "form": reading.encoding.form,
                "modality": reading.encoding.modality,
                "page": chapter(outcome, reading),
                **({"unranked": unranked} if (unranked := _unranked(atlas, reading)) else {}),
                "shares": _shares(atlas, reading),
            }
            for outcome, reading in atlas.encodings
        ],
        "analyses": {analysis.key: analysis.title for analysis in atlas.analyses},
        "metrics": _metrics(atlas),
        "sorted_values": sorted_values(atlas),
        "chances": {
            _key(column): f"{column.analysis.key}.{column.headline.chance.metric}"
            for column in columns_of(atlas)
            if column.headline.chance
        },
        "words": _words(atlas),
        "overlays": [
            _overlay(analysis, analysis.overlay, page)
            for of_kind, page in (
                (atlas.analyses, "analyses/{}.html"),
                (
                    atlas.measures if any(outcome.use for outcome in atlas.outcomes) else (),
                    "use.html#{}",
                ),
            )
            for analysis in of_kind
            if analysis.overlay
        ],
        "python": {
            f"{analysis.key}-{spec.key}": spec.python
            for analysis in atlas.analyses
            for spec in analysis.figures
            if spec.python
        },
        "windows": [POSITIONS, *WINDOWS],
        "colours": SERIES,
        "colormaps": {"sequential": STOPS[SEQUENTIAL], "diverging": STOPS[DIVERGING]},
    }


def _unranked(atlas: Atlas, reading: Reading) -> list[str]:
    """Keys of the analyses whose values say nothing in an order: the table is without structure."""
    return [
        analysis.key
        for analysis in atlas.analyses
        if analysis.headlines
        and reading.results[analysis.key].reason is None
        and not may_be_ranked(atlas, analysis, reading)
    ]


def _shares(atlas: Atlas, reading: Reading) -> dict[str, float | None]:
    """By which an encoding is ranked by metrics with a chance level, as "analysis.metric"; without
    those from which chance is not told apart.
    """
    return {
        _key(column): rounded(np.array(placed.share))[0]
        for column in columns_of(atlas)
        if column.headline.chance
        and (placed := in_order(atlas, column.analysis, column.headline, reading))
    }


def _key(column: Column) -> str:
    return f"{column.analysis.key}.{column.headline.metric}"


def _overlay(analysis: Analysis, overlay: Overlay, page: str) -> dict[str, Any]:
    return {
        "key": analysis.key,
        "title": analysis.wording(OTHER if OTHER in analysis.wording else "title"),
        "question": analysis.question,
        "x": overlay.x,
        "y": overlay.y,
        "logarithmic": overlay.logarithmic,
        "how": analysis.wording("overlay_how_to_read"),
        "page": page.format(analysis.key),
        "python": next((spec.python for spec in analysis.figures if IMAGE not in spec.python), ""),
    }


def record(reading: Reading, analyses: Sequence[Analysis] = ()) -> dict[str, Any]:
    """Kernels, curve, lines by analysis, and metrics of one encoding."""
    values = {
        f"{analysis}.{metric.key}": (
            metric.reason if metric.value is None else rounded(np.array(metric.value))[0]
        )
        for analysis, result in reading.results.items()
        for metric in result.metrics
    }
    return {
        "kernels": kernels(reading.form.load()),
        "curve": _curve(reading),
        "lines": dict(_lines(reading.results, analyses)),
        "metrics": values,
    }


def _lines(
    results: Mapping[str, Result], analyses: Sequence[Analysis]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The line of each analysis that has one and applies, by key."""
    for analysis in analyses:
        result = results.get(analysis.key, Result(reason="not computed"))
        if analysis.overlay and result.reason is None:
            x, y = (
                np.asarray(values, dtype=np.float64) for values in analysis.overlay.points(result)
            )
            if np.isfinite(y).any():
                yield (
                    analysis.key,
                    _line(
                        *thinned(
                            x, y, MOST_ON_LINE, logarithmic=analysis.overlay.logarithmic == "x"
                        )
                    ),
                )


def _line(x: Floats, y: Floats) -> dict[str, Any]:
    """Places, as the first, the step and their number where these are evenly spaced, and values of
    a line (n,).
    """
    steps = np.diff(x)
    even = len(x) > 2 and bool(np.all(steps == steps[0]))
    places = (
        dict(zip(("first", "step"), rounded(np.array([x[0], steps[0]])), strict=True))
        | {"count": len(x)}
        if even
        else rounded(x)
    )
    return {"x": places, "y": rounded(y, READ)}


def _curve(reading: Reading) -> dict[str, Any] | None:
    """Coordinates of every ``step``-th position and the last, and patches per row of a grid; None
    where no analysis gives them.
    """
    arrays = (
        result.arrays[COORDINATES]
        for result in reading.results.values()
        if COORDINATES in result.arrays
    )
    points = next(arrays, None)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or not len(points):
        return None
    step = -(-len(points) // MOST_POINTS)
    indices = np.unique(np.append(np.arange(0, len(points), step), len(points) - 1))
    grid = reading.form.load().grid
    return {
        "step": step,
        "last": len(points) - 1,
        "columns": None if grid is None else grid[1],
        **pack(points[indices].astype(np.float64)),
    }


def _metrics(atlas: Atlas) -> dict[str, tuple[str, str]]:
    """Title and unit of each metric, as "analysis.metric": of positions that are patches in images,
    both units with “or”.
    """
    titles, units = dict[str, str](), dict[str, set[str]]()
    for _, reading in atlas.encodings:
        for analysis, result in reading.results.items():
            for metric in result.metrics:
                key = f"{analysis}.{metric.key}"
                titles.setdefault(key, metric.title)
                units.setdefault(key, set()).add(metric.unit)
    return {key: (title, in_words(units[key])) for key, title in titles.items()}


def _words(atlas: Atlas) -> dict[str, str]:
    """What each headline metric means, with {} for values, by "analysis.metric"."""
    return {
        _key(column): headline.says_in_brief("{}")
        for column in columns_of(atlas)
        if (headline := column.headline).sentence
    }


def sorted_values(atlas: Atlas) -> dict[str, dict[str, list[float | None]]]:
    """Values of all encodings that have a place in an order, in ascending order, or their shares of
    chance, among which the compare page ranks those that readers choose: by metric, as
    "analysis.metric", and by modality where they are numbers of positions, under "" otherwise.
    """
    return {_key(column): _by_modality(atlas, column) for column in columns_of(atlas)}


def _by_modality(atlas: Atlas, column: Column) -> dict[str, list[float | None]]:
    groups: dict[str, list[float]] = {}
    for outcome, reading in atlas.encodings:
        placed = in_order(atlas, column.analysis, column.headline, reading)
        if placed and not repeats(outcome, reading):
            modality = reading.encoding.modality if column.unit.startswith(UNIT) else ""
            groups.setdefault(modality, []).append(placed.share)
    return {modality: rounded(np.sort(values)) for modality, values in groups.items()}


def _call(function: str, *arguments: object) -> bytes:
    """JavaScript that calls a function of the page. JSON in ASCII is valid JavaScript."""
    written = (json.dumps(value, separators=(",", ":"), allow_nan=False) for value in arguments)
    return f"atlas.{function}({', '.join(written)});\n".encode()
