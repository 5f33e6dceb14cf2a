"""Whether anything that a build depends on has changed since the last one."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def of_contents(places: Iterable[Path]) -> str:
    """Hex digest of every file in ``places`` (files or folders), names and bytes; byte code does not count."""
    digest = hashlib.sha256()
    for path in sorted(file for place in places for file in _files(place) if "__pycache__" not in file.parts):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def of_folder(folder: Path) -> str:
    """Names, sizes and times of the files directly in ``folder``, without reading them; empty if there is no such folder."""
    if not folder.is_dir():
        return ""
    files = sorted((path.name, path.stat()) for path in folder.iterdir() if path.is_file())
    return ";".join(f"{name} {state.st_size} {state.st_mtime_ns}" for name, state in files)


def of_parts(parts: Iterable[object]) -> str:
    """Hex digest of anything whose ``repr`` tells all of it."""
    return hashlib.sha256("\0".join(repr(part) for part in parts).encode()).hexdigest()


def _files(place: Path) -> Iterable[Path]:
    return (path for path in place.rglob("*") if path.is_file()) if place.is_dir() else (place,)
