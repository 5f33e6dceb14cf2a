"""Rows of the list that are said to be copies: whether each encodes position as its original
does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.checkpoints import sources
from generator.contracts import Atlas, Copy, Outcome, Page, PageContext, PageKind, Source, discovery
from generator.site.pictures import badges


@dataclass(frozen=True)
class CopyRow:
    """A copy on the page. original: its title, or its id on the Hub; home: address of that"""

    outcome: Outcome
    copy: Copy
    original: str
    home: str
    badge: str


@dataclass(frozen=True)
class CopiesContext(PageContext, template="copies.md.jinja"):
    """All copies of the list."""

    rows: Sequence[CopyRow]


def pages(atlas: Atlas) -> list[Page]:
    """The page of all copies, where there are some."""
    outcomes = {outcome.checkpoint.slug: outcome for outcome in atlas.outcomes}
    rows = [
        CopyRow(outcome, copy, *_original(copy, outcomes), badges.path(outcome))
        for outcome in atlas.outcomes
        if (copy := outcome.copy)
    ]
    return [Page("copies.md", CopiesContext(rows))] if rows else []


def _original(copy: Copy, outcomes: dict[str, Outcome]) -> tuple[str, str]:
    if copy.is_listed:
        title = outcomes[copy.original].checkpoint.title if copy.original in outcomes else ""
        return title or copy.original, ""
    hub = next(source for source in discovery.load(sources, Source) if not source.is_path)
    name, _, revision = copy.original.partition("@")
    return copy.original, hub.address(name, revision or None) or ""


PAGE = PageKind("copies", pages, ("copies.md",))
