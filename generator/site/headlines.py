"""Headline metrics: what tables of several encodings show of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from generator.contracts import Analysis, Headline, Metric, Reading
from generator.encodings import NoEncoding
from generator.text import significant

DIGITS = 3
NOTHING = "–"
PLACES = {"state": "recurrent state", "beside": "attention"}


@dataclass(frozen=True)
class Column:
    """A headline metric. unit: of its values, "" for plain numbers; meaning: its title in full; n_values: how many encodings have one"""

    analysis: Analysis
    headline: Headline
    unit: str
    meaning: str
    n_values: int

    def value(self, reading: Reading) -> float | None:
        """The value of an encoding; None where it has no finite one."""
        metric = _metric(reading, self.analysis, self.headline)
        return metric.value if metric and metric.value is not None and isfinite(metric.value) else None

    def text(self, reading: Reading) -> str:
        """The value of an encoding to DIGITS digits; NOTHING where it has none."""
        value = self.value(reading)
        return NOTHING if value is None else significant(value, DIGITS)


def columns_of(analyses: Sequence[Analysis], readings: Sequence[Reading]) -> list[Column]:
    """The headline metrics that ``readings`` have, those that apply to most of them first."""
    columns = []
    for analysis in analyses:
        for headline in analysis.headlines:
            metrics = [metric for reading in readings if (metric := _metric(reading, analysis, headline)) is not None]
            if n_values := sum(metric.value is not None for metric in metrics):
                columns.append(Column(analysis, headline, metrics[0].unit, metrics[0].title, n_values))
    return sorted(columns, key=lambda column: -column.n_values)


def _metric(reading: Reading, analysis: Analysis, headline: Headline) -> Metric | None:
    return next((metric for metric in reading.results[analysis.key].metrics if metric.key == headline.metric), None)


def place(reading: Reading) -> str:
    """Where a model applies an encoding, in words; NOTHING where it has none."""
    acts_in = reading.form.load().acts_in
    return NOTHING if reading.encoding.form == NoEncoding.__name__ else PLACES.get(acts_in, acts_in)
