"""What a library raises for an invalid file, as the error of a row."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

from generator.errors import AtlasError, RowError

LONGEST = 200  # characters
TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")  # Colours and bold.


@contextmanager
def as_row_error(where: str, expected: str, problem: str = "it cannot be read") -> Iterator[None]:
    """A RowError in place of any exception but ours and those of disk and memory: "``where``:
    ``problem`` (cause); expected ``expected``". Warnings are not shown.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except (AtlasError, MemoryError):
        raise
    # For invalid files, libraries and what reads headers raise exceptions of any class.
    except Exception as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise RowError(f"{where}: {problem} ({_first_line(error)}); expected {expected}") from None


def _first_line(error: Exception) -> str:
    """The first line of a message, as far as ``LONGEST`` characters; the class of an error that is
    about a missing entry, whose message names only that.
    """
    message = repr(error) if isinstance(error, LookupError) else str(error)
    lines = filter(None, map(str.strip, TERMINAL_CODE.sub("", message).splitlines()))
    line = next(lines, type(error).__name__)
    return shorten(line, LONGEST, placeholder=" …").rstrip(".")
