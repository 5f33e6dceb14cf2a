"""Extensions are found by listing their package; no list of them exists anywhere."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

Record = TypeVar("Record")


def load(package: ModuleType, record: type[Record]) -> tuple[Record, ...]:
    """The one ``record`` that each module of ``package`` defines, sorted by its ``order`` where it has one.

    errors: TypeError when a module defines none or several.
    """
    names = sorted(module.name for module in iter_modules(package.__path__))
    found = [_only(import_module(f"{package.__name__}.{name}"), record) for name in names]
    return tuple(sorted(found, key=lambda item: getattr(item, "order", 0)))


def _only(module: ModuleType, record: type[Record]) -> Record:
    found = [value for value in vars(module).values() if isinstance(value, record)]
    if len(found) != 1:
        raise TypeError(f"{module.__name__}: {len(found)} values of type {record.__name__}; expected exactly one")
    return found[0]
