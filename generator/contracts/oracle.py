"""A value that others give, as an extension declares it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class InPrint:
    """Origin of a value in print.

    work: authors, year and address; place: its section, table or figure
    """

    work: str
    place: str


@dataclass(frozen=True)
class Recomputed:
    """Origin of a value that other code computed.

    library: its name in registries; function: what was called, or the rule that was followed
    """

    library: str
    function: str


@dataclass(frozen=True)
class Oracle:
    """Numbers in print, or computed by other code, that an extension must reproduce.

    what: the quantity, as shown on the page; printed: the numbers as text, with the digits of the
        source
    measure: returns our numbers for a form; margin: largest difference allowed, half a unit of the
        last printed digit where None
    given: returns the form, None where that is a stored table; sha256: digest of that table's
        tensor
    allowance: why the margin is not None
    """

    what: str
    printed: tuple[str, ...]
    source: InPrint | Recomputed
    measure: Callable[[Any], Sequence[float]]
    given: Callable[[], Any] | None = None
    sha256: str | None = None
    unit: str = ""
    margin: float | None = None
    allowance: str = ""
