"""Versions and digests of the program and its libraries, on which numbers and pages depend beside
the checkpoints.
"""

import os
import platform
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from generator import PACKAGE, PROGRAM, ROOT, __version__
from generator.cache.fingerprint import of_contents, of_parts
from generator.contracts import TIMES, own
from generator.contracts.wording import TEMPLATES
from generator.errors import RefusedError

LIBRARIES = ("torch", "transformers", "numpy", "scikit-learn", "matplotlib", "mkdocs-material")
HTML = ("mkdocs", "mkdocs-material")
# Rooms on which no outcome depends: none that evaluates imports them.
NOT_EVALUATING = ("cli", "encyclopedia", "site")
OF_OUTCOMES = ("analyses", "rules", "schemes", "wording")  # of templates


def all_versions() -> dict[str, str]:
    """Versions of the program and of the libraries that pages name, by name."""
    return {PROGRAM: __version__, **{library: version(library) for library in LIBRARIES}}


def code() -> str:
    """Digest of the program, of the versions of Python and of every library that it requires, and
    of what is beside the list.
    """
    return _with_own(_code())


def evaluation() -> str:
    """As ``code``, without the rooms NOT_EVALUATING, with the templates that hold words of
    outcomes.
    """
    return _with_own(_evaluation())


def _with_own(digest: str) -> str:
    return of_parts((digest, own.digest())) if own.digest() else digest


@cache
def _code() -> str:
    return of_parts((of_contents((PACKAGE,)), _required()))


@cache
def _evaluation() -> str:
    evaluating = [path for path in PACKAGE.iterdir() if path.name not in NOT_EVALUATING]
    wording = [TEMPLATES / folder for folder in OF_OUTCOMES]
    return of_parts((of_contents([*evaluating, *wording]), _required()))


@cache
def _required() -> list[tuple[str, str]]:
    """Name and version of Python, of what the program requires, and of what its HTML depends on,
    such as Markdown.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_html = (requirement for name in HTML for requirement in requires(name) or ())
    named = [*project["dependencies"], *project["optional-dependencies"]["site"]]
    required = sorted({*_installed(named), *_installed(of_html)})
    return [("python", platform.python_version()), *required]


def _installed(requirements: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name and version of each requirement that is installed; those of other systems and extras may
    not be.
    """
    for requirement in requirements:
        name = re.split(r"[^\w.-]", requirement)[0]
        with suppress(PackageNotFoundError):
            yield name, version(name)


def given_time() -> int | None:
    """SOURCE_DATE_EPOCH in seconds since 1970; None where it is not set.

    errors: RefusedError
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return None
    if not (re.fullmatch("[0-9]{1,10}", given) and int(given) in TIMES):
        raise RefusedError(f"SOURCE_DATE_EPOCH: found {given[:40]!r}; expected seconds since 1970")
    return int(given)


def commit_time() -> int | None:
    """When the program last changed, in seconds since 1970; None where its folder is not the top of
    a repository.
    """
    try:
        is_below = _git(ROOT, "rev-parse", "--show-prefix")
        return None if is_below else int(_git(ROOT, "log", "-1", "--format=%ct"))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def commit_time_of(file: Path) -> int | None:
    """When the last commit that changed ``file`` was made, in seconds since 1970; None where it is
    in no repository, or in no commit.
    """
    try:
        return int(_git(file.parent, "log", "-1", "--format=%ct", "--", file.name))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    """errors: OSError, CalledProcessError"""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
