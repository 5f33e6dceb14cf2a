"""What a library raises for an invalid file, as the error of a row."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

from generator.errors import AtlasError, RowError, message

LONGEST = 200  # characters
TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")  # Colours and bold.
# What Python says of code, not of a file.
OF_CODE = (LookupError, TypeError, AttributeError, RecursionError)


@contextmanager
def as_row_error(where: str, expected: str, problem: str = "it cannot be read") -> Iterator[None]:
    """A RowError in place of any exception but ours and those of disk and memory: "``where``:
    ``problem`` (cause); expected ``expected``", without a cause that is about code. Warnings are
    not shown.
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
        raise RowError(f"{where}: {problem}{_cause(error)}; expected {expected}") from None


def _cause(error: Exception) -> str:
    """The first line of a message in parentheses, as far as ``LONGEST`` characters; "" without
    one.
    """
    text = "" if isinstance(error, OF_CODE) else TERMINAL_CODE.sub("", str(error))
    line = message(next(filter(None, map(str.strip, text.splitlines())), ""))
    return f" ({shorten(line, LONGEST, placeholder=' …').rstrip('.')})" if line else ""
