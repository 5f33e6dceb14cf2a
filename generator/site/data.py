"""The data beside the pages: atlas.json, metrics.csv and one .npz of arrays for each encoding."""

import csv
import io
import json
import math
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.contracts import Atlas, Encoding, Metric, Numbers, Outcome, Reading, Tree
from generator.encodings import Form
from generator.numerics import Array

SCHEMA = 1
LONE = "backslashreplace"  # A tensor's name may hold half a surrogate pair; JSON writes it as an escape of the same form.
COLUMNS = ("checkpoint", "title", "source", "id", "revision", "part", "scheme", "form", "metric", "value", "unit", "reason")
METRIC = COLUMNS.index("metric")
Row = list[Any]


def files(atlas: Atlas) -> Tree:
    """Paths below the docs folder, with their bytes."""
    document = {"schema": SCHEMA, "checkpoints": [checkpoint(outcome) for outcome in atlas.outcomes]}
    arrays = {
        f"data/{outcome.checkpoint.slug}/{reading.encoding.key}.npz": npz(reading)
        for outcome in atlas.outcomes
        for reading in outcome.readings
    }
    pictures = {f"data/schemes/{scheme.key}.npz": archive(scheme.picture.numbers()) for scheme in atlas.schemes}
    rows = [row for outcome in atlas.outcomes for row in _rows(outcome)]
    tables = {"data/atlas.json": _json(document), "data/metrics.csv": _csv(rows), **_by_analysis(atlas, rows)}
    return {**tables, **arrays, **pictures}


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
        "encodings": [{**encoding(reading.encoding), "metrics": _metrics(reading)} for reading in outcome.readings],
    }


def encoding(found: Encoding[Form]) -> dict[str, Any]:
    """One encoding without its metrics."""
    provenance = found.provenance
    return {
        "part": found.part,
        "scheme": found.scheme,
        "form": type(found.form).__name__,
        "shape": list(provenance.shape),
        "tensor": provenance.tensor,
        "dtype": provenance.dtype,
        "sha256": provenance.sha256,
    }


def npz(reading: Reading) -> bytes:
    """Every array of every analysis as "analysis.array"."""
    return archive(dict(_arrays(reading)))


def archive(arrays: Numbers) -> bytes:
    """Arrays by name, floats in single precision; no pickles, no dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            small = array.astype(np.float32) if array.dtype == np.float64 else array
            np.lib.format.write_array(member, np.asarray(small, order="C"), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


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


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(errors=LONE)


def _rows(outcome: Outcome) -> Iterator[Row]:
    """One for each metric, in the order of COLUMNS."""
    row = checkpoint(outcome)
    names = [row[key] for key in ("slug", "title", "source", "id", "revision")]
    for found in row["encodings"]:
        kinds = [found[key] for key in ("part", "scheme", "form")]
        for name, metric in found["metrics"].items():
            yield [*names, *kinds, name, metric["value"], metric["unit"], metric["reason"]]


def _by_analysis(atlas: Atlas, rows: list[Row]) -> Tree:
    """The rows of each analysis, as CSV and as JSON."""
    by_key: dict[str, list[Row]] = {analysis.key: [] for analysis in atlas.analyses}
    for row in rows:
        by_key.setdefault(row[METRIC].partition(".")[0], []).append(row)
    tables = {f"data/analyses/{key}.csv": _csv(some) for key, some in by_key.items()}
    documents = {f"data/analyses/{key}.json": _json([dict(zip(COLUMNS, row, strict=True)) for row in some]) for key, some in by_key.items()}
    return {**tables, **documents}


def _csv(rows: list[Row]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_neutral(cell) if cell is None or isinstance(cell, str) else cell for cell in row] for row in rows)
    return buffer.getvalue().encode(errors=LONE)


def _neutral(text: str | None) -> str:
    """``text`` on one line, with an apostrophe before what a spreadsheet would take for a formula."""
    line = " ".join((text or "").split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
