"""What became of a run, and the pages that tell of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from generator.cache.lazy import Lazy
from generator.contracts.checkpoints import Checkpoint, Encoding, EncodingRecord, LayoutRow, Scheme
from generator.contracts.results import Analysis, FigureSpec, Label, Result, Results
from generator.encodings import Form

Status = Literal["ok", "failed", "not reached"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class Fact:
    """A line in the box of facts."""

    name: str
    value: str | int


@dataclass(frozen=True, eq=False)
class Reading:
    """An encoding with the result of every analysis.

    form: its numbers, read from disk when they are loaded
    results: by analysis key; drawings: bytes of a file by "analysis-figure", and "thumbnail"; alts: alternative texts of figures, by the
    same key
    """

    encoding: EncodingRecord
    form: Lazy[Form]
    label: Label
    results: Mapping[str, Result]
    drawings: Mapping[str, bytes]
    alts: Mapping[str, str]

    @classmethod
    def of(
        cls, encoding: Encoding[Form], label: Label, results: Mapping[str, Result], drawings: Mapping[str, bytes], alts: Mapping[str, str]
    ) -> "Reading":
        """What was just made of ``encoding``, all of it in memory."""
        return cls(encoding.record, Lazy(lambda: encoding.form), label, results, drawings, alts)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one row. ``looked_for`` is filled where no encoding was found; ``key`` is that of the result store, "" without one."""

    checkpoint: Checkpoint
    status: Status
    reason: str | None = None
    revision: str | None = None
    facts: tuple[Fact, ...] = ()
    layout: tuple[LayoutRow, ...] = ()
    readings: tuple[Reading, ...] = ()
    looked_for: tuple[str, ...] = ()
    key: str = ""

    def place(self, reading: Reading) -> str:
        """Where what belongs to ``reading`` alone stands, below the folder for its kind."""
        return f"{self.checkpoint.slug}/{reading.encoding.key}"


Maker = Callable[[], bytes]


def _uncached(_: str, make: Maker) -> Maker:
    return make


@dataclass(frozen=True, eq=False)
class Atlas:
    """A whole run: the outcomes in order of their slugs, and the extensions that made them.

    versions: of the program and of its libraries, by name; date: of the data, as YYYY-MM-DD
    address: where the site will stand, ending with "/", if that is known
    submit: starts a function in another process, unless its result is cached under the given name; returns a function that waits for
    the result
    """

    outcomes: tuple[Outcome, ...]
    analyses: tuple[Analysis, ...]
    schemes: tuple[Scheme, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str | None = None
    address: str | None = None
    submit: Callable[[str, Maker], Maker] = _uncached


@dataclass(frozen=True)
class Figure:
    """A figure on a page.

    path, without extension, and data: relative to the docs folder; results: what it is drawn from; cache_key: tells these results from
    others, empty where the figure is not cached; whose: the encoding that it belongs to, where a page shows those of several
    """

    path: str
    spec: FigureSpec
    alt: str
    data: str
    results: Results = field(default_factory=dict)
    cache_key: tuple[str, ...] = ()
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
    """A page to be rendered. path: relative to the docs folder; template: below templates/pages; figures: those still to be drawn"""

    path: str
    template: str
    context: Mapping[str, Any]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class PageKind:
    """A kind of page: all that there are of it for one run."""

    key: str
    pages: Callable[[Atlas], list[Page]]


Tree = Mapping[str, bytes]
