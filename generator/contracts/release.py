"""What was published at one time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Release:
    """What was published.

    id: its date, with a number where that is not the first of the day; number: from 1; date: of the
        data, as YYYY-MM-DD
    version, libraries: with which it was made
    checkpoints: by slug, those that differ from the release before; None for one that is gone
    """

    id: str
    number: int
    date: str | None
    version: str | None
    libraries: Mapping[str, str]
    checkpoints: Mapping[str, Mapping[str, Any] | None]
