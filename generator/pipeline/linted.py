"""What ``lint`` finds, in a process that reads checkpoints: the one that asks imports no rule."""

from generator.contracts import Linted
from generator.reading.plan import Task


def linted(task: Task, reader: str) -> Linted:
    """As ``reading.lint.linted``, on one thread: more would wait for each other longer than the
    small products of matrices take.

    errors: RowError, NotReachedError
    """
    from threadpoolctl import threadpool_limits

    from generator.reading import lint

    with threadpool_limits(1):
        return lint.linted(task, reader)
