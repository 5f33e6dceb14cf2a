"""Results of the forms beside which figures show others: each analysis of one runs once for a
shape, and its result is cached.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from generator.cache.blobs import BlobCache
from generator.cache.fingerprint import of_parts
from generator.cache.lazy import Lazy
from generator.contracts import Analysis, Result
from generator.contracts.subjects import subject_of
from generator.encodings import Form
from generator.errors import NotApplicableError
from generator.pipeline.result_store import pack, unpack


@dataclass(frozen=True)
class References:
    """Where results of references are cached.

    cache: None where they are not; code: digest of the program that computes them
    """

    cache: BlobCache | None = None
    code: str = ""

    def of(self, form: Form) -> "Reference | None":
        """The reference of ``form``; None where it has none."""
        make = form.make_reference
        return (
            None
            if make is None
            else Reference(
                make, (type(form).__name__, form.numbers.shape, form.grid, self.code), self.cache
            )
        )


class Reference:
    """A form for comparison, which is made when it is needed first.

    key: what it is made from, and the program
    """

    def __init__(
        self, make: Callable[[], Form], key: tuple[object, ...], cache: BlobCache | None
    ) -> None:
        self.make, self.key, self.cache = make, key, cache

    @cached_property
    def form(self) -> Form:
        """The form itself."""
        return self.make()

    def result(self, analysis: Analysis) -> Result:
        """Result of ``analysis``, with its ``reason`` where it does not apply.

        errors: MemoryError
        """
        name = f"{of_parts((analysis.key, *self.key))}.reference"
        cached = self.cache.get(name) if self.cache else None
        result: Result = self._computed(analysis) if cached is None else unpack(cached)
        if self.cache and cached is None:
            self.cache.put(name, pack(result))
        return result.deriving(analysis, Lazy(lambda: self.form))

    def _computed(self, analysis: Analysis) -> Result:
        try:
            return replace(analysis.compute(subject_of(self.form)), derived={})
        except NotApplicableError as error:
            return Result(reason=str(error))
