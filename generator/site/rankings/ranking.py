"""Encodings in the order of a metric, and sentences on the ends: what all of them answer to the
question of an analysis.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import (
    Analysis,
    Atlas,
    Headline,
    Metric,
    Modality,
    Outcome,
    Placed,
    Reading,
)
from generator.contracts.wording import Wording
from generator.site.rankings.columns import in_unit
from generator.site.rankings.peers import MODALITIES, alike, in_order, model_of, repeats
from generator.text import measured, with_unit

WORDING = Wording("wording/standings.jinja")
CLOSE = 0.05  # of a place beside chance: less may come from the random orders that give the chance


@dataclass(frozen=True)
class Ranked:
    """A finite value of an encoding. unit: of the value; counts: whether it has a place in the
    order; is_made: whether a formula makes it what it is
    """

    outcome: Outcome
    reading: Reading
    placed: Placed
    unit: str
    counts: bool
    is_made: bool

    @property
    def value(self) -> float:
        """The value."""
        return self.placed.value

    @property
    def shown(self) -> str:
        """The value without its unit."""
        return measured(self.value, self.unit)

    @property
    def chance(self) -> str:
        """Its chance level; "" where it has none."""
        chance, per_cent = self.placed.chance, "%" if self.unit == "%" else ""
        return "" if chance is None else with_unit(measured(chance, self.unit), per_cent)

    @property
    def percent(self) -> str:
        """By which it is ranked, where it has a chance level."""
        return f"{measured(100.0 * self.placed.share, '%')}%"

    @property
    def place(self) -> str:
        """Its place in the order, as it is shown: those that show alike have the same."""
        return self.shown if self.placed.chance is None else self.percent


@dataclass(frozen=True)
class Extreme:
    """The lowest or highest value of a metric, as text.

    name: of the first encoding that has it; chance: its chance level, "" where it has none; more:
        how many others show both alike
    """

    value: str
    name: str
    more: int
    chance: str


@dataclass(frozen=True)
class Ranking:
    """Encodings by a metric, the lowest first, one at least; those without a place come last.
    metric: of one of them; measured: how many encodings of each modality were measured, with a
        value or without
    """

    headline: Headline
    metric: Metric
    entries: tuple[Ranked, ...]
    measured: Mapping[Modality, int]

    @property
    def low(self) -> Extreme:
        """The first in the order."""
        return _extreme(self._ordered[0], self._ordered)

    @property
    def high(self) -> Extreme | None:
        """The last in the order; None where all are equal."""
        first, last = self._ordered[0], self._ordered[-1]
        return _extreme(last, self._ordered) if last.place != first.place else None

    @property
    def _ordered(self) -> tuple[Ranked, ...]:
        """Those with a place, or all where none has one."""
        return tuple(entry for entry in self.entries if entry.counts) or self.entries

    @property
    def compared(self) -> tuple[Ranked, ...]:
        """Those that sentences speak of: of the modality of which most models take part."""
        counting = [entry for entry in self.entries if entry.counts]
        models = {(model_of(entry.outcome), entry.reading.encoding.modality) for entry in counting}
        counts = Counter(modality for _, modality in models)
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
        compared. Beside chance, what a formula makes true is left out.
        """
        is_range = self.headline.chance is None
        compared = [entry for entry in self.compared if is_range or not entry.is_made]
        if not compared:
            return ""
        if self.headline.where:
            return f"{self._where(compared)} {self._of(compared)}"
        return self._of(compared)

    def _of(self, compared: Sequence[Ranked]) -> str:
        """The sentence on those compared, one at least."""
        is_range = self.headline.chance is None
        first, last = compared[0], compared[_highest(compared)]
        unit, says = first.unit, self.headline.says
        low, high = in_unit(first.shown, unit if unit == "%" else ""), in_unit(last.shown, unit)
        of = {"count": len(compared), "modality": self._modality(compared)}
        n_by_chance = sum(
            not entry.placed.is_apart and not entry.is_made
            for entry in self.entries
            if entry.reading.encoding.modality == first.reading.encoding.modality
        )
        if len(compared) == 1:
            is_alone = sum(self.measured.values()) == 1
            name = first.outcome.checkpoint.title if is_alone else first.reading.label.title
            one = {"name": name, "chance": first.chance, "is_alone": is_alone}
            return WORDING("single", says=says(high), **one, n_by_chance=n_by_chance)
        if len({entry.shown for entry in compared}) == 1:
            return WORDING("equal", says=says(high), **of, is_range=is_range)
        if alike(values := [entry.value for entry in compared]):
            least, most = (measured(end, unit) for end in (min(values), max(values)))
            low, high = in_unit(least, unit if unit == "%" else ""), in_unit(most, unit)
            return WORDING("equal", says=says(f"{low} to {high}"), **of, is_range=is_range)
        names = {"low_name": _named(first, compared), "high_name": _named(last, compared)}
        ends = WORDING("range", low=low, high=high, **names, is_range=is_range)
        low_place, high_place = first.placed.share, last.placed.share
        are_close = high_place - low_place <= CLOSE * max(abs(low_place), abs(high_place))
        text = {"says": says(ends), "n_by_chance": n_by_chance, "are_close": are_close}
        return WORDING("ends", **text, **of, is_range=is_range)

    @property
    def modality(self) -> str:
        """What those compared are of, where others are of something else; "" where none are."""
        return self._modality(self.compared)

    @property
    def verdict(self) -> str:
        """The sentence, or why nothing can be compared."""
        if self.sentence:
            return self.sentence
        learned = [entry for entry in self.entries if not entry.is_made]
        return WORDING(
            "no_places",
            title=self.metric.title[:1].lower() + self.metric.title[1:],
            count=len(learned),
            n_made=len(self.entries) - len(learned),
            is_beside_chance=self.headline.chance is not None,
            n_apart=sum(entry.placed.is_apart for entry in learned),
        )

    def _where(self, compared: Sequence[Ranked]) -> str:
        """In how many encodings of their modality there is a value, and what that means."""
        modality, others = compared[0].reading.encoding.modality, len(self.measured) > 1
        return WORDING(
            "where",
            count=len(compared),
            total=self.measured[modality],
            modality=MODALITIES[modality] if others else "",
            where=self.headline.wording(self.headline.where),
        )

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
    """The order of those of ``members`` that have a finite value, each encoding of a model once;
    None without any.
    """
    by_formula = {scheme.key for scheme in atlas.schemes if scheme.by_formula}
    entries, measured = [], Counter[Modality]()
    for outcome, reading in members:
        result = reading.results[analysis.key]
        if result.find(headline.metric) is None or repeats(outcome, reading):
            continue
        measured[reading.encoding.modality] += 1
        if placed := headline.placed(result):
            counts = in_order(atlas, analysis, headline, reading) is not None
            unit = result.metric(headline.metric).unit
            is_made = reading.encoding.scheme in by_formula
            entries.append(Ranked(outcome, reading, placed, unit, counts, is_made))
    if not entries:
        return None
    metric = entries[0].reading.results[analysis.key].metric(headline.metric)
    entries.sort(key=lambda entry: (not entry.counts, entry.placed.share))
    return Ranking(headline, metric, tuple(entries), measured)


def _highest(compared: Sequence[Ranked]) -> int:
    """Index of the first of those that are last in the order, as it is shown."""
    return [entry.place for entry in compared].index(compared[-1].place)


def _extreme(entry: Ranked, among: Sequence[Ranked]) -> Extreme:
    in_place = [other for other in among if other.place == entry.place]
    first = in_place[0]
    same = [one for one in in_place if (one.shown, one.chance) == (first.shown, first.chance)]
    return Extreme(first.shown, first.reading.label.title, len(same) - 1, first.chance)


def _named(entry: Ranked, compared: Sequence[Ranked]) -> str:
    """Its name, with how many others have the same place as shown, and its chance level."""
    found = _extreme(entry, compared)
    return WORDING("named", name=found.name, more=found.more, chance=found.chance)
