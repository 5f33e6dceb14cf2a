"""Artifacts that are made from several outcomes, such as comparisons: cached, and otherwise made by
an executor.
"""

from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

from generator.cache import fingerprint, precomputed
from generator.cache.blobs import BlobCache
from generator.contracts import Figure, Maker
from generator.errors import RefusedError
from generator.pipeline import worker
from generator.pipeline.executor import Executor
from generator.site import render


class Artifacts:
    """Bytes by name, from an earlier run of the same code or from ``executor``.

    A name is a word for messages, and after a space whatever else identifies the bytes.
    code: digest of the code that makes them; fresh: whether nothing from an earlier run counts
    """

    def __init__(self, blobs: BlobCache, code: str, fresh: bool, executor: Executor) -> None:
        self.blobs, self.code, self.fresh, self.executor = blobs, code, fresh, executor
        self.used: set[str] = set()
        self.futures: dict[str, Future[bytes]] = {}

    def draw(self, figure: Figure) -> bytes:
        """The drawing of a figure, which is shipped or cached where the figure has a key."""
        if not figure.cache_key:
            return render.drawing(figure)
        if (shipped := self._shipped(figure)) is not None:
            return shipped.encode()
        return self.get(name_of(figure), render.maker(figure))

    def start(self, figures: Iterable[Figure]) -> None:
        """Have those of these figures that are cached drawn, as many at once as there are
        workers.
        """
        for figure in figures:
            if figure.cache_key and self._shipped(figure) is None:
                self._start(name_of(figure), render.maker(figure))

    def submit(self, name: str, maker: Maker) -> Maker:
        """``get`` for later; a worker begins now, unless the artifact is shipped or cached."""
        if (shipped := precomputed.shipped(name)) is not None:
            return lambda: shipped
        self._start(name, maker)
        return partial(self.get, name, maker)

    def get(self, name: str, maker: Maker) -> bytes:
        """The result of ``maker``, or that of an earlier run of the same code under this name.

        errors: RefusedError when two attempts of workers have failed
        """
        key = self._start(name, maker)
        cached = self.blobs.get(key) if key not in self.futures else None
        if cached is not None:
            return cached
        try:
            made = self._result(self.futures.pop(key, None), maker)
        except Exception as error:
            raise RefusedError(
                f"{name.partition(' ')[0]}: {self.executor.explain(error)}; expected it to be made"
            ) from error
        self.blobs.put(key, made)
        return made

    def _shipped(self, figure: Figure) -> str | None:
        return None if self.fresh else precomputed.drawings().get(name_of(figure))

    def _result(self, future: "Future[bytes] | None", maker: Maker) -> bytes:
        """The result of ``future``, or of a second attempt where that failed or was not made."""
        if future is not None:
            with suppress(Exception):  # A worker may be lost by chance; a fault comes again.
                return future.result()
        return self.executor.submit(worker.make, maker).result()

    def _start(self, name: str, maker: Maker) -> str:
        """Submit what is neither cached nor under way; its key."""
        key = fingerprint.of_parts((name, self.code))
        if key not in self.used and (self.fresh or self.blobs.get(key) is None):
            self.futures[key] = self.executor.submit(worker.make, maker)
        self.used.add(key)
        return key


def name_of(figure: Figure) -> str:
    """The name of its drawing."""
    return f"{figure.path} {fingerprint.of_parts(figure.cache_key)}"
