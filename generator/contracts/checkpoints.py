"""Checkpoints, their files, and the encodings read from them."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from generator.contracts.list_settings import Selection
from generator.contracts.model_config import Json, Modality, ModelConfig, StackKind
from generator.contracts.oracle import Oracle
from generator.contracts.record import Record
from generator.contracts.resolved import Resolved
from generator.contracts.runs import Run, Series
from generator.contracts.wording import Wording
from generator.encodings import ActsIn, Form
from generator.numerics.arrays import Array, Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FormT_co = TypeVar("FormT_co", bound=Form, covariant=True)
LONGEST_PART = 60
ON_HUB = "hub:"  # Begins what a row is a copy of, where that is no other row.
# Seconds since 1970, up to the year 2106, beyond which gzip writes no date of the sitemap.
TIMES = range(2**32)
SENTENCE = "The cat sat on the mat because it was tired."
Numbers = Mapping[str, Array]
Scope = Literal["first_layer", "model"]
FIRST_LAYER: Scope = "first_layer"
LONGEST_TEXT = 200_000  # bytes
MOST_PARAMETERS = 1_500_000_000  # 6 GB in single precision, as models run
# Metadata of an option that changes pages and data files, but no result of a checkpoint.
ONLY_SHOWN = {"only shown": True}
Claimed = Callable[[str], bool]  # Whether a tensor or a setting of this name belongs to a scheme.
Call = tuple[str | int, ...]  # A method of ``Storage`` and its arguments.


ARXIV_ID = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})(v\d+)?")
# No quotes, angles or spaces.
HTTPS = re.compile(
    r"https://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d+)?(?:/[!#-;=?-Z_a-z~%]*)?"
)


def paper_address(text: str) -> str:
    """The URL of a paper that is given by its arXiv id or by an https:// address; "" for anything
    else.
    """
    if ARXIV_ID.fullmatch(text):
        return f"https://arxiv.org/abs/{text}"
    return text if HTTPS.fullmatch(text) else ""


@dataclass(frozen=True)
class UseOptions:
    """What is measured of a trained model, as its row says.

    scope: from the weights of the first layer alone, or by running the model
    text: what it reads, "" for the atlas's own; length: tokens of a sequence; sequences: how many
    seed: of the first of two runs; device: "auto" takes a GPU where there is one
    most_parameters: beyond which the model is not loaded; None for ``MOST_PARAMETERS``, and on a
        GPU for as many as half of its free memory holds
    """

    scope: Scope = "model"
    text: str = ""
    length: int = 64
    sequences: int = 64
    seed: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    most_parameters: int | None = None


@dataclass(frozen=True)
class Checkpoint:
    """A row of the list of checkpoints.

    id: Hub id or folder as written in the list, the last part of an absolute path; place: Hub id or
        path that the source opens
    weights: name of the file of weights, where there are several or it has an unusual name; "" for
        the preferred one
    use: what is measured of the trained model; None for nothing
    arrays: whether the arrays behind its figures are published
    config: text of a config.json that takes the place of one beside the weights; "" for none
    paper: arXiv id or https:// address, "" for none; licence: of the weights, "" where it is not
        given
    committed: commit date of the revision in seconds since 1970; None where it is unknown, and for
        a folder, whose dates differ between machines
    analyses: which are made, each of these choices of all that are made
    base: whether the row names an adapter, of which the base is read
    copy_of: slug of the row, or "hub:" with the id on the Hub, that it should encode position like
    of: id on the Hub of the published model that it is of; "" for none
    revisions: of a training run: their names, or the first and the last as one text; every: which
        of its checkpoints are taken, one in so many
    series: the run that this checkpoint belongs to; None for one that stands alone, and for a row
        whose checkpoints have not been listed
    """

    slug: str
    source: str
    id: str
    place: str
    title: str
    revision: str | None = None
    group: str = field(default="Checkpoints", metadata=ONLY_SHOWN)
    notes: str = field(default="", metadata=ONLY_SHOWN)
    paper: str = field(default="", metadata=ONLY_SHOWN)
    licence: str = field(default="", metadata=ONLY_SHOWN)
    sentence: str | tuple[int, ...] = SENTENCE
    pickle: bool = False
    words: bool = False
    use: UseOptions | None = None
    arrays: bool = field(default=True, metadata=ONLY_SHOWN)
    weights: str = ""
    config: str = ""
    committed: int | None = field(default=None, metadata=ONLY_SHOWN)
    analyses: tuple[Selection, ...] = ()
    base: bool = False
    copy_of: str = field(default="", metadata=ONLY_SHOWN)
    of: str = field(default="", metadata=ONLY_SHOWN)
    revisions: str | tuple[str, ...] = ""
    every: int = 1
    series: Series | None = None

    @property
    def evaluated(self) -> "Checkpoint":
        """The row without what only pages and data files show, and without its place, which changes
        no byte of a file.
        """
        defaults: dict[str, Any] = {
            option.name: option.default
            for option in fields(self)
            if ONLY_SHOWN.items() <= option.metadata.items()
        }
        return replace(self, place="", **defaults)

    def takes(self, analysis: str) -> bool:
        """Whether the analysis with this key is made of it."""
        return all(choice.takes(analysis) for choice in self.analyses)

    @property
    def original(self) -> str:
        """The id on the Hub of the published model that it is a copy of, "" where there is none."""
        is_on_hub = self.copy_of.startswith(ON_HUB)
        return self.copy_of.removeprefix(ON_HUB).partition("@")[0] if is_on_hub else ""

    @property
    def original_revision(self) -> str:
        """The revision of that model, "" where the row names none."""
        return self.copy_of.partition("@")[2] if self.original else ""

    @property
    def model(self) -> str:
        """The id of the published model that it is of, or else its own."""
        return self.of or self.id

    @property
    def day(self) -> str | None:
        """Commit date of the revision, as YYYY-MM-DD; None where it is unknown."""
        return (
            None
            if self.committed is None
            else f"{datetime.fromtimestamp(self.committed, UTC):%Y-%m-%d}"
        )


@dataclass(frozen=True)
class TensorInfo:
    """Header of a tensor in a weights file."""

    file: str
    dtype: str
    shape: tuple[int, ...]


class Files(Protocol):
    """Lazy view of one checkpoint's files: only the requested bytes are read."""

    @property
    def where(self) -> str:
        """Name of this checkpoint in messages."""

    @property
    def revision(self) -> str | None:
        """Full commit hash on the Hub; None for a folder."""

    @property
    def config(self) -> ModelConfig:
        """Settings from config.json."""

    @property
    def resolved(self) -> Resolved:
        """The same as the code of the family understands them."""

    @property
    def tensors(self) -> "Mapping[str, TensorInfo]":
        """Header of every tensor, by name; empty without weights."""

    def tensor(self, name: str) -> Floats:
        """Values of a whole tensor, converted to float64 without rounding."""

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Rows ``indices`` of a matrix, in that order: (len(indices), n_columns)."""

    def sha256(self, name: str) -> str:
        """Hex digest of a tensor's stored bytes."""

    def notes(self, name: str) -> tuple[str, ...]:
        """Sentences on how a tensor is stored, such as the step of a quantisation; empty where its
        numbers and its name say all.
        """

    def read(self, name: str) -> bytes | None:
        """Content of a small file beside config.json or within the weights; None where it does not
        exist.
        """


