"""What can go wrong, one class for each outcome that a reader sees."""


class AtlasError(Exception):
    """A problem that its reader can act on. The message is one sentence: where, what was found, what was expected."""


class RefusedError(AtlasError):
    """The run ends, and the former site stands. ``problems`` holds every reason found, one line each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class RowError(AtlasError):
    """This checkpoint cannot be read; all others can."""


class NotReachedError(AtlasError):
    """The place where this checkpoint lies could not be asked."""


class NotApplicableError(AtlasError):
    """Valid input for which this analysis has no answer; the message is the reason."""
