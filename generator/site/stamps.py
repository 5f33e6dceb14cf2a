"""What the files of a folder were made from when they were written, so that those that would be the same need not be made again."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

Stamp = list[str | int]


class Stamps:
    """What each file of a folder was made from, and its size and time, by which a file that somebody changed since is told.

    note: where this is remembered; base: what all of them depend on, and without which no stamp counts
    """

    def __init__(self, note: Path, base: str) -> None:
        self.note, self.base = note, base
        self.known: dict[str, Stamp] = {}
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            noted = json.loads(note.read_text(encoding="utf-8"))
            self.known = {str(path): list(stamp) for path, stamp in noted["files"].items()} if noted["base"] == base else {}

    def holds(self, file: Path, path: str, made_of: str | None) -> bool:
        """Whether ``file``, which was written under ``path``, stands there as it would be made now."""
        return made_of is not None and path in self.known and _stamp(file, made_of) == self.known[path]

    def save(self, folder: Path, made_of: Mapping[str, str]) -> None:
        """Remember the files of ``folder`` by what they were made of. A disk that does not take this is no error: they are made again."""
        stamped = {path: stamp for path, digest in made_of.items() if (stamp := _stamp(folder / path, digest))}
        unfinished = self.note.with_suffix(".unfinished")
        with suppress(OSError):
            unfinished.write_text(json.dumps({"base": self.base, "files": stamped}), encoding="utf-8")
            unfinished.replace(self.note)


def _stamp(file: Path, made_of: str) -> Stamp:
    """Nothing of a file that is not there."""
    try:
        state = file.stat()
    except OSError:
        return []
    return [made_of, state.st_size, state.st_mtime_ns]
