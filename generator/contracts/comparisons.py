"""Whether two checkpoints encode position identically."""

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["equal", "equal as far as both files tell", "different", "cannot be compared"]


@dataclass(frozen=True)
class Difference:
    """A difference.

    kind: of the sentence; part: of the model
    at: of a context the shorter one, of rotations the position up to which their angles part by
        half a turn; None of others
    """

    kind: str
    part: str
    text: str
    at: int | None = None


@dataclass(frozen=True)
class Comparison:
    """What is known of two checkpoints together.

    differences: what is known to differ; untold: what one of the files does not tell; notes: parts
        that one of them has alone, and values that are equal but for rounding
    unread: of each, keys that concern position and that nothing reads, with their values
    not_compared: of encodings whose numbers one of them has not, the scheme; where these are all
        that is untold, settings are equal
    """

    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    untold: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    not_compared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mend:
    """What would make a checkpoint, B, encode position as another, A.

    verdict: of the two as they are; patch: operations of a JSON Patch (RFC 6902) of its config.json
    metadata: values for settings that its GGUF file has; file: its name, "" for another
    sentences: what no change of settings does, or no tool
    """

    verdict: Verdict
    patch: tuple[dict[str, Any], ...] = ()
    metadata: tuple[tuple[str, Any], ...] = ()
    file: str = ""
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Copy:
    """How a row that is said to be a copy, such as a conversion or a merge, differs from its
    original.

    original: its slug, or its id on the Hub; is_listed: whether it is a row of the list
    comparison: of the original, A, and the copy, B; None where one of them was not read
    reason: why it was not; of an original that is known by its published config alone, where that
        is from; "" otherwise
    """

    original: str
    is_listed: bool
    comparison: Comparison | None = None
    reason: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """That of the comparison, if there is one."""
        return self.comparison.verdict if self.comparison else None
