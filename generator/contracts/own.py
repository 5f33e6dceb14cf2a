"""Where extensions are that are not the program's: in folders beside a list of checkpoints, and in
installed packages by entry points.

Their folders become part of the program's packages, so that every process finds, imports and
pickles what is in them as it does the program's own.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from generator import PACKAGE, PROGRAM
from generator.cache.fingerprint import of_contents
from generator.errors import RefusedError

# Packages by the names of the folders beside a list, which are those of their templates.
PACKAGES = {
    "analyses": f"{PACKAGE.name}.analyses",
    "schemes": f"{PACKAGE.name}.schemes",
    "rules": f"{PACKAGE.name}.reading.rules",
}
FAMILIES = "families.yml"  # Beside a list: what the code of families does.
GROUP = PROGRAM.replace("-", "_")  # of entry points

Used = tuple[Path | None, bool]
Template = tuple[str, str, Callable[[], bool]]
_used: Path | None = None
_has_code = True


def use(folder: Path | None, has_code: bool = True) -> None:
    """Have this process find what is in the ``folder`` of a list, in place of that of another.

    has_code: whether code in it runs, or only its file on families is read, which is data
    """
    global _used, _has_code
    for forget in (folders, digest):
        forget.cache_clear()
    _used, _has_code = folder and folder.resolve(), has_code
    for kind, name in PACKAGES.items():
        if folders(kind) or name in sys.modules:
            packages(kind)
        for module in [one for one in sys.modules if one.startswith(f"{name}.")]:
            if not Path(sys.modules[module].__file__ or PACKAGE).is_relative_to(PACKAGE):
                del sys.modules[module]


def used() -> Used:
    """What ``use`` takes, for other processes."""
    return _used, _has_code


@cache
def folders(kind: str) -> tuple[Path, ...]:
    """The folders of a key of PACKAGES: beside the list, and of installed packages.

    errors: RefusedError for an entry point that names no package
    """
    found = [_used / kind] if _used is not None and _has_code else []
    # A package of that name is part of another program, such as its tests.
    beside = (one for one in found if one.is_dir() and not (one / "__init__.py").exists())
    return (*beside, *_installed(kind))


@cache
def _entry_points() -> Any:  # Its type depends on the version of Python.
    return entry_points()


@cache
def _installed(kind: str) -> tuple[Path, ...]:
    """errors: RefusedError"""
    found = list[Path]()
    named = _entry_points().select(group=f"{GROUP}.{kind}")
    for entry in sorted(named, key=lambda one: one.value):
        try:
            places = getattr(find_spec(entry.value), "submodule_search_locations", None)
        except (ImportError, ValueError):
            places = None
        if not places:
            raise RefusedError(
                f"entry point {entry.name!r} of {GROUP}.{kind}: found {entry.value!r}; expected the"
                " name of a package, whose folder has a module for each"
            )
        found += map(Path, places)
    return tuple(found)


def packages(kind: str) -> ModuleType:
    """The package of a kind, of which its ``folders`` are part."""
    package = import_module(PACKAGES[kind])
    package.__path__ = [package.__path__[0], *map(str, folders(kind))]
    return package


def families() -> Path | None:
    """The file on families beside the list; None without one."""
    return _used / FAMILIES if _used is not None and (_used / FAMILIES).is_file() else None


def paths() -> tuple[Path, ...]:
    """These folders, and the file on families."""
    found = [folder for kind in PACKAGES for folder in folders(kind)]
    return (*found, *filter(None, [families()]))


@cache
def digest() -> str:
    """Of all files in ``paths``; "" where there are none."""
    return of_contents(paths()) if paths() else ""


def template(name: str) -> Template | None:
    """The template of an extension beside its module, as jinja2's FunctionLoader takes it."""
    kind, _, file = name.partition("/")
    places = [folder / file for folder in (folders(kind) if kind in PACKAGES else ())]
    path, seen = next(filter(Path.is_file, places), None), digest()
    if path is None:
        return None
    return path.read_text(encoding="utf-8", errors="replace"), str(path), lambda: digest() == seen
