"""What a measure of a model does over the steps of a run, in sentences: each of a difference beyond
the standard errors of both values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from generator.contracts import Analysis, Run, RunUse
from generator.contracts.results import Course, error_key

BEYOND = 3.0  # standard errors of a difference


@dataclass(frozen=True)
class Known:
    """A value at a step, with its standard error."""

    step: int
    value: float
    error: float

    def is_above(self, other: "Known") -> bool:
        """Whether it is larger than another by more than chance."""
        return self.value - other.value > BEYOND * hypot(self.error, other.error)


def sentences(run: Run, use: RunUse, measure: Analysis) -> list[str]:
    """Of each of the metrics in ``over_steps`` of a measure of which something is known.

    Step 0 is the model as training found it, with random weights or others: a run without that step
    has nothing to be compared with.
    """
    return [
        measure.wording(f"{key}_by_step", **found, steps=len(run.steps))
        for key, course in measure.over_steps.items()
        if (found := _found(_known(run, use, f"{measure.key}.{key}"), course))
    ]


def _known(run: Run, use: RunUse, key: str) -> list[Known]:
    """The values of a metric whose errors are known."""
    value, error = use.metric(key), use.metric(error_key(key))
    if value is None or error is None:
        return []
    rows = zip(run.steps, value.values, error.values, strict=True)
    return [
        Known(step, one, other)
        for step, one, other in rows
        if one is not None and other is not None
    ]


def _found(known: Sequence[Known], course: Course) -> dict[str, Known | None]:
    """Numbers of the sentence; empty where there is none.

    start, last: the first and the last; since: the first from which on all are above the start,
        None without one, for a rise; from which its height is reached, for a height
    highest: of a height; falls: whether the last is below it
    """
    if len(known) < 2 or known[0].step:
        return {}
    start, last = known[0], known[-1]
    ends: dict[str, Known | None] = {"start": start, "last": last}
    if course == "change":
        return ends if last.is_above(start) or start.is_above(last) else {}
    if course == "rise":
        above = [one.is_above(start) for one in known]
        if any(above) and not above[-1]:
            return {}
        return {**ends, "since": _lasting(known, above)}
    highest = max(known, key=lambda one: one.value)
    if not highest.is_above(start) and not highest.is_above(last):
        return {}
    since = next(one for one in known if not highest.is_above(one))
    return {
        **ends,
        "highest": highest,
        "since": since,
        "falls": last if highest.is_above(last) else None,
    }


def _lasting(known: Sequence[Known], above: Sequence[bool]) -> Known | None:
    """The first from which on all are ``above``; None without one."""
    return next((one for at, one in enumerate(known) if all(above[at:])), None)
