"""Whether anything that a build depends on has changed since the last one."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from generator.cache.blobs import BlobCache

MOST_READ = 2**30  # bytes


def of_contents(places: Iterable[Path]) -> str:
    """Hex digest of every file in ``places`` (files or folders), their paths within and bytes; byte code does not count."""
    digest = hashlib.sha256()
    for path, name in sorted((file, file.relative_to(place.parent).as_posix()) for place in places for file in _files(place)):
        if "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


class Digests:
    """Digests of files, which are not read again while their size, times and place on the disk stay the same.

    file: where they are remembered; one that cannot be read or written is no error
    """

    def __init__(self, file: Path) -> None:
        self.kept, self.name = BlobCache(file.parent), file.name
        self.asked: dict[str, list[Any]] = {}
        self.known: dict[str, list[Any]] = json.loads(self.kept.get(self.name) or b"{}")

    def of(self, path: Path) -> str:
        """Hex digest of its bytes; of a file so large that reading it would cost more than a study, what else tells it apart."""
        state, name = path.stat(), str(path.resolve())
        told = [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
        known = self.known.get(name, [])
        if known[:-1] != told:
            known = [*told, _of_bytes(path) if state.st_size <= MOST_READ else of_parts(told)]
        self.asked[name] = known
        return str(known[-1])

    def save(self) -> None:
        """Remember what was asked for since the beginning."""
        if self.asked != self.known:
            self.kept.put(self.name, json.dumps(self.asked).encode())


def of_parts(parts: Iterable[object]) -> str:
    """Hex digest of anything whose ``repr`` tells all of it."""
    return hashlib.sha256("\0".join(repr(part) for part in parts).encode()).hexdigest()


def _of_bytes(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(place: Path) -> Iterable[Path]:
    return (path for path in place.rglob("*") if path.is_file()) if place.is_dir() else (place,)
