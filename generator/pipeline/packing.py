"""Records as bytes that hold JSON and arrays, and nothing that can run.

They are 8 bytes of length, JSON of that length, and the bytes of the arrays and drawings, which the
JSON gives by offset. Numbers in float64 are stored in a narrower type where that holds them
exactly, equal arrays once, and drawings compressed.
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from generator import contracts
from generator.cache.blobs import Chunk
from generator.cache.lazy import Lazy, LazyMapping
from generator.contracts import NOT_STORED
from generator.encodings import SinusoidFormula, all_forms
from generator.numerics.arrays import Array, narrowest

RECORDS = {
    **{
        name: kind
        for name, kind in vars(contracts).items()
        if isinstance(kind, type) and is_dataclass(kind)
    },
    **{record.__name__: record for record in (*all_forms(), SinusoidFormula)},
}
LENGTH = 8  # bytes
# Level of compression of drawings, which shrink to a third by it; weights would hardly shrink.
FAST = 1
Read = Callable[[int, int], bytes]


def pack(value: object) -> bytes:
    """Records of ours, mappings, tuples, lists, arrays, bytes and plain values as bytes."""
    return b"".join(packed(value))


def packed(value: object) -> list[Chunk]:
    """``pack`` in chunks, so that arrays are not copied."""
    blobs = _Blobs()
    document = json.dumps(_plain(value, blobs)).encode()
    return [len(document).to_bytes(LENGTH), document, *blobs.chunks]


def unpack(data: bytes) -> Any:
    """The inverse of ``pack``. errors: any when ``data`` does not come from it"""
    stop = LENGTH + int.from_bytes(data[:LENGTH])
    return _value(json.loads(data[LENGTH:stop]), partial(_cut, data, stop))


def unpack_file(file: BufferedReader, path: Path) -> Any:
    """As ``unpack``, of the bytes from here on of a ``file`` at ``path``; its forms, arrays and
    drawings stay on disk until they are loaded.

    errors: any when they do not come from ``pack``
    """
    length = int.from_bytes(file.read(LENGTH))
    if length > path.stat().st_size:
        raise ValueError("longer than its file")
    document = file.read(length)
    return _value(json.loads(document), partial(_read_range, path, file.tell()))


# No lambdas: what is read later goes to other processes, and no lambda can be pickled.
def _cut(data: bytes, base: int, start: int, stop: int) -> bytes:
    return data[base + start : base + stop]


def _read_range(path: Path, base: int, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        file.seek(base + start)
        return file.read(stop - start)


class _Blobs:
    """Bytes of arrays and drawings, one after another; equal ones once."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self._stop, self._extents = 0, dict[bytes, dict[str, int]]()

    def extent(self, chunk: Chunk) -> dict[str, int]:
        """Where ``chunk`` starts and stops; it is added unless it is there."""
        digest = hashlib.sha256(chunk).digest()
        if digest not in self._extents:
            self.chunks.append(chunk)
            self._extents[digest] = {"start": self._stop, "stop": self._stop + len(chunk)}
            self._stop += len(chunk)
        return self._extents[digest]


def _plain(value: object, blobs: _Blobs) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case np.ndarray() | bytes():
            return _placed(value, blobs)
        case tuple() | list():
            return {"kind": type(value).__name__, "items": [_plain(item, blobs) for item in value]}
        case Mapping():
            return {
                "kind": "mapping",
                "items": [[key, _plain(item, blobs)] for key, item in value.items()],
            }
        case Lazy():
            return {"kind": "lazy", "value": _plain(value.load(), blobs)}
        case None | bool() | int() | float() | str():
            return value
    record: Any = value
    names = (field.name for field in fields(record) if NOT_STORED not in field.metadata)
    members = {name: _plain(getattr(value, name), blobs) for name in names}
    return {"kind": type(value).__name__, "fields": members}


def _placed(value: Array | bytes, blobs: _Blobs) -> dict[str, object]:
    if isinstance(value, bytes):
        return {"kind": "bytes", **blobs.extent(zlib.compress(value, FAST))}
    stored = narrowest(value)
    extent = blobs.extent(np.ascontiguousarray(stored).reshape(-1).view(np.uint8).data)
    return {
        "kind": "ndarray",
        **extent,
        "stored": stored.dtype.str,
        "dtype": value.dtype.str,
        "shape": value.shape,
    }


def _value(plain: Any, read: Read) -> Any:
    if not isinstance(plain, dict):
        return plain
    if _is_large(plain):
        data = read(plain["start"], plain["stop"])
        return zlib.decompress(data) if plain["kind"] == "bytes" else _array(plain, data)
    match plain["kind"]:
        case "tuple" | "list" as kind:
            members = [_value(item, read) for item in plain["items"]]
            return tuple(members) if kind == "tuple" else members
        case "mapping":
            items = {key: partial(_value, item, read) for key, item in plain["items"]}
            is_lazy = any(map(_is_large, (item for _, item in plain["items"])))
            return LazyMapping(items) if is_lazy else {key: load() for key, load in items.items()}
        case "lazy":
            return Lazy(partial(_value, plain["value"], read))
    return RECORDS[plain["kind"]](
        **{name: _value(item, read) for name, item in plain["fields"].items()}
    )


def _array(plain: Mapping[str, Any], data: bytes) -> Array:
    array = (
        np.frombuffer(data, dtype=np.dtype(plain["stored"]))
        .astype(np.dtype(plain["dtype"]), copy=False)
        .reshape(plain["shape"])
    )
    array.setflags(write=False)
    return array


def _is_large(plain: object) -> bool:
    return isinstance(plain, dict) and plain["kind"] in ("ndarray", "bytes")
