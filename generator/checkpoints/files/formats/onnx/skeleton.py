"""The graph of an ONNX file without the bytes of its tensors, so that a model is as large in memory
as its nodes.

An ONNX file is one message of Protocol Buffers: a sequence of fields, each with a tag (number and
wire type) before its content. Where the schema of ONNX (onnx.proto) has the bytes of a tensor, the
range of these in the file takes their place.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any

from generator.errors import RowError

# Nodes and headers; those of models with 10,000 nodes take about 3 MB.
MOST_GRAPH_BYTES = 128 * 2**20
DEEPEST = 16  # Graphs within nodes of graphs.
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # Wire types.
RAW_DATA = 9  # The field of TensorProto.
RANGE = struct.Struct("<QQ")  # First byte of the data in the file, and the one after its last.


@dataclass(frozen=True)
class Message:
    """What is read of a message.

    inner: messages in it, by the number of their field; data: fields with bytes of a tensor:
        raw_data, and packed floats, which are stored in the same way

    All else is copied, so that the library refuses what it would in the whole file.
    """

    inner: Mapping[int, "Message"] = field(default_factory=dict)
    data: frozenset[int] = frozenset()


TENSOR = Message(data=frozenset({4, RAW_DATA, 10}))
SPARSE = Message({1: TENSOR, 2: TENSOR})
ATTRIBUTE_INNER: dict[int, Message] = {5: TENSOR, 10: TENSOR, 22: SPARSE, 23: SPARSE}
NODE = Message({5: Message(ATTRIBUTE_INNER)})
GRAPH = Message({1: NODE, 5: TENSOR, 15: SPARSE})
ATTRIBUTE_INNER |= {6: GRAPH, 11: GRAPH}
MODEL = Message({7: GRAPH, 20: Message({1: GRAPH, 2: GRAPH}), 25: Message({7: NODE})})


def model(data: bytes | mmap, where: str) -> Any:
    """The ModelProto of a file, with ``RANGE`` in the ``raw_data`` of every tensor.

    errors: RowError for bytes that are no ONNX model, or a graph that is too large
    """
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    text = _Copy(data, where).message(0, len(data), MODEL, 0)
    try:
        proto = ModelProto.FromString(text)
    except (DecodeError, UnicodeDecodeError, ValueError):
        raise RowError(
            f"{where}: not a valid Protocol Buffers message; expected an ONNX model"
        ) from None
    if not proto.HasField("graph"):
        raise RowError(f"{where}: no graph; expected an ONNX model")
    return proto


@dataclass
class _Copy:
    """A copy of messages of ``data`` without the bytes of tensors.

    left: bytes that it may still grow by
    """

    data: bytes | mmap
    where: str
    left: int = MOST_GRAPH_BYTES

    def message(self, start: int, stop: int, kind: Message, depth: int) -> bytes:
        """The message in the bytes ``start`` to ``stop``.

        errors: RowError
        """
        depth += kind is GRAPH
        if depth > DEEPEST:
            raise RowError(
                f"{self.where}: more than {DEEPEST} graphs within each other; expected fewer"
            )
        parts = []
        for number, wire, begin, content, end in self._fields(start, stop):
            if wire == LENGTH and number in kind.data:
                parts.append(_field(RAW_DATA, RANGE.pack(content, end)))
            elif wire == LENGTH and number in kind.inner:
                parts.append(_field(number, self.message(content, end, kind.inner[number], depth)))
            else:
                self._take(end - begin)
                parts.append(self.data[begin:end])
        return b"".join(parts)

    def _take(self, n_bytes: int) -> None:
        self.left -= n_bytes
        if self.left < 0:
            raise RowError(
                f"{self.where}: a graph of more than {MOST_GRAPH_BYTES:,} bytes beside its tensors;"
                " expected fewer"
            )

    def _fields(self, start: int, stop: int) -> Iterator[tuple[int, int, int, int, int]]:
        """Number, wire type, and first byte of the tag and of the content, and end of every
        field.
        """
        position = start
        while position < stop:
            begin = position
            tag, content = self._varint(position, stop)
            wire = tag & 7
            if wire == LENGTH:
                length, content = self._varint(content, stop)
                position = content + length
            elif wire == VARINT:
                _, position = self._varint(content, stop)
            elif wire in (FIXED32, FIXED64):
                position = content + (4 if wire == FIXED32 else 8)
            else:
                raise RowError(
                    f"{self.where}: a field of wire type {wire} at byte {begin:,}; expected an ONNX"
                    " model"
                )
            if position > stop:
                raise RowError(
                    f"{self.where}: a field that ends at byte {position:,} of {stop:,}; expected an"
                    " ONNX model that is complete"
                )
            yield tag >> 3, wire, begin, content, position

    def _varint(self, position: int, stop: int) -> tuple[int, int]:
        """A number of up to 64 bits, seven to a byte, and the position after it."""
        value = 0
        for index, byte in enumerate(self.data[position : min(position + 10, stop)]):
            value |= (byte & 127) << 7 * index
            if byte < 128:
                return value, position + index + 1
        raise RowError(
            f"{self.where}: no number at byte {position:,}; expected an ONNX model that is complete"
        )


def _field(number: int, content: bytes) -> bytes:
    return _as_varint(number << 3 | LENGTH) + _as_varint(len(content)) + content


def _as_varint(value: int) -> bytes:
    digits = bytearray()
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    digits.append(value)
    return bytes(digits)
