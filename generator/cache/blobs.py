"""A cache of bytes on disk, each with its digest: what is cut, changed or foreign is a miss."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import get_ident


def write(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file, whose name appears only when all of it is written; its folder is made.

    errors: OSError where the disk does not take it
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.writelines(pieces)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


class BlobCache:
    """Named bytes in a folder, which is made with the first of them. A disk that takes nothing is no error: they are fetched again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> bytes | None:
        """The bytes put under ``name``, or None."""
        try:
            kept = (self.folder / name).read_bytes()
        except OSError:
            return None
        return kept[32:] if hashlib.sha256(kept[32:]).digest() == kept[:32] else None

    def put(self, name: str, data: bytes) -> bool:
        """Keep ``data``, and say whether the disk took it; the name appears only when all of it is written."""
        with suppress(OSError):
            write(self.folder / name, (hashlib.sha256(data).digest(), data))
            return True
        return False

    def path(self, name: str) -> Path | None:
        """The file that ``put_file`` wrote, as long as it is the same."""
        with suppress(OSError), (self.folder / name).open("rb") as file:
            return self.folder / name if hashlib.file_digest(file, "sha256").digest() == self.get(f"{name}.sha256") else None
        return None

    def put_file(self, name: str, pieces: Iterable[bytes]) -> Path:
        """Keep a file that others open, with its digest beside it.

        errors: OSError where the disk does not take it
        """
        digest = hashlib.sha256()

        def digested() -> Iterable[bytes]:
            for piece in pieces:
                digest.update(piece)
                yield piece

        write(self.folder / name, digested())
        self.put(f"{name}.sha256", digest.digest())
        return self.folder / name
