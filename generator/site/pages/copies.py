"""Rows of the list that are said to be copies: whether each encodes position as its original
does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.checkpoints import sources
from generator.contracts import Atlas, Copy, Outcome, Page, PageContext, PageKind, Source, discovery
from generator.contracts.checkpoints import EncodingRecord
from generator.contracts.wording import Wording
from generator.encodings import Rotation
from generator.site.pictures import badges

WORDING = Wording("wording/copies.jinja")


@dataclass(frozen=True)
class CopyRow:
    """A copy on the page. follows: what does for who would exchange the two, "" where they were not
    compared; original: its title, or its id on the Hub; home: address of that
    files: of the copy, from which its encodings were read; is_turned_gguf: whether it is a GGUF
        file with a rotation
    """

    outcome: Outcome
    copy: Copy
    follows: str
    original: str
    home: str
    badge: str
    files: Sequence[str]
    is_turned_gguf: bool


@dataclass(frozen=True)
class CopiesContext(PageContext, template="copies.md.jinja"):
    """All copies of the list."""

    rows: Sequence[CopyRow]


def pages(atlas: Atlas) -> list[Page]:
    """The page of all copies, where there are some."""
    outcomes = {outcome.checkpoint.slug: outcome for outcome in atlas.outcomes}
    rows = [
        CopyRow(
            outcome,
            copy,
            _follows(copy),
            *_original(copy, outcomes),
            badges.path(outcome),
            _files(outcome),
            _is_turned_gguf(outcome),
        )
        for outcome in atlas.outcomes
        if (copy := outcome.copy)
    ]
    return [Page("copies.md", CopiesContext(rows))] if rows else []


def _is_turned_gguf(outcome: Outcome) -> bool:
    return any(
        record.form == Rotation.__name__ and record.provenance.file.endswith(".gguf")
        for record in _records(outcome)
    )


def _files(outcome: Outcome) -> list[str]:
    return list(dict.fromkeys(record.provenance.file for record in _records(outcome)))


def _records(outcome: Outcome) -> list[EncodingRecord]:
    return [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]


def _follows(copy: Copy) -> str:
    found = copy.comparison
    if found is None:
        return ""
    kinds = dict.fromkeys(difference.kind for difference in found.differences)
    at = {
        kind: [one.at for one in found.differences if one.kind == kind and one.at] for kind in kinds
    }
    return WORDING(
        "follows",
        verdict=found.verdict,
        kinds=[*kinds],
        context=min(at.get("context", ()), default=None),
        half_turn=min(at.get("rotation", ()), default=None),
        not_compared=badges.not_compared(found),
        is_open=bool(found.untold),
        by_record=bool(copy.reason),
    )


def _original(copy: Copy, outcomes: dict[str, Outcome]) -> tuple[str, str]:
    if copy.is_listed:
        title = outcomes[copy.original].checkpoint.title if copy.original in outcomes else ""
        return title or copy.original, ""
    hub = next(source for source in discovery.load(sources, Source) if not source.is_path)
    name, _, revision = copy.original.partition("@")
    return copy.original, hub.address(name, revision or None) or ""


PAGE = PageKind("copies", pages, ("copies.md",))
