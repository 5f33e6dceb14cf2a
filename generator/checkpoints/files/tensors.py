"""Tensors in files: exact conversion of dtypes to float64, and tensors by range or in memory."""

import math
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from generator.contracts import Storage, StoredTensor, TensorInfo
from generator.errors import NotNumbersError
from generator.numerics.arrays import Array, Floats

READABLE = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}


def decode(data: bytes | memoryview, dtype: str, shape: tuple[int, ...], where: str) -> Floats:
    """``data`` of type ``dtype`` as an array of ``shape``, exactly, in float64.

    errors: NotNumbersError for a dtype that is not in ``READABLE``
    """
    _check_readable(dtype, where)
    raw = np.frombuffer(data, dtype=READABLE[dtype])
    if dtype == "BF16":  # The upper half of a float32.
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    # A signalling NaN becomes a quiet one; nothing else changes.
    with np.errstate(invalid="ignore"):
        return raw.astype(np.float64).reshape(shape)


def dtype_name(dtype: "np.dtype[Any]") -> str:
    """The name of a dtype of numpy as in safetensors, such as "F32"; its own name for one that
    safetensors does not have.
    """
    letters = {"f": "F", "i": "I", "u": "U", "c": "C"}
    return f"{letters[dtype.kind]}{dtype.itemsize * 8}" if dtype.kind in letters else str(dtype)


def _check_readable(dtype: str, where: str) -> None:
    if dtype not in READABLE:
        raise NotNumbersError(f"{where}: dtype {dtype}; expected one of {', '.join(READABLE)}")


def _by_header(
    header: TensorInfo, n_bytes: int, part: Callable[[int, int], bytes | memoryview], where: str
) -> StoredTensor:
    """A tensor of plain numbers; ``part`` returns a range of its bytes."""

    def numbers(data: bytes | memoryview, shape: tuple[int, ...]) -> Floats:
        return decode(data, header.dtype, shape, where)

    return StoredTensor(header, n_bytes, part, numbers)


def by_range(
    storage: Storage, header: TensorInfo, start: int, stop: int, where: str
) -> StoredTensor:
    """A tensor whose bytes are ``start`` to ``stop`` (exclusive) of its file."""

    def part(first: int, last: int) -> bytes:
        return storage.part(header.file, start + first, start + last)

    return _by_header(header, stop - start, part, where)


def in_memory(
    load: Callable[[], memoryview], header: TensorInfo, n_bytes: int, where: str
) -> StoredTensor:
    """A tensor of a file that is loaded whole; ``load`` returns its bytes in row-major order, and
    is called for every range.
    """

    def part(start: int, stop: int) -> memoryview:
        return load()[start:stop]

    return _by_header(header, n_bytes, part, where)


def of_array(load: Callable[[], Array], header: TensorInfo, where: str) -> StoredTensor:
    """A tensor that is read as one array of numpy in any order of bytes and axes.

    load: returns the array in the header's shape; it is called once, and only for a dtype in
        ``READABLE``
    """
    lock = Lock()  # Rows are read by several threads.
    n_bytes = math.prod(header.shape) * np.dtype(READABLE.get(header.dtype, "V0")).itemsize

    @cache
    def content() -> memoryview:
        # Row-major and little-endian.
        array = np.ascontiguousarray(load(), dtype=READABLE[header.dtype])
        return memoryview(array.reshape(-1).view(np.uint8).data)

    def loaded() -> memoryview:
        _check_readable(header.dtype, where)
        with lock:
            return content()

    return in_memory(loaded, header, n_bytes, where)
