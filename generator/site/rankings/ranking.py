"""Encodings in the order of a metric, and sentences on the ends: what all of them answer to the
question of an analysis.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import Analysis, Atlas, Headline, Metric, Modality, Outcome, Reading
from generator.contracts.wording import Wording
from generator.site.rankings.columns import DIGITS, in_unit
from generator.site.rankings.peers import alike, may_be_ranked, repeats
from generator.text import significant

WORDING = Wording("wording/standings.jinja")
# Positions of each are of another kind, so that sentences compare within one.
MODALITIES: Mapping[Modality, str] = {
    "text": "text",
    "image": "images",
    "audio": "audio",
    "page": "pages",
}


@dataclass(frozen=True)
class Ranked:
    """A finite value of an encoding. counts: whether sentences may speak of it"""

    outcome: Outcome
    reading: Reading
    value: float
    counts: bool

    @property
    def shown(self) -> str:
        """The value without its unit."""
        return significant(self.value, DIGITS)


@dataclass(frozen=True)
class Extreme:
    """The lowest or highest value of a metric, as text.

    name: of the first encoding that has it; more: how many others have it too
    """

    value: str
    name: str
    more: int


@dataclass(frozen=True)
class Ranking:
    """Encodings by a metric, the lowest first, one at least. metric: of one of them"""

    headline: Headline
    metric: Metric
    entries: tuple[Ranked, ...]

    @property
    def low(self) -> Extreme:
        """The lowest value, as it is shown."""
        return _extreme(self.entries[0], self.entries)

    @property
    def high(self) -> Extreme | None:
        """The highest value, as it is shown; None where all values are equal."""
        first, last = self.entries[0], self.entries[-1]
        return _extreme(last, self.entries) if last.shown != first.shown else None

    @property
    def compared(self) -> tuple[Ranked, ...]:
        """Those that sentences speak of: of the modality that has most of what takes part, each
        encoding of a model once.
        """
        counting = [
            entry
            for entry in self.entries
            if entry.counts and not repeats(entry.outcome, entry.reading)
        ]
        counts = Counter(entry.reading.encoding.modality for entry in counting)
        if not counts:
            return ()
        most = max(counts, key=lambda modality: (counts[modality], modality == "text"))
        return tuple(entry for entry in counting if entry.reading.encoding.modality == most)

    @property
    def chosen(self) -> tuple[Ranked, ...]:
        """The lowest, the median and the highest of those compared, each once."""
        compared = self.compared
        places = {0, len(compared) // 2, _highest(compared)} if compared else set()
        return tuple(compared[place] for place in sorted(places))

    @property
    def sentence(self) -> str:
        """What the lowest value is and what the highest, and who has them; "" where nothing can be
        compared.
        """
        compared = self.compared
        if not compared:
            return ""
        first, last = compared[0], compared[_highest(compared)]
        unit, says = self.metric.unit, self.headline.says
        low, high = in_unit(first.shown, unit if unit == "%" else ""), in_unit(last.shown, unit)
        of = {"count": len(compared), "modality": self._modality(compared)}
        if len(compared) == 1:
            name, is_alone = first.reading.label.title, len(self.entries) == 1
            return WORDING("single", says=says(high), name=name, is_alone=is_alone)
        if first.shown == last.shown:
            return WORDING("equal", says=says(high), **of)
        if alike([entry.value for entry in compared]):
            return WORDING("equal", says=says(f"{low} to {high}"), **of)
        names = {"low_name": _named(first, compared), "high_name": _named(last, compared)}
        return WORDING("ends", says=says(WORDING("range", low=low, high=high, **names)), **of)

    def _modality(self, compared: Sequence[Ranked]) -> str:
        """What those compared are of, where others are of something else; "" where none are."""
        modalities = {entry.reading.encoding.modality for entry in self.entries}
        return MODALITIES[compared[0].reading.encoding.modality] if len(modalities) > 1 else ""


def ranking_of(atlas: Atlas, analysis: Analysis) -> Ranking | None:
    """The order of all encodings by the metric that answers the question; None where no metric
    does, or none has a value.
    """
    headline = analysis.answering
    members = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    return ranking(atlas, analysis, headline, members) if headline else None


def ranking(
    atlas: Atlas,
    analysis: Analysis,
    headline: Headline,
    members: Iterable[tuple[Outcome, Reading]],
) -> Ranking | None:
    """The order of those of ``members`` that have a finite value; None without any."""
    found = [
        (Ranked(outcome, reading, metric.finite, may_be_ranked(atlas, analysis, reading)), metric)
        for outcome, reading in members
        if (metric := reading.results[analysis.key].find(headline.metric))
        and metric.finite is not None
    ]
    entries = sorted((entry for entry, _ in found), key=lambda entry: entry.value)
    return Ranking(headline, found[0][1], tuple(entries)) if found else None


def _highest(compared: Sequence[Ranked]) -> int:
    """Index of the first of those that have the highest value as it is shown."""
    return [entry.shown for entry in compared].index(compared[-1].shown)


def _extreme(entry: Ranked, among: Sequence[Ranked]) -> Extreme:
    equal = [other for other in among if other.shown == entry.shown]
    return Extreme(entry.shown, equal[0].reading.label.title, len(equal) - 1)


def _named(entry: Ranked, compared: Sequence[Ranked]) -> str:
    """Its name, with how many others have the same value as shown."""
    found = _extreme(entry, compared)
    return WORDING("named", name=found.name, more=found.more)
