"""The values that others give, beside ours."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from threadpoolctl import threadpool_limits

from generator.contracts import Analysis, Atlas, Maker, Page, PageKind, Published, Reading, Scheme
from generator.contracts.published import Check, check
from generator.encodings import Form, PositionTable

STORED, GIVEN = (f"{__name__} {kind}" for kind in ("stored", "given"))  # what a case is asked of


@dataclass(frozen=True)
class Group:
    """The cases of one extension; ``link`` is the path of its page."""

    title: str
    link: str
    checks: tuple[Check, ...]


def pages(atlas: Atlas) -> list[Page]:
    readings = [reading for outcome in atlas.outcomes for reading in outcome.readings]

    def table(sha256: str) -> Form | None:
        return next(
            (reading.form.load() for reading in readings if reading.encoding.provenance.sha256 == sha256 and _is_whole(reading)), None
        )

    cases = [case for records in (atlas.analyses, atlas.schemes) for record in records for case in record.published]
    stored, given = [case for case in cases if case.given is None], [case for case in cases if case.given is not None]
    tables = {sha256: form for sha256 in sorted({case.sha256 or "" for case in stored}) if (form := table(sha256))}
    ask = partial(_values, stored, tables)
    made = (
        (stored, atlas.submit(f"{STORED} {[*tables]}", ask) if tables else ask),
        (given, atlas.submit(GIVEN, partial(_values, given, {}))),
    )
    return [Page("learn/checked-against.md", "checked.md.jinja", {"found": partial(_found, atlas, made)})]


def _found(atlas: Atlas, made: Iterable[tuple[Sequence[Published], Maker]]) -> tuple[list[Group], dict[str, int]]:
    """All cases by what they belong to, and how many there are, agree, and could not be asked."""
    ours = {id(case): found for cases, make in made for case, found in zip(cases, json.loads(make()), strict=True)}
    groups = [*_groups("analyses", atlas.analyses, ours), *_groups("schemes", atlas.schemes, ours)]
    every = [one for group in groups for one in group.checks]
    return groups, {"all": len(every), "agree": sum(one.agrees for one in every), "absent": sum(one.ours is None for one in every)}


def _values(cases: Sequence[Published], tables: Mapping[str, Form]) -> bytes:
    """Our values of each case, as JSON."""
    with threadpool_limits(1):  # As where checkpoints are studied: more threads would change the last digits.
        return json.dumps([check(case, tables.get).ours for case in cases]).encode()


def _groups(room: str, records: Sequence[Analysis] | Sequence[Scheme], ours: Mapping[int, list[float] | None]) -> Iterator[Group]:
    """The cases of each record that has some. room: the folder of the records' pages"""
    for record in records:
        if record.published:
            answers = [(case, ours[id(case)]) for case in record.published]
            checks = (Check(case, None if found is None else tuple(found)) for case, found in answers)
            yield Group(record.title, f"{room}/{record.key}.md", tuple(checks))


def _is_whole(reading: Reading) -> bool:
    """Whether it is a table of which every stored row is a position."""
    form = reading.form.load()
    return isinstance(form, PositionTable) and form.vectors.shape == reading.encoding.provenance.shape


PAGE = PageKind("checked", pages)
