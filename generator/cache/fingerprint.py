"""Digests of files and values, by which a build sees what has changed."""

import errno
import hashlib
import json
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from generator.cache.blobs import BlobCache

AT_ONCE = 2**20  # bytes that are read at a time
NAME = "digests"


def of_contents(paths: Iterable[Path]) -> str:
    """Hex digest of ``paths`` (files or folders): names and bytes of all files in them, but for
    byte code.
    """
    digest = hashlib.sha256()
    for path, name in sorted(
        (file, file.relative_to(root.parent).as_posix()) for root in paths for file in _files(root)
    ):
        if "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


class Digests:
    """Digests of files and of parts of them, which are computed again where size, times or inode of
    a file have changed.

    blobs: where they are stored between builds
    """

    def __init__(self, blobs: BlobCache) -> None:
        self.blobs = blobs
        self.used: dict[str, list[Any]] = {}
        self.stored: dict[str, list[Any]] = json.loads(blobs.get(NAME) or b"{}")

    def of(self, path: Path, start: int = 0, stop: int | None = None) -> str:
        """As ``of_file``; reads the file only if it has changed.

        errors: OSError
        """
        state, name = path.stat(), f"{path.resolve()}:{start}:{stop}"
        if not stat.S_ISREG(state.st_mode):
            # To read one might never end.
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        identity = [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
        entry = self.stored.get(name, [])
        if entry[:-1] != identity:
            entry = [*identity, of_file(path, start, stop)]
        self.used[name] = entry
        return str(entry[-1])

    def save(self) -> None:
        """Store the digests that were used, and no others."""
        if self.used != self.stored:
            self.blobs.put(NAME, json.dumps(self.used).encode())


def of_parts(parts: Iterable[object]) -> str:
    """Hex digest of values whose ``repr`` is complete."""
    return hashlib.sha256("\0".join(repr(part) for part in parts).encode()).hexdigest()


def of_file(path: Path, start: int = 0, stop: int | None = None) -> str:
    """Hex digest of the bytes ``start`` to ``stop`` (exclusive) of a file, or to its end.

    errors: OSError
    """
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        position = file.seek(start)
        while chunk := file.read(AT_ONCE if stop is None else min(AT_ONCE, stop - position)):
            digest.update(chunk)
            position += len(chunk)
    return digest.hexdigest()


def _files(root: Path) -> Iterable[Path]:
    return (path for path in root.rglob("*") if path.is_file()) if root.is_dir() else (root,)
