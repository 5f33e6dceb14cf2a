"""What a list of checkpoints says of its whole atlas, beside the checkpoints."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

Models = Literal["all", "listed", "none"]


@dataclass(frozen=True)
class Selection:
    """Which of some extensions are taken, by their keys. include: those alone, all where it is
    empty; exclude: those not
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def takes(self, key: str) -> bool:
        """Whether the extension with ``key`` is taken."""
        return key not in self.exclude and (not self.include or key in self.include)

    def unknown(self, known: Collection[str]) -> Iterator[str]:
        """Of each key that is none of ``known``, what was found and what is expected."""
        for key in (*self.include, *self.exclude):
            if key not in known:
                close = get_close_matches(key, known, n=1)
                hint = f" (did you mean '{close[0]}'?)" if close else ""
                yield f"found {key!r:.80}{hint}; expected one of {', '.join(sorted(known))}"


@dataclass(frozen=True)
class ListSettings:
    """Of one atlas.

    title, description: its name, and its first sentence; "" for those of the program
    models: which published models it has: all that the program knows, those of its entries, or none
    analyses, pages: which are made
    repository: its address, where readers report what is wrong; "" without one
    """

    title: str = ""
    description: str = ""
    models: Models = "all"
    analyses: Selection = field(default_factory=Selection)
    pages: Selection = field(default_factory=Selection)
    repository: str = ""
