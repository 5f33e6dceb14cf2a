"""Analysis of a form without a checkpoint or a sentence."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from generator.contracts import Encoding, Provenance, Result, Subject
from generator.encodings import Form

FormT = TypeVar("FormT", bound=Form)


@lru_cache(maxsize=32)
def compute_alone(compute: Callable[[Subject[FormT]], Result], form: FormT) -> Result:
    """Result of ``compute`` for ``form``, cached by the identity of ``form``.

    errors: NotApplicableError
    """
    return compute(subject_of(form))


def subject_of(form: FormT) -> Subject[FormT]:
    """``form`` as the subject of an analysis, without a checkpoint or a sentence."""
    return Subject(
        Encoding("", "", form, Provenance("")), no_input="it is shown alone, without words"
    )
