"""The page that compares published values with those of this build."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from threadpoolctl import threadpool_limits

from generator.contracts import Analysis, Atlas, Maker, Oracle, Page, PageKind, Reading, Scheme
from generator.contracts.oracles import Check, check
from generator.encodings import Form, PositionTable

# names of artifacts, by the origin of a case's form
STORED, GIVEN = "published-of-stored", "published"


@dataclass(frozen=True)
class CheckedGroup:
    """Checks of one extension with values of one kind. link: path of its page"""

    title: str
    link: str
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Kind:
    """Groups whose values are all in print, or all computed again by other code."""

    in_print: bool
    groups: tuple[CheckedGroup, ...]


def pages(atlas: Atlas) -> list[Page]:
    """The page of published values beside ours."""
    readings = [reading for outcome in atlas.outcomes for reading in outcome.readings]

    def table(sha256: str) -> Form | None:
        return next(
            (
                reading.form.load()
                for reading in readings
                if reading.encoding.provenance.sha256 == sha256 and _is_whole(reading)
            ),
            None,
        )

    cases = [
        case
        for records in (atlas.analyses, atlas.schemes)
        for record in records
        for case in record.oracles
    ]
    stored, given = (
        [case for case in cases if case.given is None],
        given_cases(atlas.analyses, atlas.schemes),
    )
    tables = {
        sha256: form
        for sha256 in sorted({case.sha256 or "" for case in stored})
        if (form := table(sha256))
    }
    compute = partial(values, stored, tables)
    makers = (
        (stored, atlas.submit(f"{STORED} {[*tables]}", compute) if tables else compute),
        (given, atlas.submit(GIVEN, partial(values, given))),
    )
    return [
        Page(
            "learn/checked-against.md",
            "checked.md.jinja",
            {"results": partial(_results, atlas, makers)},
        )
    ]


def _results(
    atlas: Atlas, makers: Iterable[tuple[Sequence[Oracle], Maker]]
) -> tuple[list[Kind], dict[str, int]]:
    """Checks by kind and extension, those in print first, and the number of all checks, of those
    that agree, and of those whose table this build does not have.
    """
    computed = {
        id(case): values
        for cases, make in makers
        for case, values in zip(cases, json.loads(make()), strict=True)
    }
    groups = [
        *_groups("analyses", atlas.analyses, computed),
        *_groups("schemes", atlas.schemes, computed),
    ]
    kinds = [
        Kind(in_print, tuple(_of_kind(groups, in_print=in_print))) for in_print in (True, False)
    ]
    checks = [check for group in groups for check in group.checks]
    counts = {
        "all": len(checks),
        "agree": sum(check.agrees for check in checks),
        "absent": sum(check.computed is None for check in checks),
    }
    return kinds, counts


def values(cases: Sequence[Oracle], tables: Mapping[str, Form] = MappingProxyType({})) -> bytes:
    """Computed values of each case, as JSON. tables: stored tables by digest"""
    # As in the evaluation of checkpoints: more threads would change the last digits.
    with threadpool_limits(1):
        return json.dumps([check(case, tables.get).computed for case in cases]).encode()


def given_cases(analyses: Sequence[Analysis], schemes: Sequence[Scheme]) -> list[Oracle]:
    """The cases whose form is given by a rule, so that no table is needed."""
    return [
        case
        for records in (analyses, schemes)
        for record in records
        for case in record.oracles
        if case.given is not None
    ]


def _groups(
    folder: str,
    records: Sequence[Analysis] | Sequence[Scheme],
    computed: Mapping[int, list[float] | None],
) -> Iterator[CheckedGroup]:
    """Group of each record with published values.

    folder: of the records' pages; computed: values by ``id`` of the case
    """
    for record in records:
        if record.oracles:
            pairs = [(case, computed[id(case)]) for case in record.oracles]
            checks = (
                Check(case, None if values is None else tuple(values)) for case, values in pairs
            )
            yield CheckedGroup(record.title, f"{folder}/{record.key}.md", tuple(checks))


def _of_kind(groups: Iterable[CheckedGroup], *, in_print: bool) -> Iterator[CheckedGroup]:
    """Groups of the checks of one kind."""
    for group in groups:
        if checks := tuple(check for check in group.checks if check.is_in_print == in_print):
            yield replace(group, checks=checks)


def _is_whole(reading: Reading) -> bool:
    """Whether the form is a table with a position for every row of the stored tensor."""
    form = reading.form.load()
    return isinstance(form, PositionTable) and form.shape == reading.encoding.provenance.shape


PAGE = PageKind("checked", pages)
