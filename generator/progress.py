"""What a build says while it runs: bars on a terminal, a line an event elsewhere, JSON for machines, and a summary."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from io import TextIOBase
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from generator.errors import RefusedError
from generator.runs import Event

MOST_NAMED = 3  # checkpoints under way that the bar names


class Teller:
    """Hears of every event and passes it on to whoever looks."""

    def __init__(self, out: Console, n_rows: int, bar: Progress | None, log: TextIOBase | None) -> None:
        self.out, self.bar, self.log, self.begun = out, bar, log, monotonic()
        self.counts: Counter[str] = Counter()
        self.under_way: list[str] = []
        self.task = None if bar is None else bar.add_task("", total=n_rows)

    def tell(self, event: Event) -> None:
        if self.log is not None:
            self.log.write(json.dumps({"second": round(monotonic() - self.begun, 3), **asdict(event)}) + "\n")
            self.log.flush()
        if event.name == "started":
            self.under_way.append(event.slug)
        else:
            self._finished(event)
        if self.bar is not None and self.task is not None:
            more = len(self.under_way) - MOST_NAMED
            names = ", ".join(self.under_way[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
            self.bar.update(self.task, completed=self.counts["finished"], description=names)

    def summary(self, counts: Mapping[str, int], place: Path) -> str:
        """One line: how many have each status, where the site is, and what it took."""
        statuses = ", ".join(f"{count} {'built' if status == 'ok' else status}" for status, count in counts.items())
        stored = f"{self.counts['stored']} from the store" if self.counts["finished"] else "nothing has changed since the last build"
        return f"{statuses}: {place} ({stored}, {decimal(self.counts['received'])} read over the network, {monotonic() - self.begun:.1f} s)"

    def _finished(self, event: Event) -> None:
        if event.slug in self.under_way:
            self.under_way.remove(event.slug)
        self.counts.update({"finished": 1, "stored": int(event.stored), "received": event.received})
        found = f"{event.encodings} encoding{'' if event.encodings == 1 else 's'}{', from the store' if event.stored else ''}"
        self.out.print(f"{event.status:>11}  {event.slug}: {found if event.status == 'ok' else event.reason}", markup=False)


@contextmanager
def telling(out: Console, n_rows: int, log: Path | None) -> Iterator[Teller]:
    """Someone to tell events to, until the block ends.

    errors: RefusedError when the log cannot be written
    """
    with ExitStack() as stack:
        try:
            file = None if log is None else stack.enter_context(log.open("w", encoding="utf-8"))
        except OSError as error:
            raise RefusedError(f"{log}: {error.strerror}; expected a file that can be written") from None
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
        bar = stack.enter_context(Progress(*columns, console=out, transient=True)) if out.is_terminal else None
        yield Teller(out, n_rows, bar, file)
