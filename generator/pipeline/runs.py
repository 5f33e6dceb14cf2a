"""Training runs: the outcomes of their checkpoints, gathered as numbers by step."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import isfinite

from generator.contracts import (
    KERNEL_POSITIONS,
    Checkpoint,
    Outcome,
    Reading,
    Result,
    Run,
    RunEncoding,
    RunMember,
    RunMetric,
    RunUse,
    Scheme,
    names,
)
from generator.encodings import Form, NoEncoding
from generator.encodings.kernels import first_kernel
from generator.numerics.arrays import mean_by_distance

DISTANCES = 65  # of a kernel, from 0
DIGITS = 5  # significant, of every number
TEXTS = ("notes", "paper", "licence")  # of a row, which replace those of a file
Slot = Reading | None


def split(
    outcomes: Sequence[Outcome], schemes: Sequence[Scheme]
) -> tuple[tuple[Outcome, ...], tuple[Run, ...]]:
    """Outcomes of checkpoints that stand alone, and training runs: those of checkpoints, and those
    whose numbers a row names.
    """
    alone = tuple(
        outcome for outcome in outcomes if outcome.checkpoint.series is None and outcome.run is None
    )
    kept = [
        _of_file(outcome.run, outcome.checkpoint) for outcome in outcomes if outcome.run is not None
    ]
    telling = {scheme.key for scheme in schemes if scheme.tells_position}
    members = sorted((outcome for outcome in outcomes if outcome.checkpoint.series), key=_place)
    made = [
        _run(list(of_run), telling, schemes)
        for _, of_run in groupby(members, key=lambda outcome: _place(outcome)[0])
    ]
    return alone, tuple(sorted([*kept, *made], key=lambda run: run.slug))


def _place(outcome: Outcome) -> tuple[str, int]:
    """Slug of its run, and its step."""
    series = outcome.checkpoint.series
    return (series.slug, series.step) if series else ("", 0)


def _of_file(run: Run, row: Checkpoint) -> Run:
    """The run of a file, with the slug, title and texts of the row that names it, as far as the row
    has them.
    """
    texts = {name: text for name in TEXTS if (text := getattr(row, name))}
    return replace(
        run, slug=row.slug, title=run.title if row.title == row.id else row.title, **texts
    )


def _run(outcomes: Sequence[Outcome], telling: set[str], schemes: Sequence[Scheme]) -> Run:
    first, series = outcomes[0].checkpoint, outcomes[0].checkpoint.series
    if series is None:
        raise ValueError(f"{first.slug}: expected a checkpoint of a run")
    members = tuple(_member(outcome) for outcome in outcomes)
    by_key: dict[str, list[Slot]] = {}
    for index, outcome in enumerate(outcomes):
        for reading in outcome.readings:
            if reading.encoding.scheme in telling and reading.encoding.form != NoEncoding.__name__:
                by_key.setdefault(reading.encoding.key, [None] * len(outcomes))[index] = reading
    found = [next(slot for slot in slots if slot) for slots in by_key.values()]
    parts = names.parts([reading.encoding for reading in found], schemes)
    encodings = tuple(
        _encoding(reading, name, slots)
        for reading, name, slots in zip(found, parts, by_key.values(), strict=True)
    )
    place = first.id if first.revision else first.id.removesuffix(series.name).rstrip("/")
    return Run(
        series.slug,
        series.title,
        first.source,
        place,
        members,
        encodings,
        first.notes,
        first.paper,
        first.licence,
        tuple(_uses(outcomes)),
    )


def _uses(outcomes: Sequence[Outcome]) -> Iterator[RunUse]:
    """What each part of the model does at each step."""
    parts = dict.fromkeys(found.part for outcome in outcomes for found in outcome.use)
    for part in parts:
        by_step = [
            {found.key: found.result for found in outcome.use if found.part == part}
            for outcome in outcomes
        ]
        keys = dict.fromkeys(key for results in by_step for key in results)
        yield RunUse(
            part,
            tuple(
                metric
                for key in keys
                for metric in _metrics(key, [results.get(key) for results in by_step])
            ),
        )


def _member(outcome: Outcome) -> RunMember:
    series = outcome.checkpoint.series
    return RunMember(
        _place(outcome)[1], series.name if series else "", outcome.status, outcome.reason
    )


def _encoding(first: Reading, name: str, slots: Sequence[Slot]) -> RunEncoding:
    """first: that of the first member that has the encoding; slots: that of each member"""
    record, form = first.encoding, first.form.load()
    analyses = dict.fromkeys(key for slot in slots if slot for key in slot.results)
    metrics = tuple(
        metric
        for key in analyses
        for metric in _metrics(key, [slot.results[key] if slot else None for slot in slots])
    )
    kernel = tuple(_profile(slot.form.load()) if slot else () for slot in slots)
    return RunEncoding(
        record.key, name, record.part, record.scheme, record.form, form.quantity, metrics, kernel
    )


def _metrics(analysis: str, results: Sequence[Result | None]) -> list[RunMetric]:
    """The metrics of an analysis that any member has, in the order of the first member that has
    them.
    """
    named = {
        metric.key: metric for result in results if result for metric in reversed(result.metrics)
    }
    keys = dict.fromkeys(metric.key for result in results if result for metric in result.metrics)
    return [
        RunMetric(
            f"{analysis}.{key}",
            named[key].title,
            named[key].unit,
            tuple(_value(result, key) for result in results),
        )
        for key in keys
        if any(_value(result, key) is not None for result in results)
    ]


def _value(result: Result | None, key: str) -> float | None:
    found = (
        next((metric.value for metric in result.metrics if metric.key == key), None)
        if result
        else None
    )
    return None if found is None or not isfinite(found) else _short(found)


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _profile(form: Form) -> tuple[float | None, ...]:
    """Kernel by distance, mean over heads, both directions and all pairs: at most ``DISTANCES``
    values; None where none is defined.
    """
    kernel = first_kernel(form, KERNEL_POSITIONS)
    means = mean_by_distance(kernel.along(kernel.heads.mean(axis=0)))[:DISTANCES]
    return tuple(None if not isfinite(value) else _short(value) for value in means.tolist())
