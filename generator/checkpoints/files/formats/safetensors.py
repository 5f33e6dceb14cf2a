"""safetensors, in one file or in shards with an index; headers are validated before any data is
read.

The format: the length of the header in 8 bytes (little-endian), the header in JSON, then the bytes
of the tensors without gaps.
"""

import json
import math
import re
import struct
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from generator.checkpoints.files.folder import POINTER
from generator.checkpoints.files.reader import AT_ONCE
from generator.checkpoints.files.shards import Sharded, files
from generator.checkpoints.files.tensors import by_range
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.contracts.file_formats import file_label
from generator.errors import RowError

MOST_HEADER_BYTES = 32 * 2**20
MOST_TENSORS = 50_000
MOST_DIMENSIONS = 16
MOST_AT_ONCE = 32  # shards whose headers are all read, for the list of tensors on the page
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64,
    "U64": 64, "F64": 64,
    "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
INDEX = "model.safetensors.index.json"
# Of save_pretrained with variant="fp16", as transformers and diffusers name such an index and such
# a file.
VARIANTS = (
    "model.safetensors.index.*.json",
    "model.*.safetensors.index.json",
    "model.*.safetensors",
)


@dataclass(frozen=True)
class TensorSpan:
    """The range of a tensor in its file: bytes ``start`` to ``stop`` (exclusive), from the
    beginning of the file.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


def header_size(first: bytes, file_size: int, where: str) -> int:
    """The length in bytes of the JSON header, from the first eight bytes of the file.

    errors: RowError when the file is shorter than that, or the header longer than
        ``MOST_HEADER_BYTES``
    """
    if len(first) < 8:
        raise RowError(
            f"{where}: {len(first)} bytes long; expected a safetensors file, which begins with 8"
            " bytes of length"
        )
    if first == POINTER[:8]:  # Of a server: a folder recognises it before.
        raise RowError(
            f"{where}: a Git LFS pointer; expected the file itself, which `git lfs pull` fetches"
        )
    size = int(struct.unpack("<Q", first)[0])
    if size > min(MOST_HEADER_BYTES, file_size - 8):
        raise RowError(
            f"{where}: a header of {size:,} bytes in a file of {file_size:,}; expected at most"
            f" {MOST_HEADER_BYTES:,} and within the file"
        )
    return size


def spans(header: bytes, file_size: int, where: str) -> dict[str, TensorSpan]:
    """Every tensor of the file by name, in order of their ranges.

    errors: RowError unless all entries are valid and their ranges cover the data of the file
        without gap or overlap
    """
    entries = _json_object(header, where)
    if len(entries) > MOST_TENSORS:
        raise RowError(f"{where}: {len(entries):,} tensors; expected at most {MOST_TENSORS:,}")
    base = 8 + len(header)
    by_name = {
        name: _span(name, entry, base, where)
        for name, entry in entries.items()
        if name != "__metadata__"
    }
    ordered = sorted(by_name.items(), key=lambda item: (item[1].start, item[1].stop))
    expected = base
    for name, span in ordered:
        if span.start != expected:
            raise RowError(
                f"{where}: the bytes of {name!r} begin at {span.start:,}; expected {expected:,},"
                " without gap or overlap"
            )
        expected = span.stop
    if expected != file_size:
        raise RowError(
            f"{where}: the header describes {expected:,} bytes, but the file has {file_size:,};"
            " expected the same size"
        )
    return dict(ordered)


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The tensors of one file, in order of their ranges, or of all shards of an index, in order of
    their names.

    The headers of more than ``MOST_AT_ONCE`` shards are read as they are needed: a rotation is
    known from the config and the names alone.
    errors: RowError for an invalid header or index
    """
    if not file.name.endswith(".json"):
        return _stored(file, file.name)
    sharded = Sharded(file, partial(_stored, file))
    if len(sharded.shards) > MOST_AT_ONCE:
        return sharded
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(sharded.open, sharded.shards))
    return dict(sharded)


FORMAT = FileFormat(
    key="safetensors",
    order=1,
    names=(INDEX, "model.safetensors", *VARIANTS),
    suffixes=(".safetensors", ".safetensors.index.json"),
    begins=re.compile(rb".{4}\0{4}\s*\{", re.DOTALL),
    open=open_weights,
    files=files,
)


def _stored(file: WeightsFile, name: str) -> dict[str, StoredTensor]:
    storage, where = file.storage, file_label(file.where, name)
    size = storage.size(name)
    length = header_size(storage.part(name, 0, min(8, size)), size, where)
    return {
        tensor: by_range(
            storage,
            TensorInfo(name, span.dtype, span.shape),
            span.start,
            span.stop,
            f"{file.where}: {tensor}",
        )
        for tensor, span in spans(storage.part(name, 8, 8 + length), size, where).items()
    }


def _json_object(header: bytes, where: str) -> Mapping[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise RowError(
                f"{where}: {twice!r:.80} appears twice in the header; expected each name once"
            )
        "".join(entries).encode()  # An error for half of a letter.
        return entries

    try:
        # As the library has it: UTF-8 without a byte order mark.
        entries = json.loads(
            header.decode(), object_pairs_hook=unique, parse_constant=_refuse, parse_int=_whole
        )
    except (ValueError, RecursionError) as error:
        raise RowError(
            f"{where}: a header that is not JSON in UTF-8 ({type(error).__name__}); expected a JSON"
            " object"
        ) from None
    if not isinstance(entries, dict):
        raise RowError(
            f"{where}: a header that is {type(entries).__name__}; expected a JSON object"
        )
    notes = entries.get("__metadata__") or {}
    if not isinstance(notes, dict) or not all(isinstance(note, str) for note in notes.values()):
        raise RowError(f"{where}: __metadata__ is {notes!r:.80}; expected texts by name")
    return entries


def _refuse(constant: str) -> NoReturn:
    """errors: ValueError for NaN and the infinities, which JSON does not have"""
    raise ValueError(constant)


def _whole(digits: str) -> int:
    """The number; −1, which no header has, for −0, which the library takes for a fraction."""
    return int(digits) if digits != "-0" else -1


def _span(name: str, entry: object, base: int, where: str) -> TensorSpan:
    match entry:
        case {
            "dtype": str(dtype),
            "shape": list(shape),
            "data_offsets": [int(start), int(stop)],
        } if dtype in BITS:
            pass
        case {"dtype": str(dtype)} if dtype not in BITS:
            raise RowError(
                f"{where}: {name!r} has dtype {dtype!r}; expected one of {', '.join(BITS)}"
            )
        case _:
            raise RowError(
                f"{where}: {name!r} is {entry!r:.80}; expected dtype, shape and data_offsets"
            )
    if len(shape) > MOST_DIMENSIONS or not all(
        type(size) is int and 0 <= size < 2**40 for size in shape
    ):
        raise RowError(
            f"{where}: {name!r} has shape {shape!r:.80}; expected at most {MOST_DIMENSIONS} whole"
            " numbers from 0 to 2^40 − 1"
        )
    expected = -(-math.prod(shape) * BITS[dtype] // 8)
    if start < 0 or stop - start != expected:
        raise RowError(
            f"{where}: {name!r} has {stop - start:,} bytes; expected {expected:,} for {dtype}"
            f" {shape!r}"
        )
    return TensorSpan(dtype, tuple(shape), base + start, base + stop)
