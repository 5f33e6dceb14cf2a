"""What is unusual about an encoding: how far its numbers are from those of its peers, the models of
this atlas with encodings of the same scheme and the same kind of positions.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from math import log
from statistics import fmean, median

from generator import encodings
from generator.contracts import (
    Analysis,
    Atlas,
    Finding,
    Headline,
    Metric,
    Modality,
    Outcome,
    Placed,
    Reading,
    Scheme,
)
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.site.rankings.columns import Column, columns_of, in_unit
from generator.site.rankings.rotation_settings import rotations_of, sentence
from generator.text import measured

WORDING = Wording("wording/standings.jinja")
LEAST_PEERS = 3  # with the model itself; a median of fewer says nothing
FIRST = 0.9  # Weight from which a finding comes first, whatever others have: a table that is none
FOREMOST = 1.0
SHAPE = 0.85  # Weight of a shape that a figure shows: few tables have one, whatever their numbers
FAR = 2.0  # mean deviations from the median that are unusual halfway
SAME = 0.02  # share by which values may differ that are as good as equal
LEAST_RATIO = 1.25  # of a value and the median, in a sentence on the order of values
OUTERMOST = 3  # values from either end of which a sentence speaks
MOST_EQUAL = 1  # others with the same value that such a sentence allows
NUMBER = re.compile(r"[\d.,]+")
Key = tuple[str, str, str, str]
# Positions of each are of another kind, so that sentences compare within one.
MODALITIES: Mapping[Modality, str] = {
    "text": "text",
    "image": "images",
    "audio": "audio",
    "page": "pages",
}


@dataclass(frozen=True)
class Statement:
    """What a page may say of an encoding, ``reading``.

    analysis: key of the one that it rests on; weight: how early a page says it, from 0 to 1
    is_standing: whether it is the place of a number among the peers, not a finding of the analysis
    """

    reading: Reading
    analysis: str
    finding: Finding
    weight: float
    is_standing: bool = False

    @property
    def is_of_settings(self) -> bool:
        """Whether it tells the settings of the model, in all layers."""
        return self.is_standing and not self.finding.rests_on

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Those that it rests on."""
        result = self.reading.results[self.analysis]
        return tuple(metric for metric in result.metrics if metric.key in self.finding.rests_on)

    @property
    def subject(self) -> tuple[str, str]:
        """What it speaks of within its encoding: the analysis, and its first metric or its text."""
        return self.analysis, next(iter(self.finding.rests_on), self.finding.text)


@dataclass(frozen=True, eq=False)
class Spread:
    """Values of one metric of the peers, one at least. ascending: in this order"""

    ascending: Sequence[float]

    @cached_property
    def is_positive(self) -> bool:
        """Whether all values are, so that their logarithms are compared."""
        return self.ascending[0] > 0.0

    @cached_property
    def middle(self) -> float:
        """Median of what is compared."""
        return median(self._compared)

    @cached_property
    def deviation(self) -> float:
        """Mean deviation from the median; at least as much as differences that say nothing."""
        least = SAME if self.is_positive else SAME * max(map(abs, self.ascending))
        deviation = fmean(abs(other - self.middle) for other in self._compared)
        return max(deviation, least or 1.0)

    @property
    def _compared(self) -> list[float]:
        return list(map(log, self.ascending) if self.is_positive else self.ascending)

    def times(self, value: float) -> float | None:
        """Distance of ``value`` from the median, in mean deviations; None for a number that has no
        logarithm among some that have.
        """
        if self.is_positive and value <= 0.0:
            return None
        return ((log(value) if self.is_positive else value) - self.middle) / self.deviation


