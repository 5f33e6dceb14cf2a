"""Discovery of extensions by listing their package, and of guests by a module of theirs."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar, cast

from generator import PACKAGE
from generator.contracts import own, own_records
from generator.contracts.outcomes import Guest

Record = TypeVar("Record")
_LOADED: dict[tuple[str, tuple[str, ...], type, str, own.Used], tuple[Any, ...]] = {}


def load(package: ModuleType, record: type[Record]) -> tuple[Record, ...]:
    """The instance of ``record`` that each module of ``package`` defines, in the order that their
    ``after`` gives, by name where they have none. A package within it without one is listed in
    turn, each once in a process. With them are those beside the list and of installed packages.

    errors: TypeError when a module defines none or several; those of ``in_order``; RefusedError for
        those that are not the program's
    """
    key = (package.__name__, tuple(package.__path__), record, own.digest(), own.used())
    if key not in _LOADED:
        ours = _ours(package, record)
        found = [*ours, *own_records.records(package, record, ours)]
        _LOADED[key] = in_order(found) if hasattr(record, "after") else tuple(found)
    return cast("tuple[Record, ...]", _LOADED[key])


def _ours(package: ModuleType, record: type[Record]) -> list[Record]:
    records: list[Record] = []
    # The folders after the first one of these are not the program's.
    is_open = package.__name__ in own.PACKAGES.values()
    folders = tuple(package.__path__)[: 1 if is_open else None]
    for module in _modules(package.__name__, folders):
        found = [value for value in vars(module).values() if isinstance(value, record)]
        if not found and hasattr(module, "__path__"):
            found = _ours(module, record)
        elif len(found) != 1:
            raise TypeError(
                f"{module.__name__}: {len(found)} values of type {record.__name__}; expected"
                " exactly one"
            )
        records += found
    return records


def in_order(records: Sequence[Any]) -> tuple[Any, ...]:
    """``records``, each behind the one whose key its ``after`` is: directly, whatever was behind
    that one before. Those that name none come last, behind the one that begins the longest chain.

    errors: ValueError when an ``after`` is not the key of another, or some are behind each other
    """
    followers = defaultdict[str, list[Any]](list)
    for record in records:
        followers[record.after].append(record)

    def behind(key: str) -> list[Any]:
        chains = [[record, *behind(record.key)] for record in followers.pop(key, ())]
        chains.sort(key=len, reverse=not key)
        return [*chain.from_iterable(chains)]

    ordered = tuple(behind(""))
    if followers:
        raise ValueError(
            f"`after` of extensions has {', '.join(followers)}; expected keys of others"
        )
    return ordered


def guests() -> tuple[Guest, ...]:
    """The guest of each package of the program that has one."""
    found = (path.parent.name for path in sorted(PACKAGE.glob("*/guest.py")))
    return tuple(import_module(f"{PACKAGE.name}.{name}.guest").GUEST for name in found)


@cache
def _modules(package: str, folders: tuple[str, ...]) -> tuple[ModuleType, ...]:
    names = sorted(module.name for module in iter_modules(folders))
    return tuple(import_module(f"{package}.{name}") for name in names)
