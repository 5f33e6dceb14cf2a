"""What the last build was, so that a build of the same need not be made again."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from generator.cache.blobs import BlobCache
from generator.cache.fingerprint import Digests
from generator.site import write

NAME = ".last-build"


@dataclass(frozen=True)
class LastBuild:
    """A finished build.

    inputs: digest of all that it depended on; None where that is not known beforehand, or where a
        checkpoint failed that may succeed the next time
    counts: of checkpoints by ending; files: digests of all that it wrote, by path
    """

    inputs: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def read(folder: Path, digests: Digests) -> tuple[LastBuild, tuple[str, ...]]:
    """The last build in ``folder``, and the files of its docs and site that others have changed,
    added or removed since.

    An empty record where there was no build, where its record cannot be read, or where there are
    such files.
    """
    previous = LastBuild()
    with suppress(TypeError):  # Another version of the program wrote it.
        previous = LastBuild(**json.loads(BlobCache(folder).get(NAME) or b"{}"))
    if not previous.files:
        return LastBuild(), ()
    try:
        now = _files(folder, digests)
    except OSError:  # As a link that leads nowhere.
        return LastBuild(), ()
    altered = [
        name for name in {*now, *previous.files} if now.get(name) != previous.files.get(name)
    ]
    return (LastBuild() if altered else previous), tuple(sorted(altered))


def record(folder: Path, digests: Digests, inputs: str | None, counts: Mapping[str, int]) -> None:
    """Write down the build that has just finished in ``folder``."""
    build = LastBuild(inputs, counts, _files(folder, digests))
    BlobCache(folder).put(NAME, json.dumps(asdict(build)).encode())


def forget(folder: Path) -> None:
    """Let the next build depend on no earlier one; called before anything is written."""
    (folder / NAME).unlink(missing_ok=True)


def _files(folder: Path, digests: Digests) -> dict[str, str]:
    """Digests of every file of docs and site."""
    paths = (path for name in write.SWAPPED for path in write.files(folder / name))
    return {os.path.relpath(path, folder): digests.of(Path(path)) for path in paths}
