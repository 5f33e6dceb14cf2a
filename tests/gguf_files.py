"""GGUF files, made with the writer of the library gguf, and tensors under the names that the converter of llama.cpp gives them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType as Kind

from generator.numerics.arrays import Array

EVERYWHERE = ("general.", "tokenizer.", "split.", "clip.")  # Beginnings of keys that do not begin with the architecture.


def write(
    path: Path, architecture: str, settings: Mapping[str, Any], tensors: Mapping[str, Array] | None = None, kind: Kind = Kind.F32
) -> Path:
    """A file with these settings and tensors; where the rows of one have no whole blocks of ``kind``, it is stored in half precision."""
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in settings.items():
        add(writer, key if key.startswith(EVERYWHERE) else f"{architecture}.{key}", value)
    for name, array in (tensors or {}).items():
        array_kind = kind if array.ndim > 1 or kind == Kind.F16 else Kind.F32
        try:
            data = gguf.quants.quantize(array.astype(np.float32), array_kind)
        except gguf.quants.QuantError:
            array_kind = Kind.F16
            data = array.astype(np.float16)
        writer.add_tensor(name, np.ascontiguousarray(data), raw_dtype=array_kind)
    return close(writer, path)


def add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    """One setting, of the type that the converter gives such values."""
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def close(writer: gguf.GGUFWriter, path: Path) -> Path:
    """The file, complete."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def renamed(architecture: gguf.MODEL_ARCH, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The tensors that the converter takes over, under its names (gguf.tensor_mapping)."""
    names = gguf.get_tensor_name_map(architecture, 4)
    pairs = ((names.get_name(name, try_suffixes=(".weight", ".bias")), array) for name, array in arrays.items())
    return {name: array for name, array in pairs if name is not None}
