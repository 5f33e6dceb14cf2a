"""What the last build was, so that a build of the same need not be made again."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from generator.cache import fingerprint
from generator.contracts import ENDINGS
from generator.site import write

NAME = ".built.json"
Entry = list[int | str]  # Size, two times and digest of a file.


@dataclass(frozen=True)
class LastBuild:
    """A finished build.

    inputs: digest of all that it depended on; None where that is not known beforehand, or where a
        checkpoint failed that may succeed the next time
    site: digest of all that its HTML depended on beside the docs
    counts: of checkpoints by ending; files: all that it wrote, by path
    """

    inputs: str | None = None
    site: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, Entry] = field(default_factory=dict)


def read(folder: Path) -> tuple[LastBuild, tuple[str, ...]]:
    """The last build in ``folder``, and the files of its docs and site that others have changed,
    added or removed since.

    An empty record where there was no build, where its record cannot be read, or where there are
    such files.
    """
    try:
        previous = LastBuild(**json.loads((folder / NAME).read_text(encoding="utf-8")))
        if set(previous.counts) != set(ENDINGS) or not isinstance(previous.counts, dict):
            return LastBuild(), ()
        now = _files(folder, previous.files)
        altered = {
            path
            for path in {*now, *previous.files}
            if now.get(path, [""])[-1] != previous.files.get(path, [""])[-1]
        }
    except (OSError, ValueError, TypeError, AttributeError, IndexError, RecursionError):
        return LastBuild(), ()
    return (LastBuild() if altered else previous), tuple(sorted(altered))


def record(folder: Path, inputs: str | None, site: str, counts: Mapping[str, int]) -> None:
    """Write down the build that has just finished in ``folder``."""
    build = LastBuild(inputs, site, counts, _files(folder, {}))
    (folder / NAME).write_text(json.dumps(asdict(build)), encoding="utf-8")


def forget(folder: Path) -> None:
    """Let the next build depend on no earlier one; called before anything is written."""
    (folder / NAME).unlink(missing_ok=True)


def _files(folder: Path, previous: Mapping[str, Entry]) -> dict[str, Entry]:
    """Every file of docs and site; those are read whose size or times differ from the ``previous``
    ones.
    """
    found: dict[str, Entry] = {}
    for path in (path for name in write.SWAPPED for path in write.files(folder / name)):
        name, state = os.path.relpath(path, folder), os.lstat(path)
        identity: Entry = [state.st_size, state.st_mtime_ns, state.st_ctime_ns]
        entry = previous.get(name)
        found[name] = (
            entry
            if entry and entry[:-1] == identity
            else [*identity, fingerprint.of_file(Path(path))]
        )
    return found
