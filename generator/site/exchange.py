"""Two folders that take each other's place in one step, and what is written reaching the disk
before: Linux can both.
"""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # As in fcntl.h and stdio.h; see renameat2(2).


def exchange(first: Path, second: Path) -> bool:
    """Let two folders of one file system take each other's place; False where the system cannot,
    and nothing has changed.
    """
    rename = _function("renameat2")
    return (
        rename is not None
        and rename(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE)
        == 0
    )


def flush(folder: Path) -> None:
    """Have all that was written to the file system of ``folder`` reach its disk, where the system
    can.
    """
    sync = _function("syncfs")
    if sync is not None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            sync(descriptor)
        finally:
            os.close(descriptor)


@cache
def _function(name: str) -> Callable[..., int] | None:
    """A function of the C library of this process; None where it has none of this name."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # Windows.
        return None
