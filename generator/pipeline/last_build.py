"""What the last build was, so that a build of the same need not be made again."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from generator.contracts import ENDINGS
from generator.site import write

NAME = ".built.json"


@dataclass(frozen=True)
class LastBuild:
    """A finished build.

    inputs: digest of all that it depended on; None where a checkpoint failed that may succeed the next time
    site: digest of all that its HTML depended on beside the docs
    counts: of checkpoints by ending; sizes: number of files and bytes of each folder that it wrote
    """

    inputs: str | None = None
    site: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    sizes: list[list[int]] = field(default_factory=list)


def read(folder: Path) -> LastBuild:
    """The last build in ``folder``; an empty record where there was none, or its docs or site are not as they were."""
    try:
        last = LastBuild(**json.loads((folder / NAME).read_text(encoding="utf-8")))
        valid = set(last.counts) == set(ENDINGS) and isinstance(last.counts, dict) and last.sizes == _sizes(folder)
    except (OSError, ValueError, TypeError, RecursionError):
        return LastBuild()
    return last if valid else LastBuild()


def record(folder: Path, inputs: str | None, site: str, counts: Mapping[str, int]) -> None:
    """Write down the build that has just finished in ``folder``."""
    build = LastBuild(inputs, site, counts, _sizes(folder))
    (folder / NAME).write_text(json.dumps(asdict(build)), encoding="utf-8")


def forget(folder: Path) -> None:
    """Let the next build depend on no earlier one; called before anything is written."""
    (folder / NAME).unlink(missing_ok=True)


def _sizes(folder: Path) -> list[list[int]]:
    return [write.measured(folder / name) for name in write.SWAPPED]
