"""What the files of a folder were made from when they were written, so that those that would be the same need not be made again."""

import json
from collections.abc import Mapping
from pathlib import Path

from generator.cache.blobs import BlobCache

Stamp = list[str | int]


class Stamps:
    """What each file of a folder was made from, and its size and time, by which a file that somebody changed since is told.

    note: the file in which this is kept; base: what all of them depend on, and without which no stamp counts
    """

    def __init__(self, note: Path, base: str) -> None:
        self.kept, self.name, self.base = BlobCache(note.parent), note.name, base
        noted = json.loads(self.kept.get(self.name) or b"{}")
        self.known: dict[str, Stamp] = noted["files"] if noted.get("base") == base else {}

    def holds(self, file: Path, path: str, made_of: str | None) -> bool:
        """Whether ``file``, which was written under ``path``, stands there as it would be made now."""
        return made_of is not None and path in self.known and _stamp(file, made_of) == self.known[path]

    def save(self, folder: Path, made_of: Mapping[str, str]) -> None:
        """Keep the stamps of the files of ``folder`` by what they were made of."""
        stamped = {path: stamp for path, digest in made_of.items() if (stamp := _stamp(folder / path, digest))}
        self.kept.put(self.name, json.dumps({"base": self.base, "files": stamped}).encode())


def _stamp(file: Path, made_of: str) -> Stamp:
    """Nothing of a file that is not there."""
    try:
        state = file.stat()
    except OSError:
        return []
    return [made_of, state.st_size, state.st_mtime_ns]
