"""An analysis of a form alone, without a checkpoint or words."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from generator.contracts import Encoding, Provenance, Result, Subject
from generator.encodings import Form

FormT = TypeVar("FormT", bound=Form)


@lru_cache(maxsize=32)
def compute_alone(compute: Callable[[Subject[FormT]], Result], form: FormT) -> Result:
    """The result of ``compute`` for ``form`` alone, cached for this very form.

    errors: NotApplicableError
    """
    return compute(Subject(Encoding("", "", form, Provenance("")), no_input="it is shown by itself, without words"))
