"""The data beside the pages: atlas.json, metrics.csv and one .npz of arrays for each encoding."""

import csv
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from generator import PROGRAM
from generator.contracts import Atlas, EncodingRecord, Metric, Numbers, Outcome, Reading, Scheme
from generator.numerics.arrays import Array

SCHEMA = 1
LICENCE = "MIT; weights, and arrays that repeat them, stay under the licence of their authors"
LONE = "backslashreplace"  # A tensor's name may hold half a surrogate pair; JSON writes it as an escape of the same form.
COLUMNS = ("checkpoint", "title", "source", "id", "revision", "part", "scheme", "form", "metric", "value", "unit", "reason")
Row = list[Any]


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Paths below the docs folder, with what makes their bytes."""
    pictures = {f"data/schemes/{scheme.key}.npz": partial(_picture, scheme) for scheme in atlas.schemes}
    tables = {"data/atlas.json": partial(_document, atlas), "data/metrics.csv": partial(_csv, atlas.outcomes)}
    for analysis in atlas.analyses:
        tables[f"data/analyses/{analysis.key}.csv"] = partial(_csv, atlas.outcomes, analysis.key)
        tables[f"data/analyses/{analysis.key}.json"] = partial(_rows_as_json, atlas.outcomes, analysis.key)
    return {**tables, **pictures, **{path: make for outcome in atlas.outcomes for path, make in makers_of(outcome).items()}}


def makers_of(outcome: Outcome) -> dict[str, Callable[[], bytes]]:
    """Those that hold one checkpoint alone."""
    slug = outcome.checkpoint.slug
    found: dict[str, Callable[[], bytes]] = {f"data/{outcome.place(reading)}.npz": partial(npz, reading) for reading in outcome.readings}
    if outcome.layout:
        found[f"data/{slug}/layout.csv"] = partial(_layout, outcome)
    if outcome.readings:
        found[f"data/{slug}/metrics.csv"] = partial(_csv, [outcome])
    return found


def checkpoint(outcome: Outcome) -> dict[str, Any]:
    """One checkpoint of atlas.json."""
    row = outcome.checkpoint
    return {
        "slug": row.slug,
        "title": row.title,
        "source": row.source,
        "id": row.id,
        "revision": outcome.revision or row.revision,
        "status": outcome.status,
        "reason": outcome.reason,
        "encodings": [
            {**encoding(reading.encoding), "arrays": f"data/{outcome.place(reading)}.npz", "metrics": _metrics(reading)}
            for reading in outcome.readings
        ],
    }


def encoding(found: EncodingRecord) -> dict[str, Any]:
    """One encoding without its metrics."""
    provenance = found.provenance
    return {
        "part": found.part,
        "scheme": found.scheme,
        "form": found.form,
        "shape": list(provenance.shape),
        "tensor": provenance.tensor,
        "dtype": provenance.dtype,
        "sha256": provenance.sha256,
    }


def _picture(scheme: Scheme) -> bytes:
    return archive(scheme.picture.numbers())


def npz(reading: Reading) -> bytes:
    """Every array of every analysis as "analysis.array"."""
    return archive(dict(_arrays(reading)))


def archive(arrays: Numbers) -> bytes:
    """Arrays by name, floats in single precision where that reaches; no pickles, no dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            small = array.astype(np.float32) if array.dtype == np.float64 and not _is_beyond(array) else array
            np.lib.format.write_array(member, np.asarray(small, order="C"), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _is_beyond(array: Array) -> bool:
    """Whether it holds a number that single precision does not reach."""
    sizes = np.abs(array[np.isfinite(array)])
    return bool(sizes.size) and float(sizes.max()) > float(np.finfo(np.float32).max)


def _arrays(reading: Reading) -> Iterator[tuple[str, Array]]:
    for analysis, result in reading.results.items():
        yield from ((f"{analysis}.{name}", array) for name, array in result.arrays.items())


def _metrics(reading: Reading) -> dict[str, dict[str, object]]:
    return {
        f"{analysis}.{metric.key}": {"value": _finite(metric), "unit": metric.unit, "reason": metric.reason}
        for analysis, result in reading.results.items()
        for metric in result.metrics
    }


def _finite(metric: Metric) -> float | None:
    return metric.value if metric.value is not None and math.isfinite(metric.value) else None


def _document(atlas: Atlas) -> bytes:
    libraries = {name: version for name, version in atlas.versions.items() if name != PROGRAM}
    return _json(
        {
            "schema": SCHEMA,
            "date": atlas.date,
            "version": atlas.versions.get(PROGRAM),
            "libraries": libraries,
            "licence": LICENCE,
            "address": atlas.address,
            "checkpoints": [checkpoint(outcome) for outcome in atlas.outcomes],
        }
    )


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(errors=LONE)


def _rows(outcomes: Sequence[Outcome], only: str | None = None) -> Iterator[tuple[Row, str]]:
    """One for each metric, or each of one analysis, in the order of COLUMNS; and where the arrays of its encoding lie."""
    for outcome in outcomes:
        listed = outcome.checkpoint
        names = [listed.slug, listed.title, listed.source, listed.id, outcome.revision or listed.revision]
        for reading in outcome.readings:
            found = encoding(reading.encoding)
            kinds = [found[key] for key in ("part", "scheme", "form")]
            for analysis in reading.results if only is None else [only]:
                for metric in reading.results[analysis].metrics:
                    row = [*names, *kinds, f"{analysis}.{metric.key}", _finite(metric), metric.unit, metric.reason]
                    yield row, f"data/{outcome.place(reading)}.npz"


def _rows_as_json(outcomes: Sequence[Outcome], analysis: str) -> bytes:
    return _json([{**dict(zip(COLUMNS, row, strict=True)), "arrays": arrays} for row, arrays in _rows(outcomes, analysis)])


def _csv(outcomes: Sequence[Outcome], only: str | None = None) -> bytes:
    return _as_csv(COLUMNS, (row for row, _ in _rows(outcomes, only)))


def _layout(outcome: Outcome) -> bytes:
    """The tensors of a checkpoint, layers that repeat in one row; # stands for the number of a layer."""
    rows = ([row.pattern, " × ".join(map(str, row.shape)), row.dtype, row.count] for row in outcome.layout)
    return _as_csv(("tensor", "shape", "dtype", "times"), rows)


def _as_csv(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_neutral(cell) if cell is None or isinstance(cell, str) else cell for cell in row] for row in rows)
    return buffer.getvalue().encode(errors=LONE)


def _neutral(text: str | None) -> str:
    """``text`` on one line, with an apostrophe before what a spreadsheet would take for a formula."""
    line = " ".join((text or "").split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
