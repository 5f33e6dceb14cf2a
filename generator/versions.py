"""What the program and its libraries are: all that decides numbers and pages beside the checkpoints."""

import os
import subprocess
from importlib.metadata import version
from pathlib import Path

from generator import __version__
from generator.fingerprint import of_contents, of_parts

ROOT = Path(__file__).parent.parent
LIBRARIES = ("torch", "transformers", "numpy", "scikit-learn", "matplotlib", "mkdocs-material")


def all_versions() -> dict[str, str]:
    """Versions by name."""
    return {"position-atlas": __version__, **{library: version(library) for library in LIBRARIES}}


def code() -> str:
    """Digest of the program and of its libraries' versions."""
    return of_parts((of_contents((ROOT / "generator",)), all_versions()))


def commit_time() -> int | None:
    """When the sources last changed: the same on every day that they are built. SOURCE_DATE_EPOCH goes first."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
