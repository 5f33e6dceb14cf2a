"""Flax's flax_model.msgpack: nested maps in MessagePack, whose arrays are an extension type
(flax/serialization.py); read whole.

An array is its shape, the name of its dtype and its bytes, packed once more. One above 1 GiB is a
map of flat chunks.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from generator.checkpoints.files import torch_layout
from generator.checkpoints.files.library_errors import as_row_error, optional
from generator.checkpoints.files.tensors import READABLE, of_array
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Array

MOST_FILE_BYTES = 2**31
MOST_ENTRIES = 100_000
MOST_NAME_BYTES = 1_000
MOST_DIMENSIONS = 32
ARRAYS = (1, 3)  # Extension types: an array, and a scalar of numpy.
CHUNKED = "__msgpack_chunked_array__"
DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
}


@dataclass(frozen=True)
class Packed:
    """An array as it is packed. dtype: its name by numpy"""

    shape: tuple[int, ...]
    dtype: str
    data: bytes


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The arrays by the names that they have in PyTorch; kernels are transposed.

    errors: RowError for an invalid file, one above ``MOST_FILE_BYTES``, or without msgpack
    """
    where = file.label
    msgpack = optional("msgpack", where)
    size = file.storage.size(file.name)
    if size > MOST_FILE_BYTES:
        raise RowError(
            f"{where}: {size:,} bytes, which would be read whole; expected at most"
            f" {MOST_FILE_BYTES:,}"
        )
    with as_row_error(where, "msgpack cannot read it", "weights of Flax"):
        tree = msgpack.unpackb(
            file.storage.path(file.name).read_bytes(),
            object_pairs_hook=_limited(where),
            ext_hook=lambda code, data: _packed(msgpack, data) if code in ARRAYS else None,
            max_str_len=MOST_NAME_BYTES,
            max_bin_len=0,
            max_array_len=0,
            max_map_len=MOST_ENTRIES,
        )
        arrays = list(_flat(tree, ()))
    tensors = {torch_layout.name(words): _stored(file, words, array) for words, array in arrays}
    if len(tensors) < len(arrays):
        raise RowError(
            f"{where}: {len(arrays):,} arrays with {len(tensors):,} names; expected a name for each"
        )
    return tensors


FORMAT = FileFormat(
    key="flax",
    order=6,
    names=("flax_model.msgpack",),
    suffixes=(".msgpack",),
    open=open_weights,
    whole=True,
)


def _limited(where: str) -> Any:
    """A function that makes maps of their entries, as long as there are at most ``MOST_ENTRIES`` in
    all.
    """
    n_entries = 0

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal n_entries
        n_entries += len(pairs)
        if n_entries > MOST_ENTRIES or len(dict(pairs)) < len(pairs):
            raise RowError(
                f"{where}: more than {MOST_ENTRIES:,} entries, or two of one name; expected weights"
                " of Flax"
            )
        return dict(pairs)

    return made


def _packed(msgpack: Any, data: bytes) -> Packed:
    """errors: ValueError"""
    shape, dtype, content = msgpack.unpackb(data, raw=True, max_array_len=MOST_DIMENSIONS)
    itemsize = 2 if dtype == b"bfloat16" else np.dtype(dtype.decode()).itemsize
    if not all(type(size) is int and size >= 0 for size in shape) or math.prod(
        shape
    ) * itemsize != len(content):
        raise ValueError(
            f"an array of shape {shape!r:.80} in {len(content):,} bytes of {dtype.decode()}"
        )
    return Packed(tuple(shape), dtype.decode(), content)


def _flat(tree: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Packed]]:
    """The arrays of a tree, each with the words of its path.

    errors: those of an invalid tree, of any class
    """
    if isinstance(tree, Packed):
        yield words or ("",), tree
    elif isinstance(tree, dict) and CHUNKED in tree:
        shape, chunks = (
            tree["shape"],
            [tree["chunks"][str(index)] for index in range(len(tree["chunks"]))],
        )
        joined = b"".join(chunk.data for chunk in chunks if chunk.dtype == chunks[0].dtype)
        whole = Packed(
            tuple(shape[str(index)] for index in range(len(shape))), chunks[0].dtype, joined
        )
        if sum(map(math.prod, (chunk.shape for chunk in chunks))) != math.prod(whole.shape):
            raise ValueError(f"chunks of an array of shape {whole.shape!r:.80}, and not all of it")
        yield words, whole
    elif isinstance(tree, dict):
        for word, branch in tree.items():
            yield from _flat(branch, (*words, word))


def _stored(file: WeightsFile, words: tuple[str, ...], array: Packed) -> StoredTensor:
    name, axes = torch_layout.name(words), torch_layout.axes(words, len(array.shape))
    shape = array.shape if axes is None else tuple(array.shape[axis] for axis in axes)
    dtype = DTYPES.get(array.dtype, array.dtype)

    def load() -> Array:
        values = np.frombuffer(array.data, dtype=READABLE[dtype]).reshape(array.shape)
        return values if axes is None else values.transpose(axes)

    tensor = of_array(load, TensorInfo(file.name, dtype, shape), f"{file.where}: {name}")
    stored_name = "/".join(words)
    return replace(
        tensor,
        notes=lambda: (
            (f"{file.name} calls this tensor {stored_name}.",) if stored_name != name else ()
        ),
    )
