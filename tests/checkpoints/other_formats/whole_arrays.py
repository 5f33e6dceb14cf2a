"""numpy's own archive as a format that is read whole, beside config.json or, in the manner of ONNX,
in a folder below.
"""

from collections.abc import Mapping

import numpy as np

from generator.checkpoints.files.tensors import in_memory
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.numerics.arrays import Array


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    with np.load(file.storage.path(file.name), allow_pickle=False) as archive:
        return {name: _stored(file, name, archive[name]) for name in archive.files}


def _stored(file: WeightsFile, name: str, array: Array) -> StoredTensor:
    header = TensorInfo(
        file.name, f"{array.dtype.kind}{array.dtype.itemsize * 8}".upper(), array.shape
    )
    data = memoryview(array.tobytes())
    return in_memory(lambda: data, header, array.nbytes, f"{file.where}: {name}")


FORMAT = FileFormat(
    key="whole_arrays",
    names=("model.arrays", "arrays/*.arrays"),
    suffixes=(".arrays",),
    open=open_weights,
)
