"""Finished work on disk, found again by the digest of all that it depends on. Nothing in it can run: arrays and JSON.

A file is the SHA-256 of what follows, 8 bytes of length, that much JSON, and the bytes of the arrays that the JSON names by place.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from generator import contracts, encodings
from generator.cache.blobs import BlobCache, write
from generator.cache.lazy import Lazy, LazyMapping
from generator.contracts import Outcome

RECORDS = {
    name: kind for module in (contracts, encodings) for name, kind in vars(module).items() if isinstance(kind, type) and is_dataclass(kind)
}
BROKEN = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
MOST_BYTES = 2 * 2**30  # What the present list needs stays even beyond this.
HEAD = 32 + 8
Read = Callable[[int, int], bytes]
Part = bytes | memoryview


class ResultStore:
    """Outcomes in a folder, one file each, and drawings beside them. A file that is cut, changed or foreign counts as not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.drawings = BlobCache(folder / "drawings")

    def get(self, key: str) -> Outcome | None:
        """What was put under ``key``, or None. Its arrays and drawings are read from disk when they are asked for."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                digest, length = file.read(32), file.read(8)
                rest = hashlib.sha256(length)
                document = file.read(int.from_bytes(length))
                rest.update(document)
                while chunk := file.read(2**20):
                    rest.update(chunk)
            found = _unpacked(document, partial(_of_file, path)) if rest.digest() == digest else None
            os.utime(path)
        except BROKEN:
            return None
        return found if isinstance(found, Outcome) else None

    def put(self, key: str, parts: Iterable[Part]) -> None:
        """Keep a packed outcome under ``key``; the name appears only when all of it is written.

        errors: OSError where the disk does not take it
        """
        write(self._path(key), parts)

    def limit(self, keys: set[str], drawings: set[str], most: int = MOST_BYTES) -> None:
        """Remove what was longest not asked for until ``most`` bytes are left, but nothing under ``keys`` and ``drawings``."""
        wanted = {*map(self._path, keys), *(self.drawings.folder / name for name in drawings)}
        files = [(path.stat(), path) for path in self.folder.rglob("*") if path.is_file()] if self.folder.is_dir() else []
        left = sum(state.st_size for state, _ in files)
        for state, path in sorted(files, key=lambda file: (file[0].st_mtime_ns, file[1])):
            if path.suffix == ".unfinished" or (left > most and path not in wanted):
                path.unlink(missing_ok=True)
                left -= state.st_size

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.outcome"


def pack(value: object) -> bytes:
    """``value`` (records of ours, mappings, tuples, arrays, plain values) as the bytes of a file."""
    return b"".join(packed(value))


def packed(value: object) -> list[Part]:
    """The same in parts, in which arrays stand as they are in memory."""
    blobs: list[Part] = []
    document = json.dumps(_plain(value, blobs)).encode()
    parts, digest = [len(document).to_bytes(8), document, *blobs], hashlib.sha256()
    for part in parts:
        digest.update(part)
    return [digest.digest(), *parts]


def unpack(data: bytes) -> Any:
    """What ``pack`` was given.

    errors: one of BROKEN when ``data`` is not what ``pack`` returned
    """
    if hashlib.sha256(data[32:]).digest() != data[:32]:
        raise ValueError("cut or changed")
    return _unpacked(data[HEAD : HEAD + int.from_bytes(data[32:HEAD])], lambda start, stop: data[start:stop])


def _of_file(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(stop - start)


def _plain(value: object, blobs: list[Part]) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case np.ndarray() | bytes():
            start = sum(map(len, blobs))
            blobs.append(value if isinstance(value, bytes) else np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
            place = {"kind": type(value).__name__, "start": start, "stop": start + len(blobs[-1])}
            return place if isinstance(value, bytes) else {**place, "dtype": value.dtype.str, "shape": value.shape}
        case tuple() | list():
            return {"kind": type(value).__name__, "items": [_plain(item, blobs) for item in value]}
        case Mapping():
            return {"kind": "mapping", "items": [[key, _plain(item, blobs)] for key, item in value.items()]}
        case Lazy():
            return {"kind": "lazy", "value": _plain(value.load(), blobs)}
        case None | bool() | int() | float() | str():
            return value
    held = {field.name: _plain(getattr(value, field.name), blobs) for field in fields(value)}  # type: ignore[arg-type]
    return {"kind": type(value).__name__, "fields": held}


def _unpacked(document: bytes, read: Read) -> Any:
    return _value(json.loads(document), partial(_after, HEAD + len(document), read))


def _after(base: int, read: Read, start: int, stop: int) -> bytes:
    return read(base + start, base + stop)


def _value(plain: Any, read: Read) -> Any:
    if not isinstance(plain, dict):
        return plain
    if _is_large(plain):
        data = read(plain["start"], plain["stop"])
        return data if plain["kind"] == "bytes" else np.frombuffer(data, dtype=np.dtype(plain["dtype"])).reshape(plain["shape"])
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
    return RECORDS[plain["kind"]](**{name: _value(item, read) for name, item in plain["fields"].items()})


def _is_large(plain: object) -> bool:
    return isinstance(plain, dict) and plain["kind"] in ("ndarray", "bytes")
