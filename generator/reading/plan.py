"""The plan of a build: which checkpoints the rows of the list name, at which commits, and which of
their sources answer.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from generator.checkpoints import adapters, sources
from generator.checkpoints.files import weights
from generator.checkpoints.files.formats.unread import ADAPTER_CONFIG
from generator.contracts import Checkpoint, Files, Source, discovery
from generator.errors import NotReachedError, RowError

AT_ONCE = 64  # Rows whose source is asked at the same time: each answer is waited for.


@dataclass(frozen=True)
class Task:
    """The evaluation of one row, or one measure of its trained model.

    offline: whether its source is not to be contacted
    listed: the revision in the list, which may be a branch or a tag
    problem: why the checkpoints of its series could not be listed; None where they were, and for
        other rows
    measure: key of the analysis of the model, "" for the evaluation of the row
    """

    checkpoint: Checkpoint
    offline: bool
    problem: RowError | NotReachedError | None = None
    listed: str | None = None
    measure: str = ""


def all_sources() -> tuple[Source, ...]:
    """Every source of checkpoints, in order."""
    return discovery.load(sources, Source)


def source_of(checkpoint: Checkpoint) -> Source:
    """The source that opens a checkpoint."""
    return next(source for source in all_sources() if source.key == checkpoint.source)


def plan(checkpoints: Sequence[Checkpoint], offline: bool) -> list[Task]:
    """One task for each checkpoint, with its revision pinned; a row that names a series has
    several.

    Unless ``offline``, each source that occurs is contacted once first; without an answer it counts
    as offline.
    """
    used = {checkpoint.source for checkpoint in checkpoints}
    has_adapters = any(checkpoint.base for checkpoint in checkpoints)  # Of a base anywhere.
    by_key = {source.key: source for source in all_sources() if has_adapters or source.key in used}
    unreachable = {key for key, source in by_key.items() if offline or not _responds(source)}
    with ThreadPoolExecutor(AT_ONCE) as threads:
        listed = threads.map(
            lambda row: _members(by_key[row.source], row, row.source in unreachable), checkpoints
        )
        tasks = [
            Task(row, row.source in unreachable, problem, row.revision)
            for members, problem in listed
            for row in members
        ]
        pinned = threads.map(lambda task: _pinned(by_key[task.checkpoint.source], task), tasks)
        return [task for of_row in pinned for task in of_row]


def may_need_models(task: Task) -> bool:
    """Whether an evaluation probably needs torch and models of transformers, as seen without
    opening a file: not for a folder without weights, nor for a file of a training run.
    """
    place = Path(task.checkpoint.place)
    with suppress(OSError):  # Reported when the row is opened.
        if task.checkpoint.weights or not place.is_dir():
            return not source_of(task.checkpoint).has_runs
        return any(path.name.endswith(weights.suffixes()) for path in place.iterdir())
    return False


def _members(
    source: Source, row: Checkpoint, offline: bool
) -> tuple[Sequence[Checkpoint], RowError | NotReachedError | None]:
    """The checkpoints of a row, of an adapter its base where the row asks for it; the row itself,
    and why, where they cannot be listed.
    """
    try:
        if row.base:
            text = source.text(row, ADAPTER_CONFIG, offline)
            return (adapters.with_base(row, text, source, all_sources()),), None
        return source.members(row, offline), None
    except OSError as error:
        return (row,), RowError(f"{row.id}: {error.strerror}; expected folders that can be read")
    except (RowError, NotReachedError) as error:
        return (row,), error


def _pinned(source: Source, task: Task) -> Sequence[Task]:
    """A task at a fixed revision; of a checkpoint of several models, a task for each."""
    checkpoint = source.pin(task.checkpoint, task.offline)
    try:
        parts = (checkpoint,) if task.problem else source.parts(checkpoint, task.offline)
    except (RowError, NotReachedError) as error:
        return (replace(task, checkpoint=checkpoint, problem=error),)
    return tuple(replace(task, checkpoint=part) for part in parts)


def _responds(source: Source) -> bool:
    try:
        source.reach()
    except NotReachedError:
        return False
    return True


def opened(task: Task) -> Files:
    """The files of a task, from its source.

    errors: RowError, NotReachedError
    """
    return source_of(task.checkpoint).open(task.checkpoint, task.offline)
