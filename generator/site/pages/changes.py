"""What changed from one release to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind, Release
from generator.site.history import sentences
from generator.site.history.releases import steps

MOST_LINES = 400  # of the page; what is beyond is in the records of the releases
MOST_VALUES = 40  # below one cause


@dataclass(frozen=True)
class ShownCause:
    """A cause. values: the first of those that changed with it; n_more: those that are not shown"""

    line: str
    values: tuple[str, ...]
    n_more: int


@dataclass(frozen=True)
class ReleaseChanges:
    """A release on the page. causes: in words, each with the values that changed with it; n_more:
    causes that are not shown
    """

    release: Release
    causes: tuple[ShownCause, ...]
    n_more: int


@dataclass(frozen=True)
class ChangesContext(PageContext, template="changes.md.jinja"):
    """entries: the last release first"""

    entries: Sequence[ReleaseChanges]


def pages(atlas: Atlas) -> list[Page]:
    """The page, with MOST_LINES in all."""
    entries, left = [], MOST_LINES
    for step in steps(atlas.releases):
        shown = []
        for cause in step.causes:
            if left:
                values = tuple(map(sentences.value_line, cause.follows[: min(left, MOST_VALUES)]))
                n_more = len(cause.follows) - len(values)
                shown.append(ShownCause(sentences.line(cause), values, n_more))
                left = max(left - 1 - len(values), 0)
        entries.append(ReleaseChanges(step.release, tuple(shown), len(step.causes) - len(shown)))
    return [Page("changes.md", ChangesContext(entries))]


PAGE = PageKind("changes", pages, ("changes.md",))
