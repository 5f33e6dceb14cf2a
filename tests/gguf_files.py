"""GGUF files, made with the writer of the library gguf, and tensors under the names that the
converter of llama.cpp gives them.
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType as Kind

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.formats.gguf.header import Header, read
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import WeightsFile
from generator.numerics.arrays import Array

# Beginnings of keys that do not begin with the architecture.
EVERYWHERE = ("general.", "tokenizer.", "split.", "clip.")


def write(
    path: Path,
    architecture: str,
    settings: Mapping[str, Any],
    tensors: Mapping[str, Array] | None = None,
    kind: Kind = Kind.F32,
) -> Path:
    """A file with these settings and tensors; where the rows of one have no whole blocks of
    ``kind``, it is stored in half precision.
    """
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
    pairs = (
        (names.get_name(name, try_suffixes=(".weight", ".bias")), array)
        for name, array in arrays.items()
    )
    return {name: array for name, array in pairs if name is not None}


def files(path: Path) -> FolderFiles:
    """The contents of one file."""
    return FolderFiles(Folder(path.parent, "here", named=path.name), "here", Choice(name=path.name))


def weights(path: Path) -> WeightsFile:
    return WeightsFile(Folder(path.parent, "here"), path.name, "here")


def header_of(path: Path) -> Header:
    return read(weights(path), path.name)


def number_of(value: int, size: str = "Q") -> bytes:
    return struct.pack(f"<{size}", value)


def text_of(value: str) -> bytes:
    return number_of(len(value.encode())) + value.encode()


def setting(key: str, kind: int, value: bytes) -> bytes:
    return text_of(key) + number_of(kind, "I") + value


def tensor_of(name: str, shape: tuple[int, ...] = (2, 2), kind: int = 0, offset: int = 0) -> bytes:
    """What the header says of a tensor. shape: in the order of the file, columns first"""
    return (
        text_of(name)
        + number_of(len(shape), "I")
        + b"".join(map(number_of, shape))
        + number_of(kind, "I")
        + number_of(offset)
    )


def file_of(
    settings_part: list[bytes],
    tensors: list[bytes],
    data: bytes = b"",
    magic: bytes = b"GGUF",
    version: int = 3,
) -> bytes:
    """A file by hand, as docs/gguf.md of ggml describes it."""
    start = (
        magic + number_of(version, "I") + number_of(len(tensors)) + number_of(len(settings_part))
    )
    head = start + b"".join(settings_part) + b"".join(tensors)
    return head + bytes(-len(head) % 32) + data
