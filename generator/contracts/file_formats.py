"""Where the files of a checkpoint lie, and how tensors are stored in them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from generator.contracts.checkpoints import TensorInfo
from generator.numerics.arrays import Floats


class Storage(Protocol):
    """Where the files of one checkpoint lie. Errors: RowError for what cannot be read, NotReachedError where nobody answers."""

    def matching(self, pattern: str) -> list[str]:
        """The names of files that fit a pattern, as of a shell, sorted; one with a / is of a file in a folder below."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def size(self, name: str) -> int:
        """Its length in bytes."""

    def part(self, name: str, start: int, stop: int) -> bytes:
        """Its bytes from ``start`` up to, not including, ``stop``."""

    def whole(self, name: str) -> bytes | None:
        """All of a small file; None when there is none."""

    def path(self, name: str) -> Path:
        """All of a large file, on this disk."""


@dataclass(frozen=True)
class StoredTensor:
    """A tensor in a file, of which nothing has been read yet.

    n_bytes: of all of it; the rows of a matrix have equal shares
    part: its bytes from ``start`` up to, not including, ``stop``, counted from its own first. errors: those of a storage
    decode: the numbers of such a shape that some of its bytes hold, exactly. errors: RowError where they are not plain numbers
    """

    header: TensorInfo
    n_bytes: int
    part: Callable[[int, int], bytes | memoryview]
    decode: Callable[[bytes | memoryview, tuple[int, ...]], Floats]


@dataclass(frozen=True)
class WeightsFile:
    """The file by which weights are opened. ``where``: how to name its checkpoint in a message"""

    storage: Storage
    name: str
    where: str


def _only_itself(file: WeightsFile) -> Collection[str]:
    return (file.name,)


def _none(_: WeightsFile) -> Mapping[str, bytes]:
    return {}


@dataclass(frozen=True)
class FileFormat:
    """A way of storing tensors in files.

    order: which format is read where a checkpoint has several, the lowest first
    names: patterns, as of a shell, for the name of the file by which weights are opened; the first that fits is opened
    open: the tensors by name; headers alone are read, where there are some
    refusal: why weights are not opened unless the row says ``pickle: true``; empty for a format that cannot hold code
    files: the names of all files that hold these weights
    texts: the small files that weights hold in themselves, such as config.json, for checkpoints that have none beside them
    errors: RowError for files that are not what they should be, and those of a storage
    """

    key: str
    order: int
    names: tuple[str, ...]
    open: Callable[[WeightsFile], Mapping[str, StoredTensor]]
    refusal: str = ""
    files: Callable[[WeightsFile], Collection[str]] = _only_itself
    texts: Callable[[WeightsFile], Mapping[str, bytes]] = _none
