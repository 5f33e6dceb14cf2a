"""A folder on this disk as the storage of a checkpoint; symbolic links out of it are refused."""

import os
from glob import has_magic
from pathlib import Path

from generator.checkpoints.files.named_paths import MOST_TEXT_BYTES
from generator.contracts.file_formats import file_label
from generator.errors import RowError

# Of a file that stands for another in a clone without Git LFS (its specification, “The Pointer”).
POINTER, MOST_POINTER_BYTES = b"version https://git-lfs.github.com/spec/v1", 1024


class Folder:
    """Files in ``folder``; links may lead to the blobs of a snapshot of huggingface_hub, and into
    ``cache``, its whole cache.

    named: a file in it that a user has named, which may be a link to anywhere; "" for none
    errors: RowError when a file is missing, not regular, outside of these folders, too short or too
        long
    """

    def __init__(
        self, folder: Path, where: str, cache: Path | None = None, named: str = ""
    ) -> None:
        self.folder, self.where, self.is_cached = folder, where, cache is not None
        # Path.resolve raises an error for a link that leads to itself.
        home = Path(os.path.realpath(folder))
        self.homes = (
            home,
            *((home.parent.parent / "blobs",) if home.parent.name == "snapshots" else ()),
            *(() if cache is None else (cache.resolve(),)),
            *(Path(os.path.realpath(folder / named)),) * bool(named),
        )

    def matching(self, pattern: str) -> list[str]:
        """Names of files, and of links in their place, that match a shell pattern, sorted."""
        # What ``Path.glob`` makes of a broken link differs between versions of Python.
        if not has_magic(pattern):
            return [pattern] if self.has(pattern) else []
        names = (path.relative_to(self.folder).as_posix() for path in self.folder.glob(pattern))
        return sorted(name for name in names if self.has(name))

    def has(self, name: str) -> bool:
        """Whether the folder has such a file, or a link in its place; in the client's cache a
        broken one is a file that is not cached.
        """
        path = self.folder / name
        return path.exists() or (path.is_symlink() and not self.is_cached)

    def size(self, name: str) -> int:
        """Length of a file in bytes."""
        return self.path(name).stat().st_size

    def part(self, name: str, start: int, stop: int) -> bytes:
        """The bytes ``start`` to ``stop`` (exclusive) of a file."""
        label = file_label(self.where, name)
        with self.path(name).open("rb") as stream:
            stream.seek(start)
            data = stream.read(stop - start)
        if len(data) != stop - start:
            raise RowError(f"{label}: ends at byte {start + len(data):,}; expected {stop:,}")
        return data

    def read(self, name: str) -> bytes | None:
        """All of a small file; None without such a file."""
        label = file_label(self.where, name)
        if not self.has(name):
            return None
        size = self.size(name)
        if size > MOST_TEXT_BYTES:
            raise RowError(f"{label}: {size:,} bytes; expected at most {MOST_TEXT_BYTES:,}")
        return self.path(name).read_bytes()

    def path(self, name: str) -> Path:
        """The path of a file."""
        path, label = self.folder / name, file_label(self.where, name)
        if not path.exists():
            raise RowError(f"{label}: no such file; expected it beside config.json")
        if not path.is_file():
            raise RowError(f"{label}: not a regular file; expected one")
        if not any(path.resolve().is_relative_to(home) for home in self.homes):
            raise RowError(
                f"{label}: a link that leads out of the folder; expected a file within it"
            )
        if path.stat().st_size < MOST_POINTER_BYTES and path.read_bytes().startswith(POINTER):
            raise RowError(
                f"{label}: a Git LFS pointer; expected the file itself, which `git lfs"
                " pull` fetches"
            )
        return path
