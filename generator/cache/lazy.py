"""Values that are made or read on access and not held: what is large need not be in memory all at once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from typing import TypeVar

T = TypeVar("T")
Record = TypeVar("Record")


class LazyMapping(Mapping[str, T]):
    """A mapping whose values are made anew on each access."""

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self._makers = makers

    def __getitem__(self, key: str) -> T:
        return self._makers[key]()

    def __contains__(self, key: object) -> bool:
        return key in self._makers  # A mapping would make the value to find out.

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def record(kind: type[Record], present: Mapping[str, object], makers: Mapping[str, Callable[[], object]]) -> Record:
    """A ``kind`` of dataclass, ``present`` fields as they are, the others made anew each time that they are asked for."""
    if not makers:
        return kind(**present)
    later: dict[str, object] = {name: property(partial(_made, make)) for name, make in makers.items()}
    later["__reduce__"] = lambda _: (record, (kind, present, makers))  # To another process go the makers, not what they make.
    made: Record = object.__new__(type(kind.__name__, (kind,), later))
    for name, value in present.items():
        object.__setattr__(made, name, value)
    return made


def changed(kind: type[Record], old: Record, **changes: object) -> Record:
    """A ``kind`` of dataclass like ``old`` but for ``changes``; all of its fields are then present."""
    return kind(**{field.name: changes.get(field.name, getattr(old, field.name)) for field in fields(old)})  # type: ignore[arg-type]


def _made(make: Callable[[], object], _: object) -> object:
    return make()
