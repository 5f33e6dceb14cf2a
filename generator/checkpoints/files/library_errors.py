"""What a library raises for an invalid file, as the error of a row."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from generator.errors import AtlasError, RowError


@contextmanager
def as_row_error(where: str, problem: str, expected: str) -> Iterator[None]:
    """A RowError in place of any exception but ours: "``where``: ``problem`` (cause); expected ``expected``"."""
    try:
        yield
    except AtlasError:
        raise
    except Exception as error:  # noqa: BLE001  # For invalid files, libraries raise exceptions of any class.
        cause = str(error).splitlines()[0][:120] if str(error).strip() else type(error).__name__
        raise RowError(f"{where}: {problem} ({cause}); expected {expected}") from None


def optional(name: str, where: str) -> ModuleType:
    """The module of a library that only some formats need.

    errors: RowError where it is not installed
    """
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise RowError(f"{where}: it needs {name}, which is not installed; expected `pip install .[formats]`") from None
