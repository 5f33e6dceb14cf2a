"""The status of every row of the list, those that could not be read first. Training runs, whose
checkpoints have no pages, are in a table of their own.
"""

from dataclasses import dataclass

from generator.contracts import Atlas, Ending, Outcome, Page, PageKind, Run, untyped
from generator.site.runs.findings import reasons
from generator.text import short

ORDER: tuple[Ending, ...] = ("failed", "not reached", "stale", "ok")
# characters of an id, a revision or a reason, which the page of the checkpoint has whole
LONGEST = 300
MOST_RUNS, MOST_REASONS = 20, 2  # training runs, and reasons of each


@dataclass(frozen=True)
class StatusRow:
    """A row of the list. revision, reason: "" where there is none"""

    outcome: Outcome
    id: str
    revision: str
    reason: str

    @classmethod
    def of(cls, outcome: Outcome) -> "StatusRow":
        """The row of ``outcome``, with long texts shortened.

        Reasons of a repository begin with its id and revision, which stand beside it.
        """
        row = outcome.checkpoint
        revision = outcome.revision or row.revision or ""
        reason = (outcome.reason or outcome.stale or "").removeprefix(f"{row.id}@{revision}: ")
        return cls(outcome, *(short(text, LONGEST) for text in (row.id, revision, reason)))


@dataclass(frozen=True)
class RunRow:
    """A training run, made of checkpoints of the list or from a file.

    reasons: why checkpoints were not read, each with their steps
    """

    run: Run
    id: str
    reasons: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, run: Run) -> "RunRow":
        """The row of ``run``, with long texts shortened."""
        told = ((steps, short(reason, LONGEST)) for steps, reason in reasons(run)[:MOST_REASONS])
        return cls(run, short(run.id, LONGEST), tuple(told))


def pages(atlas: Atlas) -> list[Page]:
    """The page of the status."""
    rows = {
        ending: [StatusRow.of(outcome) for outcome in atlas.outcomes if outcome.ending == ending]
        for ending in ORDER
    }
    without_numbers = sum(
        outcome.ending == "ok" and bool(outcome.unmeasured) and not outcome.readings
        for outcome in atlas.outcomes
    )
    context = {
        "groups": rows,
        "without_numbers": without_numbers,
        "total": len(atlas.outcomes),
        # Those with checkpoints that were not read come first.
        "runs": [
            RunRow.of(run) for run in sorted(atlas.runs, key=lambda run: not run.unread)[:MOST_RUNS]
        ],
        "total_runs": len(atlas.runs),
    }
    return [Page("status.md", untyped("status.md.jinja", context))]


PAGE = PageKind("status", pages)
