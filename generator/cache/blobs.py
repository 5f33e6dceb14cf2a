"""Bytes on disk by name, each entry with a digest of its name and bytes: a truncated, altered,
renamed or foreign file is a miss.
"""

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from glob import escape
from io import BufferedReader
from pathlib import Path
from threading import get_ident

Chunk = bytes | memoryview
DIGEST = 32  # bytes, with which an entry begins
UNFINISHED = ".unfinished"  # the ending of what ``write`` has not finished


def write(path: Path, chunks: Iterable[Chunk]) -> None:
    """Write a file, which appears under its name only when it is complete, with the permissions of
    one that it replaces; its folder is made.

    errors: OSError
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}{UNFINISHED}")
    try:
        with unfinished.open("wb") as file:
            file.writelines(chunks)
        with suppress(FileNotFoundError):
            shutil.copymode(path, unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def clear(folder: Path, name: str | None = None) -> None:
    """Delete what killed processes left of the files of a folder, or of the one with this name,
    while no other process writes them.

    errors: OSError
    """
    for path in folder.glob(f"{'*' if name is None else escape(name)}.*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def open_regular(path: Path) -> BufferedReader:
    """A file for reading; a link, a device or a pipe, which may have no end, is none.

    errors: OSError
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.open("rb")


class BlobCache:
    """Bytes by name in a folder, which is made with the first entry.

    A disk that cannot be written to is no error but to ``write`` and ``put_file``: every entry is a
    miss.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, name: str) -> BufferedReader:
        """The entry ``name`` at the beginning of its bytes, once its digest has been found right.

        errors: OSError, ValueError
        """
        file = open_regular(self.folder / name)
        digest = file.read(DIGEST)
        if hashlib.file_digest(file, lambda: _named(name)).digest() != digest:
            file.close()
            raise ValueError(f"{name}: truncated, altered or of another name")
        file.seek(DIGEST)
        return file

    def get(self, name: str) -> bytes | None:
        """The bytes under ``name``, or None."""
        with suppress(OSError, ValueError), self.open(name) as file:
            return file.read()
        return None

    def write(self, name: str, chunks: Iterable[Chunk]) -> None:
        """Write an entry. errors: OSError"""
        digest, data = _named(name), list(chunks)
        for chunk in data:
            digest.update(chunk)
        write(self.folder / name, [digest.digest(), *data])

    def put(self, name: str, data: bytes) -> bool:
        """``write`` the entry ``name``; whether that succeeded."""
        with suppress(OSError):
            self.write(name, (data,))
            return True
        return False

    def path(self, name: str) -> Path | None:
        """The file that ``put_file`` wrote, or None where it is gone or altered."""
        with suppress(OSError), open_regular(self.folder / name) as file:
            return (
                self.folder / name
                if hashlib.file_digest(file, "sha256").digest() == self.get(f"{name}.sha256")
                else None
            )
        return None

    def put_file(self, name: str, chunks: Iterable[bytes]) -> Path:
        """Write a file that other libraries open, with its digest beside it; its path.

        errors: OSError
        """
        digest = hashlib.sha256()

        def digested() -> Iterable[bytes]:
            for chunk in chunks:
                digest.update(chunk)
                yield chunk

        write(self.folder / name, digested())
        self.put(f"{name}.sha256", digest.digest())
        return self.folder / name


def _named(name: str) -> "hashlib._Hash":
    return hashlib.sha256(f"{name}\0".encode())
