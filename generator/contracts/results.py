"""What an analysis says, and how it is drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from generator.contracts.published_record import Published
from generator.contracts.subjects import Subject
from generator.numerics.arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Metric:
    """A number with its unit, or the reason why there is none."""

    key: str
    title: str
    value: float | None
    unit: str = ""
    reason: str | None = None


@dataclass(frozen=True)
class Finding:
    """One plain sentence made from numbers.

    rests_on: keys of the metrics of the same result that it is made from
    weight: from 0, a remark, to 1, what a page should lead with: how far the numbers lie from what one would expect
    context: what a cited source says that may explain it; none of it comes from the data
    """

    text: str
    rests_on: tuple[str, ...] = ()
    weight: float = 0.0
    context: str = ""


@dataclass(frozen=True, eq=False)
class Result:
    """What one analysis says of one encoding. With ``reason`` it does not apply and all else is empty.

    metrics: the one that says most comes first
    """

    metrics: tuple[Metric, ...] = ()
    arrays: Mapping[str, Array] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    reason: str | None = None

    def metric(self, key: str) -> Metric:
        """The metric under ``key``, wherever it stands."""
        found = next((metric for metric in self.metrics if metric.key == key), None)
        if found is None:
            raise KeyError(f"no metric {key!r}; expected one of {', '.join(metric.key for metric in self.metrics)}")
        return found

    def value(self, key: str) -> float | None:
        """Its value; None where it has a reason instead."""
        return self.metric(key).value


@dataclass(frozen=True)
class Label:
    """How a figure names an encoding: its title and its fixed colour."""

    title: str
    colour: str


Results = Mapping[Label, Result]


@dataclass(frozen=True)
class FigureSpec:
    """A picture of one result or, side by side on one scale, of several.

    caption: what it shows; how_to_read: for a newcomer; alt: what is seen, made from the numbers
    """

    key: str
    caption: str
    how_to_read: str
    alt: Callable[[Results], str]
    draw: "Callable[[Results], Drawing]"


@dataclass(frozen=True)
class Analysis:
    """One question.

    stage, order: where it stands in the story that a page tells, and where within that
    forms: those that it understands; per_figure: how many a comparison holds legibly; published: what it must give again
    """

    key: str
    title: str
    question: str
    source: str
    stage: Literal["see", "measure", "place"]
    order: int
    forms: tuple[type, ...]
    compute: Callable[[Subject[Any]], Result]
    figures: tuple[FigureSpec, ...]
    per_figure: int = 8
    published: tuple[Published, ...] = ()
