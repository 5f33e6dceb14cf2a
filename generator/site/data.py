"""The data beside the pages: atlas.json, metrics.csv and one .npz of arrays for each encoding."""

import csv
import io
import json
import math
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from generator.contracts import Atlas, Encoding, Metric, Outcome, Reading, Tree
from generator.encodings import Form
from generator.numerics import Array

SCHEMA = 1
LONE = "backslashreplace"  # A tensor's name may hold half a surrogate pair; JSON writes it as an escape of the same form.
COLUMNS = ("checkpoint", "title", "source", "id", "revision", "part", "scheme", "form", "metric", "value", "unit", "reason")


def files(atlas: Atlas) -> Tree:
    """Paths below the docs folder, with their bytes."""
    document = {"schema": SCHEMA, "checkpoints": [checkpoint(outcome) for outcome in atlas.outcomes]}
    arrays = {
        f"data/{outcome.checkpoint.slug}/{reading.encoding.key}.npz": npz(reading)
        for outcome in atlas.outcomes
        for reading in outcome.readings
    }
    return {"data/atlas.json": _json(document), "data/metrics.csv": _csv(atlas), **arrays}


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
    """Every array of every analysis as "analysis.array", floats in single precision; no pickles, no dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in _arrays(reading):
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


def _csv(atlas: Atlas) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for outcome in atlas.outcomes:
        row = checkpoint(outcome)
        for found in row["encodings"]:
            for name, metric in found["metrics"].items():
                names = [row[key] for key in ("slug", "title", "source", "id", "revision")]
                kinds = [found[key] for key in ("part", "scheme", "form")]
                writer.writerow([*map(_neutral, (*names, *kinds, name)), metric["value"], metric["unit"], _neutral(metric["reason"])])
    return buffer.getvalue().encode(errors=LONE)


def _neutral(text: str | None) -> str:
    """``text`` on one line, with an apostrophe before what a spreadsheet would take for a formula."""
    line = " ".join((text or "").split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
