""".npz, numpy's archive: a zip file with an .npy file for each array (numpy.lib.format describes
both); headers are read first.

A member with arrays of objects is a pickle, and is never loaded.
"""

import math
import re
import struct
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from generator.checkpoints.files.library_errors import as_row_error
from generator.checkpoints.files.tensors import READABLE, by_range, dtype_name, of_array
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Array

MOST_MEMBERS = 50_000
MOST_BYTES = 2**31  # Of one array that is decompressed.
# Of an array that is read whole where only some rows are needed: the checksum is one of the whole.
# Rows of a larger one are read unchecked.
MOST_CHECKED_BYTES = 2**28
# Bytes before a member's name; the lengths of the name and of what follows it are at its end.
LOCAL_HEADER = 30
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
NUMBERS = "fiubcOV"  # Kinds of dtypes; texts, which describe the arrays, are not among them.


@dataclass(frozen=True)
class ArrayHeader:
    """What an .npy file says of its array. size: its own length in bytes"""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: "np.dtype[Any]"
    size: int


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The arrays by name, without texts; data are read and decompressed only when they are needed.

    errors: RowError for an invalid archive
    """
    path, where = file.storage.path(file.name), file.label
    tensors = {}
    with (
        as_row_error(where, "numpy cannot read it", "an .npz file"),
        warnings.catch_warnings(action="ignore"),
        zipfile.ZipFile(path) as archive,
    ):
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise RowError(f"{where}: {len(members):,} members; expected at most {MOST_MEMBERS:,}")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in tensors:
                raise RowError(f"{where}: {name!r:.80} appears twice; expected each name once")
            with archive.open(member) as stream:
                header = _header(stream, member, f"{where}: {name!r:.80}")
            if header.dtype.kind in NUMBERS:
                tensors[name] = _stored(file, path, member, header)
    return tensors


FORMAT = FileFormat(
    key="numpy_archive",
    order=5,
    names=("model.npz", "weights.npz"),
    suffixes=(".npz",),
    begins=re.compile(rb"PK\x03\x04.{26}[^\0]{1,200}?\.npy", re.DOTALL),
    open=open_weights,
    whole=True,
)


def _header(stream: IO[bytes], member: zipfile.ZipInfo, where: str) -> ArrayHeader:
    version = np.lib.format.read_magic(stream)
    if version not in HEADERS:
        raise RowError(f"{where}: version {version} of the .npy format; expected 1.0 or 2.0")
    shape, by_columns, dtype = HEADERS[version](stream)
    header = ArrayHeader(shape, by_columns, dtype, stream.tell())
    if len(shape) > 32 or not all(0 <= size < 2**40 for size in shape):
        raise RowError(f"{where}: shape {shape!r:.80}; expected sizes from 0 to 2^40 − 1")
    n_bytes = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and header.size + n_bytes != member.file_size:
        raise RowError(
            f"{where}: {member.file_size - header.size:,} bytes; expected {n_bytes:,} for {dtype}"
            f" {shape}"
        )
    return header


def _stored(
    file: WeightsFile, path: Path, member: zipfile.ZipInfo, header: ArrayHeader
) -> StoredTensor:
    name = member.filename.removesuffix(".npy")
    info, where = (
        TensorInfo(file.name, dtype_name(header.dtype), header.shape),
        f"{file.where}: {name}",
    )
    n_bytes = math.prod(header.shape) * header.dtype.itemsize
    is_plain = not header.by_columns and header.dtype == READABLE.get(info.dtype)
    is_stored = is_plain and member.compress_type == zipfile.ZIP_STORED

    def load() -> Array:
        if n_bytes > MOST_BYTES and not is_stored:
            raise RowError(
                f"{where}: {n_bytes:,} bytes; expected at most {MOST_BYTES:,} in a compressed"
                " archive"
            )
        with (
            as_row_error(where, "numpy cannot read it", "an array"),
            zipfile.ZipFile(path) as archive,
            archive.open(member) as stream,
        ):
            stream.read(header.size)
            # At its end, zipfile compares the checksum.
            values = np.frombuffer(stream.read(), dtype=header.dtype)
            return values.reshape(header.shape, order="F" if header.by_columns else "C")

    whole = of_array(load, info, where)
    if not is_stored or n_bytes <= MOST_CHECKED_BYTES:
        return whole
    start = _start(file, member) + header.size
    rows = by_range(file.storage, info, start, start + n_bytes, where)

    def part(first: int, last: int) -> bytes | memoryview:
        return (whole if last - first == n_bytes else rows).part(first, last)

    return replace(whole, part=part)


def _start(file: WeightsFile, member: zipfile.ZipInfo) -> int:
    """The first byte of a member that is not compressed."""
    local = file.storage.part(file.name, member.header_offset, member.header_offset + LOCAL_HEADER)
    return member.header_offset + LOCAL_HEADER + int(sum(struct.unpack("<HH", local[-4:])))
