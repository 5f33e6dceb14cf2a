"""The page that compares published values with those of this build."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from threadpoolctl import threadpool_limits

from generator.cache import precomputed
from generator.contracts import (
    Analysis,
    Atlas,
    Maker,
    Oracle,
    Page,
    PageContext,
    PageKind,
    Reading,
    Scheme,
)
from generator.contracts.oracles import Check, check
from generator.encodings import Form, PositionTable

# names of artifacts, by the origin of a case's form
STORED, GIVEN = "published-of-stored", "published-of-rules"


@dataclass(frozen=True)
class Checked:
    """A check of an extension. title, link: of its page"""

    title: str
    link: str
    check: Check


@dataclass(frozen=True)
class CheckedContext(PageContext, template="checked.md.jinja"):
    """checked: returns every check, in the order of the extensions"""

    checked: Callable[[], list[Checked]]


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

    stored = [case for *_, case in _cases(atlas.analyses, atlas.schemes) if case.given is None]
    tables = {
        sha256: form
        for sha256 in sorted({case.sha256 or "" for case in stored})
        if (form := table(sha256))
    }
    compute = partial(values, stored, tables)
    makers = (
        (stored, atlas.submit(f"{STORED} {[*tables]}", compute) if tables else compute),
        _of_rules(atlas),
    )
    context = CheckedContext(partial(_results, atlas, makers))
    return [Page("learn/checked-against.md", context)]


def _cases(
    analyses: Sequence[Analysis], schemes: Sequence[Scheme]
) -> Iterator[tuple[str, str, Oracle]]:
    """Title and page of each extension with published values, and one of these."""
    for folder, records in (("analyses", analyses), ("schemes", schemes)):
        for record in records:
            for case in record.oracles:
                yield record.title, f"{folder}/{record.key}.md", case


def _results(atlas: Atlas, makers: Iterable[tuple[Sequence[Oracle], Maker]]) -> list[Checked]:
    """Every check, in the order of the extensions."""
    computed = {
        id(case): values and tuple(values)
        for cases, make in makers
        for case, values in zip(cases, json.loads(make()), strict=True)
    }
    return [
        Checked(title, link, Check(case, computed[id(case)]))
        for title, link, case in _cases(atlas.analyses, atlas.schemes)
    ]


def _of_rules(atlas: Atlas) -> tuple[Sequence[Oracle], Maker]:
    """The cases whose form is given by a rule, with what returns their values: the shipped ones, if
    those of all extensions of this atlas are shipped.
    """
    given = given_cases(atlas.analyses, atlas.schemes)
    shipped = json.loads(precomputed.shipped(precomputed.PUBLISHED) or "{}")
    cases = [*given.values()]
    if given.keys() <= shipped.keys():
        return cases, lambda: json.dumps([shipped[name] for name in given]).encode()
    return cases, atlas.submit(f"{GIVEN} {[*given]}", partial(values, cases))


def values(cases: Sequence[Oracle], tables: Mapping[str, Form] = MappingProxyType({})) -> bytes:
    """Computed values of each case, as JSON. tables: stored tables by digest"""
    # As in the evaluation of checkpoints: more threads would change the last digits.
    with threadpool_limits(1):
        return json.dumps([check(case, tables.get).computed for case in cases]).encode()


def given_cases(analyses: Sequence[Analysis], schemes: Sequence[Scheme]) -> dict[str, Oracle]:
    """The cases whose form is given by a rule, so that no table is needed, by the page of their
    extension and their number among its cases.
    """
    pages = dict[str, int]()
    found = {}
    for _, page, case in _cases(analyses, schemes):
        pages[page] = pages.get(page, 0) + 1
        if case.given is not None:
            found[f"{page} {pages[page]}"] = case
    return found


def _is_whole(reading: Reading) -> bool:
    """Whether the form is a table with a position for every row of the stored tensor."""
    form = reading.form.load()
    return isinstance(form, PositionTable) and form.shape == reading.encoding.provenance.shape


PAGE = PageKind("checked", pages, ("learn/checked-against.md",))
