"""Finished work on disk, found again by the digest of all that it depends on. Nothing in it can run: arrays and JSON."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from generator import contracts, encodings
from generator.contracts import Outcome
from generator.numerics import Array

RECORDS = {
    name: record
    for module in (contracts, encodings)
    for name, record in vars(module).items()
    if isinstance(record, type) and is_dataclass(record)
}
BROKEN = (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile)


class Store:
    """Outcomes in a folder, one file each. A file that is cut, changed or foreign counts as not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Outcome | None:
        """What was put under ``key``, or None."""
        try:
            outcome = unpack(self._path(key).read_bytes())
        except BROKEN:
            return None
        return outcome if isinstance(outcome, Outcome) else None

    def put(self, key: str, outcome: Outcome) -> None:
        """Keep ``outcome`` under ``key``; the name appears only when all of it is written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self.folder, suffix=".unfinished", delete=False) as file:
            file.write(pack(outcome))
        Path(file.name).replace(self._path(key))

    def keep(self, keys: set[str]) -> None:
        """Remove all that is kept under other keys."""
        wanted = {self._path(key) for key in keys}
        for path in self.folder.glob("*") if self.folder.is_dir() else ():
            if path not in wanted:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


def pack(record: object) -> bytes:
    """``record`` (records of ours, mappings, tuples, arrays, plain values) as the bytes of an .npz file."""
    arrays: list[Array] = []
    document = json.dumps(_plain(record, arrays))
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, document=np.array(document), **{f"a{index}": array for index, array in enumerate(arrays)})
    return buffer.getvalue()


def unpack(data: bytes) -> object:
    """The record that ``pack`` was given.

    errors: one of BROKEN when ``data`` is not what ``pack`` returned
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return _record(json.loads(str(arrays["document"])), arrays)


def _plain(value: object, arrays: list[Array]) -> object:
    match value:
        case np.ndarray() | bytes():
            arrays.append(np.frombuffer(value, dtype=np.uint8) if isinstance(value, bytes) else value)
            return {"kind": type(value).__name__, "index": len(arrays) - 1}
        case tuple() | list():
            return {"kind": type(value).__name__, "items": [_plain(item, arrays) for item in value]}
        case Mapping():
            return {"kind": "mapping", "items": [[key, _plain(item, arrays)] for key, item in value.items()]}
        case np.generic():
            return value.item()
        case None | bool() | int() | float() | str():
            return value
    held = {field.name: _plain(getattr(value, field.name), arrays) for field in fields(value)}  # type: ignore[arg-type]
    return {"kind": type(value).__name__, "fields": held}


def _record(plain: Any, arrays: Mapping[str, Array]) -> Any:
    if not isinstance(plain, dict):
        return plain
    match plain["kind"]:
        case "ndarray":
            array = arrays[f"a{plain['index']}"]
            array.setflags(write=False)
            return array
        case "bytes":
            return arrays[f"a{plain['index']}"].tobytes()
        case "tuple" | "list" as kind:
            items = [_record(item, arrays) for item in plain["items"]]
            return tuple(items) if kind == "tuple" else items
        case "mapping":
            return {key: _record(item, arrays) for key, item in plain["items"]}
    return RECORDS[plain["kind"]](**{name: _record(value, arrays) for name, value in plain["fields"].items()})
