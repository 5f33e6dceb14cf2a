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

import numpy as np

from generator.contracts import WeightsFile
from generator.contracts.file_formats import file_label
from generator.errors import RowError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
FIRST_PIECE = 2**15  # bytes; each further piece is as long as all before it
MOST_HEADER_BYTES = 2**27
MOST_KEYS, MOST_TENSORS = 20_000, 50_000
# of a list: the largest vocabularies have some 260,000 tokens, and twice as many merges
MOST_ITEMS = 4_000_000
# items of a list whose values are kept, such as those with a number for each layer
MOST_KEPT = 10_000
LONGEST_NAME = 2**16 - 1
LONGEST_TEXT = 2**26
MOST_DIMENSIONS = 4  # as in ggml
MOST_LEVELS = 4  # of lists in lists
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
REPLACED = "\ufffd"  # What stands for bytes that are not UTF-8.


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


class Pieces:
    """The beginning of a file, read in pieces that double in length.

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
        if stop > self.size:
            raise RowError(
                f"{self.where}: cut short: its header needs at least {stop:,} bytes, but the file"
                f" has {self.size:,}; expected a complete file"
            )
        if stop > MOST_HEADER_BYTES:
            raise RowError(
                f"{self.where}: a header of {stop:,} bytes or more; expected at most"
                f" {MOST_HEADER_BYTES:,}"
            )
        n_read = len(self.data)
        if stop > n_read:
            goal = min(max(stop, 2 * n_read, FIRST_PIECE), self.size, MOST_HEADER_BYTES)
            self.data += self.storage.part(self.name, n_read, goal)

    def take(self, n_bytes: int) -> bytes:
        """The next ``n_bytes``."""
        self.need(n_bytes)
        self.at += n_bytes
        return bytes(self.data[self.at - n_bytes : self.at])

    def number(self, kind: str) -> bool | int | float:
        """The next number, of a kind of ``struct``; in single precision, the shortest decimal that
        is read as it.
        """
        (value,) = struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))
        return float(str(np.float32(value))) if kind == "f" else value

    def count(self, most: int, what: str) -> int:
        """The next 64 bits as a number of something. errors: RowError for more than ``most``"""
        (value,) = LENGTH.unpack(self.take(8))
        if value > most:
            raise RowError(f"{self.where}: {what} {value:,}; expected at most {most:,}")
        return int(value)

    def text(self, longest: int, what: str) -> str:
        """The next text, with what is not UTF-8 replaced."""
        return self.take(self.count(longest, f"bytes of {what}:")).decode(errors="replace")

    def pass_over(self, n_bytes: int) -> None:
        """Leave out ``n_bytes``."""
        self.need(n_bytes)
        self.at += n_bytes

    def pass_texts(self, count: int) -> None:
        """Leave out ``count`` texts."""
        for _ in range(count):
            if self.at + 8 > len(self.data):
                self.need(8)
            self.at += 8 + LENGTH.unpack_from(self.data, self.at)[0]
            if self.at > len(self.data):
                self.need(0)


def read(file: WeightsFile, name: str) -> Header:
    """The header of the file ``name`` of these weights.

    errors: RowError for an invalid header, or ranges that overlap or go beyond the end of the file;
        those of ``Storage``
    """
    pieces = Pieces(file, name)
    _check_beginning(pieces)
    n_tensors = pieces.count(MOST_TENSORS, "tensors:")
    n_keys = pieces.count(MOST_KEYS, "settings:")
    settings: dict[str, Value] = {}
    for _ in range(n_keys):
        key = _new_name(pieces, settings, "setting")
        settings[key] = _value(pieces, _type(pieces, key), key)
    tensors: dict[str, _Described] = {}
    for _ in range(n_tensors):
        tensor = _new_name(pieces, tensors, "tensor")
        tensors[tensor] = _described(pieces, tensor)
    return Header(
        settings, _spans(pieces, tensors, _alignment(pieces, settings)) if tensors else {}
    )


@dataclass(frozen=True)
class _Described:
    """What the header says of a tensor. offset: from the first byte of data; type: its number"""

    shape: tuple[int, ...]
    type: int
    offset: int


def _check_beginning(pieces: Pieces) -> None:
    magic = pieces.take(4)
    if magic != MAGIC:
        raise RowError(
            f"{pieces.where}: begins with {magic!r}; expected a GGUF file, which begins with"
            f" {MAGIC!r}"
        )
    version = pieces.take(4)
    number = int.from_bytes(version, "little")
    if number not in VERSIONS and int.from_bytes(version) in VERSIONS:
        raise RowError(
            f"{pieces.where}: a GGUF file in big-endian byte order; expected little-endian"
        )
    if number not in VERSIONS:
        raise RowError(
            f"{pieces.where}: GGUF version {number:,}; expected {' or '.join(map(str, VERSIONS))}"
        )


def _new_name(pieces: Pieces, known: Mapping[str, object], what: str) -> str:
    name = pieces.text(LONGEST_NAME, f"the name of a {what}")
    if REPLACED in name:
        raise RowError(
            f"{pieces.where}: the name {name!r:.80} of a {what} is not UTF-8; expected text"
        )
    if name in known:
        raise RowError(
            f"{pieces.where}: the {what} {name!r:.80} appears twice in the header; expected each"
            " name once"
        )
    return name


def _type(pieces: Pieces, key: str) -> int:
    number = int(pieces.number("I"))
    if number not in NUMBERS and number not in (TEXT, LIST):
        raise RowError(
            f"{pieces.where}: {key!r:.80} is of type {number:,}; expected one of 0 to"
            f" {max(NUMBERS)}"
        )
    return number


def _value(pieces: Pieces, kind: int, key: str) -> Value:
    if kind in NUMBERS:
        return pieces.number(NUMBERS[kind])
    if kind == TEXT:
        return pieces.text(LONGEST_TEXT, f"{key!r:.80}")
    return _list(pieces, key, MOST_LEVELS)


def _list(pieces: Pieces, key: str, levels: int) -> tuple[Scalar, ...] | Unread:
    kind = _type(pieces, key)
    count = pieces.count(MOST_ITEMS, f"items of {key!r:.80}:")
    if kind == LIST:
        if not levels:
            raise RowError(
                f"{pieces.where}: {key!r:.80} has lists nested more than {MOST_LEVELS} deep;"
                " expected fewer levels"
            )
        for _ in range(count):
            _list(pieces, key, levels - 1)
        return Unread(count)
    if kind == TEXT:
        pieces.pass_texts(count)
        return Unread(count)
    if count > MOST_KEPT:
        pieces.pass_over(count * struct.calcsize(f"<{NUMBERS[kind]}"))
        return Unread(count)
    return tuple(pieces.number(NUMBERS[kind]) for _ in range(count))


def _described(pieces: Pieces, name: str) -> _Described:
    n_dimensions = int(pieces.number("I"))
    if n_dimensions > MOST_DIMENSIONS:
        raise RowError(
            f"{pieces.where}: {name!r:.80} has {n_dimensions:,} dimensions; expected at most"
            f" {MOST_DIMENSIONS}"
        )
    sizes = [pieces.count(2**40, f"size of {name!r:.80}:") for _ in range(n_dimensions)]
    return _Described(tuple(reversed(sizes)), int(pieces.number("I")), int(pieces.number("Q")))


def _alignment(pieces: Pieces, settings: Mapping[str, Value]) -> int:
    alignment = settings.get("general.alignment", 32)
    if type(alignment) is not int or not 0 < alignment <= 2**20 or alignment & (alignment - 1):
        raise RowError(
            f"{pieces.where}: general.alignment is {alignment!r:.60}; expected a power of two up to"
            " 2^20"
        )
    return alignment


def _spans(pieces: Pieces, tensors: Mapping[str, _Described], alignment: int) -> dict[str, Span]:
    """The range of every tensor.

    errors: RowError unless all are within the file, aligned, and apart
    """
    base = -(-pieces.at // alignment) * alignment
    spans = {}
    for name, tensor in tensors.items():
        kind, n_bytes = _stored(pieces, name, tensor)
        start = base + tensor.offset
        if tensor.offset % alignment or start + n_bytes > pieces.size:
            raise RowError(
                f"{pieces.where}: {name!r:.80} has bytes {start:,} to {start + n_bytes:,}; expected"
                f" an offset that {alignment} divides, and an end within the file's {pieces.size:,}"
                " bytes"
            )
        spans[name] = Span(kind, tensor.shape, start, start + n_bytes)
    ordered = sorted((span.start, span.stop, name) for name, span in spans.items())
    for (_, stop, name), (start, _, other) in pairwise(ordered):
        if start < stop:
            raise RowError(
                f"{pieces.where}: {other!r:.80} begins at byte {start:,}, within {name!r:.80};"
                f" expected it after byte {stop:,}"
            )
    return spans


def _stored(pieces: Pieces, name: str, tensor: _Described) -> tuple[str, int]:
    """The name of a tensor's type, and the number of its bytes.

    errors: RowError for an unknown type, or rows that are no whole blocks
    """
    from gguf.constants import GGML_QUANT_SIZES

    sizes = {int(kind): (kind.name, *size) for kind, size in GGML_QUANT_SIZES.items()}
    if tensor.type not in sizes:
        raise RowError(
            f"{pieces.where}: {name!r:.80} is of type {tensor.type:,}; expected one that the"
            f" library gguf knows: {sorted(sizes)}"
        )
    kind, block, n_bytes = sizes[tensor.type]
    if (tensor.shape[-1] if tensor.shape else 1) % block:
        raise RowError(
            f"{pieces.where}: {name!r:.80} has shape {tensor.shape}; expected rows of whole blocks"
            f" of {block}, as {kind} has them"
        )
    return kind, math.prod(tensor.shape) // block * n_bytes
