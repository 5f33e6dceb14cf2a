"""Tensors of an ONNX graph: their headers, and their bytes in the model's file, in a file beside it
or in typed fields.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from generator.checkpoints.files.formats.onnx.skeleton import RANGE
from generator.checkpoints.files.tensors import decode
from generator.contracts import StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Floats

MOST_DIMENSIONS = 16
LONGEST_NAME = 1_000  # characters
# Name and bits of each number of TensorProto.DataType; strings (8) are no numbers.
TYPES: Mapping[int, tuple[str, int]] = {
    1: ("F32", 32), 2: ("U8", 8), 3: ("I8", 8), 4: ("U16", 16), 5: ("I16", 16), 6: ("I32", 32),
    7: ("I64", 64), 9: ("BOOL", 8),
    10: ("F16", 16), 11: ("F64", 64), 12: ("U32", 32), 13: ("U64", 64), 14: ("C64", 64),
    15: ("C128", 128), 16: ("BF16", 16),
    17: ("F8_E4M3", 8), 18: ("F8_E4M3FNUZ", 8), 19: ("F8_E5M2", 8), 20: ("F8_E5M2FNUZ", 8),
    21: ("U4", 4), 22: ("I4", 4), 23: ("F4", 4),
    24: ("F8_E8M0", 8), 25: ("U2", 2), 26: ("I2", 2), 27: ("F6_E2M3", 6), 28: ("F6_E3M2", 6),
}  # fmt: skip
STRING = 8
# Typed fields, with the numpy type of their values as they are stored; smaller types of numbers are
# in int32_data.
FIELDS = {
    "F32": "float_data",
    "F64": "double_data",
    "I64": "int64_data",
    "U64": "uint64_data",
    "U32": "uint64_data",
}
WIDTHS = {8: "u1", 16: "<u2", 32: "<u4", 64: "<u8"}
EXTERNAL = 1  # TensorProto.DataLocation

Part = Callable[[int, int], bytes | memoryview]


@dataclass(frozen=True)
class GraphFile(WeightsFile):
    """The file of a graph."""

    @property
    def path(self) -> Path:
        """A local copy."""
        return self.storage.path(self.name)

    def part(self, start: int, stop: int) -> bytes:
        """The bytes ``start`` to ``stop`` (exclusive).

        errors: RowError when the file has become shorter
        """
        with self.path.open("rb") as stream:
            stream.seek(start)
            data = stream.read(stop - start)
        if len(data) != stop - start:
            raise RowError(f"{self.label}: ends at byte {start + len(data):,}; expected {stop:,}")
        return data


def stored(file: GraphFile, proto: Any) -> StoredTensor:
    """The tensor of a TensorProto in which ``RANGE`` stands for the data.

    errors: RowError for an invalid header, or for data of another size than the header says
    """
    where = f"{file.label}: {proto.name!r:.80}"
    dtype, bits = _type(proto, where)
    shape = tuple(proto.dims)
    if len(shape) > MOST_DIMENSIONS or not all(0 <= size < 2**40 for size in shape):
        raise RowError(
            f"{where} has shape {shape!r:.80}; expected at most {MOST_DIMENSIONS} whole numbers"
            " from 0 to 2^40 − 1"
        )
    if len(proto.name) > LONGEST_NAME:
        raise RowError(
            f"{where} has a name of {len(proto.name):,} characters; expected at most"
            f" {LONGEST_NAME:,}"
        )
    n_bytes = -(-math.prod(shape) * bits // 8)
    part, n_stored, name = _data(file, proto, n_bytes, where)
    if n_stored != n_bytes:
        raise RowError(
            f"{where} has {n_stored:,} bytes; expected {n_bytes:,} for {dtype} {list(shape)!r}"
        )

    def numbers(data: bytes | memoryview, of_shape: tuple[int, ...]) -> Floats:
        return decode(data, dtype, of_shape, where)

    return StoredTensor(TensorInfo(name, dtype, shape), n_bytes, part, numbers)


def external_name(file_name: str, proto: Any, where: str) -> str:
    """The name in the storage of the file with the data of a tensor.

    errors: RowError unless it is in the folder of the model, or in one below
    """
    location = _external(proto).get("location", "")
    parts = PurePosixPath(location).parts
    if (
        not parts
        or ".." in parts
        or location.startswith("/")
        or not location.isprintable()
        or set("\\:") & set(location)
    ):
        raise RowError(
            f"{where}: its data are in {location!r:.80}; expected the name of a file beside the"
            " model"
        )
    return (PurePosixPath(file_name).parent / location).as_posix()


def _external(proto: Any) -> dict[str, str]:
    pairs = ((entry.key, entry.value) for entry in proto.external_data)
    # The library returns bytes for what is not UTF-8.
    return {key: value for key, value in pairs if isinstance(value, str)}


def _type(proto: Any, where: str) -> tuple[str, int]:
    if proto.data_type not in TYPES:
        raise RowError(
            f"{where} has data type {proto.data_type}; expected one that ONNX has for numbers"
        )
    return TYPES[proto.data_type]


def _data(file: GraphFile, proto: Any, n_bytes: int, where: str) -> tuple[Part, int, str]:
    """The bytes of a tensor by range, their number, and the name of the file that has them."""
    if proto.data_location == EXTERNAL:
        return _in_external(file, proto, n_bytes, where)
    if proto.raw_data:
        first, stop = RANGE.unpack(proto.raw_data)
        return (lambda start, end: file.part(first + start, first + end)), stop - first, file.name
    load = cache(lambda: memoryview(_typed(proto, where)))
    return (lambda start, end: load()[start:end]), len(load()), file.name


def _in_external(file: GraphFile, proto: Any, n_bytes: int, where: str) -> tuple[Part, int, str]:
    name, entries = external_name(file.name, proto, where), _external(proto)
    numbers = [entries.get("offset", "0"), entries.get("length", str(n_bytes))]
    if not all(number.isascii() and number.isdecimal() and len(number) < 20 for number in numbers):
        raise RowError(
            f"{where}: its data are at {numbers!r:.80} of {name!r}; expected an offset and a length"
            " in bytes"
        )
    offset, length = map(int, numbers)
    if not file.storage.has(name):
        raise RowError(
            f"{where}: its data are in {name!r}, which is missing; expected that file beside the"
            " model"
        )
    size = file.storage.size(name)
    if offset + length > size:
        raise RowError(
            f"{where}: its data end at byte {offset + length:,} of {name!r}, which has {size:,};"
            " expected them within the file"
        )
    return (
        (lambda start, stop: file.storage.part(name, offset + start, offset + stop)),
        length,
        name,
    )


def _typed(proto: Any, where: str) -> bytes:
    """The numbers in the typed fields of a tensor, as they would be in ``raw_data``."""
    dtype, bits = TYPES[proto.data_type]
    values = getattr(proto, FIELDS.get(dtype, "int32_data"))
    # Less than a byte: packed, a byte in each number.
    kind = {"F32": "<f4", "F64": "<f8"}.get(dtype) or WIDTHS.get(bits, "u1")
    if dtype in ("C64", "C128"):
        raise RowError(f"{where} has dtype {dtype} in a typed field; expected raw_data")
    read_as = "<u8" if dtype.startswith("U") and bits > 16 else "<i8"
    if kind.startswith("<f"):
        read_as = kind
    numbers = np.fromiter(values, dtype=read_as)
    # Of negative numbers, the lowest bits are the two's complement.
    return numbers.astype(kind).tobytes()
