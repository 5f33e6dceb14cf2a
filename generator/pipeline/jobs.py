"""A run over all checkpoints: which work is new, who does it, what came of it. Arrays stay on disk."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from generator.cache.fingerprint import of_parts
from generator.cache.lazy import LazyMapping, changed
from generator.contracts import Outcome, Reading, Status
from generator.errors import RefusedError
from generator.figures import output
from generator.pipeline.evaluate import Task, all_sources, failed
from generator.pipeline.result_store import Store, unpack
from generator.pipeline.worker import Done, Workers

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


def keys(tasks: Sequence[Task], code: str, digest: Callable[[Path], str]) -> list[str | None]:
    """For each task the digest of all that its outcome depends on; None where only opening the files would tell.

    Colours, notes, groups and dates are no part of it: they are put in afterwards; nor where files lie, which changes no byte of them.
    ``digest`` is asked for that of a file.
    """
    source_of = {source.key: source for source in all_sources()}
    states = [source_of[task.checkpoint.source].state(task.checkpoint, digest) for task in tasks]
    rows = [replace(task.checkpoint, place="", notes="", group="", committed=None) for task in tasks]
    return [None if known is None else of_parts((row, known, code)) for row, known in zip(rows, states, strict=True)]


def found(tasks: Mapping[Task, str | None], store: Store, tell: Callable[[Event], None]) -> dict[Task, Outcome]:
    """The outcome of every task of which one is ``store`` under its key. ``tell`` hears of each."""
    outcomes = {task: _placed(outcome, task, key) for task, key in tasks.items() if key and (outcome := store.get(key)) is not None}
    for outcome in outcomes.values():
        tell(_finished(outcome, Done(None, 0.0, 0), stored=True))
    return outcomes


def run(
    tasks: Mapping[Task, str | None],
    store: Store,
    workers: Callable[[int], AbstractContextManager[Workers]],
    tell: Callable[[Event], None],
    meanwhile: Callable[[], object] = lambda: None,
) -> dict[Task, Outcome]:
    """The outcome of every task, from a study of its own, ``store`` for later. ``tell`` hears of each.

    meanwhile: called once all are under way
    """
    if not tasks:
        return {}
    with workers(len(tasks)) as pool:
        futures = {pool.submit(replace(task, colour=PLACEHOLDER), store, _name(task, key)): task for task, key in tasks.items()}
        meanwhile()
        return _done(futures, tasks, pool, store, tell)


def _done(
    futures: "dict[Future[Done], Task]", tasks: Mapping[Task, str | None], pool: Workers, store: Store, tell: Callable[[Event], None]
) -> dict[Task, Outcome]:
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
            done, outcomes[task] = _result(task, tasks[task], future, pool, store)
            tell(_finished(outcomes[task], done, stored=False))
    return outcomes


def _result(task: Task, key: str | None, future: "Future[Done]", pool: Workers, store: Store) -> tuple[Done, Outcome]:
    """What came of a task; as read from disk, where its arrays take no memory. What has no key is kept under a name of its own, for nobody after this run."""
    try:
        done = future.result()
    except Exception as error:  # noqa: BLE001  # However a worker ends, it is the end of one row alone.
        return Done(None, 0.0, 0), failed(task, pool.reason(error))
    if done.packed is not None:
        outcome: Outcome = unpack(done.packed)
        if outcome.status != "ok":
            return done, outcome
        store.put(_name(task, key), [done.packed])
    again = store.get(_name(task, key))
    if again is None:
        raise RefusedError(f"{store.folder}: what was just written cannot be read; expected a disk that keeps it")
    return done, _placed(again, task, key)


def _name(task: Task, key: str | None) -> str:
    return key or f"{task.checkpoint.slug}.once"


def _placed(outcome: Outcome, task: Task, key: str | None) -> Outcome:
    """The outcome in its place in the list: with what the row says now, and in its colour. A date that was known stays known."""
    readings = tuple(
        changed(
            Reading,
            reading,
            label=replace(reading.label, colour=task.colour),
            drawings=LazyMapping({name: partial(_coloured, reading.drawings, name, task.colour) for name in reading.drawings}),
        )
        for reading in outcome.readings
    )
    row, known = task.checkpoint, outcome.checkpoint.committed
    row = row if row.committed is not None else replace(row, committed=known)
    return replace(outcome, checkpoint=row, readings=readings, key=key or "")


def _coloured(drawings: Mapping[str, bytes], name: str, colour: str) -> bytes:
    return output.recoloured(drawings[name], PLACEHOLDER, colour)


def _finished(outcome: Outcome, done: Done, stored: bool) -> Event:
    slug, encodings = outcome.checkpoint.slug, len(outcome.readings)
    return Event("finished", slug, outcome.status, outcome.reason, encodings, stored, done.seconds, done.received)
