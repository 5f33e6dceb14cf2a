"""Values that others give, which ours are checked against."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Published:
    """Values in print, or made by other code, that an extension must give again.

    printed: as printed, one or more numbers; margin: how far ours may be from each, half a unit of the last digit where None
    given: makes what ``measure`` takes, None where that is a stored table; sha256: the digest of that table
    """

    what: str
    printed: tuple[str, ...]
    source: str
    measure: Callable[[Any], Sequence[float]]
    given: Callable[[], Any] | None = None
    sha256: str | None = None
    unit: str = ""
    margin: float | None = None
