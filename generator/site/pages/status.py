"""The status of every row of the list, those that could not be read first. Training runs, whose
checkpoints have no pages, are in a table of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Outcome, Page, PageContext, PageKind, Run
from generator.site.runs.findings import reasons

MOST_RUNS, MOST_REASONS = 20, 2  # training runs, and reasons of each


@dataclass(frozen=True)
class StatusContext(PageContext, template="status.md.jinja"):
    """runs: some, made of checkpoints of the list or from a file, each with the reasons why some
    were not read, after the steps of these; total_runs: how many there are
    """

    outcomes: Sequence[Outcome]
    runs: Sequence[tuple[Run, Sequence[tuple[str, str]]]]
    total_runs: int


def pages(atlas: Atlas) -> list[Page]:
    """The page of the status."""
    # Those with checkpoints that were not read come first.
    runs = sorted(atlas.runs, key=lambda run: not run.unread)[:MOST_RUNS]
    with_reasons = [(run, reasons(run)[:MOST_REASONS]) for run in runs]
    return [Page("status.md", StatusContext(atlas.outcomes, with_reasons, len(atlas.runs)))]


PAGE = PageKind("status", pages, ("status.md",))
