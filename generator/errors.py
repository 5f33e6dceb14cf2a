"""Exceptions, one class for each outcome that a reader sees, and the limits that help names."""

import re

LONG_NUMBER = re.compile(r"Exceeds the limit \((\d+) digits\) for integer string conversion.*")
# Of a search for checkpoints in a folder.
MOST_DEPTH = 8  # levels below the folder that is looked through
MOST_FOLDERS = 5_000
MOST_OPENED = 500  # checkpoints and runs; of a run, the first and the last checkpoint
BOUNDS = f"{MOST_DEPTH} levels down, {MOST_FOLDERS:,} folders, {MOST_OPENED} checkpoints and runs"
MOST_LOST = 1 / 3  # of the former site's checkpoints: beyond that, a whole source is missing.


NO_PROCESS = (
    "no process could start; expected more memory, open files or processes (ulimit -a), or fewer"
    " processes at once (--jobs 1)"
)


class AtlasError(Exception):
    """Base class of errors that a user can act on.

    The message is one sentence: where, what was found, what was expected.
    """


class RefusedError(AtlasError):
    """Stops the build; the last site stays in place. problems: every reason, one line each"""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class RowError(AtlasError):
    """A checkpoint that cannot be read; the build goes on with the others."""


class NotNumbersError(RowError):
    """A tensor whose type cannot be read as numbers, of a checkpoint that can be read otherwise."""


class NotReachedError(AtlasError):
    """A checkpoint whose source could not be reached."""


class NotApplicableError(AtlasError):
    """An analysis that is not defined for a valid input; the message is the reason."""


def message(error: object) -> str:
    """What an exception says, on one line, without how a program would let Python read longer
    numbers.
    """
    return LONG_NUMBER.sub(r"a whole number of more than \1 digits", " ".join(str(error).split()))


def of_system(error: OSError) -> str:
    """What the system says of a file, or of what is written to one without a name."""
    return f"{error.filename or 'disk or output'}: {error.strerror or error}"
