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


def read(folder: Path, digests: Digests) -> LastBuild:
    """The last build in ``folder``: an empty record where there was none, where its record cannot
    be read, and where others have changed, added or removed files of its docs and site since.
    """
    # Another version of the program wrote it, or a link leads nowhere.
    with suppress(TypeError, OSError):
        previous = LastBuild(**json.loads(BlobCache(folder).get(NAME) or b"{}"))
        if previous.files and previous.files == _files(folder, digests):
            return previous
    return LastBuild()


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
