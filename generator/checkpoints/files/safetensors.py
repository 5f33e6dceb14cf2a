"""The header of a safetensors file, checked before a byte of data is believed, and the dtypes that are read exactly.

The format: 8 bytes of length (little-endian), that much JSON, then the tensors' bytes without holes.
"""

import json
import math
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.errors import RowError
from generator.numerics.arrays import Floats

MOST_HEADER_BYTES = 32 * 2**20
MOST_TENSORS = 50_000
MOST_DIMENSIONS = 16
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64,
    "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
READABLE = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}


@dataclass(frozen=True)
class Span:
    """Where a tensor's bytes lie: from ``start`` up to, not including, ``stop``, counted from the file's beginning."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


def header_size(first: bytes, file_size: int, where: str) -> int:
    """How many bytes of JSON follow the first eight.

    errors: RowError when the file is too short for what it promises
    """
    if len(first) < 8:
        raise RowError(f"{where}: {len(first)} bytes long; expected a safetensors file, which begins with 8 bytes of length")
    size = int(struct.unpack("<Q", first)[0])
    if size > min(MOST_HEADER_BYTES, file_size - 8):
        raise RowError(
            f"{where}: a header of {size:,} bytes in a file of {file_size:,}; expected at most {MOST_HEADER_BYTES:,} and within the file"
        )
    return size


def spans(header: bytes, file_size: int, where: str) -> dict[str, Span]:
    """Every tensor of the file by name, in order of its bytes.

    errors: RowError for anything but well-formed entries that cover the file's data once, without hole or overlap
    """
    entries = _json_object(header, where)
    if len(entries) > MOST_TENSORS:
        raise RowError(f"{where}: {len(entries):,} tensors; expected at most {MOST_TENSORS:,}")
    base = 8 + len(header)
    found = {name: _span(name, entry, base, where) for name, entry in entries.items() if name != "__metadata__"}
    ordered = sorted(found.items(), key=lambda item: (item[1].start, item[1].stop))
    expected = base
    for name, span in ordered:
        if span.start != expected:
            raise RowError(f"{where}: the bytes of {name!r} begin at {span.start:,}; expected {expected:,}, without hole or overlap")
        expected = span.stop
    if expected != file_size:
        raise RowError(f"{where}: the tensors end at byte {expected:,} of {file_size:,}; expected them to end with the file")
    return dict(ordered)


def decode(data: bytes, dtype: str, shape: tuple[int, ...], where: str) -> Floats:
    """The numbers in ``data``, exactly, as float64.

    errors: RowError for a dtype that does not hold plain numbers
    """
    if dtype not in READABLE:
        raise RowError(f"{where}: dtype {dtype}; expected one of {', '.join(READABLE)}")
    raw = np.frombuffer(data, dtype=READABLE[dtype])
    if dtype == "BF16":  # The upper half of a float32.
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # A signalling NaN becomes a quiet one, and that is all.
        return raw.astype(np.float64).reshape(shape)


def _json_object(header: bytes, where: str) -> Mapping[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise RowError(f"{where}: {twice!r:.80} stands twice in the header; expected each name once")
        return entries

    try:
        entries = json.loads(header, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where}: a header that is not JSON ({type(error).__name__}); expected a safetensors file") from None
    if not isinstance(entries, dict):
        raise RowError(f"{where}: a header that is {type(entries).__name__}; expected a JSON object")
    return entries


def _span(name: str, entry: object, base: int, where: str) -> Span:
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(start), int(stop)]} if dtype in BITS:
            pass
        case {"dtype": str(dtype)} if dtype not in BITS:
            raise RowError(f"{where}: {name!r} has dtype {dtype!r}; expected one of {', '.join(BITS)}")
        case _:
            raise RowError(f"{where}: {name!r} is {entry!r:.80}; expected dtype, shape and data_offsets")
    if len(shape) > MOST_DIMENSIONS or not all(type(size) is int and 0 <= size < 2**40 for size in shape):
        raise RowError(f"{where}: {name!r} has shape {shape!r:.80}; expected at most {MOST_DIMENSIONS} whole numbers from 0 to 2^40 − 1")
    expected = -(-math.prod(shape) * BITS[dtype] // 8)
    if start < 0 or stop - start != expected:
        raise RowError(f"{where}: {name!r} has {stop - start:,} bytes; expected {expected:,} for {dtype} {shape!r}")
    return Span(dtype, tuple(shape), base + start, base + stop)
