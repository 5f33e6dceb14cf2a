"""The records that travel between the rooms, and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from generator.encodings import Form
from generator.numerics import Array, Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FormT = TypeVar("FormT", bound=Form, covariant=True)
Json = Mapping[str, Any]
Status = Literal["ok", "failed", "not reached"]


@dataclass(frozen=True)
class Checkpoint:
    """A configured row. ``id`` is the Hub id or folder as written there; ``place`` is what its source opens."""

    slug: str
    source: str
    id: str
    place: str
    title: str
    revision: str | None = None
    group: str = "Checkpoints"
    notes: str = ""
    sentence: str | tuple[int, ...] = "The cat sat on the mat because it was tired."
    pickle: bool = False


class Files(Protocol):
    """A lazy view of one checkpoint: only the bytes asked for are read."""

    @property
    def where(self) -> str:
        """How to name this checkpoint in a message."""

    @property
    def revision(self) -> str | None:
        """The full commit when it came from the Hub."""

    @property
    def config(self) -> Json:
        """config.json as data."""

    @property
    def tensors(self) -> "Mapping[str, TensorInfo]":
        """What each tensor's header says, by name; empty without weights."""

    def tensor(self, name: str) -> Floats:
        """All of one tensor, exactly, as float64."""

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Some rows of a matrix, in the order asked for."""

    def sha256(self, name: str) -> str:
        """Hex digest of a tensor's bytes as stored."""

    def read(self, name: str) -> bytes | None:
        """A small file beside config.json, or None."""


@dataclass(frozen=True)
class TensorInfo:
    """What a weights file says of a tensor before any of it is read."""

    file: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """Where files come from. ``is_path``: places are paths, relative to the configuration; ``reach`` asks once a run
    whether anything answers there, and raises NotReachedError when not."""

    key: str
    describes: str
    is_path: bool
    open: Callable[[Checkpoint, bool], Files]
    reach: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Provenance:
    """Where an encoding comes from. Without a tensor it was made from config.json alone."""

    file: str
    tensor: str | None = None
    dtype: str | None = None
    shape: tuple[int, ...] = ()
    sha256: str | None = None


@dataclass(frozen=True, eq=False)
class Encoding(Generic[FormT]):
    """One way in which one part of a checkpoint tells position. ``notes`` are plain sentences on how it was read."""

    part: str
    scheme: str
    form: FormT
    provenance: Provenance
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A name that is unique within its checkpoint and fit for a path."""
        return f"{self.part}-{self.scheme}".replace(" ", "-").lower()


@dataclass(frozen=True)
class Scheme:
    """One way of telling position. ``looked_for`` completes the sentence “none found; looked for …”."""

    key: str
    title: str
    summary: str
    looked_for: str
    order: int
    find: Callable[[Files], list[Encoding[Form]]]


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """weight, bias: (d_model,)."""

    weight: Floats
    bias: Floats
    epsilon: float


@dataclass(frozen=True, eq=False)
class Sentence:
    """Tokens with their rows of the word table: words (n_tokens, d_model)."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    reserved: tuple[bool, ...]
    words: Floats


@dataclass(frozen=True, eq=False)
class InputLayer:
    """All that goes into the first layer for one sentence, and for its words in reverse.

    token_type: (d_model,), the row of type 0; word_scale: what word rows are multiplied by; module_output: (n_tokens, d_model), what the model's own embedding layer
    returns for the sentence, where transformers has such a layer
    """

    sentence: Sentence
    reversed: Sentence
    word_tensor: str
    word_scale: float = 1.0
    token_type: Floats | None = None
    norm: LayerNorm | None = None
    module_output: Floats | None = None
    module_name: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Subject(Generic[FormT]):
    """What an analysis is given. Where ``input`` is None, ``no_input`` says why."""

    encoding: Encoding[FormT]
    input: InputLayer | None = None
    no_input: str = ""


@dataclass(frozen=True)
class Metric:
    """A number with its unit, or the reason why there is none."""

    key: str
    title: str
    value: float | None
    unit: str = ""
    reason: str | None = None


@dataclass(frozen=True)
class Finding:
    """One plain sentence made from numbers."""

    text: str


@dataclass(frozen=True, eq=False)
class Result:
    """What one analysis says of one encoding. With ``reason`` it does not apply and all else is empty."""

    metrics: tuple[Metric, ...] = ()
    arrays: Mapping[str, Array] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Label:
    """How a figure names an encoding: its title and its fixed colour."""

    title: str
    colour: str


Results = Mapping[Label, Result]


@dataclass(frozen=True)
class FigureSpec:
    """A picture of one result or, side by side on one scale, of several.

    caption: what it shows; how_to_read: for a newcomer; alt: what is seen, made from the numbers
    """

    key: str
    caption: str
    how_to_read: str
    alt: Callable[[Results], str]
    draw: "Callable[[Results], Drawing]"


@dataclass(frozen=True)
class Analysis:
    """One question. ``forms`` are those that it understands; ``per_figure`` is how many a comparison holds legibly."""

    key: str
    title: str
    question: str
    source: str
    order: int
    forms: tuple[type, ...]
    compute: Callable[[Subject[Any]], Result]
    figures: tuple[FigureSpec, ...]
    per_figure: int = 8


@dataclass(frozen=True)
class Fact:
    """A line in the box of facts."""

    name: str
    value: str | int


@dataclass(frozen=True, eq=False)
class Reading:
    """An encoding with what every analysis says of it.

    results: by analysis key; drawings: SVG by "analysis-figure"; alts: their alternative texts, by the same key
    """

    encoding: Encoding[Form]
    label: Label
    results: Mapping[str, Result]
    drawings: Mapping[str, bytes]
    alts: Mapping[str, str]
    thumbnail: bytes


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one row. ``looked_for`` is filled where no encoding was found."""

    checkpoint: Checkpoint
    status: Status
    reason: str | None = None
    revision: str | None = None
    facts: tuple[Fact, ...] = ()
    readings: tuple[Reading, ...] = ()
    looked_for: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Atlas:
    """A whole run: the outcomes in order of their slugs, and the extensions that made them."""

    outcomes: tuple[Outcome, ...]
    analyses: tuple[Analysis, ...]
    schemes: tuple[Scheme, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str | None = None


@dataclass(frozen=True)
class Figure:
    """A figure on a page. ``path`` and ``data`` are relative to the docs folder; ``results`` are what it is drawn from."""

    path: str
    spec: FigureSpec
    alt: str
    data: str
    results: Results = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """path: relative to the docs folder; template: below templates/pages; figures: those still to be drawn."""

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
