"""What libraries write to stderr: warnings, and what those in other languages print before they
fail.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TypeVar

STDERR, MOST = 2, 2**20  # a file descriptor; bytes that are kept

T = TypeVar("T")


@dataclass
class Captured:
    """The text, of which at most ``MOST`` bytes, once its block has ended."""

    text: str = ""


@contextmanager
def captured() -> Iterator[Captured]:
    """Keep from the terminal what this process writes to stderr until the block ends; for processes
    that do one thing at a time.
    """
    stderr = Captured()
    if sys.stderr is None:  # It was closed before the program began.
        yield stderr
        return
    with (
        TemporaryFile() as file,
        open(
            file.fileno(), "w", encoding="utf-8", errors="backslashreplace", closefd=False
        ) as text,
    ):
        terminal = os.dup(STDERR)
        os.dup2(file.fileno(), STDERR)
        try:
            with redirect_stderr(text):
                yield stderr
        finally:
            os.dup2(terminal, STDERR)
            os.close(terminal)
            text.flush()
            file.seek(0)
            stderr.text = file.read(MOST).decode(errors="replace")


def quietly(function: Callable[..., T], *arguments: object) -> T:
    """The result of ``function``, while nobody sees what libraries write to stderr."""
    with captured():
        return function(*arguments)
