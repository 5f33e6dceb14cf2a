"""Results of the forms beside which figures show others: each analysis of one runs once for a
shape, and its result is stored.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from generator.cache.fingerprint import of_parts
from generator.cache.lazy import Lazy
from generator.contracts import Analysis, Result
from generator.contracts.subjects import subject_of
from generator.encodings import Form
from generator.errors import NotApplicableError
from generator.pipeline.packing import pack, unpack
from generator.pipeline.store import Store


@dataclass(frozen=True)
class Reference:
    """A form for comparison, which is made when it is needed first.

    key: what it is made from, and the program; store: of results, None without one
    """

    make: Callable[[], Form]
    key: tuple[object, ...]
    store: Store | None = None

    @cached_property
    def form(self) -> Form:
        """The form itself."""
        return self.make()

    def result(self, analysis: Analysis) -> Result:
        """Result of ``analysis``, with its ``reason`` where it does not apply.

        errors: MemoryError
        """
        name = f"{of_parts((analysis.key, *self.key))}.reference"
        stored = self.store.blobs.get(name) if self.store else None
        result: Result = self._computed(analysis) if stored is None else unpack(stored)
        if self.store and stored is None:
            self.store.blobs.put(name, pack(result))
        return result.deriving(analysis, Lazy(lambda: self.form))

    def _computed(self, analysis: Analysis) -> Result:
        try:
            return replace(analysis.compute(subject_of(self.form)), derived={})
        except NotApplicableError as error:
            return Result(reason=str(error))


def reference_of(form: Form, store: Store | None = None) -> Reference | None:
    """The reference of ``form``; None where it has none."""
    if form.make_reference is None:
        return None
    code = store.code if store else ""
    key = (type(form).__name__, form.numbers.shape, form.grid, code)
    return Reference(form.make_reference, key, store)
