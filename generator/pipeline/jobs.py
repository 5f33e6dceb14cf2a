"""The evaluation of all checkpoints of a build: from the store, or by an executor. Arrays stay on
disk.
"""

from collections.abc import Callable, Mapping, Set
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import Literal

from generator.contracts import Ending, Outcome
from generator.errors import NotReachedError, RefusedError
from generator.pipeline import evaluate, failures, worker
from generator.pipeline.executor import Executor
from generator.pipeline.keys import Keys
from generator.pipeline.plan import Task, runs_model
from generator.pipeline.result_store import ResultStore, unpack
from generator.pipeline.worker import Done

# How often the time and the memory of a row one takes that runs its model.
TIMES_OF_A_MODEL = 6
POLL_SECONDS = 0.2  # No executor tells that a row has started: it is looked for so often.


@dataclass(frozen=True)
class Event:
    """The start or the end of one row; fields below ``slug`` are those of its end.

    stored: whether its outcome was in the store; received: bytes over the network; stderr: what
        libraries wrote to stderr, for the log alone
    """

    name: Literal["started", "finished"]
    slug: str
    status: Ending | None = None
    reason: str | None = None
    encodings: int = 0
    stored: bool = False
    seconds: float = 0.0
    received: int = 0
    stderr: str = ""


@dataclass(frozen=True)
class Altered:
    """Files of the last build that others have changed, added or removed, relative to the output
    folder.
    """

    paths: tuple[str, ...]


@dataclass(frozen=True)
class JobStage:
    """A stage of the build after the last row: pages are made of all rows, and HTML of pages."""

    name: Literal["comparisons", "pages", "mkdocs"]


def unreached(tasks: Mapping[Task, str | None], store: ResultStore | None) -> dict[Task, Outcome]:
    """The outcomes of tasks whose source does not answer, and that neither ``store`` nor a cache
    has.
    """
    kept = {task for task, key in tasks.items() if store and key and store.has(key)}
    return {
        task: outcome
        for task in tasks
        if task not in kept and (outcome := evaluate.unreached(task))
    }


def left_out(
    tasks: Mapping[Task, str | None], only: Set[str], keys: Keys, store: ResultStore
) -> dict[Task, Outcome]:
    """What earlier builds read, marked as stale, of tasks that nobody asked for and whose present
    outcome ``store`` has not; none where ``only`` is empty.

    only: slugs of the rows, or of the training runs, that are asked for
    """
    reason = "left out of a build of " + ", ".join(sorted(only))
    return {
        task: _formerly(task, keys, store, reason)
        for task, key in tasks.items()
        if only and only.isdisjoint(slugs_of(task)) and not (key and store.has(key))
    }


def _formerly(task: Task, keys: Keys, store: ResultStore, reason: str) -> Outcome:
    """The last outcome of a task, whatever has changed since; "not reached" without one."""
    key = keys.last(task)
    found = store.get(key) if key else None
    if found is None:
        return failures.not_reached(task.checkpoint, NotReachedError(reason))
    return replace(_listed(found, task, key), stale=reason)


def slugs_of(task: Task) -> set[str]:
    """The slug of a row, and that of the training run that it belongs to."""
    series = task.checkpoint.series
    return {task.checkpoint.slug, *((series.slug,) if series else ())}


def stale_if_unreached(task: Task, outcome: Outcome, keys: Keys, store: ResultStore) -> Outcome:
    """What an earlier build read of a row, marked as stale, where ``outcome`` says that it was not
    reached; otherwise ``outcome``.
    """
    former = keys.former(task) if outcome.status == "not reached" else None
    key = keys.of(former) if former else None
    found = store.get(key) if key else None
    if former is None or found is None:
        return outcome
    return replace(_listed(found, former, key), stale=outcome.reason)


def ended(
    outcomes: Mapping[Task, Outcome], on_event: Callable[[Event], None]
) -> dict[Task, Outcome]:
    """The ``outcomes`` of tasks that need no evaluation, reported."""
    for outcome in outcomes.values():
        on_event(_finished(outcome, Done(None, 0.0, 0), stored=False))
    return dict(outcomes)


