"""A run over all checkpoints: which work is new, who does it, what came of it. Arrays stay on disk."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Literal, Protocol

from threadpoolctl import threadpool_limits

from generator.contracts import Maker, Outcome, Reading, Status
from generator.errors import RowError
from generator.fingerprint import of_parts
from generator.lazily import Lazily, changed
from generator.store import Store, pack, unpack
from generator.study import Task, all_sources, failed, study

POLL_SECONDS = 0.2
PLACEHOLDER = "#6f706e"  # Drawn in this, whatever place a checkpoint has in the list; no figure uses it for anything else.


@dataclass(frozen=True)
class Event:
    """Something that happened to one row; what is below ``slug`` is known when it has finished.

    stored: whether finished work was found; received: bytes over the network
    """

    name: Literal["started", "finished"]
    slug: str
    status: Status | None = None
    reason: str | None = None
    encodings: int = 0
    stored: bool = False
    seconds: float = 0.0
    received: int = 0


@dataclass(frozen=True)
class Stage:
    """What begins once every row has finished: pages are made of them, and HTML of pages."""

    name: Literal["comparisons", "pages", "mkdocs"]


@dataclass(frozen=True)
class Done:
    """What a worker sends back: a packed outcome, and what it took."""

    packed: bytes
    seconds: float
    received: int


class Workers(Protocol):
    """Whoever does the work: processes on this machine or on others."""

    def submit(self, task: Task) -> "Future[Done]":
        """Do ``attempt`` of a task sometime."""

    def reason(self, error: BaseException) -> str:
        """What an error says of the worker that it comes from."""


class Makers(Protocol):
    """Whoever draws what compares: processes on this machine, which reads results from its own disk."""

    def make(self, maker: Maker) -> "Future[bytes]":
        """Do ``made`` of it sometime."""

    def reason(self, error: BaseException) -> str:
        """As that of workers."""


@dataclass(frozen=True)
class Crews:
    """Those who study so many checkpoints, and those who draw what compares them; they start when they are called for."""

    studying: Callable[[int], AbstractContextManager[Workers]]
    drawing: Callable[[], AbstractContextManager[Makers]]


def received() -> int:
    """Bytes that came to this process over the network."""
    return sum(source.received() for source in all_sources())


def attempt(task: Task) -> Done:
    """The study of one task, by whichever process this is.

    errors: MemoryError
    """
    begun, before = monotonic(), received()
    packed = pack(study(task))
    return Done(packed, monotonic() - begun, received() - before)


def made(make: Maker) -> bytes:
    """What ``make`` returns, by whichever process this is."""
    with threadpool_limits(1):  # More threads would change the last digits, and with them the bytes.
        return make()


def keys(tasks: Sequence[Task], code: str, digest: Callable[[Path], str]) -> list[str | None]:
    """For each task the digest of all that its outcome depends on; None where only opening the files would tell.

    Colours, notes and groups are no part of it: they are put in afterwards. ``digest`` is asked for that of a file.
    """
    source_of = {source.key: source for source in all_sources()}
    states = [source_of[task.checkpoint.source].state(task.checkpoint, digest) for task in tasks]
    rows = [replace(task.checkpoint, notes="", group="") for task in tasks]
    return [None if known is None else of_parts((row, known, code)) for row, known in zip(rows, states, strict=True)]


def run(
    tasks: Mapping[Task, str | None],
    kept: Store,
    workers: Callable[[int], AbstractContextManager[Workers]],
    tell: Callable[[Event], None],
    fresh: bool = False,
) -> tuple[Outcome, ...]:
    """The outcome of every task, in their order: what is ``kept`` under its key is not done again, unless ``fresh``. ``tell`` hears of each."""
    known = {task: key for task, key in tasks.items() if key and not fresh}
    found = {task: _placed(outcome, task, key) for task, key in known.items() if (outcome := kept.get(key)) is not None}
    for outcome in found.values():
        tell(_finished(outcome, Done(b"", 0.0, 0), stored=True))
    new = [task for task in tasks if task not in found]
    if new:
        with workers(len(new)) as crew:
            found |= _done(new, tasks, crew, kept, tell)
    return tuple(found[task] for task in tasks)


def _done(
    new: Sequence[Task], tasks: Mapping[Task, str | None], crew: Workers, kept: Store, tell: Callable[[Event], None]
) -> dict[Task, Outcome]:
    futures = {crew.submit(replace(task, colour=PLACEHOLDER)): task for task in new}
    outcomes: dict[Task, Outcome] = {}
    started: set[Task] = set()
    while futures:
        finished, _ = wait(futures, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        begun = {task for future, task in futures.items() if future in finished or future.running()} - started
        started |= begun
        for task in sorted(begun, key=lambda task: task.checkpoint.slug):
            tell(Event("started", task.checkpoint.slug))
        for future in sorted(finished, key=lambda future: futures[future].checkpoint.slug):
            task = futures.pop(future)
            done, outcome = _result(task, future, crew)
            outcomes[task] = _keep(outcome, task, tasks[task], done, kept)
            tell(_finished(outcome, done, stored=False))
    return outcomes


def _result(task: Task, future: "Future[Done]", crew: Workers) -> tuple[Done, Outcome]:
    try:
        done = future.result()
    except Exception as error:  # noqa: BLE001  # However a worker ends, it is the end of one row alone.
        return Done(b"", 0.0, 0), failed(task, crew.reason(error))
    outcome: Outcome = unpack(done.packed)
    return done, outcome


def _keep(outcome: Outcome, task: Task, key: str | None, done: Done, kept: Store) -> Outcome:
    """The outcome as read from disk, where its arrays take no memory; without a key it is kept for this run alone."""
    if outcome.status != "ok":
        return outcome
    name = key or f"{outcome.checkpoint.slug}.once"
    kept.put(name, done.packed)
    again = kept.get(name)
    if again is None:
        raise RowError(f"{kept.folder}: what was just written cannot be read; expected a disk that keeps it")
    return _placed(again, task, key)


def _placed(outcome: Outcome, task: Task, key: str | None) -> Outcome:
    """The outcome in its place in the list: with what the row says now, and in its colour."""
    readings = tuple(
        changed(
            Reading,
            reading,
            label=replace(reading.label, colour=task.colour),
            drawings=Lazily({name: partial(_coloured, reading.drawings, name, task.colour) for name in reading.drawings}),
        )
        for reading in outcome.readings
    )
    return replace(outcome, checkpoint=task.checkpoint, readings=readings, key=key or "")


def _coloured(drawings: Mapping[str, bytes], name: str, colour: str) -> bytes:
    return drawings[name].replace(PLACEHOLDER.encode(), colour.encode())


def _finished(outcome: Outcome, done: Done, stored: bool) -> Event:
    slug, encodings = outcome.checkpoint.slug, len(outcome.readings)
    return Event("finished", slug, outcome.status, outcome.reason, encodings, stored, done.seconds, done.received)
