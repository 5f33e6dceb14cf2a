""".npz, numpy's archive: a zip file with an .npy file for each array (numpy.lib.format describes
both); headers are read first.

A member with arrays of objects is a pickle, and is never loaded.
"""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from generator.checkpoints.files.tensors import dtype_name, of_array
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Array

MOST_BYTES = 2**31  # Of one array.
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

    errors: RowError for a name that appears twice; exceptions of any class for another file
    """
    path = file.storage.path(file.name)
    tensors: dict[str, StoredTensor] = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name in tensors:
                raise RowError(f"{file.label}: {name!r:.80} appears twice; expected each name once")
            with archive.open(member) as stream:
                header = _header(stream)
            if header.dtype.kind in NUMBERS:
                tensors[name] = _stored(file, path, member, header)
    return tensors


FORMAT = FileFormat(
    key="numpy_archive",
    after="onnx",
    names=("model.npz", "weights.npz"),
    suffixes=(".npz",),
    begins=re.compile(rb"PK\x03\x04.{26}[^\0]{1,200}?\.npy", re.DOTALL),
    open=open_weights,
    needs_local_file=True,
)


def _header(stream: IO[bytes]) -> ArrayHeader:
    shape, by_columns, dtype = HEADERS[np.lib.format.read_magic(stream)](stream)
    return ArrayHeader(shape, by_columns, dtype, stream.tell())


def _stored(
    file: WeightsFile, path: Path, member: zipfile.ZipInfo, header: ArrayHeader
) -> StoredTensor:
    where = f"{file.where}: {member.filename.removesuffix('.npy')}"

    def load() -> Array:
        if member.file_size > MOST_BYTES:
            raise RowError(f"{where}: {member.file_size:,} bytes; expected at most {MOST_BYTES:,}")
        with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
            stream.read(header.size)
            # At its end, zipfile compares the checksum.
            values = np.frombuffer(stream.read(), dtype=header.dtype)
            return values.reshape(header.shape, order="F" if header.by_columns else "C")

    info = TensorInfo(file.name, dtype_name(header.dtype), header.shape)
    return of_array(load, info, where)
