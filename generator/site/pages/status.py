"""The status of every row of the list, those that could not be read first; a long list continues on
further pages. Training runs, whose checkpoints have no pages, are in a table of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, groupby

from generator.contracts import Atlas, Ending, Outcome, Page, PageKind, Run
from generator.site.runs.findings import reasons
from generator.text import short, visible

ORDER: tuple[Ending, ...] = ("failed", "not reached", "stale", "ok")
# characters of an id, a revision or a reason, which the page of the checkpoint has whole
LONGEST = 300
ROW_BYTES = 150  # of a row, without its texts
MOST_BYTES = 30_000  # of the rows of one page
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

    @property
    def n_bytes(self) -> int:
        """Estimated size on the page."""
        checkpoint = self.outcome.checkpoint
        texts = (checkpoint.slug, checkpoint.title, self.id, self.revision, self.reason)
        return ROW_BYTES + sum(len(escape(visible(text)).encode()) for text in texts)


@dataclass(frozen=True)
class StatusGroup:
    """Rows of one ending on a page. total: of all pages"""

    ending: Ending
    total: int
    rows: tuple[StatusRow, ...]


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
    """The pages of the status, the first with the number of rows of each."""
    rows = [
        StatusRow.of(outcome)
        for ending in ORDER
        for outcome in atlas.outcomes
        if outcome.ending == ending
    ]
    counts = {
        ending: sum(outcome.ending == ending for outcome in atlas.outcomes) for ending in ORDER
    }
    without_numbers = sum(
        outcome.ending == "ok" and bool(outcome.unmeasured) and not outcome.readings
        for outcome in atlas.outcomes
    )
    batches = _batches(rows)
    numbers = range(1, len(batches) + 1)
    context = {
        "counts": counts,
        "without_numbers": without_numbers,
        "total": len(rows),
        "numbers": numbers,
        # Those with checkpoints that were not read come first.
        "runs": [
            RunRow.of(run) for run in sorted(atlas.runs, key=lambda run: not run.unread)[:MOST_RUNS]
        ],
        "total_runs": len(atlas.runs),
    }
    return [
        Page(
            "status.md" if number == 1 else f"status/{number}.md",
            "status.md.jinja",
            {**context, "number": number, "groups": list(_groups(batch, counts))},
        )
        for number, batch in zip(numbers, batches, strict=True)
    ]


def _batches(rows: Sequence[StatusRow]) -> list[list[StatusRow]]:
    """Rows of each page, about ``MOST_BYTES``."""
    last_bytes = accumulate(row.n_bytes for row in rows)
    batches = groupby(zip(last_bytes, rows, strict=True), key=lambda pair: pair[0] // MOST_BYTES)
    return [[row for _, row in pairs] for _, pairs in batches] or [[]]


def _groups(rows: Sequence[StatusRow], counts: dict[Ending, int]) -> Iterator[StatusGroup]:
    for ending, members in groupby(rows, key=lambda row: row.outcome.ending):
        yield StatusGroup(ending, counts[ending], tuple(members))


PAGE = PageKind("status", pages)