@dataclass(frozen=True, eq=False)
class Peers:
    """Values of all metrics, by scheme and modality of the encodings that have them: of each model
    one, the median of its own. What has a chance level is compared by ``Placed.share``.
    """

    atlas: Atlas
    values: Mapping[Key, Spread]

    def statements(self, reading: Reading) -> list[Statement]:
        """All findings on an encoding, and its places among its peers, the most unusual first."""
        findings = (
            Statement(reading, analysis.key, finding, self.place(reading, analysis, finding))
            for analysis in self.atlas.analyses
            for finding in reading.results[analysis.key].findings
        )
        every = [*self._on_settings(reading), *self._rank_statements(reading), *findings]
        # Not reversed, so that statements of one weight stay in the order of the page.
        return sorted(every, key=lambda statement: -statement.weight)

    def shared(self, scheme: str) -> list[tuple[str, Finding]]:
        """Findings that all encodings of a scheme have with the same numbers, each with the key of
        its analysis; none where fewer than LEAST_PEERS have numbers.
        """
        of_scheme = [
            reading
            for outcome, reading in self.atlas.encodings
            if reading.encoding.scheme == scheme and not repeats(outcome, reading)
        ]
        if len(of_scheme) < LEAST_PEERS:
            return []
        first, *others = (
            {
                (one.analysis, without_numbers(one.finding.text)): one
                for one in self.statements(reading)
                if not one.is_standing and not one.finding.is_remark and one.finding.rests_on
            }
            for reading in of_scheme
        )
        return [
            (statement.analysis, statement.finding)
            for key, statement in first.items()
            if all(key in of_other for of_other in others)
            and all(
                alike([reading.results[statement.analysis].value(key) for reading in of_scheme])
                for key in statement.finding.rests_on
            )
        ]

    def place(self, reading: Reading, analysis: Analysis, finding: Finding) -> float:
        """How early a page says a finding, from 0 to 1: by its weight, but a shape that a figure
        shows comes before what numbers alone say, and a row or a few come last.
        """
        if finding.is_of_few_rows:
            return 0.0
        weight = self.weight(reading, analysis.key, finding)
        appeal = max(spec.appeal(reading.results[analysis.key]) for spec in analysis.figures)
        if finding.is_remark or not appeal:
            return weight
        return max(weight, SHAPE + (FIRST - SHAPE) * appeal)

    def weight(self, reading: Reading, analysis: str, finding: Finding) -> float:
        """How unusual the metric is that a finding speaks of, from 0 at the median of the peers
        to 1; its own weight where there are too few peers, for a remark, and from FIRST on.
        """
        if finding.is_remark or finding.weight >= FIRST or not finding.rests_on:
            return finding.weight
        metric = reading.results[analysis].metric(finding.rests_on[0])
        times = self._times(reading, analysis, metric)
        return finding.weight if times is None else min(_unusual(times), FIRST)

    def _on_settings(self, reading: Reading) -> Iterator[Statement]:
        """What the settings of a model with rotations say, with the first of these."""
        outcome = next(one for one in self.atlas.outcomes if reading in one.readings)
        if reading in rotations_of(outcome)[:1]:
            applicable = [key for key, result in reading.results.items() if not result.reason]
            if not applicable:  # As where a list leaves out all analyses that apply.
                return
            finding = Finding(sentence(outcome), (), FOREMOST)
            yield Statement(reading, applicable[0], finding, FOREMOST, is_standing=True)

    def _rank_statements(self, reading: Reading) -> Iterator[Statement]:
        """Sentences on headline metrics, of what may be ranked alone. What follows from the size of
        a table has no place.
        """
        if self._scheme(reading).by_formula and reading.encoding.form == PositionTable.__name__:
            return
        for column, times in self._places(reading).items():
            text = self._on_extreme(reading, column) if abs(times) >= 1.0 else ""
            if text:
                finding = Finding(text, (column.headline.metric,), _unusual(times))
                yield Statement(
                    reading, column.analysis.key, finding, finding.weight, is_standing=True
                )

    def _places(self, reading: Reading) -> dict[Column, float]:
        """Distance of each headline value from the median of the peers, as ``_times``."""
        return {
            column: times
            for column in columns_of(self.atlas)
            if column.value(reading) is not None
            and may_be_ranked(self.atlas, column.analysis, reading)
            and (times := self._times(reading, column.analysis.key, column.metric(reading)))
            is not None
        }

    def _on_extreme(self, reading: Reading, column: Column) -> str:
        """ "" for a value that is not outermost, close to the median, or shared by many."""
        headline, metric, placed = column.headline, column.metric(reading), column.placed(reading)
        values = self.values[_key(reading, column.analysis.key, metric)].ascending
        if placed is None or not headline.sentence or not _is_apart(placed.share, median(values)):
            return ""
        own = _shown(placed.share, headline, metric)
        shown = [(value, _shown(value, headline, metric)) for value in values]
        below = {text for value, text in shown if value < placed.share} - {own}
        above = {text for value, text in shown if value > placed.share} - {own}
        n_equal = sum(text == own for _, text in shown)
        if min(len(below), len(above)) >= OUTERMOST or n_equal > MOST_EQUAL + 1:
            return ""
        return WORDING(
            "extreme",
            says=headline.says(
                in_unit(measured(placed.value, metric.unit), metric.unit),
                _quantity(reading),
                of_all_texts=not reading.encoding.parameters.get("scaling"),
            ),
            placed=placed,
            chance=headline.chance,
            total=len(values),
            plural=self._scheme(reading).plural,
            kind=MODALITIES[reading.encoding.modality],
            median=median(values),
            unit=metric.unit,
        )

    def _times(self, reading: Reading, analysis: str, metric: Metric) -> float | None:
        """Distance of a value from the median of the peers, in their mean deviations from it, of
        positive numbers by their logarithms; None without a value, or with fewer than LEAST_PEERS.
        """
        values = self.values.get(_key(reading, analysis, metric))
        value = _compared(self.atlas, reading, analysis, metric)
        if value is None or values is None:
            return None
        return values.times(value) if len(values.ascending) >= LEAST_PEERS else None

    def _scheme(self, reading: Reading) -> Scheme:
        key = reading.encoding.scheme
        return next(scheme for scheme in self.atlas.schemes if scheme.key == key)


