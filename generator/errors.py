"""Exceptions, one class for each outcome that a reader sees."""


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


class NotReachedError(AtlasError):
    """A checkpoint whose source could not be reached."""


class NotApplicableError(AtlasError):
    """An analysis that is not defined for a valid input; the message is the reason."""
