"""The header of a GGUF file: settings by key, and the range of every tensor; validated before any
data is read.

The format (github.com/ggml-org/ggml, docs/gguf.md): magic and version, numbers of tensors and of
settings, the settings, name, shape, type and offset of every tensor, and, from the next multiple of
the alignment, the bytes of the tensors.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from generator.checkpoints.files.json_object import DEEPEST
from generator.checkpoints.files.reader import MOST_TENSORS
from generator.contracts import WeightsFile
from generator.contracts.file_formats import file_label
from generator.errors import RowError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
FIRST_CHUNK = 2**15  # bytes; each further chunk is as long as all before it
MOST_HEADER_BYTES = 2**27
# items of a list whose values are kept, such as those with a number for each layer
MOST_KEPT = 10_000
# struct format by type of value
NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
TEXT, LIST = 8, 9
LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Unread:
    """A list of texts, or a long one of numbers, of which only the length is kept."""

    count: int


Scalar = bool | int | float | str
Value = Scalar | tuple[Scalar, ...] | Unread


@dataclass(frozen=True)
class Span:
    """The range of a tensor in its file: bytes ``start`` to ``stop`` (exclusive). shape: rows
    first, as in numpy
    """

    type: str
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Header:
    """Settings by key, and ranges by the name of the tensor, in the order of the file."""

    settings: Mapping[str, Value]
    spans: Mapping[str, Span]

    def integer(self, key: str) -> int | None:
        """A setting that is a whole number, of any sign; None without one."""
        value = self.settings.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, key: str) -> str:
        """A setting that is text; "" without one."""
        return value if isinstance(value := self.settings.get(key), str) else ""


def positive(value: object) -> float | None:
    """``value`` if it is a number above 0 and finite, else None."""
    return (
        value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
        else None
    )


class Beginning:
    """The beginning of a file, read in chunks that double in length.

    at: the number of bytes that have been parsed
    errors: RowError where the header goes on beyond the end of the file, or beyond
        ``MOST_HEADER_BYTES``; those of ``Storage``
    """

    def __init__(self, file: WeightsFile, name: str) -> None:
        self.storage, self.name, self.where = file.storage, name, file_label(file.where, name)
        self.size = self.storage.size(name)
        self.data = bytearray()
        self.at = 0

    def need(self, n_bytes: int) -> None:
        """Have at least ``n_bytes`` more than have been parsed."""
        stop = self.at + n_bytes
        if stop > min(self.size, MOST_HEADER_BYTES):
            raise RowError(
                f"{self.where}: a header of {stop:,} bytes or more in a file of {self.size:,};"
                f" expected at most {MOST_HEADER_BYTES:,} within the file"
            )
        n_read = len(self.data)
        if stop > n_read:
            goal = min(max(stop, 2 * n_read, FIRST_CHUNK), self.size, MOST_HEADER_BYTES)
            self.data += self.storage.part(self.name, n_read, goal)

    def skip(self, n_bytes: int) -> None:
        """Leave out ``n_bytes``."""
        self.need(n_bytes)
        self.at += n_bytes

    def take(self, n_bytes: int) -> bytes:
        """The next ``n_bytes``."""
        self.skip(n_bytes)
        return bytes(self.data[self.at - n_bytes : self.at])

    def number(self, kind: str) -> bool | int | float:
        """The next number, of a kind of ``struct``; in single precision, the shortest decimal that
        is read as it.
        """
        (value,) = struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))
        return float(str(np.float32(value))) if kind == "f" else value

    def count(self) -> int:
        """The next 64 bits as a number of something."""
        return int(self.number("Q"))

    def text(self, errors: str = "strict") -> str:
        """The next text. errors: what to do where it is not UTF-8, as for ``bytes.decode``"""
        return self.take(self.count()).decode(errors=errors)

    def skip_texts(self, count: int) -> None:
        """Leave out ``count`` texts."""
        for _ in range(count):
            if self.at + 8 > len(self.data):
                self.need(8)
            self.at += 8 + LENGTH.unpack_from(self.data, self.at)[0]
            if self.at > len(self.data):
                self.need(0)


def read(file: WeightsFile, name: str) -> Header:
    """The header of the file ``name`` of these weights.

    errors: RowError for names that appear twice, or ranges beyond the end of the file; exceptions
        of any class for another header; those of ``Storage``
    """
    head = Beginning(file, name)
    _check_beginning(head)
    n_tensors, n_keys = head.count(), head.count()
    if n_tensors > MOST_TENSORS:
        raise RowError(f"{head.where}: {n_tensors:,} tensors; expected at most {MOST_TENSORS:,}")
    settings: dict[str, Value] = {}
    for _ in range(n_keys):
        key = _new_name(head, settings)
        settings[key] = _value(head, int(head.number("I")))
    tensors: dict[str, _Described] = {}
    for _ in range(n_tensors):
        tensor = _new_name(head, tensors)
        sizes = [head.count() for _ in range(int(head.number("I")))]
        tensors[tensor] = _Described(tuple(sizes[::-1]), int(head.number("I")), head.count())
    return Header(settings, _spans(head, tensors, settings.get("general.alignment", 32)))


@dataclass(frozen=True)
class _Described:
    """What the header says of a tensor. offset: from the first byte of data; type: its number"""

    shape: tuple[int, ...]
    type: int
    offset: int


def _check_beginning(head: Beginning) -> None:
    magic, version = head.take(4), head.number("I")
    if magic != MAGIC:
        raise RowError(f"{head.where}: begins with {magic!r}; expected {MAGIC!r}")
    if version not in VERSIONS:
        raise RowError(
            f"{head.where}: GGUF version {version:,}; expected {' or '.join(map(str, VERSIONS))}"
            " in little-endian byte order"
        )


def _new_name(head: Beginning, known: Mapping[str, object]) -> str:
    try:
        name = head.text()
    except UnicodeDecodeError as error:
        raise RowError(
            f"{head.where}: {error.object!r:.80} for a name; expected text in UTF-8"
        ) from None
    if name in known:
        raise RowError(
            f"{head.where}: {name!r:.80} appears twice in the header; expected each name once"
        )
    return name


def _value(head: Beginning, kind: int) -> Value:
    if kind == TEXT:
        return head.text(errors="replace")
    return _list(head, DEEPEST) if kind == LIST else head.number(_number(head, kind))


def _list(head: Beginning, most: int) -> tuple[Scalar, ...] | Unread:
    """most: levels of lists, this one included"""
    if not most:
        raise RowError(f"{head.where}: lists nested more than {DEEPEST} deep; expected fewer")
    kind, count = int(head.number("I")), head.count()
    if kind == LIST:
        for _ in range(count):
            _list(head, most - 1)
        return Unread(count)
    if kind == TEXT:
        head.skip_texts(count)
        return Unread(count)
    number = _number(head, kind)
    if count > MOST_KEPT:
        head.skip(count * struct.calcsize(f"<{number}"))
        return Unread(count)
    return tuple(head.number(number) for _ in range(count))


def _number(head: Beginning, kind: int) -> str:
    """The ``struct`` format of a type of number. errors: RowError for another type"""
    if kind not in NUMBERS:
        raise RowError(f"{head.where}: a value of type {kind:,}; expected a type of GGUF, 0 to 12")
    return NUMBERS[kind]


def _spans(head: Beginning, tensors: Mapping[str, _Described], alignment: Any) -> dict[str, Span]:
    """The range of every tensor.

    errors: RowError unless all are aligned, within the file and apart
    """
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
    from gguf.quants import quant_shape_to_byte_shape

    if type(alignment) is not int or alignment < 1 or alignment & (alignment - 1):
        raise RowError(
            f"{head.where}: general.alignment is {alignment!r:.60}; expected a power of two"
        )
    base = -(-head.at // alignment) * alignment
    spans = {}
    for name, tensor in tensors.items():
        if tensor.type not in GGML_QUANT_SIZES:
            raise RowError(
                f"{head.where}: {name!r:.80} has type {tensor.type:,}; expected one of ggml"
            )
        kind = GGMLQuantizationType(tensor.type)
        start = base + tensor.offset
        stop = start + math.prod(quant_shape_to_byte_shape(tensor.shape or (1,), kind))
        if tensor.offset % alignment or stop > head.size:
            raise RowError(
                f"{head.where}: {name!r:.80} has bytes {start:,} to {stop:,}; expected an end"
                f" within the file's {head.size:,} bytes, and an offset that {alignment} divides"
            )
        spans[name] = Span(kind.name, tensor.shape, start, stop)
    ordered = sorted(spans.items(), key=lambda item: (item[1].start, item[1].stop))
    for (_, before), (name, after) in pairwise(ordered):
        if after.start < before.stop:
            raise RowError(
                f"{head.where}: {name!r:.80} begins within another tensor; expected its own bytes"
            )
    return spans
