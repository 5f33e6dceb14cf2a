"""How the failure of a row is worded for a page, without a path of this machine."""

import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from generator.contracts import Checkpoint, Outcome
from generator.errors import NotReachedError, RefusedError

PART = r"/[^/\s'\":;,()]+"
# A path of two parts or more, without spaces.
ABSOLUTE = re.compile(rf"(?<![\w.:/~\\-])(?P<root>{PART})(?:{PART})*/(?P<name>{PART[1:]})")


def failed(checkpoint: Checkpoint, reason: str) -> Outcome:
    """The outcome of a row that could not be evaluated."""
    return Outcome(checkpoint, "failed", worded(reason, checkpoint))


def worded(reason: str, checkpoint: Checkpoint) -> str:
    """``reason`` without a path of this machine."""
    text = _within(reason, checkpoint)
    return ABSOLUTE.sub(lambda path: path["name"] if _is_there(path["root"]) else path[0], text)


def not_reached(checkpoint: Checkpoint, error: NotReachedError) -> Outcome:
    """The outcome of a row whose source does not answer."""
    return replace(failed(checkpoint, str(error)), status="not reached")


def unexpected(checkpoint: Checkpoint, error: Exception) -> Outcome:
    """The outcome of a row that ended with a fault of the program, or of a disk."""
    if isinstance(error, OSError) and error.filename:
        return failed(
            checkpoint,
            f"{_file(error, checkpoint)}: {error.strerror}; expected a file that can be read",
        )
    if isinstance(error, OSError) and error.strerror:  # As where a folder of /proc is read.
        return failed(checkpoint, f"{checkpoint.id}: {error.strerror}; expected readable files")
    return failed(checkpoint, f"unexpected {type(error).__name__}: {error}")


def without_pages(checkpoint: Checkpoint, error: Exception) -> Outcome:
    """The outcome of a row that was read, and whose numbers no page or figure can show."""
    name = "" if isinstance(error, RefusedError) else f"unexpected {type(error).__name__}: "
    return failed(checkpoint, f"its pages cannot be made: {name}{error}")


def _is_there(root: str) -> bool:
    with suppress(OSError):  # As for a name that no system takes.
        return Path(root).exists()
    return False


def _within(text: str, checkpoint: Checkpoint) -> str:
    """``text`` with the name of the checkpoint in place of the path of its folder."""
    place = Path(checkpoint.place)
    paths = {str(place), str(place.absolute()), os.path.realpath(place)} - {checkpoint.id}
    if not paths:
        return text
    either = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
    return re.sub(rf"(?<![\w./])(?:{either})(?![\w.])", lambda _: checkpoint.id, text)


def _file(error: OSError, checkpoint: Checkpoint) -> str:
    """The file of an error, within the checkpoint or by its name alone."""
    path = Path(_within(str(error.filename), checkpoint))
    return path.name if path.is_absolute() else path.as_posix()
