"""The evaluation of all checkpoints of a build: from the store, or by an executor. Arrays stay on
disk.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from generator.contracts import Checkpoint, Ending, Outcome
from generator.errors import NotReachedError, RefusedError
from generator.pipeline import evaluate, failures, worker
from generator.pipeline.executor import Executor
from generator.pipeline.packing import unpack
from generator.pipeline.store import Store, StoredOutcome
from generator.pipeline.worker import Done
from generator.reading.plan import Task

Begun: TypeAlias = "Mapping[Future[Done], Task]"
# How often the time and the memory of a row a measure of its model may take.
TIMES_OF_A_MODEL = 6
POLL_SECONDS = 0.2  # No executor tells that a row has started: it is looked for so often.


@dataclass(frozen=True)
class Event:
    """The start or the end of one row, or of one measure of its model; fields below ``measure`` are
    those of its end.

    measure: its key, "" for the row; reason: why it is not ok, or finds nothing
    inapplicable: why an ok measure has no value of any part of the model
    unmeasured: encodings whose numbers are in weights that were not read; stored: whether its
        outcome was in the store; received: bytes over the network; stderr: what libraries wrote to
        stderr, for the log alone
    """

    name: Literal["started", "finished"]
    slug: str
    measure: str = ""
    status: Ending | None = None
    reason: str | None = None
    inapplicable: str = ""
    encodings: int = 0
    unmeasured: int = 0
    stored: bool = False
    seconds: float = 0.0
    received: int = 0
    stderr: str = ""


@dataclass(frozen=True)
class Models:
    """The models whose measures begin, when a site without these is there. seconds: an estimate"""

    n_models: int
    n_measures: int
    seconds: float


@dataclass(frozen=True)
class JobStage:
    """A stage of the build after the last row: pages are made of all rows, and HTML of pages."""

    name: Literal["comparisons", "pages", "mkdocs"]


def without_evaluation(
    keys: Mapping[Task, str | None], only: Set[str], store: Store, fresh: bool
) -> dict[Task, Outcome]:
    """The outcomes of tasks that have no stored one and need no evaluation: those whose source does
    not answer and has nothing cached, and those that nobody asked for. They show what earlier
    builds read, unless all is to be ``fresh``.

    keys: of stored outcomes, None without one
    only: slugs of the rows, or of the training runs, that are asked for; none for all
    """
    outcomes = {}
    for task in (task for task, key in keys.items() if key is None):
        if only and only.isdisjoint(slugs_of(task)):
            reason = "left out of a build of " + ", ".join(sorted(only))
            record = store.record(task)
            outcomes[task] = _stale(task, record, reason, store) or failures.not_reached(
                task.checkpoint, NotReachedError(reason)
            )
        elif outcome := evaluate.unreached(task):
            outcomes[task] = outcome if fresh else stale_if_unreached(task, outcome, store)
    return outcomes


def stale_if_unreached(task: Task, outcome: Outcome, store: Store) -> Outcome:
    """What an earlier build read of a branch or a tag, marked as stale, where ``outcome`` says that
    the row was not reached; otherwise ``outcome``.
    """
    record = store.record(task) if outcome.status == "not reached" else None
    is_former = (
        record is not None
        and (record.listed, record.code) == (task.listed, store.code)
        and record.revision != task.listed
    )
    found = _stale(task, record, outcome.reason or "", store) if is_former else None
    return found or outcome


def _stale(task: Task, record: StoredOutcome | None, reason: str, store: Store) -> Outcome | None:
    """The outcome of ``record``; None where the store has it no longer."""
    found = store.get(record.key) if record else None
    if record is None or found is None:
        return None
    row = replace(task.checkpoint, revision=record.revision, committed=record.committed)
    return replace(_as_listed(found, row), stale=reason)


def slugs_of(task: Task) -> set[str]:
    """The slug of a row, and that of the training run that it belongs to."""
    series = task.checkpoint.series
    return {task.checkpoint.slug, *((series.slug,) if series else ())}


def ended(
    outcomes: Mapping[Task, Outcome], on_event: Callable[[Event], None]
) -> dict[Task, Outcome]:
    """The ``outcomes`` of tasks that need no evaluation, reported."""
    for task, outcome in outcomes.items():
        on_event(_finished(task, outcome, Done()))
    return dict(outcomes)


def ended_late(task: Task, outcome: Outcome, stderr: str) -> Event:
    """That a row has failed of which no page can be made. stderr: for the log"""
    return _finished(task, outcome, Done(stderr=stderr))


def stored(
    keys: Mapping[Task, str | None], store: Store, on_event: Callable[[Event], None]
) -> dict[Task, Outcome]:
    """The outcomes that are in ``store`` under the keys of their tasks."""
    outcomes = {
        task: _as_listed(outcome, task.checkpoint)
        for task, key in keys.items()
        if key and (outcome := store.get(key)) is not None
    }
    for task, outcome in outcomes.items():
        if not task.measure:
            on_event(_finished(task, outcome, Done(), stored=True))
    return outcomes


def run(
    tasks: Sequence[Task], store: Store, executor: Executor, on_event: Callable[[Event], None]
) -> dict[Task, Outcome]:
    """``collect`` of ``start``."""
    return collect(start(tasks, store, executor), store, executor, on_event)


def start(tasks: Sequence[Task], store: Store, executor: Executor) -> Begun:
    """Have ``executor`` evaluate ``tasks``, in this order, each within its limits."""
    shared = store if executor.shares_disk else None
    return {
        executor.submit(worker.run_task, task, shared, times=_times(task)): task for task in tasks
    }


def collect(
    begun: Begun,
    store: Store,
    executor: Executor,
    on_event: Callable[[Event], None],
) -> dict[Task, Outcome]:
    """The outcomes of tasks that ``start`` has begun, put into ``store``.

    errors: RefusedError where ``store`` does not keep what is written, or no worker is left;
        OSError
    """
    futures = dict(begun)
    outcomes: dict[Task, Outcome] = {}
    started: set[Task] = set()
    while futures:
        finished, _ = wait(futures, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        now = {
            task for future, task in futures.items() if future in finished or future.running()
        } - started
        started |= now
        # By slug, since sets have another order in every run.
        for task in sorted(now, key=_name):
            on_event(Event("started", *_name(task)))
        for future in sorted(finished, key=lambda future: _name(futures[future])):
            task = futures.pop(future)
            done = _done(task, future, executor)
            outcomes[task] = _outcome(task, done, store)
            on_event(_finished(task, outcomes[task], done))
    return outcomes


def _name(task: Task) -> tuple[str, str]:
    return task.checkpoint.slug, task.measure


def _times(task: Task) -> int:
    """How often the limits of a row are those of ``task``."""
    return TIMES_OF_A_MODEL if task.measure else 1


def _done(task: Task, future: "Future[Done]", executor: Executor) -> Done:
    """How an evaluation ended, also where its process gave no result."""
    try:
        return future.result()
    # However a worker ends, it is the end of one row alone.
    except Exception as error:  # noqa: BLE001
        return Done(failure=executor.explain(error, _times(task)))


def _outcome(task: Task, done: Done, store: Store) -> Outcome:
    """The outcome of a task as ``store`` has it, so that its arrays take no memory; a failure as it
    is.

    errors: RefusedError, OSError
    """
    if done.failure is not None:
        return failures.failed(task.checkpoint, done.failure)
    key = done.key
    if done.packed is not None:
        outcome: Outcome = unpack(done.packed)
        if outcome.status != "ok":
            return outcome
        key = store.put(task, outcome)
    written = store.get(key or "")
    if written is None:
        raise RefusedError(
            f"{store.folder}: a result cannot be read back after writing; expected a disk that"
            " has it, and a program that does not change during a build"
        )
    return _as_listed(written, task.checkpoint)


def _as_listed(outcome: Outcome, row: Checkpoint) -> Outcome:
    """The outcome with the row as the list has it now. A date that the store knows stays."""
    analyses = evaluate.all_analyses()
    readings = tuple(reading.deriving(analyses) for reading in outcome.readings)
    if row.committed is None:
        row = replace(row, committed=outcome.checkpoint.committed)
    return replace(outcome, checkpoint=row, readings=readings)


def _finished(task: Task, outcome: Outcome, done: Done, stored: bool = False) -> Event:
    reasons = [use.result.reason for use in outcome.use]
    return Event(
        "finished",
        *_name(task),
        outcome.ending,
        outcome.reason or outcome.stale or outcome.no_use or None,
        (reasons[0] or "") if reasons and all(reasons) else "",
        len(outcome.run.encodings if outcome.run else outcome.readings),
        len({encoding.scheme for encoding in outcome.unmeasured}),
        stored,
        done.seconds,
        done.received,
        done.stderr,
    )
