"""The published config that a guest has of a checkpoint which is not reached."""

from generator.contracts import Checkpoint, Files, discovery
from generator.errors import NotReachedError
from generator.reading.plan import Task, opened, source_of


def config_of(checkpoint: Checkpoint) -> tuple[Files, str] | None:
    """The config that a guest has of a checkpoint, and where it is from; None where none has, and
    for a path, whose name says nothing.
    """
    if source_of(checkpoint).is_path:
        return None
    found = (guest.config(checkpoint) for guest in discovery.guests())
    return next((one for one in found if one is not None), None)


def opened_or_shipped(task: Task) -> tuple[Files, str]:
    """The files of a task, and ""; where it is not reached its published config, and where that is
    from.

    errors: RowError, NotReachedError
    """
    try:
        return opened(task), ""
    except NotReachedError:
        if (known := config_of(task.checkpoint)) is None:
            raise
        return known
