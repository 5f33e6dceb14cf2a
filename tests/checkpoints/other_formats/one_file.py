"""A format in the manner of GGUF: one file of any name, with a header that holds the config too,
read by range.
"""

import json
from collections.abc import Mapping
from typing import Any

from generator.checkpoints.files.tensors import by_range
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile

HEADER = 512  # bytes of JSON, filled up with spaces


def _header(file: WeightsFile) -> Any:
    return json.loads(file.storage.part(file.name, 0, HEADER))


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    return {
        name: by_range(
            file.storage,
            TensorInfo(file.name, dtype, tuple(shape)),
            HEADER + start,
            HEADER + stop,
            f"{file.where}: {name}",
        )
        for name, (dtype, shape, start, stop) in _header(file)["tensors"].items()
    }


def texts(file: WeightsFile) -> Mapping[str, bytes]:
    return {"config.json": json.dumps(_header(file)["config"]).encode()}


FORMAT = FileFormat(
    key="one_file", names=("*.one",), suffixes=(".one",), open=open_weights, texts=texts
)
