"""Storage of a checkpoint's files, and formats of weights files."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from generator.contracts.checkpoints import TensorInfo
from generator.contracts.model_config import Json
from generator.numerics.arrays import Floats

FIRST_BYTES = 256


class Storage(Protocol):
    """Access to the files of one checkpoint, in a folder or on the Hub.

    errors: RowError, NotReachedError
    """

    def matching(self, pattern: str) -> list[str]:
        """Sorted names of the files that match a shell pattern; a name with a / is in a
        subfolder.
        """

    def has(self, name: str) -> bool:
        """Whether a file exists."""

    def size(self, name: str) -> int:
        """Size of a file in bytes."""

    def part(self, name: str, start: int, stop: int) -> bytes:
        """Bytes ``start`` (inclusive) to ``stop`` (exclusive) of a file."""

    def read(self, name: str) -> bytes | None:
        """Content of a small file; None where it does not exist."""

    def path(self, name: str) -> Path:
        """Path of a local copy of a file, which may be large."""


@dataclass(frozen=True)
class StoredTensor:
    """A tensor in a file, whose bytes are read on request.

    n_bytes: size of the tensor, to which all rows of a matrix contribute equally
    part(start, stop): bytes of the tensor, ``start`` inclusive and ``stop`` exclusive. errors:
        those of ``Storage``
    decode(content, shape): values of these bytes as float64, without rounding. errors: RowError for
        a dtype that is not read
    notes(): sentences on what the file does to the numbers, or on how the tensor was identified
        where its name in the file does not say
    """

    header: TensorInfo
    n_bytes: int
    part: Callable[[int, int], bytes | memoryview]
    decode: Callable[[bytes | memoryview, tuple[int, ...]], Floats]
    notes: Callable[[], tuple[str, ...]] = tuple


@dataclass(frozen=True)
class WeightsFile:
    """The file through which weights are opened. where: name of the checkpoint in messages"""

    storage: Storage
    name: str
    where: str

    @property
    def label(self) -> str:
        """Name of the file in messages."""
        return file_label(self.where, self.name)


def file_label(where: str, name: str) -> str:
    """Name in messages of the file ``name`` of a checkpoint, which may be that file itself."""
    is_itself = f"/{where}".replace("\\", "/").endswith(f"/{name}")
    return where if is_itself else f"{where}/{name}"


@dataclass(frozen=True)
class FileFormat:
    """A file format of weights.

    after: key of the format that is preferred to it, in checkpoints in several
    names: shell patterns for the name of the file through which weights are opened; the first match
        is opened
    suffixes: ends of the names of files that are opened in this format where a row or a command
        names one
    begins: what the first ``FIRST_BYTES`` bytes of a file match, by which a file with another name
        is known; None where they do not tell
    open: returns the tensors by name, having read headers only, if the format has any
    refusal: why weights are opened only with the option ``pickle``, with {row} in place of a row
        that has it; "" for a format that cannot contain code
    files: returns the names of all files of these weights
    texts: returns the small files within the weights; a config.json among them takes the place of
        one beside them
    with_settings(file, changed): the same, were these settings of the file others; None for a
        format in which no tool changes settings
    needs_local_file: whether a file has to be on this disk before its tensors can be read
    of_model(file, tensors, model): the tensors under the names, and in the order of rows, that a
        model of transformers has, where the format has its own
    tokenizer: returns the tokenizer.json that the settings within the weights amount to, None
        without one; it takes seconds
    is_read: whether weights are read; a format that is only recognised, for its reason why not,
        counts where there is no other
    errors of all functions: RowError for invalid files, and those of ``Storage``
    """

    key: str
    names: tuple[str, ...]
    suffixes: tuple[str, ...]
    open: Callable[[WeightsFile], Mapping[str, StoredTensor]]
    after: str = ""
    begins: re.Pattern[bytes] | None = None
    refusal: str = ""
    files: Callable[[WeightsFile], Collection[str]] = lambda file: (file.name,)
    texts: Callable[[WeightsFile], Mapping[str, bytes]] = lambda _: {}
    with_settings: Callable[[WeightsFile, Json], Mapping[str, bytes]] | None = None
    needs_local_file: bool = False
    of_model: Callable[[WeightsFile, Mapping[str, Floats], Any], Mapping[str, Floats]] = (
        lambda _, tensors, __: tensors
    )
    tokenizer: Callable[[WeightsFile], bytes | None] = lambda _: None
    is_read: bool = True
