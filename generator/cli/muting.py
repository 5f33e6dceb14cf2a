"""Which findings of ``lint`` a project does not want to see."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from generator.cli.deferral import deferred
from generator.errors import RefusedError, message

with deferred():
    from generator import text
    from generator.checkpoints.files import named_paths

OWN, OF_PROJECT = "position-atlas.toml", "pyproject.toml"
MOST_BYTES = 2**20
EVERYWHERE, BY_PATH = "ignore", "ignore-by-path"


@dataclass(frozen=True)
class Muted:
    """Rules that are left out.

    everywhere: those of all files; by_path: those of files that match a pattern; folder: where such
        paths begin
    """

    everywhere: frozenset[str] = frozenset()
    by_path: Mapping[str, Collection[str]] = field(default_factory=dict)
    folder: Path = Path()

    def is_muted(self, rule: str, where: str) -> bool:
        """Whether findings of a rule in a file are left out."""
        path = Path(where)
        absolute = path.absolute()
        inner = absolute.relative_to(self.folder) if absolute.is_relative_to(self.folder) else path
        return rule in self.everywhere or any(
            rule in rules and fnmatchcase(inner.as_posix(), pattern)
            for pattern, rules in self.by_path.items()
        )


def muted(known: Callable[[], Collection[str]], given: Collection[str]) -> Muted:
    """What the nearest ``position-atlas.toml``, or table of a ``pyproject.toml``, leaves out, from
    this folder upwards, and the rules that are ``given`` in the command.

    known: returns keys of rules
    errors: RefusedError for a file that is none, and for what is no rule
    """
    _check(given, known, "--ignore")
    here = Path.cwd()
    for folder in (here, *here.parents):
        for file in (folder / OWN, folder / OF_PROJECT):
            table = _table(file) if file.is_file() else None
            if table is not None:
                everywhere, by_path = _rules(table, known, file)
                return Muted(frozenset({*everywhere, *given}), by_path, folder)
    return Muted(frozenset(given))


def _table(file: Path) -> Any:
    """The settings of ``lint`` in a file; None where it has none."""
    try:
        given = named_paths.beginning(file, MOST_BYTES)
        if len(given) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        found: Any = tomllib.loads(given.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if file.name != OWN:
            return None  # Of another program.
        raise RefusedError(f"{file}: {text.short(message(error), 160)}; expected TOML") from None
    path = ("lint",) if file.name == OWN else ("tool", "position-atlas", "lint")
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _rules(
    table: Any, known: Callable[[], Collection[str]], file: Path
) -> tuple[list[str], dict[str, list[str]]]:
    """errors: RefusedError"""
    given = table if isinstance(table, dict) else {"": table}
    if strange := sorted(given.keys() - {EVERYWHERE, BY_PATH}):
        found = text.short(repr(strange[0]))
        raise RefusedError(f"{file}: found {found}; expected {EVERYWHERE} or {BY_PATH}")
    everywhere, by_path = given.get(EVERYWHERE, []), given.get(BY_PATH, {})
    if not isinstance(by_path, dict):
        raise RefusedError(f"{file}: {BY_PATH} is {text.as_json(by_path)}; expected a table")
    # A pattern may have the name of the other.
    for name, rules in ((EVERYWHERE, everywhere), *by_path.items()):
        place = f"{file}: {text.short(name)}"
        if not isinstance(rules, list):
            raise RefusedError(f"{place} is {text.as_json(rules)}; expected a list of rules")
        _check(rules, known, f"{place}:")
    return everywhere, by_path


def _check(rules: Collection[Any], known: Callable[[], Collection[str]], where: str) -> None:
    """errors: RefusedError for what is no rule"""
    every = known() if rules else ()  # Their import takes half a second.
    if unknown := [rule for rule in rules if rule not in every]:
        raise RefusedError(
            f"{where} {text.short(str(unknown[0]))}: no rule;"
            f" expected one of {', '.join(sorted(every))}"
        )
