"""What was measured of a trained model, with its figures, as pages show it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from generator.contracts import (
    Analysis,
    Atlas,
    Bars,
    Figure,
    Finding,
    Label,
    Metric,
    Outcome,
    Result,
    UseResult,
)
from generator.contracts.results import error_key

ARRAY = re.compile(r'arrays\["([^"]+)"\]')
PARTS = ("encoder", "decoder", "vision")  # In their order on pages.
MOST_LINES = 12  # parts in one figure
# Measures in which a model predicts a text.
READ_TEXT = {"position", "order"}
PACKED = {"U32", "U8", "I32"}  # Types that hold several numbers in one, in quantised files.
FEW_BITS = re.compile(r"I?Q(\d)|[IU](8)$")  # Types of quantised numbers, with their bits.
OTHER_COLOUR = "#3d7fd6"  # Of a model without an encoding.


@dataclass(frozen=True)
class Measured:
    """A measure of one part of a model, as a page shows it."""

    use: Analysis
    part: str
    result: Result
    found: UseResult
    figures: tuple[Figure, ...]

    @property
    def anchor(self) -> str:
        """Anchor of the measure on the page of its checkpoint."""
        return self.found.path

    @property
    def second(self) -> Result:
        """The numbers of the second run that it has."""
        known = {key: value for key, value in self.found.second.items() if value is not None}
        return Result(
            tuple(
                replace(metric, value=known[metric.key])
                for metric in self.result.metrics
                if metric.key in known
            )
        )

    @property
    def main(self) -> Metric | None:
        """That on which its weightiest finding rests, else its first."""
        said = [finding for finding in self.result.findings if finding.rests_on]
        if said:
            return self.result.find(max(said, key=lambda one: one.weight).rests_on[0])
        return next(iter(self.result.metrics), None)

    @property
    def shown(self) -> list[Metric]:
        """Its numbers but standard errors, which are shown beside these."""
        keys = {error_key(metric.key) for metric in self.result.metrics}
        return [metric for metric in self.result.metrics if metric.key not in keys]


def path_of(outcome: Outcome) -> str:
    """Path of the page of a checkpoint, without extension."""
    return f"checkpoints/{outcome.checkpoint.slug}/use"


def measured(atlas: Atlas, outcome: Outcome) -> list[Measured]:
    """Every measure of a checkpoint, by part."""
    by_key = {use.key: use for use in atlas.measures}
    ranks = {key: rank for rank, key in enumerate(by_key)}
    return [
        Measured(
            by_key[found.key],
            found.part,
            found.result,
            found,
            tuple(_figures(outcome, by_key[found.key], found)),
        )
        for found in sorted(
            outcome.use, key=lambda found: (PARTS.index(found.part), ranks[found.key])
        )
    ]


def leading(sections: Sequence[Measured]) -> tuple[Measured, Finding] | None:
    """The weightiest finding, after its section; None without one."""
    pairs = [(section, finding) for section in sections for finding in section.result.findings]
    return max(pairs, key=lambda pair: pair[1].weight, default=None)


def _figures(outcome: Outcome, use: Analysis, found: UseResult) -> Iterator[Figure]:
    folder = f"figures/{outcome.checkpoint.slug}/use"
    for spec in use.figures:
        if spec.key in found.drawings:
            yield Figure(
                f"{folder}/{found.path}-{spec.key}",
                replace(spec, python=_python(spec.python, found)),
                found.alts[spec.key],
                f"data/{outcome.checkpoint.slug}/use.npz",
            )


def _python(lines: str, found: UseResult) -> str:
    """Lines that plot a figure, with arrays as the file of the checkpoint names them; "" where it
    lacks one of them.
    """
    known = {f"{found.key}.{name}" for name in found.result.arrays}
    if not known.issuperset(ARRAY.findall(lines)):
        return ""
    return lines.replace('arrays["', f'arrays["{found.part}.')


@dataclass(frozen=True)
class Across:
    """A measure of all models. figure: None without one; rows: of the table, by part"""

    use: Analysis
    figure: Figure | None
    summary: str
    rows: tuple[tuple[Label, Outcome, Measured], ...]


@dataclass(frozen=True)
class Bar:
    """A bar of a chart. width, random: shares of the widest place in %, that of random weights None
    where it is not known; base: from which it is a rise, None where it is none
    """

    label: Label
    outcome: Outcome
    section: Measured
    metric: Metric
    width: float
    random: float | None
    base: Metric | None


@dataclass(frozen=True)
class BarChart:
    """A small chart of all models, the longest bar first. sentence: "" without one"""

    use: Analysis
    title: str
    sentence: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Reader:
    """A model that was measured.

    n_stored: numbers in its files, None where these are packed; stored: the type of most of them
    bits: of quantised weights, "" for others
    reads: "text", that of the atlas, "own text", "words" that are random, or "images"
    """

    outcome: Outcome
    n_stored: int | None
    stored: str
    bits: str
    reads: tuple[str, ...]


def readers(atlas: Atlas) -> list[Reader]:
    """The models that were measured, and what they read."""
    return [reader_of(outcome) for outcome in atlas.outcomes if outcome.use]


def reader_of(outcome: Outcome) -> Reader:
    """What a model that was measured is stored as, and what it reads."""
    sizes = Counter[str]()
    for tensor in outcome.inventory:
        sizes[tensor.dtype] += tensor.n_stored
    is_packed = any(dtype in PACKED for dtype in sizes)
    reads = {
        "images" if use.part == "vision" else use.key
        for use in outcome.use
        if use.result.reason is None
    }
    options = outcome.checkpoint.use
    text = "own text" if options and options.text else "text"
    read_text = any(
        use.key in READ_TEXT or bool(use.result.arrays.get("text", False))
        for use in outcome.use
        if use.result.reason is None
    )
    kinds = {"images": "images" in reads, text: read_text, "words": "heads" in reads}
    stored = sizes.most_common(1)[0][0] if sizes else ""
    bits = FEW_BITS.match(stored)
    return Reader(
        outcome,
        None if is_packed or not sizes else sizes.total(),
        stored,
        (bits[1] or bits[2]) if bits else "",
        tuple(kind for kind, does in kinds.items() if does),
    )


def story(atlas: Atlas) -> list[Across]:
    """Every measure of all models: first those that make one argument, each with a figure."""
    outcomes = [outcome for outcome in atlas.outcomes if outcome.use]
    return [_across(atlas, use, outcomes) for use in atlas.measures]


def _across(atlas: Atlas, use: Analysis, outcomes: Sequence[Outcome]) -> Across:
    rows = tuple(
        (_label(outcome, section), outcome, section)
        for outcome in outcomes
        for section in measured(atlas, outcome)
        if section.use is use and section.result.reason is None
    )
    results = {label: section.result for label, _, section in rows[:MOST_LINES]}
    spoken_of = {_as_read(label, outcome): section.result for label, outcome, section in rows}
    figure = None
    if use.across is not None and results:
        spec = use.across
        figure = Figure(
            f"figures/use/{use.key}-{spec.key}",
            spec,
            spec.alt(results),
            "data/atlas.json",
            results,
            tuple(f"{outcome.key} {label.title} {label.colour}" for label, outcome, _ in rows),
        )
    said = use.sentence(spoken_of, len(outcomes)) if rows else ""
    shown = tuple((_as_read(label, outcome), outcome, section) for label, outcome, section in rows)
    return Across(use, figure, said, shown)


def opening(across: Sequence[Across]) -> tuple[Across | None, str]:
    """The measure whose figure opens the page of all models, and its headline: the first one with a
    headline, else the first with a figure; None without any.
    """
    drawn = [one for one in across if one.figure]
    said = [
        (one, one.use.headline({each[0]: each[2].result for each in one.rows})) for one in drawn
    ]
    return next((pair for pair in said if pair[1]), said[0] if said else (None, ""))


def bar_charts(across: Sequence[Across], n_models: int) -> list[BarChart]:
    """The small charts of all measures that have a value of any model."""
    charts = []
    for one in across:
        spoken_of = {label: found.result for label, _, found in one.rows}
        for bars in one.use.bars:
            if drawn := _bars(one, bars):
                sentence = bars.sentence(spoken_of, n_models)
                title = one.use.wording(f"{bars.metric}_bars")
                charts.append(BarChart(one.use, title, sentence, drawn))
    return charts


def _bars(across: Across, bars: Bars) -> tuple[Bar, ...]:
    known = [
        (*row, metric, None if random is None else float(random))
        for row in across.rows
        if (metric := row[2].result.find(bars.metric)) and metric.finite is not None
        for random in (row[2].result.arrays.get(bars.random),)
    ]
    known.sort(key=lambda one: -(one[3].finite or 0.0))
    most = max((max(one[3].finite or 0.0, one[4] or 0.0) for one in known), default=0.0)
    return tuple(
        Bar(
            *one[:4],
            round(100.0 * max(one[3].finite or 0.0, 0.0) / most, 1) if most else 0.0,
            None if one[4] is None or not most else round(100.0 * one[4] / most, 1),
            one[2].result.find(bars.base) if bars.base else None,
        )
        for one in known
    )


def _as_read(label: Label, outcome: Outcome) -> Label:
    """``label`` as sentences name the model, with the bits of its weights where these are few."""
    bits = reader_of(outcome).bits
    return replace(label, title=f"{label.title} ({bits}-bit weights)") if bits else label


def _label(outcome: Outcome, section: Measured) -> Label:
    parts = {found.part for found in outcome.use}
    title = outcome.checkpoint.title
    named = f"{title}, {section.part}" if len(parts) > 1 else title
    colour = next((reading.label.colour for reading in outcome.readings), OTHER_COLOUR)
    return Label(named, colour)
