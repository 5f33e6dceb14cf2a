"""Artifacts that follow from libraries and the program alone, whatever the list: shipped for one
version of each library, made by a build for others.

``python -m generator precompute`` writes what is shipped anew, after a change of the program that
changes it or of a version in constraints.txt.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from generator import PACKAGE

FOLDER = PACKAGE / "cache/precomputed"
VERSIONS = "versions"  # of the libraries with which the files beside it were made
MODELS, UNTRAINED, PUBLISHED = "models", "untrained", "published"
# The libraries on which each depends, by its name as an artifact.
LIBRARIES = {
    MODELS: ("torch", "transformers"),
    UNTRAINED: ("transformers",),
    PUBLISHED: ("numpy", "scikit-learn", "scipy", "torch", "transformers"),
}


def shipped(name: str) -> bytes | None:
    """An artifact as it is shipped; None for any other name, and where an installed library has
    another version.
    """
    is_current = name in LIBRARIES and all(
        _version(library) == _made_with()[library] for library in LIBRARIES[name]
    )
    return (FOLDER / f"{name}.json").read_bytes() if is_current else None


def _version(library: str) -> str:
    """Without its local part, which says how torch was built."""
    return version(library).partition("+")[0]


def write(artifacts: Mapping[str, bytes]) -> None:
    """Ship all ``artifacts``, by name, for the installed versions."""
    made_with = {
        library: _version(library) for libraries in LIBRARIES.values() for library in libraries
    }
    for name, data in {
        **artifacts,
        VERSIONS: json.dumps(made_with, indent=1, sort_keys=True).encode() + b"\n",
    }.items():
        (FOLDER / f"{name}.json").write_bytes(data)


@cache
def _made_with() -> Mapping[str, str]:
    versions: dict[str, str] = json.loads((FOLDER / f"{VERSIONS}.json").read_text(encoding="utf-8"))
    return versions
