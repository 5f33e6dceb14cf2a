"""What a command asks of a checkpoint that it names: its commit, and what a process of its own
finds.
"""

from collections.abc import Callable
from typing import TypeVar

from generator.checkpoints.hub import revisions
from generator.contracts import Checkpoint
from generator.errors import AtlasError, RefusedError
from generator.pipeline.executor import Executor, result_of
from generator.pipeline.stderr import quietly
from generator.reading import plan
from generator.reading.named import checkpoint_at, hub_errors, is_path

__all__ = ["checkpoint_at", "commit_of", "hub_errors", "is_path", "within_limits"]

T = TypeVar("T")


def commit_of(checkpoint: Checkpoint) -> str:
    """The commit of a repository's revision.

    errors: RefusedError when it is no repository, or the Hub does not answer
    """
    [task] = plan.plan([checkpoint], offline=False)
    commit = task.checkpoint.revision or ""
    if revisions.COMMIT.fullmatch(commit):
        return commit
    try:
        plan.opened(task)
    except AtlasError as error:
        raise RefusedError(str(error)) from None
    raise RefusedError(f"{checkpoint.id}: found no commit; expected a repository of the Hub")


def within_limits(executor: Executor, function: Callable[..., T], *tasks: plan.Task) -> T:
    """The result of ``function``, within the limits of a row of a build.

    errors: as of ``result_of``, with the names of the checkpoints
    """
    where = f"{' and '.join(task.checkpoint.id for task in tasks)}: "
    result: T = result_of(executor, quietly, function, *tasks, where=where)
    return result
