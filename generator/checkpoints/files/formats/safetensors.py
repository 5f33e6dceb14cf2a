"""safetensors, in one file or in shards with an index; headers are validated before any data is
read.

The format: the length of the header in 8 bytes (little-endian), the header in JSON, then the bytes
of the tensors without gaps.
"""

import json
import re
import struct
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import mul
from typing import Any

from generator.checkpoints.files.json_object import is_deeper
from generator.checkpoints.files.reader import AT_ONCE
from generator.checkpoints.files.shards import Sharded, files
from generator.checkpoints.files.tensors import by_range
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.contracts.file_formats import file_label
from generator.errors import RowError

MOST_HEADER_BYTES = 32 * 2**20
MOST_SIZE = 2**64  # The library counts in 64 bits.
DEEPEST = 127  # levels of a header; its reader of JSON, serde_json, has no more
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


def spans(header: bytes, file_size: int, where: str) -> dict[str, TensorSpan]:
    """Every tensor of the file by name, in order of their ranges.

    errors: RowError unless the ranges cover the data of the file without gap or overlap, each with
        as many bytes as its shape says; exceptions of any class for another header
    """
    # As the library has it: UTF-8 without a byte order mark, and neither NaN nor half a surrogate.
    entries = json.loads(header.decode(), object_pairs_hook=_unique, parse_int=_whole)
    json.dumps(entries, ensure_ascii=False, allow_nan=False).encode()
    if is_deeper(entries, DEEPEST):
        raise RowError(f"{where}: a header nested more than {DEEPEST} deep; expected tensors")
    metadata = entries.pop("__metadata__", None)
    texts = metadata.values() if isinstance(metadata, dict) else [None]
    if metadata is not None and not all(isinstance(one, str) for one in texts):
        raise RowError(f"{where}: __metadata__ is {metadata!r:.80}; expected texts by their names")
    base = 8 + len(header)
    by_name = {name: _span(name, entry, base, where) for name, entry in entries.items()}
    ordered = sorted(by_name.items(), key=lambda item: (item[1].start, item[1].stop))
    expected = base
    for name, span in ordered:
        if span.start != expected:
            raise RowError(
                f"{where}: the bytes of {name!r:.80} begin at {span.start:,}; expected"
                f" {expected:,}, without gap or overlap"
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
    names=(INDEX, "model.safetensors", *VARIANTS),
    suffixes=(".safetensors", ".safetensors.index.json"),
    begins=re.compile(rb".{4}\0{4}\s*\{", re.DOTALL),
    open=open_weights,
    files=files,
)


def _stored(file: WeightsFile, name: str) -> dict[str, StoredTensor]:
    storage, where = file.storage, file_label(file.where, name)
    size = storage.size(name)
    (length,) = struct.unpack("<Q", storage.part(name, 0, 8))
    if length > MOST_HEADER_BYTES:
        raise RowError(
            f"{where}: a header of {length:,} bytes; expected at most {MOST_HEADER_BYTES:,}"
        )
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


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. errors: ValueError for a name that appears twice"""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"{twice!r:.80} appears twice in the header")
    return entries


def _whole(digits: str) -> int | float:
    """A number without a point, which the library takes for none where it is -0.

    errors: OverflowError for one that no number in 64 bits comes near
    """
    number = int(digits)
    return number if float(number) or digits == "0" else -0.0


def _span(name: str, entry: Any, base: int, where: str) -> TensorSpan:
    dtype, shape, (start, stop) = entry["dtype"], entry["shape"], entry["data_offsets"]
    products = [*accumulate(shape, mul, initial=1)] if isinstance(shape, list) else []
    sizes = [*products, products[-1] * BITS[dtype], *shape, start, stop] if products else [None]
    if not all(type(size) is int and 0 <= size < MOST_SIZE for size in sizes):
        raise RowError(
            f"{where}: {name!r:.80} has the shape {shape!r:.80} at {start!r:.40} to {stop!r:.40};"
            " expected whole numbers from 0 of 64 bits"
        )
    expected, rest = divmod(products[-1] * BITS[dtype], 8)
    if rest:
        raise RowError(f"{where}: {name!r:.80} ends within a byte; expected whole bytes of {dtype}")
    if stop - start != expected:
        raise RowError(
            f"{where}: {name!r:.80} has {stop - start:,} bytes; expected {expected:,} for {dtype}"
            f" {shape!r:.80}"
        )
    return TensorSpan(dtype, tuple(shape), base + start, base + stop)
