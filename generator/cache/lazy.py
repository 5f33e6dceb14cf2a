"""Values that are read or made on access and not held: what is large need not be in memory all at
once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Lazy(Generic[T_co]):
    """One value, which every call of ``load`` reads or makes anew."""

    load: Callable[[], T_co]


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
