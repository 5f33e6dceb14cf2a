"""What became of a run, and the pages that tell of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from generator.contracts.checkpoints import Checkpoint, Encoding, LayoutRow, Scheme
from generator.contracts.results import Analysis, FigureSpec, Label, Result, Results
from generator.encodings import Form

Status = Literal["ok", "failed", "not reached"]


@dataclass(frozen=True)
class Fact:
    """A line in the box of facts."""

    name: str
    value: str | int


@dataclass(frozen=True, eq=False)
class Reading:
    """An encoding with what every analysis says of it.

    results: by analysis key; drawings: bytes of a file by "analysis-figure"; alts: their alternative texts, by the same key
    """

    encoding: Encoding[Form]
    label: Label
    results: Mapping[str, Result]
    drawings: Mapping[str, bytes]
    alts: Mapping[str, str]
    thumbnail: bytes


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one row. ``looked_for`` is filled where no encoding was found; ``key`` is the digest under which it is kept."""

    checkpoint: Checkpoint
    status: Status
    reason: str | None = None
    revision: str | None = None
    facts: tuple[Fact, ...] = ()
    layout: tuple[LayoutRow, ...] = ()
    readings: tuple[Reading, ...] = ()
    looked_for: tuple[str, ...] = ()
    key: str = ""

    @property
    def made_of(self) -> tuple[object, ...]:
        """What tells apart all that is shown of this row alone; nothing where it was not kept."""
        return (self.key, self.checkpoint, *(reading.label.colour for reading in self.readings)) if self.key else ()

    def place(self, reading: Reading) -> str:
        """Where what belongs to ``reading`` alone stands, below the folder for its kind."""
        return f"{self.checkpoint.slug}/{reading.encoding.key}"


Maker = Callable[[], bytes]


def _anew(_: str, make: Maker) -> Maker:
    return make


@dataclass(frozen=True, eq=False)
class Atlas:
    """A whole run: the outcomes in order of their slugs, and the extensions that made them.

    versions: of the program and of its libraries, by name; date: of the data, as YYYY-MM-DD
    address: where the site will stand, ending with "/", if that is known
    remember: given a name and a function, begins to make what the function returns, perhaps in another process, unless an earlier run
    of the same code made it under that name; it returns a function that waits for it
    """

    outcomes: tuple[Outcome, ...]
    analyses: tuple[Analysis, ...]
    schemes: tuple[Scheme, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str | None = None
    address: str | None = None
    remember: Callable[[str, Maker], Maker] = _anew


@dataclass(frozen=True)
class Figure:
    """A figure on a page. ``path``, without extension, and ``data`` are relative to the docs folder; ``results`` are what it is drawn from, and
    ``made_of`` tells them apart from others; without it the figure is drawn anew in every build. ``whose``: the encoding that it
    belongs to, where a page shows those of several."""

    path: str
    spec: FigureSpec
    alt: str
    data: str
    results: Results = field(default_factory=dict)
    made_of: tuple[str, ...] = ()
    whose: str = ""

    @classmethod
    def of(cls, outcome: Outcome, reading: Reading, analysis: Analysis, spec: FigureSpec) -> "Figure":
        """What ``analysis`` says of ``reading`` alone, drawn when that was made."""
        name, place = f"{analysis.key}-{spec.key}", outcome.place(reading)
        return cls(f"figures/{place}/{name}", spec, reading.alts[name], f"data/{place}.npz")

    @classmethod
    def comparing(
        cls, path: str, spec: FigureSpec, analysis: Analysis, members: "Sequence[tuple[Outcome, Reading]]", data: str
    ) -> "Figure":
        """What ``analysis`` says of each of ``members``, in one figure."""
        results = {reading.label: reading.results[analysis.key] for _, reading in members}
        keys = tuple(f"{outcome.key} {reading.encoding.key} {reading.label.colour}" for outcome, reading in members if outcome.key)
        return cls(path, spec, spec.alt(results), data, results, keys if len(keys) == len(members) else ())


@dataclass(frozen=True)
class Page:
    """path: relative to the docs folder; template: below templates/pages; figures: those still to be drawn; ``made_of`` tells it apart
    from what it was in other runs of the same code; without it the page is made anew in every build."""

    path: str
    template: str
    context: Mapping[str, Any]
    figures: tuple[Figure, ...] = ()
    made_of: tuple[object, ...] = ()


@dataclass(frozen=True)
class PageKind:
    """A kind of page: all that there are of it for one run."""

    key: str
    pages: Callable[[Atlas], list[Page]]


Tree = Mapping[str, bytes]
