"""Artifacts that follow from libraries and the program alone, whatever the list: shipped for one
version of each library, made by a build for others.

``python -m benchmarks.precompute`` writes what is shipped anew, after a change of the program that
changes it or of a version in constraints.txt.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from generator import PACKAGE

FOLDER = PACKAGE / "cache/precomputed"
# Beside artifacts: for each the versions of the libraries on which it depends.
VERSIONS = "versions"
UNTRAINED, CODE, PUBLISHED = "untrained", "code", "published"
DRAWINGS, RESCALED = "drawings", "rescaled"


def shipped(name: str, folder: Path = FOLDER) -> bytes | None:
    """An artifact as it is shipped in ``folder``; None for any other name, and where a library has
    another version or is not installed.
    """
    made_with = _made_with(folder).get(name)
    try:
        if made_with is None or any(version_of(one) != of for one, of in made_with.items()):
            return None
    except PackageNotFoundError:
        return None
    return (folder / f"{name}.json").read_bytes()


@cache
def drawings() -> Mapping[str, str]:
    """The drawings that are shipped, by the names of their artifacts."""
    found: dict[str, str] = json.loads(shipped(DRAWINGS) or "{}")
    return found


@cache
def rescaled() -> Mapping[str, tuple[str, float]]:
    """Of rotations that are shipped, by the digests of what decides them: frequencies before the
    step, in single precision and base 64, and the attention factor.
    """
    found: dict[str, tuple[str, float]] = json.loads(shipped(RESCALED) or "{}")
    return found


def version_of(library: str) -> str:
    """Without its local part, which says how torch was built."""
    return version(library).partition("+")[0]


@cache
def _made_with(folder: Path) -> Mapping[str, Mapping[str, str]]:
    versions: dict[str, dict[str, str]] = json.loads(
        (folder / f"{VERSIONS}.json").read_text(encoding="utf-8")
    )
    return versions
