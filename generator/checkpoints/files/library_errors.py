"""What a library raises for an invalid file, as the error of a row."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

from generator.errors import AtlasError, RowError

LONGEST = 200  # characters
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")  # Colours and bold.


def _first_sentences(error: Exception) -> str:
    """The first sentence of a message, and those after it in the same line that fit; a single one
    that is too long ends with “…”.
    """
    message = TERMINAL_CODE.sub("", str(error))
    line = next(filter(None, map(str.strip, message.splitlines())), type(error).__name__)
    first, *others = SENTENCE_END.split(line)
    text = shorten(first, LONGEST, placeholder=" …") if len(first) > LONGEST else first
    for other in others:
        if len(text) + len(other) >= LONGEST:
            break
        text = f"{text} {other}"
    return text.rstrip(".")


@contextmanager
def as_row_error(where: str, problem: str, expected: str) -> Iterator[None]:
    """A RowError in place of any exception but ours: "``where``: ``problem`` (cause); expected
    ``expected``".
    """
    try:
        yield
    except AtlasError:
        raise
    # For invalid files, libraries raise exceptions of any class.
    except Exception as error:  # noqa: BLE001
        raise RowError(
            f"{where}: {problem} ({_first_sentences(error)}); expected {expected}"
        ) from None
