"""One checkpoint in a process of its own, for commands that build nothing."""

from collections.abc import Callable
from typing import TypeVar

from generator.errors import AtlasError, RowError
from generator.pipeline import plan, worker
from generator.pipeline.executor import Executor

T = TypeVar("T")


def limits(executor: Executor, function: Callable[[plan.Task], T], task: plan.Task) -> T:
    """The result of ``function``, which runs in a process of ``executor``, within the limits of a
    row of a build.

    errors: those of ``function``; RowError where it exceeds a limit, crashes, or fails unexpectedly
    """
    try:
        result: T = executor.submit(worker.quietly, function, task).result()
    except AtlasError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise RowError(f"{task.checkpoint.id}: {executor.explain(error)}") from None
    return result
