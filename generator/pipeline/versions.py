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

from generator import PROGRAM, __version__
from generator.cache.fingerprint import of_contents, of_parts
from generator.contracts import TIMES
from generator.errors import RefusedError
from generator.resources import PACKAGE, ROOT

LIBRARIES = ("torch", "transformers", "numpy", "scikit-learn", "matplotlib", "mkdocs-material")
HTML = ("mkdocs", "mkdocs-material")
# Rooms and files on which the outcome of one checkpoint depends; a change elsewhere changes pages,
# not numbers.
EVALUATED_BY = (
    "__init__.py", "analyses", "cache", "checkpoints", "contracts", "encodings", "errors.py",
    "figures", "libraries.py", "numerics", "resources.py", "schemes", "text.py",
    "pipeline/evaluate.py", "pipeline/executor.py", "pipeline/failures.py", "pipeline/find.py",
    "pipeline/jobs.py", "pipeline/keys.py", "pipeline/plan.py", "pipeline/references.py",
    "pipeline/result_store.py", "pipeline/stderr.py", "pipeline/precomputed/__init__.py",
    "pipeline/precomputed/untrained.json", "pipeline/precomputed/versions.json", "pipeline/use.py",
    "pipeline/versions.py", "pipeline/worker.py",
)  # fmt: skip
# Of these, those on which measures of what a model does depend, which take minutes.
USED_BY = (
    "analyses/of_models", "checkpoints/files", "checkpoints/model", "contracts", "errors.py",
    "libraries.py", "numerics", "text.py", "pipeline/result_store.py", "pipeline/use.py",
)  # fmt: skip


def all_versions() -> dict[str, str]:
    """Versions of the program and of the libraries that pages name, by name."""
    return {PROGRAM: __version__, **{library: version(library) for library in LIBRARIES}}


@cache
def code() -> str:
    """Digest of the program, and of the versions of Python and of every library that it
    requires.
    """
    return of_parts((of_contents((PACKAGE,)), _required()))


@cache
def evaluation() -> str:
    """As ``code``, of EVALUATED_BY alone."""
    return of_parts((of_contents(PACKAGE / name for name in EVALUATED_BY), _required()))


@cache
def use() -> str:
    """As ``code``, of USED_BY alone."""
    return of_parts((of_contents(PACKAGE / name for name in USED_BY), _required()))


@cache
def rendering() -> str:
    """Digest of the versions of what mkdocs and its theme require, such as Markdown, on which the
    HTML of a page depends.
    """
    return of_parts(
        sorted(
            set(_installed(requirement for name in HTML for requirement in requires(name) or ()))
        )
    )


def of_renderer(name: str) -> tuple[str, str]:
    """Name and version of what makes HTML."""
    return name, version(name)


@cache
def _required() -> list[tuple[str, str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [("python", platform.python_version()), *_installed(project["dependencies"])]


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
