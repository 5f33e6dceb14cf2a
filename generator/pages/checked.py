"""The values that others give, beside ours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from generator.contracts import Analysis, Atlas, Encoding, Page, PageKind, Scheme
from generator.encodings import Form, PositionTable
from generator.published import Check, check


@dataclass(frozen=True)
class Group:
    """The cases of one extension; ``link`` is the path of its page."""

    title: str
    link: str
    checks: tuple[Check, ...]


def pages(atlas: Atlas) -> list[Page]:
    encodings = [reading.encoding for outcome in atlas.outcomes if outcome.status == "ok" for reading in outcome.readings]

    def table(sha256: str) -> Form | None:
        return next((one.form for one in encodings if one.provenance.sha256 == sha256 and _whole(one)), None)

    with threadpool_limits(1):  # As where checkpoints are studied: more threads would change the last digits.
        groups = [*_groups("analyses", atlas.analyses, table), *_groups("schemes", atlas.schemes, table)]
    every = [one for group in groups for one in group.checks]
    counts = {"all": len(every), "agree": sum(one.agrees for one in every), "absent": sum(one.ours is None for one in every)}
    return [Page("learn/checked-against.md", "checked.md.jinja", {"groups": groups, "counts": counts})]


def _groups(room: str, records: Sequence[Analysis] | Sequence[Scheme], table: Callable[[str], Form | None]) -> Iterator[Group]:
    """The cases of each record that has some. room: the folder of the records' pages"""
    for record in records:
        if record.published:
            yield Group(record.title, f"{room}/{record.key}.md", tuple(check(case, table) for case in record.published))


def _whole(encoding: Encoding[Form]) -> bool:
    """Whether it is a table of which every stored row is a position."""
    return isinstance(encoding.form, PositionTable) and encoding.form.vectors.shape == encoding.provenance.shape


PAGE = PageKind("checked", pages)
