"""Checkpoints without numbers: the nearest rows of the atlas that have some, and the numbers of an
earlier release.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log
from typing import Any

from generator.contracts import (
    Atlas,
    EncodingRecord,
    Outcome,
    Reading,
    Release,
    Run,
    Scheme,
)
from generator.contracts.wording import Wording
from generator.site.history import releases
from generator.site.history.changes import Document
from generator.site.rankings.columns import columns_of
from generator.text import measured, with_unit

Kinship = tuple[bool, bool, bool, float]
WORDING = Wording("wording/site.jinja")
# Facts by which checkpoints are compared.
VOCABULARY, WIDTH = "Vocabulary", "Hidden size"
MOST_FORMER = 12  # values of an earlier release


@dataclass(frozen=True)
class Relative:
    """The nearest checkpoint with numbers of ``scheme``.

    part: whose positions are of the same kind, "" where all of ``scheme`` are; shared: what it has
        in common, as phrases; finding: the first sentence of the weightiest of ``reading``, ""
        without any
    """

    scheme: Scheme
    part: str
    outcome: Outcome
    reading: Reading
    shared: tuple[str, ...]
    finding: str


@dataclass(frozen=True)
class FormerNumbers:
    """Values that the last release had in which a checkpoint was read.

    values: name of the encoding, of the measure, and value with its unit
    """

    release: Release
    revision: str | None
    values: tuple[tuple[str, str, str], ...]


def nearest(atlas: Atlas, outcome: Outcome, scheme: Scheme) -> Relative | None:
    """The checkpoint nearest to ``outcome`` of those whose numbers of ``scheme`` were read, for
    positions of the same kind, of words where it has both; None without one.

    Nearest is the same family, then the same vocabulary size, the same part, and the width.
    """
    records = [record for record in outcome.unmeasured if record.scheme == scheme.key]
    record = min(records, key=lambda record: record.modality == "image")
    candidates = [
        (other, reading)
        for other, reading in atlas.encodings
        if reading.encoding.scheme == record.scheme
        and reading.encoding.modality == record.modality
        and reading.alts  # One that has nothing to draw has nothing to show.
    ]
    if not candidates:
        return None
    other, reading = max(candidates, key=lambda pair: _kinship(outcome, record, *pair))
    return Relative(
        scheme,
        "" if len({record.modality for record in records}) == 1 else record.part,
        other,
        reading,
        tuple(_shared(outcome, other)),
        _finding(reading),
    )


def _finding(reading: Reading) -> str:
    findings = [found for result in reading.results.values() for found in result.findings]
    if not findings:
        return ""
    first, end, _ = max(findings, key=lambda finding: finding.weight).text.partition(". ")
    return f"{first}." if end else first


def trainings(atlas: Atlas, outcome: Outcome) -> tuple[Run, ...]:
    """The training runs that have an encoding of the same scheme in a part of the same name."""
    places = {(record.scheme, record.part) for record in outcome.unmeasured}
    return tuple(
        run
        for run in atlas.runs
        if any((encoding.scheme, encoding.part) in places for encoding in run.encodings)
    )


def _kinship(outcome: Outcome, record: EncodingRecord, other: Outcome, reading: Reading) -> Kinship:
    mine, others = _facts(outcome), _facts(other)
    return (
        outcome.family == other.family,
        _is_same(mine, others, VOCABULARY),
        record.part == reading.encoding.part,
        _nearness(mine.get(WIDTH), others.get(WIDTH)),
    )


def _nearness(width: object, other: object) -> float:
    """The higher, the nearer are two widths, of which either may be unknown."""
    if isinstance(width, int) and isinstance(other, int):
        return -abs(log(width / other))
    return -inf


def _shared(outcome: Outcome, other: Outcome) -> Iterator[str]:
    if outcome.family == other.family:
        yield WORDING("same_family", family=other.family)
    if _is_same(_facts(outcome), _facts(other), VOCABULARY):
        yield WORDING("same_vocabulary", size=_facts(other)[VOCABULARY])


def _facts(outcome: Outcome) -> Mapping[str, Any]:
    return {fact.name: fact.value for fact in outcome.facts}


def _is_same(mine: Mapping[str, Any], others: Mapping[str, Any], name: str) -> bool:
    return name in mine and mine[name] == others.get(name)


def former_numbers(atlas: Atlas, outcome: Outcome) -> FormerNumbers | None:
    """The headline metrics of a checkpoint that has none now, as the last release had them in which
    it was read; None where none was.
    """
    found = releases.last_read(atlas.releases, outcome.checkpoint.slug)
    if found is None or outcome.readings:
        return None
    release, record = found
    values = tuple(_values(atlas, record["encodings"]))[:MOST_FORMER]
    return FormerNumbers(release, record["revision"], values) if values else None


def _values(atlas: Atlas, encodings: Sequence[Document]) -> Iterator[tuple[str, str, str]]:
    for encoding in encodings:
        for column in columns_of(atlas):
            metric = encoding["metrics"].get(f"{column.analysis.key}.{column.headline.metric}")
            if metric and metric["value"] is not None and isfinite(metric["value"]):
                text = measured(metric["value"], metric["unit"])
                yield encoding["name"], column.meaning, with_unit(text, metric["unit"])
