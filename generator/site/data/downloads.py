"""Data files for download: atlas.json, metrics.csv, and the arrays of each encoding as .npz."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from generator import PROGRAM
from generator.contracts import (
    Analysis,
    Atlas,
    Copy,
    EncodingRecord,
    Layer,
    Metric,
    Numbers,
    Outcome,
    Reading,
    UseResult,
    paper_address,
)
from generator.contracts.wording import Wording
from generator.site.data import schema as data_schema
from generator.site.data.npz import archive
from generator.site.history import releases
from generator.site.pictures.scheme_pictures import numbers_of
from generator.site.runs import downloads_of_runs as run_data
from generator.text import visible

SCHEMA = 3
WORDING = Wording("wording/site.jinja")
# Tensor names may contain lone surrogates, for which JSON has the same escape.
ENCODE_ERRORS = "backslashreplace"
MOST_RECORDS = 4_900_000  # bytes of checkpoints in a file, which then stays below 5 MB
COLUMNS = tuple(data_schema.COLUMNS)
CsvRow = list[Any]


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each file, by path below the docs folder."""
    pictures = {
        f"data/schemes/{name}.npz": partial(_picture_arrays, numbers)
        for scheme in atlas.schemes
        for name, numbers in numbers_of(scheme).items()
    }
    tables: dict[str, Callable[[], bytes]] = {
        **_atlas_files(atlas),
        "data/metrics.csv": partial(metrics_csv, atlas),
    }
    tables[data_schema.PATH] = atlas.submit(data_schema.PATH, data_schema.json_schema)
    tables[f"{releases.PUBLISHED}/index.json"] = partial(_releases_json, atlas)
    for analysis in atlas.analyses:
        tables[f"data/analyses/{analysis.key}.csv"] = partial(
            _metrics_csv, atlas.outcomes, analysis.key
        )
        tables[f"data/analyses/{analysis.key}.json"] = partial(
            _metrics_json, atlas.outcomes, analysis.key
        )
    return {
        **tables,
        **pictures,
        **atlas.archive,
        **run_data.makers(atlas),
        **{path: make for guest in atlas.guests for path, make in guest.files(atlas).items()},
        **{
            path: make
            for outcome in atlas.outcomes
            for path, make in _makers_of(outcome, atlas.analyses).items()
        },
    }


def _makers_of(outcome: Outcome, analyses: Sequence[Analysis]) -> dict[str, Callable[[], bytes]]:
    """``makers`` for the files of one checkpoint."""
    slug = outcome.checkpoint.slug
    files: dict[str, Callable[[], bytes]] = {
        path: partial(npz, reading, analyses)
        for reading in outcome.readings
        if (path := outcome.arrays_of(reading))
    }
    if outcome.inventory:
        files[f"data/{slug}/layout.csv"] = partial(_layout_csv, outcome)
    if outcome.use:
        files[f"data/{slug}/use.npz"] = partial(_use_arrays, outcome)
    if outcome.readings:
        files[f"data/{slug}/metrics.csv"] = partial(_metrics_csv, [outcome])
    return files


def _use_arrays(outcome: Outcome) -> bytes:
    """The arrays of all measures of use, each under part, measure and its name."""
    return archive(
        {
            f"{found.part}.{found.key}.{name}": array
            for found in outcome.use
            for name, array in found.result.arrays.items()
        }
    )


def use_of(
    outcome: Outcome, uses: Sequence[Analysis]
) -> dict[str, dict[str, data_schema.UseMetric]] | None:
    """What the trained model does, by part and metric; None where nothing was measured."""
    found = {(result.part, result.key): result for result in outcome.use}
    return {
        part: {
            name: values
            for use in uses
            if (part, use.key) in found
            for name, values in _use_metrics(use, found[part, use.key])
        }
        for part in dict.fromkeys(part for part, _ in found)
    } or None


def _use_metrics(use: Analysis, found: UseResult) -> Iterator[tuple[str, data_schema.UseMetric]]:
    known = {metric.key: metric for metric in found.result.metrics}
    reason = found.result.reason or "of another kind of positions"
    for key in dict.fromkeys([*use.units, *known]):
        metric = known.get(key) or Metric(key, key, None, use.units.get(key, ""), reason)
        second = replace(metric, value=found.second.get(key)).finite
        yield (
            f"{use.key}.{key}",
            {**_metric(metric), "second": second, "sequences": found.result.read.get(key)},
        )


