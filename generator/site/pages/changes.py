"""What changed from one release to the next."""

from dataclasses import dataclass, replace

from generator.contracts import Atlas, Page, PageKind, Release, untyped
from generator.site.history import words
from generator.site.history.releases import steps

MOST_LINES = 200  # of the page; what is beyond is in the records of the releases


@dataclass(frozen=True)
class ReleaseChanges:
    """A release on the page. lines: its changes in words; n_more: those that are not shown"""

    release: Release
    lines: tuple[str, ...]
    n_more: int = 0


def pages(atlas: Atlas) -> list[Page]:
    """The page, the last release first."""
    entries, left = [], MOST_LINES
    for step in steps(atlas.releases):
        entry = ReleaseChanges(step.release, tuple(words.line(change) for change in step.changes))
        entries.append(
            replace(entry, lines=entry.lines[:left], n_more=max(len(entry.lines) - left, 0))
        )
        left = max(left - len(entry.lines), 0)
    return [Page("changes.md", untyped("changes.md.jinja", {"entries": entries}))]


PAGE = PageKind("changes", pages)
