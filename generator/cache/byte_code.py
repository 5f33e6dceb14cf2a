"""Byte code of templates between builds, where Python has that of the program's modules: to compile
all of them takes a fifth of a build of few rows.
"""

import sys
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from generator import PACKAGE
from generator.cache.fingerprint import of_parts


class ByteCode(FileSystemBytecodeCache):
    """Byte code in a folder, by the text of its template and by the ``program``, whose functions
    Jinja may call while it compiles. A folder that cannot be read or written changes nothing.
    """

    def __init__(self, folder: Path, program: str) -> None:
        super().__init__(str(folder))
        self.program = program

    def get_source_checksum(self, source: str) -> str:
        """Digest of the text of a template and of the program."""
        return super().get_source_checksum(f"{self.program}\0{source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read the byte code of a template, where it is that of its text and of the program."""
        with suppress(Exception):  # For a damaged file, pickle raises any.
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the byte code of a template."""
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def stored(kind: str) -> ByteCode | None:
    """That of this program, of one ``kind`` of environment; None where Python stores none."""
    if sys.dont_write_bytecode or sys.implementation.cache_tag is None:
        return None
    folder = Path(cache_from_source(str(PACKAGE / "templates"))).with_suffix("")
    return ByteCode(folder / kind, _program())


@cache
def _program() -> str:
    """Digest of the names, sizes and times of the program's modules, as Python compares them."""
    files = [(path, path.stat()) for path in sorted(PACKAGE.rglob("*.py"))]
    return of_parts((path, state.st_size, state.st_mtime_ns) for path, state in files)
