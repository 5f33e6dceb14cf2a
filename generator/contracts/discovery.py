"""Discovery of extensions by listing their package, and of guests by a module of theirs."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

from generator import PACKAGE
from generator.contracts.outcomes import Guest

Record = TypeVar("Record")


def load(package: ModuleType, record: type[Record]) -> tuple[Record, ...]:
    """The instance of ``record`` that each module of ``package`` defines, sorted by ``order`` where
    the record has it. A package within it without one is listed in turn, each once in a process.

    errors: TypeError when a module defines none or several
    """
    records: list[Record] = []
    for module in _modules(package.__name__, tuple(package.__path__)):
        found = [value for value in vars(module).values() if isinstance(value, record)]
        if not found and hasattr(module, "__path__"):
            found = list(load(module, record))
        elif len(found) != 1:
            raise TypeError(
                f"{module.__name__}: {len(found)} values of type {record.__name__}; expected"
                " exactly one"
            )
        records += found
    return tuple(sorted(records, key=lambda item: getattr(item, "order", 0)))


def guests() -> tuple[Guest, ...]:
    """The guest of each package of the program that has one."""
    found = (path.parent.name for path in sorted(PACKAGE.glob("*/guest.py")))
    return tuple(import_module(f"{PACKAGE.name}.{name}.guest").GUEST for name in found)


@cache
def _modules(package: str, folders: tuple[str, ...]) -> tuple[ModuleType, ...]:
    names = sorted(module.name for module in iter_modules(folders))
    return tuple(import_module(f"{package}.{name}") for name in names)
