"""What ``lint`` finds, in a process that reads checkpoints: the one that asks imports no rule."""

from generator.contracts import Linted
from generator.reading.plan import Task


def linted(task: Task, reader: str) -> Linted:
    """As ``reading.lint.linted``.

    errors: RowError, NotReachedError
    """
    from generator.reading import lint

    return lint.linted(task, reader)
