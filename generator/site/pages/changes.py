"""What changed from one release to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind, Release
from generator.site.history import sentences
from generator.site.history.releases import steps

MOST_LINES = 200  # of the page; what is beyond is in the records of the releases


@dataclass(frozen=True)
class ReleaseChanges:
    """A release on the page. lines: its changes in words; n_more: those that are not shown"""

    release: Release
    lines: tuple[str, ...]
    n_more: int


@dataclass(frozen=True)
class ChangesContext(PageContext, template="changes.md.jinja"):
    """entries: the last release first"""

    entries: Sequence[ReleaseChanges]


def pages(atlas: Atlas) -> list[Page]:
    """The page, with MOST_LINES in all."""
    entries, left = [], MOST_LINES
    for step in steps(atlas.releases):
        lines = tuple(sentences.line(change) for change in step.changes)
        entries.append(ReleaseChanges(step.release, lines[:left], max(len(lines) - left, 0)))
        left = max(left - len(lines), 0)
    return [Page("changes.md", ChangesContext(entries))]


PAGE = PageKind("changes", pages, ("changes.md",))
