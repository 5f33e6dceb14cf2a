"""Headline metrics: what tables of several encodings show of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from generator.contracts import Analysis, Atlas, Headline, Metric, Placed, Reading
from generator.site.ways import PLACES
from generator.text import measured, with_unit

NOTHING = "–"
JOINED = " or "  # between units


@dataclass(frozen=True, eq=False)
class Column:
    """A headline metric. unit: of its values, "" for plain numbers, of several with “or”; meaning:
    its title in full; n_values: how many encodings have one, infinite ones among them
    """

    analysis: Analysis
    headline: Headline
    unit: str
    meaning: str
    n_values: int

    @property
    def has_units(self) -> bool:
        """Whether its values have several units, so that those of one kind compare alone."""
        return JOINED in self.unit

    def value(self, reading: Reading) -> float | None:
        """The value of an encoding; None where it has no finite one."""
        found = reading.results[self.analysis.key].find(self.headline.metric)
        return found.finite if found else None

    def placed(self, reading: Reading) -> Placed | None:
        """The value beside its chance level; None where the encoding has no finite one."""
        return self.headline.placed(reading.results[self.analysis.key])

    def metric(self, reading: Reading) -> Metric:
        """The metric of an encoding that has one. errors: KeyError"""
        return reading.results[self.analysis.key].metric(self.headline.metric)

    def text(self, reading: Reading) -> str:
        """The value of an encoding as pages write it; NOTHING where it has none."""
        found = self.value(reading)
        return NOTHING if found is None else measured(found, self.metric(reading).unit)


@lru_cache(maxsize=1)
def columns_of(atlas: Atlas) -> tuple[Column, ...]:
    """The headline metrics that an atlas has: first those of the analyses that apply to most
    encodings.
    """
    readings = [reading for _, reading in atlas.encodings]
    by_analysis = [
        [
            column
            for headline in analysis.headlines
            if (column := _column(analysis, headline, readings))
        ]
        for analysis in atlas.analyses
    ]
    by_analysis.sort(key=lambda columns: -max((column.n_values for column in columns), default=0))
    return tuple(column for columns in by_analysis for column in columns)


def in_unit(shown: str, unit: str) -> str:
    """A value with its unit, in the singular for 1."""
    return with_unit(shown, unit.removesuffix("s") if shown == "1" else unit)


def in_words(units: Iterable[str]) -> str:
    """The units of a metric: “positions or patches” where it has both."""
    return JOINED.join(sorted(filter(None, units), reverse=True))


def common(columns: Sequence[Column], readings: Sequence[Reading]) -> Column | None:
    """The one of ``columns`` in which the most ``readings`` have a value, the first of equals; None
    where none of them has any.
    """
    counts = [sum(column.value(reading) is not None for reading in readings) for column in columns]
    return columns[counts.index(max(counts))] if any(counts) else None


def _column(analysis: Analysis, headline: Headline, readings: Sequence[Reading]) -> Column | None:
    found = (reading.results[analysis.key].find(headline.metric) for reading in readings)
    metrics = [metric for metric in found if metric]
    n_values = sum(metric.value is not None for metric in metrics)
    unit = in_words({metric.unit for metric in metrics})
    return Column(analysis, headline, unit, metrics[0].title, n_values) if n_values else None


def place(reading: Reading) -> str:
    """Where a model applies an encoding, in words; "–" where it has none."""
    return PLACES[reading.form.load().acts_in].place
