"""Artifacts of finished work, such as comparisons: made by a pool, cached, and made anew only where they would differ."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cache, partial
from typing import TypeVar

from generator.cache import fingerprint
from generator.cache.blobs import BlobCache
from generator.contracts import Figure, Maker
from generator.errors import RefusedError
from generator.pipeline.worker import Makers
from generator.site import render

MakersT = TypeVar("MakersT", bound=Makers)


class ArtifactCache:
    """Artifacts by name, from an earlier run of the same code or from a pool of processes."""

    def __init__(self, blobs: BlobCache, code: str, fresh: bool) -> None:
        self.blobs, self.code, self.fresh = blobs, code, fresh
        self.used: set[str] = set()
        self.under_way: dict[str, Future[bytes]] = {}

    @contextmanager
    def using(self, makers: Callable[[], AbstractContextManager[MakersT]]) -> Iterator[Callable[[], MakersT]]:
        """Until the block ends, submit to the pool that ``makers`` opens; it starts with the first artifact that is not cached."""
        with ExitStack() as stack:
            pool: Callable[[], MakersT] = cache(lambda: stack.enter_context(makers()))
            self.pool: Callable[[], Makers] = pool
            yield pool

    def drawing(self, figure: Figure) -> bytes:
        """The bytes of its file."""
        return self.of(_name(figure), render.maker(figure)) if figure.made_of else render.drawing(figure)

    def start(self, figures: Iterable[Figure]) -> None:
        """Have these figures drawn, as many at once as there are workers."""
        for figure in figures:
            if figure.made_of:
                self._start(_name(figure), render.maker(figure))

    def submit(self, name: str, make: Maker) -> Maker:
        """``of`` for later; a worker begins now."""
        self._start(name, make)
        return partial(self.of, name, make)

    def of(self, name: str, make: Maker) -> bytes:
        """What ``make`` returned under this name in an earlier run of the same code, or returns now.

        errors: RefusedError when a worker does not come to its end
        """
        key = self._start(name, make)
        known = self.blobs.get(key) if key not in self.under_way else None
        if known is not None:
            return known
        try:
            made = self._made(self.under_way.pop(key, None), make)
        except Exception as error:
            raise RefusedError(f"{name}: {self.pool().reason(error)}; expected it to be made") from error
        self.blobs.put(key, made)
        return made

    def _made(self, begun: "Future[bytes] | None", make: Maker) -> bytes:
        """What a worker makes, or the next one if the first was lost."""
        if begun is not None:
            with suppress(Exception):
                return begun.result()
        return self.pool().make(make).result()

    def _start(self, name: str, make: Maker) -> str:
        """Begin what neither was made before nor is under way; its key."""
        key = fingerprint.of_parts((name, self.code))
        if key not in self.used and (self.fresh or self.blobs.get(key) is None):
            self.under_way[key] = self.pool().make(make)
        self.used.add(key)
        return key


def _name(figure: Figure) -> str:
    return f"{figure.path} {fingerprint.of_parts(figure.made_of)}"