def checkpoint(outcome: Outcome, uses: Sequence[Analysis] = ()) -> data_schema.Checkpoint:
    """A checkpoint. uses: the measures of what trained models do"""
    row = outcome.checkpoint
    return {
        "slug": row.slug,
        "title": row.title,
        "source": row.source,
        "id": row.id,
        "of": row.of or None,
        "revision": outcome.revision or row.revision,
        "paper": paper_address(row.paper) or None,
        "licence": row.licence or None,
        "status": outcome.status,
        "reason": outcome.reason,
        "stale": outcome.stale,
        "described_by": outcome.described_by or None,
        "layers": layers(outcome.layers, [reading.encoding for reading in outcome.readings]),
        "unmeasured": [
            {
                "key": record.key,
                "part": record.part,
                "scheme": record.scheme,
                "shape": list(record.provenance.shape),
                "tensor": record.provenance.tensor or "",
            }
            for record in outcome.unmeasured
        ],
        "unresolved": list(outcome.unresolved),
        "lint": list(outcome.lint),
        "limits": list(outcome.limits),
        "settings": dict(outcome.settings),
        "copy": _copy(outcome.copy) if outcome.copy else None,
        "use": use_of(outcome, uses),
        "no_use": outcome.no_use or None,
        "encodings": [
            encoding(
                reading.encoding,
                reading.label.title,
                outcome.arrays_of(reading),
                {
                    f"{analysis}.{metric.key}": _metric(metric)
                    for analysis, result in reading.results.items()
                    for metric in result.metrics
                },
            )
            for reading in outcome.readings
        ],
    }


def _copy(copy: Copy) -> data_schema.Copy:
    found = copy.comparison
    return {
        "original": copy.original,
        "verdict": copy.verdict,
        "differences": [difference.text for difference in found.differences] if found else [],
        "untold": list(found.untold) if found else [],
        "notes": list(found.notes) if found else [],
        "reason": copy.reason or None,
    }


def encoding(
    record: EncodingRecord, name: str, arrays: str | None, metrics: dict[str, data_schema.Metric]
) -> data_schema.Encoding:
    """An encoding. arrays: path of its file; metrics: by `analysis.metric`"""
    provenance = record.provenance
    return {
        "name": name,
        "key": record.key,
        "part": record.part,
        "scheme": record.scheme,
        "form": record.form,
        "shape": list(provenance.shape),
        "tensor": provenance.tensor,
        "dtype": provenance.dtype,
        "sha256": provenance.sha256,
        "parameters": dict(record.parameters),
        "origins": dict(record.origins),
        "arrays": arrays,
        "metrics": metrics,
    }


def layers(
    layer_map: Sequence[Layer], encodings: Sequence[EncodingRecord]
) -> list[data_schema.Layer]:
    """The layer map, with the parameters of the rotation that acts in each layer."""
    rotations: dict[str, data_schema.RotationOfLayer] = {
        record.key: {
            "base": record.parameters["base"],
            "rotary_dim": record.parameters["rotary_dim"],
            "scaling": record.parameters["scaling"],
            "attention_factor": record.parameters["attention_factor"],
        }
        for record in encodings
        if "base" in record.parameters
    }
    return [
        {
            "part": layer.part,
            "index": layer.index,
            "type": layer.type,
            "kinds": list(layer.mixers),
            "before": layer.before,
            "after": layer.after,
            "chosen": layer.chosen,
            "positions_per_key": layer.positions_per_key,
            "encodings": None if layer.encodings is None else list(layer.encodings),
            "at_input": list(layer.at_input),
            "rotation": next(
                (rotations[key] for key in layer.encodings or () if key in rotations), None
            ),
        }
        for layer in layer_map
    ]


def _picture_arrays(numbers: Callable[[], Numbers]) -> bytes:
    return archive(numbers())


def npz(reading: Reading, analyses: Sequence[Analysis] = ()) -> bytes:
    """Arrays of an encoding, named "analysis.array", as .npz.

    analyses: which say what follows from others, and what is exact
    """
    following = frozenset(
        f"{analysis.key}.{name}" for analysis in analyses for name in analysis.follows
    )
    exact = frozenset(f"{analysis.key}.{name}" for analysis in analyses for name in analysis.exact)
    arrays = {
        f"{analysis}.{name}": array
        for analysis, result in reading.results.items()
        for name, array in result.arrays.items()
    }
    return archive(arrays, following, exact)


def _metric(metric: Metric) -> data_schema.Metric:
    return {"value": metric.finite, "unit": metric.unit, "reason": metric.reason}