@dataclass(frozen=True)
class TensorRow:
    """Tensors that differ only in their layer numbers.

    pattern: their name, with # for each number; shape, dtype: None and "" where no header was read
        that has them
    """

    pattern: str
    shape: tuple[int, ...] | None
    dtype: str
    count: int

    @property
    def n_stored(self) -> int:
        """Numbers in all of them, as stored; 0 where no header was read."""
        return 0 if self.shape is None else self.count * prod(self.shape)


class Digest(Protocol):
    """A function that returns digests of files."""

    def __call__(self, path: Path, start: int = 0, stop: int | None = None, /) -> str:
        """Hex digest of the bytes ``start`` to ``stop`` (exclusive) of a file, or to its end.

        errors: OSError
        """


class Source:
    """A kind of location from which checkpoints are read.

    key: of a row that names a checkpoint there; describes: description of that key in the list of
        checkpoints; example: a value of it, for the guide
    is_path: whether the value is a path, relative to the list
    after: key of the source that it follows, the last without one; the first source of paths, and
        the first of others, read what no key says
    has_runs: whether a row names the numbers of a training run in place of a checkpoint
    """

    key: ClassVar[str]
    describes: ClassVar[str]
    example: ClassVar[str]
    is_path: ClassVar[bool]
    after: ClassVar[str] = ""
    has_runs: ClassVar[bool] = False

    def open(self, checkpoint: Checkpoint, offline: bool) -> Files:
        """The files of a checkpoint. errors: RowError, NotReachedError"""
        raise NotImplementedError

    def state(self, checkpoint: Checkpoint, digest: Digest, calls: Sequence[Call]) -> str | None:
        """Text that changes whenever what an evaluation reads of the files changes, None where that
        is not known.

        digest: returns the digest of a file or of a part; calls: what the last evaluation asked of
            the files, none before the first
        """
        raise NotImplementedError

    def seen(self, _files: Files, /) -> tuple[str, tuple[Call, ...]]:
        """``state`` as the evaluation that these were opened for found it, and its calls; empty
        where ``state`` needs no calls.
        """
        return "", ()

    def reach(self) -> None:
        """Check, once per build, that the source responds. errors: NotReachedError"""

    def pin(self, checkpoint: Checkpoint, _offline: bool, /) -> Checkpoint:
        """The checkpoint with a fixed revision and its commit date, so that a whole build reads the
        same files.
        """
        return checkpoint

    def received(self) -> int:
        """Number of bytes of files that this process has downloaded."""
        return 0

    def address(self, _id: str, _revision: str | None, /) -> str | None:
        """URL where readers find a checkpoint, None where there is none."""
        return None

    def members(self, checkpoint: Checkpoint, _offline: bool, /) -> Sequence[Checkpoint]:
        """The checkpoints of a row that names a series; the row itself where it does not.

        errors: RowError, NotReachedError
        """
        return (checkpoint,)

    def parts(self, checkpoint: Checkpoint, _offline: bool, /) -> Sequence[Checkpoint]:
        """The models of a pinned checkpoint that names several; itself where it does not.

        errors: RowError, NotReachedError
        """
        return (checkpoint,)

    def text(self, _checkpoint: Checkpoint, _name: str, _offline: bool, /) -> bytes | None:
        """All of a small file, None without it. errors: RowError, NotReachedError"""
        return None

    def run(self, _checkpoint: Checkpoint, /) -> Run:
        """The numbers of a training run that a row names, of a source that has some.

        errors: RowError
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Provenance:
    """Origin of an encoding. tensor: None where the encoding follows from config.json alone"""

    file: str
    tensor: str | None = None
    dtype: str | None = None
    shape: tuple[int, ...] = ()
    sha256: str | None = None

    @classmethod
    def of(cls, files: Files, name: str) -> "Provenance":
        """Provenance of the whole tensor called ``name``."""
        tensor = files.tensors[name]
        return cls(tensor.file, name, tensor.dtype, tensor.shape, files.sha256(name))


@dataclass(frozen=True)
class Origin(Record):
    """Where a parameter of an encoding comes from."""

    keys: tuple[str, ...]
    """Keys of the file of settings whose change changes it; none if it is a default or a rule."""
    default_of: str | None
    """Config class of transformers, or the program, whose default it is, or families.yml beside the
    list, also where it takes part; null if keys of the file give it, or this atlas."""


@dataclass(frozen=True, eq=False)
class _Encoding:
    """What an encoding has with and without its form.

    notes: sentences on how the encoding was read
    modality: of its positions: words of a text, patches of an image, frames or samples of audio,
        boxes on a page
    stack: whether the layers of its part read an input or generate an output
    layers: indices in the stack of the layers in which it acts; None for all layers with attention,
        and for what acts at the input
    number: from 1, counts the encodings of a checkpoint whose ``key`` would otherwise be the same
    origins: where each of its parameters comes from, by its name, for those that follow from
        settings
    """

    part: str
    scheme: str
    form: Any
    provenance: Provenance
    notes: tuple[str, ...] = ()
    modality: Modality = "text"
    stack: StackKind = "encoder"
    layers: tuple[int, ...] | None = None
    number: int = 1
    origins: Mapping[str, Origin] = field(default_factory=dict)

    @property
    def is_of_words(self) -> bool:
        """Whether its positions are those of words."""
        return self.modality == "text"

    @property
    def key(self) -> str:
        """Name that is valid in a path, whatever the part is called, and unique within the
        checkpoint, after ``names.numbered``.
        """
        plain = re.sub(r"[^a-z0-9_]+", "-", self.part.lower())[:LONGEST_PART]
        if not re.fullmatch(r"[a-z0-9_ ]+", self.part) or len(self.part) > LONGEST_PART:
            plain += (
                f"-{hashlib.sha256(self.part.encode(errors='backslashreplace')).hexdigest()[:8]}"
            )
        return f"{plain}-{self.scheme}" + (f"-{self.number}" if self.number > 1 else "")

    @property
    def numbered_part(self) -> str:
        """The part, with the number of this encoding unless that is 1."""
        return self.part if self.number == 1 else f"{self.part} ({self.number})"


@dataclass(frozen=True)
class EncodingRecord(_Encoding):
    """An encoding without its form.

    form: class name of the form; parameters: what defines it, as in atlas.json
    """

    form: str
    parameters: Json = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Encoding(_Encoding, Generic[FormT_co]):
    """A position encoding of one part of a model.

    rule: parameters that the form does not have
    is_guess: whether it follows from settings whose meaning no known code shows
    """

    form: FormT_co
    rule: Json = field(default_factory=dict)
    is_guess: bool = False

    @property
    def record(self) -> EncodingRecord:
        """This encoding without its form."""
        shared = {option.name: getattr(self, option.name) for option in fields(_Encoding)}
        parameters = {**self.form.parameters, **self.rule}
        if self.layers is not None:
            parameters["layers"] = list(self.layers)
        shared["form"] = type(self.form).__name__
        return EncodingRecord(**shared, parameters=parameters)


@dataclass(frozen=True)
class FurtherPicture:
    """A figure in the text of a scheme's page, where its ``explain`` calls ``caller`` with its key;
    numbers, draw: see ``Picture``
    """

    numbers: Callable[[], Numbers]
    draw: "Callable[[Numbers], Drawing]"


@dataclass(frozen=True)
class Picture:
    """A figure that explains a scheme by its rule or by made-up numbers, without a checkpoint.

    The module ``picture`` of the scheme has it, its template the texts.
    numbers: returns the arrays that ``draw`` takes; the caption states which of them are made up
    card: returns the image (rows, columns) that stands for the scheme on a card, NaN where empty
    further: figures of sections of its page, by key; the template has the texts of each under its
        key
    """

    numbers: Callable[[], Numbers]
    draw: "Callable[[Numbers], Drawing]"
    card: Callable[[Numbers], Array]
    further: Mapping[str, FurtherPicture] = field(default_factory=dict)


@dataclass(frozen=True)
class Scheme:
    """A way of encoding position.

    also: other names in papers and code, which readers search for; acts_in: what it changes, "" for
        nothing; looked_for: completes the sentence “none found; looked for …”
    after: key of the scheme that it follows, the last without one
    sought: words that readers search for and that are no name of it
    find: returns the encodings of this scheme in a checkpoint; oracles: values that it must
        reproduce
    claims: names of tensors and settings that are this scheme's, whether or not it can read them,
        so that no other scheme guesses what they are
    find_last: returns further encodings once every scheme has found its own: guesses, from tensors
        that nobody claims, and what is computed where nothing is stored
    asks: returns a sentence on each encoding that settings ask for and that is not understood
    asked_by: values of ``position_embedding_type`` in config.json that ask for it
    tells_position: False for what acts in attention beside an encoding of position
    by_formula: whether a formula gives its numbers even where a tensor holds them; otherwise they
        are learned where a tensor does
    plural: what several encodings of it are called within a sentence
    paper: arXiv id of the earliest source that its page names for it
    """

    key: str
    also: tuple[str, ...]
    acts_in: ActsIn
    find: Callable[[Files], list[Encoding[Form]]]
    after: str = ""
    claims: re.Pattern[str] | None = None
    find_last: Callable[[Files, Claimed], list[Encoding[Form]]] | None = None
    asks: Callable[[Files], Iterable[str]] = lambda _: ()
    oracles: tuple[Oracle, ...] = ()
    asked_by: tuple[str, ...] = ()
    tells_position: bool = True
    by_formula: bool = False
    plural: str = "encodings of this scheme"
    paper: str = ""
    sought: tuple[str, ...] = ()

    @property
    def wording(self) -> Wording:
        """The texts and sentences of its template."""
        return Wording(f"schemes/{self.key}.md.jinja")

    @cached_property
    def title(self) -> str:
        """Its title."""
        return self.wording("title")

    @cached_property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return self.wording("summary")

    @cached_property
    def looked_for(self) -> str:
        """Completes the sentence “none found; looked for …”."""
        return self.wording("looked_for")

    @property
    def year(self) -> int | None:
        """Year of ``paper``; None without one."""
        return 2000 + int(self.paper[:2]) if self.paper else None
