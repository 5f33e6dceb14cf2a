"""Analyses, their results, and figures of results."""

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
    """A number with its unit. reason: why value is None"""

    key: str
    title: str
    value: float | None
    unit: str = ""
    reason: str | None = None


@dataclass(frozen=True)
class Finding:
    """A sentence derived from metrics.

    rests_on: keys of these metrics, of the same result
    weight: from 0, a remark, to 1, the first sentence of a page: how far the metrics are from what one would expect
    context: a possible explanation from a cited source, not from the data
    """

    text: str
    rests_on: tuple[str, ...] = ()
    weight: float = 0.0
    context: str = ""


@dataclass(frozen=True, eq=False)
class Result:
    """Result of an analysis of one encoding.

    metrics: the most important first; reason: why the analysis does not apply, in which case everything else is empty
    """

    metrics: tuple[Metric, ...] = ()
    arrays: Mapping[str, Array] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    reason: str | None = None

    def metric(self, key: str) -> Metric:
        """The metric with this key. errors: KeyError"""
        for metric in self.metrics:
            if metric.key == key:
                return metric
        raise KeyError(f"no metric {key!r}; expected one of {', '.join(metric.key for metric in self.metrics)}")

    def value(self, key: str) -> float | None:
        """Value of the metric with this key; None where it is not applicable. errors: KeyError"""
        return self.metric(key).value


@dataclass(frozen=True)
class Label:
    """Name of an encoding, which is also its title in figures, and its colour, as #rrggbb."""

    title: str
    colour: str


Results = Mapping[Label, Result]


@dataclass(frozen=True)
class FigureSpec:
    """A kind of figure, of one result or of several on a common scale.

    caption: what the figure shows; how_to_read: explanation for newcomers; alt: returns the alternative text, made from the numbers
    appeal: how much the figure of a result invites to look closer, from 0, not at all, to 1; the front page opens with the highest
    """

    key: str
    caption: str
    how_to_read: str
    alt: Callable[[Results], str]
    draw: "Callable[[Results], Drawing]"
    appeal: Callable[[Result], float] = lambda _: 0.0


@dataclass(frozen=True)
class Headline:
    """A metric that the table of all encodings has as a column. metric: its key; title: a few words, which the unit stands beside"""

    metric: str
    title: str


@dataclass(frozen=True)
class Analysis:
    """A question about encodings: how its answer is computed and drawn.

    stage, order: stage of a checkpoint's page that shows it, and its rank there; forms: types of form that ``compute`` accepts
    compute: raises NotApplicableError where the answer is not defined; per_figure: most encodings that one figure compares
    published: values that it must reproduce; headlines: its metrics in the table of all encodings, which say most across schemes
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
    headlines: tuple[Headline, ...] = ()
