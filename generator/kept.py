"""Bytes kept on disk with their digest: what is cut, changed or foreign counts as not there."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident


class Kept:
    """Named bytes in a folder, which is made when the first are kept. A disk that takes nothing is no error: they are fetched again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> bytes | None:
        """What was put under ``name``, or None."""
        try:
            kept = (self.folder / name).read_bytes()
        except OSError:
            return None
        return kept[32:] if hashlib.sha256(kept[32:]).digest() == kept[:32] else None

    def put(self, name: str, data: bytes) -> None:
        """Keep ``data``; the name appears only when all of it is written."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = self.folder / f"{name}.{os.getpid()}-{get_ident()}.unfinished"
            try:
                unfinished.write_bytes(hashlib.sha256(data).digest() + data)
                unfinished.replace(self.folder / name)
            finally:
                unfinished.unlink(missing_ok=True)
