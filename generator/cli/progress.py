"""Progress of a build: a bar on a terminal, a line per event elsewhere, JSON in a log, and a
summary.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from generator.checkpoints.files.named_paths import unwaited
from generator.cli.terminal import Terminal
from generator.errors import RefusedError
from generator.pipeline.jobs import Event, JobStage, Models
from generator.pipeline.worker import received
from generator.text import plural

MOST_NAMED = 3  # checkpoints in progress that the bar lists
STAGES = {
    "comparisons": "comparing checkpoints",
    "pages": "drawing comparisons, writing pages",
    "mkdocs": "building HTML",
}


@dataclass(frozen=True)
class Build:
    """The build that is reported. index: the first page of its site; jobs: processes at once"""

    index: Path
    jobs: int


class Reporter:
    """Shows every event of a build and writes it to the log."""

    def __init__(
        self, out: Terminal, n_rows: int, bar: Progress | None, log: TextIO | None, build: Build
    ) -> None:
        self.out, self.bar, self.log, self.build = out, bar, log, build
        self.started, self.received_before = monotonic(), received()
        self.counts: Counter[str] = Counter()
        self.in_progress: list[str] = []
        self.lacking: dict[str, str] = {}  # What is not in the site, and why.
        self.task = None if bar is None else bar.add_task("", total=n_rows)

    def expect(self, n_rows: int) -> None:
        """Count to ``n_rows``: a row that names a training run has become several."""
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, total=n_rows)

    def report(self, event: Event | JobStage | Models) -> None:
        """Show ``event``, and log it with its time."""
        fields = asdict(event)
        if isinstance(event, JobStage):
            self._log("stage", fields)
            self._stage(event)
            return
        if isinstance(event, Models):
            self._log("models", fields)
            self._models(event)
            return
        self._log(fields.pop("name"), fields)
        if event.name == "started":
            self.in_progress.append(_name(event))
        else:
            self._finished(event)
        if self.bar is not None and self.task is not None:
            more = len(self.in_progress) - MOST_NAMED
            names = ", ".join(self.in_progress[:MOST_NAMED]) + (
                f" and {more} more" if more > 0 else ""
            )
            completed = self.counts["measured" if event.measure else "finished"]
            self.bar.update(self.task, completed=completed, description=names)

    def close(self, counts: Mapping[str, int]) -> list[str]:
        """Log the summary: checkpoints by ending, seconds, bytes over the network; the same as the
        lines that end the build, after what is not in the site.
        """
        seconds = round(monotonic() - self.started, 3)
        n_bytes = self.counts["received"] + received() - self.received_before
        n_stored, unchanged = self.counts["stored"], not self.counts["finished"]
        by_status = {
            ("built" if status == "ok" else status): count for status, count in counts.items()
        }
        self._log(
            "summary",
            {
                **{status.replace(" ", "_"): count for status, count in by_status.items()},
                "stored": n_stored,
                "unchanged": unchanged,
                "seconds": seconds,
                "received": n_bytes,
            },
        )
        nothing_new = "nothing has changed since the last build"
        stored = nothing_new if unchanged else f"{n_stored} from the store"
        statuses = ", ".join(
            f"{count} {status}" for status, count in by_status.items() if count or status != "stale"
        )
        lacking = [f"{'missing':>11}  {name}: {why}" for name, why in self.lacking.items()]
        return [
            *lacking,
            f"{statuses}: {self.build.index} ({stored}, {decimal(n_bytes)} of files read over the"
            f" network, {seconds:.1f} s)",
        ]

    def _log(self, event: str, fields: Mapping[str, Any]) -> None:
        if self.log is not None:
            second = round(monotonic() - self.started, 3)
            self.log.write(json.dumps({"second": second, "event": event, **fields}) + "\n")
            self.log.flush()

    def _stage(self, stage: JobStage) -> None:
        if self.bar is not None and self.task is not None:
            self.bar.reset(
                self.task,
                total=len(STAGES),
                completed=[*STAGES].index(stage.name),
                description=STAGES[stage.name],
            )
        else:
            self.out.print(f"{'':>11}  {STAGES[stage.name]}")

    def _models(self, event: Models) -> None:
        """The site is there, without the measures of some models."""
        minutes = event.seconds / 60.0 / self.build.jobs
        takes = (
            "less than a minute" if minutes < 1.0 else f"about {plural(round(minutes), 'minute')}"
        )
        models = plural(event.n_models, "model")
        verb = "is" if event.n_models == 1 else "are"
        self.out.print(f"site: {self.build.index}; {models} {verb} still being measured, {takes}")
        if self.bar is not None and self.task is not None:
            self.bar.reset(self.task, total=event.n_measures)

    def _finished(self, event: Event) -> None:
        name = _name(event)
        if name in self.in_progress:
            self.in_progress.remove(name)
        if event.reason:
            self.lacking[event.slug] = event.reason
        counted = "measured" if event.measure else "finished"
        self.counts.update({counted: 1, "stored": int(event.stored), "received": event.received})
        if event.measure:
            text = event.reason or event.inapplicable or f"{event.seconds:.0f} s"
        else:
            text = _found(event) if event.status == "ok" else str(event.reason)
        self.out.print(f"{event.status:>11}  {name}: {text}")


def _name(event: Event) -> str:
    return f"{event.slug}, {event.measure}" if event.measure else event.slug


def _found(event: Event) -> str:
    """What a row that could be read has."""
    if event.encodings:
        found = plural(event.encodings, "encoding")
    elif event.unmeasured:
        found = plural(event.unmeasured, "scheme")
        whose = "its" if event.unmeasured == 1 else "their"
        found += f"; {whose} numbers are in weights that this entry does not have"
    else:
        found = "no encoding found"
    return found + ", from the store" * event.stored


@contextmanager
def reporting(out: Terminal, n_rows: int, log: Path | None, build: Build) -> Iterator[Reporter]:
    """A reporter of events, open until the block ends; it writes to ``log``.

    errors: RefusedError where ``log`` is a file of something else; OSError
    """
    with ExitStack() as stack:
        file = None if log is None else stack.enter_context(_opened(log))
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        bar = (
            stack.enter_context(Progress(*columns, console=out, transient=True))
            if out.is_terminal
            else None
        )
        yield Reporter(out, n_rows, bar, file, build)


def _opened(log: Path) -> TextIO:
    """The file of a log: a new one, that of an earlier log, a pipe or a device.

    errors: RefusedError for any other file; OSError
    """
    if log.is_file() and log.read_bytes()[:10] not in {b"", b'{"second":'}:
        raise RefusedError(
            f"--log {log}: found a file that is not a log; expected a new file, or an earlier log"
        )
    return open(log, "w", encoding="utf-8", opener=unwaited)
