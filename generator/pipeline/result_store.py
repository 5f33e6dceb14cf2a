"""Outcomes on disk, by the digest of all that they depend on. They hold JSON and arrays, and
nothing that can run.

A file is the SHA-256 of its key, the SHA-256 of the bytes after that, 8 bytes of length, JSON of
that length, and the bytes of the arrays and drawings, which the JSON gives by offset. Numbers in
float64 are stored in a narrower type where that holds them exactly, equal arrays once, and drawings
compressed.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from generator import contracts
from generator.cache.blobs import BlobCache, open_regular, write
from generator.cache.lazy import Lazy, LazyMapping
from generator.contracts import NOT_STORED, Outcome
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
MOST_BYTES = 2 * 2**30  # Outcomes of the present list stay even beyond this.
DIGEST = 32  # bytes
HEAD = DIGEST + 8  # bytes before the JSON, without the digest of the key
# Level of compression of drawings, which shrink to a third by it; weights would hardly shrink.
FAST = 1
Read = Callable[[int, int], bytes]
Chunk = bytes | memoryview


class ResultStore:
    """Outcomes in a folder, one file each, and a cache of what is made of several, mostly drawings.

    A file that is truncated, altered, renamed or foreign is a miss, and so is a link.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.drawings = BlobCache(folder / "drawings")

    def has(self, key: str) -> bool:
        """Whether there is a file under ``key``, which may turn out to be broken."""
        return self._path(key).is_file()

    def get(self, key: str) -> Outcome | None:
        """The outcome under ``key``, or None.

        Its form, arrays and drawings stay on disk until they are loaded.
        """
        path = self._path(key)
        try:
            document = _checked_document(path, key)
            outcome = _unpacked(document, partial(_read_range, path))
            os.utime(path)  # ``limit`` removes what has not been used for longest.
        except Exception:  # noqa: BLE001  # Bytes that another program wrote may fail anywhere.
            return None
        return outcome if isinstance(outcome, Outcome) else None

    def put(self, key: str, chunks: Iterable[Chunk]) -> None:
        """Write a packed outcome under ``key``; the file appears only when all of it is written.

        errors: OSError
        """
        write(self._path(key), [_digest_of(key), *chunks])

    def limit(self, keys: set[str], drawings: set[str], most: int = MOST_BYTES) -> None:
        """Remove unfinished files, and the oldest until ``most`` bytes are left, except those of
        ``keys`` and ``drawings``.

        An outcome is as old as its last use, a drawing as when it was made.
        """
        wanted = {*map(self._path, keys), *(self.drawings.folder / name for name in drawings)}
        files = (
            [(path.stat(), path) for path in self.folder.rglob("*") if path.is_file()]
            if self.folder.is_dir()
            else []
        )
        left = sum(state.st_size for state, _ in files)
        for state, path in sorted(files, key=lambda file: (file[0].st_mtime_ns, file[1])):
            if path.suffix == ".unfinished" or (left > most and path not in wanted):
                path.unlink(missing_ok=True)
                left -= state.st_size

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.outcome"


def pack(value: object) -> bytes:
    """``value`` (records of ours, mappings, tuples, lists, arrays, bytes, plain values) as the
    bytes of a file.
    """
    return b"".join(packed(value))


def packed(value: object) -> list[Chunk]:
    """``pack`` in chunks, so that arrays are not copied."""
    blobs = _Blobs()
    document = json.dumps(_plain(value, blobs)).encode()
    chunks, digest = [len(document).to_bytes(8), document, *blobs.chunks], hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return [digest.digest(), *chunks]


def unpack(data: bytes) -> Any:
    """The inverse of ``pack``.

    errors: ValueError when ``data`` was altered; any when it does not come from ``pack``
    """
    if hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
        raise ValueError("truncated or altered")
    return _unpacked(
        data[HEAD : HEAD + int.from_bytes(data[DIGEST:HEAD])], lambda start, stop: data[start:stop]
    )


def _digest_of(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _checked_document(path: Path, key: str) -> bytes:
    """The JSON of a file, once its digests have been found right; no length is believed before.

    errors: OSError, ValueError
    """
    with open_regular(path) as file:
        if file.read(DIGEST) != _digest_of(key):
            raise ValueError("of another key")
        if file.read(DIGEST) != hashlib.file_digest(file, "sha256").digest():
            raise ValueError("truncated or altered")
        size = file.tell() - DIGEST - HEAD
        file.seek(2 * DIGEST)
        length = int.from_bytes(file.read(HEAD - DIGEST))
        if length > size:
            raise ValueError("longer than its file")
        return file.read(length)


def _read_range(path: Path, start: int, stop: int) -> bytes:
    """The bytes ``start`` to ``stop`` (exclusive) of what ``pack`` made, in the file of the
    store.
    """
    with path.open("rb") as file:
        file.seek(DIGEST + start)
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


def _unpacked(document: bytes, read: Read) -> Any:
    return _value(json.loads(document), partial(_read_after, HEAD + len(document), read))


# No lambda: what is read later goes to other processes, and no lambda can be pickled.
def _read_after(base: int, read: Read, start: int, stop: int) -> bytes:
    return read(base + start, base + stop)


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