@lru_cache(maxsize=1)
def peers_of(atlas: Atlas) -> Peers:
    """The peers of all encodings that may be ranked, values in ascending order."""
    votes: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for outcome, reading in atlas.encodings:
        if repeats(outcome, reading):
            continue
        for analysis in atlas.analyses:
            if may_be_ranked(atlas, analysis, reading):
                for metric in reading.results[analysis.key].metrics:
                    value = _compared(atlas, reading, analysis.key, metric)
                    if value is not None:
                        of_models = votes[_key(reading, analysis.key, metric)]
                        of_models[model_of(outcome)].append(value)
    return Peers(
        atlas,
        {key: Spread(sorted(map(median, models.values()))) for key, models in votes.items()},
    )


def _compared(atlas: Atlas, reading: Reading, analysis: str, metric: Metric) -> float | None:
    """What is compared of a metric; None without a finite value, and for one by chance."""
    headline = _with_chance(atlas).get((analysis, metric.key))
    if headline is None:
        return metric.finite
    placed = headline.placed(reading.results[analysis])
    return placed.share if placed and placed.is_apart else None


@lru_cache(maxsize=1)
def _with_chance(atlas: Atlas) -> Mapping[tuple[str, str], Headline]:
    """Headlines that have a chance level, by keys of analysis and metric."""
    return {
        (analysis.key, headline.metric): headline
        for analysis in atlas.analyses
        for headline in analysis.shown
        if headline.chance
    }


@lru_cache(maxsize=1)
def openings_of(atlas: Atlas) -> Mapping[str, str]:
    """The sentence that opens the page of a checkpoint, by slug: the most unusual one whose words
    open no page of that scheme already, unless with the same numbers. A table that is none says so
    first, whatever others say; remarks open no page.
    """
    peers = peers_of(atlas)
    candidates = [
        (statement, outcome, outcome.readings[0].encoding.scheme)
        for outcome in atlas.outcomes
        for reading in outcome.readings
        for statement in peers.statements(reading)
        if not statement.finding.is_remark
    ]
    candidates.sort(key=lambda candidate: -candidate[0].weight)
    openings: dict[str, str] = {}
    taken: dict[tuple[str, str], str] = {}
    for statement, outcome, scheme in candidates:
        slug, text = outcome.checkpoint.slug, statement.finding.text
        if slug not in openings and (
            taken.setdefault((scheme, without_numbers(text)), text) == text
            or statement.finding.weight >= FIRST
        ):
            openings[slug] = text
    return openings


def may_be_ranked(atlas: Atlas, analysis: Analysis, reading: Reading) -> bool:
    """Whether sentences may speak of the place of its values among others: not of a guess, nor of
    a table without structure. Analyses of order, and of values where these are like random numbers,
    say nothing of such a table but its odd rows.
    """
    kinds = {"order", "values"} if analysis.about == "values" else {"order"}
    return any(
        not finding.of_single_rows
        for other in atlas.analyses
        if other.about in kinds
        for finding in reading.results[other.key].findings
    )


def in_order(
    atlas: Atlas, analysis: Analysis, headline: Headline, reading: Reading
) -> Placed | None:
    """The value of an encoding by which it is ranked; None where it has no place among others."""
    placed = headline.placed(reading.results[analysis.key])
    ranked = placed and placed.is_apart and may_be_ranked(atlas, analysis, reading)
    return placed if ranked else None


def model_of(outcome: Outcome) -> str:
    """The published model that a checkpoint is of, or else its own name."""
    return outcome.checkpoint.of or outcome.checkpoint.slug


def repeats(outcome: Outcome, reading: Reading) -> bool:
    """Whether an earlier encoding of the model is the same: one model counts once."""
    earlier = takewhile(lambda other: other is not reading, outcome.readings)
    return _same(reading) in map(_same, earlier)


def _same(reading: Reading) -> tuple[object, ...]:
    encoding = reading.encoding
    parameters = {**encoding.parameters, "layers": None}
    return encoding.scheme, encoding.provenance.shape, encoding.provenance.sha256, parameters


def without_numbers(text: str) -> str:
    """The words of a sentence."""
    return NUMBER.sub("", text)


def alike(values: Sequence[float | None]) -> bool:
    """Whether numbers are as good as equal; those of None are left out."""
    given = [value for value in values if value is not None]
    return not given or max(given) - min(given) <= SAME * max(map(abs, given))


def _quantity(reading: Reading) -> str:
    """What the kernel of its form is, without a unit."""
    quantity: str = getattr(encodings, reading.encoding.form).quantity
    return quantity.partition(",")[0]


def _key(reading: Reading, analysis: str, metric: Metric) -> Key:
    return reading.encoding.scheme, reading.encoding.modality, analysis, metric.key


def _unusual(times: float) -> float:
    return abs(times) / (abs(times) + FAR)


def _is_apart(value: float, middle: float) -> bool:
    """Whether a value differs from the median by more than LEAST_RATIO."""
    low, high = sorted((abs(value), abs(middle)))
    return value * middle <= 0.0 or high >= LEAST_RATIO * low


def _shown(share: float, headline: Headline, metric: Metric) -> str:
    """What is compared, as pages show it."""
    return measured(share, metric.unit) if headline.chance is None else measured(100.0 * share, "%")
