"""A single .npy file of numpy: one array."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from generator.checkpoints.files.library_errors import as_row_error
from generator.checkpoints.files.tensors import dtype_name, of_array
from generator.checkpoints.model.position_tables import NAME
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Array

MOST_BYTES = 2**31
TABLE = "position_embeddings"
NUMBERS = "fiub"  # Kinds of dtypes.


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The array. A matrix, which has no name, is taken for the table of positions that a row of
    such a file can only mean.

    errors: RowError for an invalid file, an array of objects, or one above ``MOST_BYTES``
    """
    path, name = file.storage.path(file.name), PurePosixPath(file.name).stem
    with as_row_error(file.label, "numpy cannot read it", "an array of numbers"):
        mapped = np.lib.format.open_memmap(path, mode="r")
        if mapped.dtype.kind not in NUMBERS:
            raise RowError(f"{file.label}: no array of numbers; expected one")
    n_bytes = math.prod(mapped.shape) * mapped.dtype.itemsize
    if n_bytes > MOST_BYTES:
        raise RowError(f"{file.label}: {n_bytes:,} bytes; expected at most {MOST_BYTES:,}")

    def load() -> Array:
        return np.asarray(mapped)

    header = TensorInfo(file.name, dtype_name(mapped.dtype), mapped.shape)
    tensor = of_array(load, header, f"{file.where}: {name}")
    if mapped.ndim != 2 or NAME.search(name):
        return {name: tensor}
    note = f"{file.name} holds one matrix without a name; its rows are taken for positions."
    return {TABLE: replace(tensor, notes=lambda: (note,))}


FORMAT = FileFormat(
    key="numpy_array",
    order=6,
    names=(),
    suffixes=(".npy",),
    begins=re.compile(rb"\x93NUMPY"),
    open=open_weights,
    whole=True,
)