def stored(
    tasks: Mapping[Task, str | None], store: ResultStore, on_event: Callable[[Event], None]
) -> dict[Task, Outcome]:
    """The outcomes that are in ``store`` under the keys of their tasks."""
    outcomes = {
        task: _listed(outcome, task, key)
        for task, key in tasks.items()
        if key and (outcome := store.get(key)) is not None
    }
    for outcome in outcomes.values():
        on_event(_finished(outcome, Done(None, 0.0, 0), stored=True))
    return outcomes


def run(
    tasks: Mapping[Task, str | None],
    code: str,
    store: ResultStore,
    executor: Executor,
    on_event: Callable[[Event], None],
) -> dict[Task, Outcome]:
    """The outcomes of ``tasks``, each evaluated by ``executor`` and put into ``store`` under its
    key.

    code: digest of the program, for the keys
    errors: RefusedError where ``store`` does not keep what is written, or no worker is left;
        OSError
    """
    shared = store if executor.shares_disk else None
    longest_first = sorted(tasks, key=lambda task: not runs_model(task))
    futures = {
        executor.submit(
            worker.run_task,
            task,
            shared,
            tasks[task],
            code,
            times=_times(task),
        ): task
        for task in longest_first
    }
    outcomes: dict[Task, Outcome] = {}
    started: set[Task] = set()
    while futures:
        finished, _ = wait(futures, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        begun = {
            task for future, task in futures.items() if future in finished or future.running()
        } - started
        started |= begun
        # By slug, since sets have another order in every run.
        for task in sorted(begun, key=lambda task: task.checkpoint.slug):
            on_event(Event("started", task.checkpoint.slug))
        for future in sorted(finished, key=lambda future: futures[future].checkpoint.slug):
            task = futures.pop(future)
            done = _done(task, future, executor)
            failed = _store_unless_failed(task, done, store)
            outcomes[task] = failed or _read_back(task, done, store)
            on_event(_finished(outcomes[task], done, stored=False))
    return outcomes


def _times(task: Task) -> int:
    """How often the limits of a row are those of ``task``."""
    return TIMES_OF_A_MODEL if runs_model(task) else 1


def _done(task: Task, future: "Future[Done]", executor: Executor) -> Done:
    """How an evaluation ended, also where its process gave no result."""
    try:
        return future.result()
    # However a worker ends, it is the end of one row alone.
    except Exception as error:  # noqa: BLE001
        return Done(None, 0.0, 0, failure=executor.explain(error, _times(task)))


def _store_unless_failed(task: Task, done: Done, store: ResultStore) -> Outcome | None:
    """The outcome of a task that failed, which no store has; None for any other, which is put into
    ``store`` unless its worker has done so.

    errors: OSError
    """
    if done.failure is not None:
        return failures.failed(task.checkpoint, done.failure)
    if done.packed is None:
        return None
    outcome: Outcome = unpack(done.packed)
    if outcome.status != "ok":
        return outcome
    worker.keep(outcome, store, done.key, [done.packed])
    return None


def _read_back(task: Task, done: Done, store: ResultStore) -> Outcome:
    """The outcome of a task as ``store`` has it, so that its arrays take no memory.

    errors: RefusedError
    """
    written = store.get(worker.name_of(task.checkpoint, done.key))
    if written is None:
        raise RefusedError(
            f"{store.folder}: a result cannot be read back after writing; expected a disk that"
            " keeps it"
        )
    return _listed(written, task, done.key)


def _listed(outcome: Outcome, task: Task, key: str | None) -> Outcome:
    """The outcome with the row as the list has it now. A date that the store knows stays."""
    analyses = evaluate.all_analyses()
    readings = tuple(reading.deriving(analyses) for reading in outcome.readings)
    row, committed = task.checkpoint, outcome.checkpoint.committed
    row = row if row.committed is not None else replace(row, committed=committed)
    return replace(outcome, checkpoint=row, readings=readings, key=key or "")


def _finished(outcome: Outcome, done: Done, stored: bool) -> Event:
    slug, encodings = outcome.checkpoint.slug, len(outcome.readings)
    return Event(
        "finished",
        slug,
        outcome.ending,
        outcome.reason or outcome.stale,
        encodings,
        stored,
        done.seconds,
        done.received,
        done.stderr,
    )
