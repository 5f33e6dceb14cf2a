"""What is read: checkpoints, their files, and the encodings found in them."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from generator.contracts.model_config import ModelConfig
from generator.contracts.published_record import Published
from generator.encodings import Form
from generator.numerics.arrays import Array, Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FormT_co = TypeVar("FormT_co", bound=Form, covariant=True)
LONGEST_PART = 60
TIMES = range(2**32)  # Seconds since 1970, up to the year 2106, beyond which gzip writes no date of the sitemap.
SENTENCE = "The cat sat on the mat because it was tired."
Modality = Literal["text", "image", "audio", "page"]
Numbers = Mapping[str, Array]


@dataclass(frozen=True)
class Checkpoint:
    """A configured row. ``id`` is the Hub id or folder as written there; ``place`` is what its source opens.

    committed: when its revision was committed, in seconds since 1970, where its source knows; a folder has no date that is the same on
    every machine
    """

    slug: str
    source: str
    id: str
    place: str
    title: str
    revision: str | None = None
    group: str = "Checkpoints"
    notes: str = ""
    sentence: str | tuple[int, ...] = SENTENCE
    pickle: bool = False
    words: bool = False
    committed: int | None = None


@dataclass(frozen=True)
class TensorInfo:
    """What a weights file says of a tensor before any of it is read."""

    file: str
    dtype: str
    shape: tuple[int, ...]


class Files(Protocol):
    """A lazy view of one checkpoint: only the bytes that are needed are read."""

    @property
    def where(self) -> str:
        """How to name this checkpoint in a message."""

    @property
    def revision(self) -> str | None:
        """The full commit when it came from the Hub."""

    @property
    def config(self) -> ModelConfig:
        """What config.json says."""

    @property
    def tensors(self) -> "Mapping[str, TensorInfo]":
        """What each tensor's header says, by name; empty without weights."""

    def tensor(self, name: str) -> Floats:
        """All of one tensor, exactly, as float64."""

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Some rows of a matrix, in the order of ``indices``."""

    def sha256(self, name: str) -> str:
        """Hex digest of a tensor's bytes as stored."""

    def read(self, name: str) -> bytes | None:
        """A small file beside config.json or within the weights, or None."""


@dataclass(frozen=True)
class LayoutRow:
    """Tensors that differ in the numbers of their layers alone; ``pattern`` has # for each number."""

    pattern: str
    shape: tuple[int, ...]
    dtype: str
    count: int


@dataclass(frozen=True)
class Source:
    """Where files come from.

    is_path: whether places are paths, relative to the configuration
    open: the files of a row; the second argument is whether to send no request. errors: RowError, NotReachedError
    state: text that changes whenever the files of a row do, or None where only opening them would tell; the second argument gives the
    digest of any file
    reach: asks once a run whether anything answers there. errors: NotReachedError
    pin: the row with a revision that cannot move, so that all of a run sees the same, and its date; the second argument is that of ``open``
    received: bytes that this process has had over the network
    """

    key: str
    describes: str
    is_path: bool
    open: Callable[[Checkpoint, bool], Files]
    state: Callable[[Checkpoint, Callable[[Path], str]], str | None]
    reach: Callable[[], None] = lambda: None
    pin: Callable[[Checkpoint, bool], Checkpoint] = lambda checkpoint, offline: checkpoint  # noqa: ARG005 (named for its callers)
    received: Callable[[], int] = lambda: 0


@dataclass(frozen=True)
class Provenance:
    """Where an encoding comes from. Without a tensor it was made from config.json alone."""

    file: str
    tensor: str | None = None
    dtype: str | None = None
    shape: tuple[int, ...] = ()
    sha256: str | None = None

    @classmethod
    def of(cls, files: Files, name: str) -> "Provenance":
        """That of a whole tensor."""
        tensor = files.tensors[name]
        return cls(tensor.file, name, tensor.dtype, tensor.shape, files.sha256(name))


@dataclass(frozen=True)
class EncodingRecord:
    """An encoding without its numbers.

    form: name of the class of its form; notes: plain sentences on how it was read
    modality: what its positions are of: words of a text, patches of an image, frames or samples of audio, places on a page
    """

    part: str
    scheme: str
    form: str
    provenance: Provenance
    notes: tuple[str, ...] = ()
    modality: Modality = "text"

    @property
    def is_of_words(self) -> bool:
        """Whether its positions are those of words."""
        return self.modality == "text"

    @property
    def key(self) -> str:
        """A name that is unique within its checkpoint and fit for a path, also where a part is named after a tensor."""
        plain = re.sub(r"[^a-z0-9_]+", "-", self.part.lower())[:LONGEST_PART]
        if re.fullmatch(r"[a-z0-9_ ]+", self.part) and len(self.part) <= LONGEST_PART:
            return f"{plain}-{self.scheme}"
        return f"{plain}-{hashlib.sha256(self.part.encode(errors='backslashreplace')).hexdigest()[:8]}-{self.scheme}"


@dataclass(frozen=True, eq=False)
class Encoding(Generic[FormT_co]):
    """One position encoding of one part of a checkpoint. ``notes`` and ``modality`` as in ``EncodingRecord``."""

    part: str
    scheme: str
    form: FormT_co
    provenance: Provenance
    notes: tuple[str, ...] = ()
    modality: Modality = "text"

    @property
    def record(self) -> EncodingRecord:
        """The same without its form."""
        return EncodingRecord(self.part, self.scheme, type(self.form).__name__, self.provenance, self.notes, self.modality)


@dataclass(frozen=True)
class Picture:
    """How a scheme works, drawn from its rule or from numbers made up to show it, and from no checkpoint.

    numbers: what ``alt`` and ``draw`` are made from; caption says which of them are made up
    """

    caption: str
    how_to_read: str
    numbers: Callable[[], Numbers]
    alt: Callable[[Numbers], str]
    draw: "Callable[[Numbers], Drawing]"


@dataclass(frozen=True)
class Scheme:
    """One way of encoding position. ``also``: other names for it in papers and code, by which it is searched for; ``looked_for``
    completes the sentence “none found; looked for …”; ``published`` is what it must give again."""

    key: str
    title: str
    also: tuple[str, ...]
    summary: str
    looked_for: str
    order: int
    find: Callable[[Files], list[Encoding[Form]]]
    picture: Picture
    published: tuple[Published, ...] = ()
