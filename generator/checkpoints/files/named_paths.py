"""Files that a user names, and the most that is read of a text."""

import os
from contextlib import suppress
from pathlib import Path

MOST_TEXT_BYTES = 64 * 2**20  # The largest tokenizer.json in use is about 35 MB.


def expanded(path: str) -> Path:
    """A path with a leading ~ or ~user expanded; unchanged without such a home."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def beginning(path: Path, most: int = MOST_TEXT_BYTES) -> bytes:
    """All of a file that a user names, or ``most`` bytes and one more. errors: OSError"""
    with open(path, "rb", opener=unwaited) as stream:
        return stream.read(most + 1)


def unwaited(path: str, flags: int) -> int:
    """Opens a file for ``open``: a pipe that no other program has opened is not waited for.

    errors: OSError
    """
    at_once = getattr(os, "O_NONBLOCK", 0)  # Windows has no such pipes.
    number = os.open(path, flags | at_once, 0o666)
    if at_once:
        os.set_blocking(number, True)
    return number
