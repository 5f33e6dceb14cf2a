"""The values that others give, beside ours."""

from dataclasses import dataclass

from generator.contracts import Atlas, Encoding, Page, PageKind
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

    rooms = (("analyses", atlas.analyses), ("schemes", atlas.schemes))
    groups = [
        Group(record.title, f"{room}/{record.key}.md", tuple(check(case, table) for case in record.published))
        for room, records in rooms
        for record in records
        if record.published
    ]
    every = [one for group in groups for one in group.checks]
    counts = {"all": len(every), "agree": sum(one.agrees for one in every), "absent": sum(one.ours is None for one in every)}
    return [Page("learn/checked-against.md", "checked.md.jinja", {"groups": groups, "counts": counts})]


def _whole(encoding: Encoding[Form]) -> bool:
    """Whether it is a table of which every stored row is a position."""
    return isinstance(encoding.form, PositionTable) and encoding.form.vectors.shape == encoding.provenance.shape


PAGE = PageKind("checked", pages)
