"""Outcomes of a build, and the figures and pages made from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from generator.cache.lazy import Lazy
from generator.contracts.checkpoints import (
    Call,
    Checkpoint,
    Encoding,
    EncodingRecord,
    Files,
    Scheme,
    TensorRow,
)
from generator.contracts.comparisons import Copy
from generator.contracts.layer_map import Layer
from generator.contracts.list_settings import ListSettings
from generator.contracts.releases import Release
from generator.contracts.results import Analysis, FigureSpec, Label, Result, Results, UseResult
from generator.contracts.rules import Limit, LintFinding, Rule
from generator.contracts.runs import Ending, Run, Status
from generator.encodings import Form


@dataclass(frozen=True)
class Fact:
    """A row of the facts table on a checkpoint's page."""

    name: str
    value: str | int


@dataclass(frozen=True, eq=False)
class Reading:
    """An encoding with the results and drawings of every analysis.

    form: read from disk when it is loaded; label: its title is the name of the encoding, which no
        other has; results: by analysis key
    drawings: files by "analysis-figure", and "thumbnail"; alts: alternative texts of the figures,
        by the same keys
    """

    encoding: EncodingRecord
    form: Lazy[Form]
    label: Label
    results: Mapping[str, Result]
    drawings: Mapping[str, bytes]
    alts: Mapping[str, str]

    @classmethod
    def of(
        cls,
        encoding: Encoding[Form],
        label: Label,
        results: Mapping[str, Result],
        drawings: Mapping[str, bytes],
        alts: Mapping[str, str],
    ) -> "Reading":
        """A reading that holds its form in memory."""
        return cls(encoding.record, Lazy(lambda: encoding.form), label, results, drawings, alts)

    def deriving(self, analyses: "Sequence[Analysis]") -> "Reading":
        """A reading from the store with the arrays that are not in it, computed on access."""
        derived = {
            analysis.key: self.results[analysis.key].deriving(analysis, self.form)
            for analysis in analyses
            if analysis.key in self.results
        }
        return replace(self, results={**self.results, **derived})


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of one checkpoint.

    reason: why its status is not ok; looked_for: that of every scheme, where the checkpoint has no
        encoding
    key: its key in the result store, "" for one that no later build can find there
    unmeasured: encodings that the code of the family has, and whose numbers are in weights that
        were not read
    unresolved: sentences on what stays open: a scheme that the configuration asks for and that was
        not found, weights that were not read
    lint: what the rules of ``lint`` found; limits: on the length of a text, the least first
    settings: keys of its file of settings that may matter to position, with their values
    taken: sentences on what programs take from its config.json, where two differ
    use: what the trained model does with position, by part and measure; no_use: why nothing of it
        was measured, though the row asks for it, "" otherwise
    run: the numbers of a whole training run, where the row names these in place of a checkpoint
    state, calls: of its files as the evaluation found them, as in ``Source.seen``
    stale: why its source was not asked again, where all this is what an earlier build read; None
        otherwise
    copy: how it differs from its original, where the list says that it is a copy
    described_by: where the config is from that describes a checkpoint which was not reached, ""
        otherwise
    """

    checkpoint: Checkpoint
    status: Status
    reason: str | None = None
    revision: str | None = None
    facts: tuple[Fact, ...] = ()
    inventory: tuple[TensorRow, ...] = ()
    readings: tuple[Reading, ...] = ()
    unmeasured: tuple[EncodingRecord, ...] = ()
    layers: tuple[Layer, ...] = ()
    looked_for: tuple[str, ...] = ()
    key: str = ""
    unresolved: tuple[str, ...] = ()
    lint: tuple[LintFinding, ...] = ()
    limits: tuple[Limit, ...] = ()
    taken: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    use: tuple[UseResult, ...] = ()
    no_use: str = ""
    run: Run | None = None
    state: str = ""
    calls: tuple[Call, ...] = ()
    stale: str | None = None
    described_by: str = ""
    copy: Copy | None = None

    @property
    def worth_a_look(self) -> tuple[LintFinding, ...]:
        """What lint says beside facts, and beside what ``unresolved`` says."""
        return tuple(one for one in self.lint if one.level != "fact" and not one.is_question)

    @property
    def is_measured(self) -> bool:
        """Whether some of its numbers are of weights, and not all computed from its settings."""
        return bool(self.use) or any(one.encoding.provenance.tensor for one in self.readings)

    @property
    def ending(self) -> Ending:
        """Its status, by which what an earlier build read is counted apart."""
        return "stale" if self.stale is not None else self.status

    @property
    def family(self) -> str:
        """Name of the model family, "" where it is unknown."""
        return next((str(fact.value) for fact in self.facts if fact.name == "Family"), "")

    def path_of(self, reading: Reading) -> str:
        """Path of the files and pages of ``reading``, below the folder of their kind."""
        return f"{self.checkpoint.slug}/{reading.encoding.key}"

    def arrays_of(self, reading: Reading) -> str | None:
        """Path of the file with the arrays of ``reading``; None where its row publishes none."""
        return f"data/{self.path_of(reading)}.npz" if self.checkpoint.arrays else None


Maker = Callable[[], bytes]


@dataclass(frozen=True)
class Parameter:
    """An argument or an option.

    name: as it is typed; kind: what it takes, "" for a switch; default: "" without one
    """

    name: str
    kind: str
    default: str
    is_required: bool
    meaning: str


@dataclass(frozen=True)
class Command:
    """A command. group: what it is for; summary: one sentence; endings: its exit codes where they
    have a meaning of their own, else ""; examples: lines of a shell
    """

    name: str
    group: str
    summary: str
    endings: str
    parameters: tuple[Parameter, ...]
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Atlas:
    """Outcomes of a whole build, sorted by slug, and the extensions that produced them.

    versions: of the program and its libraries, by name; date: of the data, as YYYY-MM-DD
    address: URL of the site, ending with "/"; None where it is not configured
    submit(name, make): starts ``make`` in another process unless its result is cached under
        ``name``; returns a function that waits for the result
    releases: all that was published, this atlas included, the first first; archive: their files, by
        path below the docs folder
    commands: of the program that built it, for the guide
    runs: training runs, sorted by slug, whose checkpoints are not among the outcomes
    measures: of what trained models do; rules: of ``lint``
    measuring: slugs of entries whose models are being measured while this site is shown
    guests: parts of the site that follow from no entry of the list
    settings: what the list says of the whole
    """

    outcomes: tuple[Outcome, ...]
    analyses: tuple[Analysis, ...]
    schemes: tuple[Scheme, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str | None = None
    address: str | None = None
    submit: Callable[[str, Maker], Maker] = lambda _name, make: make
    releases: tuple[Release, ...] = ()
    archive: Mapping[str, Maker] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    runs: tuple[Run, ...] = ()
    measures: tuple[Analysis, ...] = ()
    rules: tuple[Rule, ...] = ()
    measuring: frozenset[str] = frozenset()
    guests: "tuple[Guest, ...]" = ()
    settings: ListSettings = field(default_factory=ListSettings)

    @property
    def encodings(self) -> "tuple[tuple[Outcome, Reading], ...]":
        """Every encoding of position with its checkpoint, without what acts beside these in
        attention.
        """
        beside = {scheme.key for scheme in self.schemes if not scheme.tells_position}
        pairs = ((outcome, reading) for outcome in self.outcomes for reading in outcome.readings)
        return tuple(
            (outcome, reading)
            for outcome, reading in pairs
            if reading.encoding.scheme not in beside
        )


@dataclass(frozen=True)
class Figure:
    """A figure on a page.

    path, data: of the figure, without extension, and of the file with its numbers, relative to the
        docs folder
    results: what it is drawn from; cache_key: identifies the results, empty where the figure is not
        cached
    title: of its encoding, where a page shows figures of several; "" otherwise
    """

    path: str
    spec: FigureSpec
    alt: str
    data: str
    results: Results = field(default_factory=dict)
    cache_key: tuple[str, ...] = ()
    title: str = ""

    @property
    def anchor(self) -> str:
        """Anchor of the figure on its page; with the checkpoint where the page shows several."""
        return "-".join(self.path.split("/")[1 if self.title else -2 :])

    @classmethod
    def of(
        cls, outcome: Outcome, reading: Reading, analysis: Analysis, spec: FigureSpec
    ) -> "Figure":
        """Figure of one encoding, whose drawing is stored with ``reading``."""
        name, data = (
            f"{analysis.key}-{spec.key}",
            outcome.arrays_of(reading) or f"data/{outcome.checkpoint.slug}/metrics.csv",
        )
        return cls(f"figures/{outcome.path_of(reading)}/{name}", spec, reading.alts[name], data)

    @classmethod
    def comparing(
        cls,
        path: str,
        spec: FigureSpec,
        analysis: Analysis,
        members: "Sequence[tuple[Outcome, Reading]]",
        data: str,
    ) -> "Figure":
        """Figure of several encodings, drawn from their results of ``analysis``."""
        results = {reading.label: reading.results[analysis.key] for _, reading in members}
        if len(results) > 1:
            spec = replace(spec, texts=spec.texts.of_several)
        keys = tuple(
            f"{outcome.key} {reading.encoding.key} {reading.label.title} {reading.label.colour}"
            for outcome, reading in members
            if outcome.key
        )
        return cls(
            path, spec, spec.alt(results), data, results, keys if len(keys) == len(members) else ()
        )


@dataclass(frozen=True)
class Card:
    """A picture that other sites show beside a link to a page.

    path: of the file; make: returns it; size: width and height in pixels
    """

    path: str
    alt: str
    make: Maker
    size: tuple[int, int]


@dataclass(frozen=True)
class PageContext:
    """What one template shows: a frozen dataclass, whose fields are the template's variables beside
    those of every page.

    template: below templates/pages; "" where only the classes derived from this one have some
    """

    template: ClassVar[str] = ""

    def __init_subclass__(cls, template: str = "") -> None:
        cls.template = template


@dataclass(frozen=True)
class Page:
    """A page to render.

    path: relative to the docs folder; figures: drawn unless a reading has them
    card: None where that of the site will do, or the address of the site is not known
    """

    path: str
    context: PageContext
    figures: tuple[Figure, ...] = ()
    card: Card | None = None


@dataclass(frozen=True)
class PageKind:
    """A kind of page.

    pages: returns all pages of this kind for an atlas, none where they would be empty; places:
        patterns of their paths, as in ``fnmatch``
    """

    key: str
    pages: Callable[[Atlas], list[Page]]
    places: tuple[str, ...]


@dataclass(frozen=True)
class Guest:
    """A part of the site that follows from no entry of the list: pages and files from a table of
    its own. Its package has it in a module ``guest``; a build and the other pages name none.

    key: of its table among artifacts, and of the template in ``templates/guests``, which has what
        other pages show of it
    table: returns its table; shipped: without making it, None where the program ships no such one
    of_models: returns of such a table the part on models with these ids, None where it has none
    kinds: of its pages; files: returns functions that make its files, by path below the docs folder
    named: returns its pages that readers find by a name: id on the Hub, family, address, size
    of_checkpoint: returns what its template shows on the page of a checkpoint, None on most sites
    users: returns how many of its models use a scheme, and where a table has these alone
    records: of its files, in groups by name, as the guide describes them
    config: returns what it has as the config of a checkpoint, and where that is from; None for most
    """

    key: str
    table: Maker
    of_models: Callable[[bytes, frozenset[str]], bytes | None]
    shipped: Callable[[], bytes | None]
    kinds: tuple[PageKind, ...]
    files: Callable[[Atlas], Mapping[str, Maker]]
    named: Callable[[Atlas], Sequence[tuple[str, str, str, str]]]
    of_checkpoint: Callable[[Atlas, Outcome], object | None]
    users: Callable[[Atlas, Scheme], tuple[int, str]]
    records: Mapping[str, tuple[type, ...]]
    config: Callable[[Checkpoint], tuple[Files, str] | None]


Tree = Mapping[str, bytes]