def document(atlas: Atlas) -> data_schema.Atlas:
    """What atlas.json holds, with every checkpoint."""
    return {
        "schema": SCHEMA,
        "date": atlas.date,
        "version": atlas.versions.get(PROGRAM),
        "libraries": {name: version for name, version in atlas.versions.items() if name != PROGRAM},
        "licence": WORDING("licence"),
        "address": atlas.address,
        "checkpoints": [checkpoint(outcome, atlas.measures) for outcome in atlas.outcomes],
        "runs": [run_data.record(run) for run in atlas.runs],
        "parts": [],
    }


def atlas_json(atlas: Atlas) -> bytes:
    """atlas.json with every checkpoint, however many there are."""
    return _compact(document(atlas))


def _atlas_files(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """atlas.json; with too many checkpoints for one file, these are in its parts, each of which is
    an atlas by itself.
    """
    groups = list(_groups(atlas))
    if len(groups) < 2:
        return {"data/atlas.json": partial(atlas_json, atlas)}
    parts = {f"data/atlas/{number:04}.json": group for number, group in enumerate(groups, 1)}
    index = document(replace(atlas, outcomes=())) | {"parts": list(parts)}
    files = {
        path: partial(atlas_json, replace(atlas, outcomes=group, runs=()))
        for path, group in parts.items()
    }
    return {"data/atlas.json": partial(_compact, index), **files}


def _groups(atlas: Atlas) -> Iterator[tuple[Outcome, ...]]:
    """Consecutive outcomes whose records take at most ``MOST_RECORDS`` bytes together, or one that
    takes more.
    """
    group, size = list[Outcome](), 0
    for outcome in atlas.outcomes:
        added = len(_compact(checkpoint(outcome, atlas.measures)))
        if group and size + added > MOST_RECORDS:
            yield tuple(group)
            group, size = [], 0
        group.append(outcome)
        size += added
    yield tuple(group)


def _compact(document: object) -> bytes:
    # Indented, it takes four times as long.
    text = json.dumps(
        document, default=asdict, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return f"{text}\n".encode(errors=ENCODE_ERRORS)


def _releases_json(atlas: Atlas) -> bytes:
    entries: list[data_schema.ReleaseEntry] = [
        {"id": release.id, "date": release.date, "version": release.version}
        for release in atlas.releases
    ]
    return _json(entries)


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(
        errors=ENCODE_ERRORS
    )


def _metric_rows(
    outcomes: Sequence[Outcome], only: str | None = None
) -> Iterator[tuple[CsvRow, str | None]]:
    """Rows of metrics.csv, with the path of the encoding's arrays, if they are published.

    only: key of the analysis, None for all analyses
    """
    for outcome in outcomes:
        checkpoint = outcome.checkpoint
        source = [
            checkpoint.slug,
            checkpoint.title,
            checkpoint.source,
            checkpoint.id,
            outcome.revision or checkpoint.revision,
        ]
        for reading in outcome.readings:
            kind = [reading.encoding.part, reading.encoding.scheme, reading.encoding.form]
            for analysis in reading.results if only is None else [only]:
                for metric in reading.results[analysis].metrics:
                    row = [
                        *source,
                        *kind,
                        f"{analysis}.{metric.key}",
                        metric.finite,
                        metric.unit,
                        metric.reason,
                        reading.label.title,
                    ]
                    yield row, outcome.arrays_of(reading)


def _metrics_json(outcomes: Sequence[Outcome], analysis: str) -> bytes:
    return _json(
        [
            {**dict(zip(COLUMNS, row, strict=True)), "arrays": path}
            for row, path in _metric_rows(outcomes, analysis)
        ]
    )


def metrics_csv(atlas: Atlas) -> bytes:
    """metrics.csv."""
    return _metrics_csv(atlas.outcomes)


def _metrics_csv(outcomes: Sequence[Outcome], only: str | None = None) -> bytes:
    return encoded_csv(COLUMNS, (row for row, _ in _metric_rows(outcomes, only)))


def _layout_csv(outcome: Outcome) -> bytes:
    """Tensors of a checkpoint as CSV, one row for those that differ only in their layer numbers."""
    rows = (
        [row.pattern, " × ".join(map(str, row.shape or ())), row.dtype, row.count]
        for row in outcome.inventory
    )
    return encoded_csv(("tensor", "shape", "dtype", "times"), rows)


def encoded_csv(columns: Sequence[str], rows: Iterable[CsvRow]) -> bytes:
    """A table as CSV, in which no text is taken for a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [_text_cell(cell) if cell is None or isinstance(cell, str) else cell for cell in row]
        for row in rows
    )
    return buffer.getvalue().encode(errors=ENCODE_ERRORS)


def _text_cell(text: str | None) -> str:
    """``text`` on one line, invisible characters escaped, after an apostrophe where a spreadsheet
    would take it for a formula.
    """
    line = visible(" ".join((text or "").split()))
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
