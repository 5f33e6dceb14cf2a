"""Tensors of an ONNX graph: their headers, and their bytes in the model or in a file beside it."""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from generator.checkpoints.files.tensors import by_range, in_memory
from generator.contracts import StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Array

# Name and bits of each number of TensorProto.DataType; strings (8) are no numbers.
TYPES: Mapping[int, tuple[str, int]] = {
    1: ("F32", 32), 2: ("U8", 8), 3: ("I8", 8), 4: ("U16", 16), 5: ("I16", 16), 6: ("I32", 32),
    7: ("I64", 64), 9: ("BOOL", 8),
    10: ("F16", 16), 11: ("F64", 64), 12: ("U32", 32), 13: ("U64", 64), 14: ("C64", 64),
    15: ("C128", 128), 16: ("BF16", 16),
    17: ("F8_E4M3", 8), 18: ("F8_E4M3FNUZ", 8), 19: ("F8_E5M2", 8), 20: ("F8_E5M2FNUZ", 8),
    21: ("U4", 4), 22: ("I4", 4), 23: ("F4", 4),
    24: ("F8_E8M0", 8), 25: ("U2", 2), 26: ("I2", 2), 27: ("F6_E2M3", 6), 28: ("F6_E3M2", 6),
}  # fmt: skip
NUMBERS = {name: number for number, (name, _) in TYPES.items()}
STRING = 8
EXTERNAL = 1  # TensorProto.DataLocation


def stored(file: WeightsFile, proto: Any) -> StoredTensor:
    """The tensor of a TensorProto.

    errors: RowError for data of another size than its shape says, or outside the model's folder
    """
    from onnx.external_data_helper import ExternalDataInfo

    where = f"{file.label}: {proto.name!r:.80}"
    if proto.data_type not in TYPES:
        raise RowError(f"{where} has data type {proto.data_type}; expected one of {min(TYPES)} to"
                       f" {max(TYPES)}")  # fmt: skip
    (dtype, bits), shape = TYPES[proto.data_type], tuple(proto.dims)
    n_bytes = -(-math.prod(shape) * bits // 8)
    if proto.data_location == EXTERNAL:
        outside, place = external_name(file, proto), ExternalDataInfo(proto)
        n_stored, start = n_bytes if place.length is None else place.length, place.offset or 0
        header = TensorInfo(outside, dtype, shape)
        tensor = by_range(file.storage, header, start, start + n_bytes, where)
    else:
        load = cache(lambda: memoryview(_content(proto)))
        n_stored = len(_content(proto))
        tensor = in_memory(load, TensorInfo(file.name, dtype, shape), n_bytes, where)
    if n_stored != n_bytes or min(shape, default=0) < 0:
        raise RowError(
            f"{where} has {n_stored:,} bytes; expected {n_bytes:,} for {dtype} {list(shape)!r}"
        )
    return tensor


def _content(proto: Any) -> bytes:
    """The bytes of a tensor, as ``raw_data`` has them."""
    from onnx import numpy_helper

    if proto.HasField("raw_data"):
        return bytes(proto.raw_data)
    return bytes(numpy_helper.from_array(numpy_helper.to_array(proto)).raw_data)


def whole_numbers(data: bytes | memoryview, dtype: str, shape: tuple[int, ...]) -> Array:
    """Whole numbers of ``shape``, from their bytes. errors: ValueError for too few or too many"""
    from onnx import TensorProto, numpy_helper

    proto = TensorProto(data_type=NUMBERS[dtype], dims=shape, raw_data=bytes(data))
    return np.asarray(numpy_helper.to_array(proto))


def external_name(file: WeightsFile, proto: Any) -> str:
    """The name in the storage of the file with the data of a tensor.

    errors: RowError unless it is in the folder of the model, or in one below
    """
    from onnx.external_data_helper import ExternalDataInfo

    location: str = ExternalDataInfo(proto).location
    parts = PurePosixPath(location).parts
    if not parts or ".." in parts or location.startswith("/") or set("\\:\0") & set(location):
        raise RowError(
            f"{file.where}: its data are in {location!r:.80}; expected the name of a file beside"
            " the model"
        )
    return str(PurePosixPath(file.name).parent / location)
