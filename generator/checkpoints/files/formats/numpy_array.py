"""A single .npy file of numpy: one array."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from generator.checkpoints.files.tensors import dtype_name, of_array
from generator.checkpoints.model.position_tables import NAME
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.contracts.wording import Wording

NOTES = Wording("wording/notes.jinja")
TABLE = "position_embeddings"


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The array. A matrix, which has no name, is taken for the table of positions that a row of
    such a file can only mean.

    errors: exceptions of numpy for an invalid file, or an array of objects
    """
    mapped = np.lib.format.open_memmap(file.storage.path(file.name), mode="r")
    name = PurePosixPath(file.name).stem
    header = TensorInfo(file.name, dtype_name(mapped.dtype), mapped.shape)
    tensor = of_array(lambda: np.asarray(mapped), header, f"{file.where}: {name}")
    if mapped.ndim != 2 or NAME.search(name):
        return {name: tensor}
    return {TABLE: replace(tensor, notes=lambda: (NOTES("unnamed_matrix", file=file.name),))}


FORMAT = FileFormat(
    key="numpy_array",
    after="numpy_archive",
    names=(),
    suffixes=(".npy",),
    begins=re.compile(rb"\x93NUMPY"),
    open=open_weights,
    needs_local_file=True,
)
