"""Digests of files and values, by which a build sees what has changed."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from generator.cache.blobs import BlobCache

MOST_READ = 2**30  # bytes


def of_contents(paths: Iterable[Path]) -> str:
    """Hex digest of ``paths`` (files or folders): names and bytes of all files in them, but for byte code."""
    digest = hashlib.sha256()
    for path, name in sorted((file, file.relative_to(root.parent).as_posix()) for root in paths for file in _files(root)):
        if "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


class Digests:
    """Digests of files, cached as long as their size, times and inode stay the same.

    file: the cache; one that cannot be read or written is no error
    """

    def __init__(self, file: Path) -> None:
        self.blobs, self.name = BlobCache(file.parent), file.name
        self.used: dict[str, list[Any]] = {}
        self.cached: dict[str, list[Any]] = json.loads(self.blobs.get(self.name) or b"{}")

    def of(self, path: Path) -> str:
        """Hex digest of a file's bytes; above MOST_READ that of its size, times and inode, since reading it would take longer than its evaluation."""
        state, name = path.stat(), str(path.resolve())
        identity = [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
        entry = self.cached.get(name, [])
        if entry[:-1] != identity:
            entry = [*identity, _of_bytes(path) if state.st_size <= MOST_READ else of_parts(identity)]
        self.used[name] = entry
        return str(entry[-1])

    def save(self) -> None:
        """Write the cache, with the digests that were used and no others."""
        if self.used != self.cached:
            self.blobs.put(self.name, json.dumps(self.used).encode())


def of_parts(parts: Iterable[object]) -> str:
    """Hex digest of values whose ``repr`` is complete."""
    return hashlib.sha256("\0".join(repr(part) for part in parts).encode()).hexdigest()


def _of_bytes(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(root: Path) -> Iterable[Path]:
    return (path for path in root.rglob("*") if path.is_file()) if root.is_dir() else (root,)
