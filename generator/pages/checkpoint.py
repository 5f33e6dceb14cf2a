"""A page for each checkpoint, whatever became of it, and one for each of many encodings of a kind; and the list of them all."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from generator.contracts import Analysis, Atlas, Figure, Finding, Metric, Outcome, Page, PageKind, Reading, Result, Scheme
from generator.layout import modules
from generator.standings import Standing, Values, standing, values_of

MOST_OF_A_KIND = 4  # More encodings of one scheme have pages of their own, but for the first.
MOST_SECTIONS = 7  # on one page, so that it stays below 60 kB
MOST_MODULES = 48
MOST_CARDS = 40  # The pages of further encodings are named without pictures.
STAGES = {"see": "What it holds", "measure": "What the measures say", "place": "On one scale with all others"}
LEADING = 5  # remarks that a page opens with
ROWS = 100  # of the list, on one page
MOST_OF_ONE = 4  # rows of one checkpoint


@dataclass(frozen=True)
class Section:
    """One analysis of one encoding, with its figures, and for each metric by key where it stands among all."""

    analysis: Analysis
    result: Result
    figures: tuple[Figure, ...]
    standings: Mapping[str, Standing | None]


@dataclass(frozen=True)
class Remark:
    """A finding with the numbers that it rests on, and where it was made."""

    finding: Finding
    metrics: tuple[Metric, ...]
    analysis: Analysis
    reading: Reading


@dataclass(frozen=True)
class Stage:
    """The sections of one step of an encoding's story. page: where they stand, if that is a page of their own"""

    title: str
    sections: tuple[Section, ...]
    page: str | None


@dataclass(frozen=True)
class Part:
    """All that is said of one encoding. folder: where its own pages stand"""

    reading: Reading
    folder: str
    scheme: Scheme
    sections: tuple[Section, ...]
    stages: tuple[Stage, ...]
    not_applicable: tuple[Section, ...]
    data: str

    @property
    def n_here(self) -> int:
        """How many sections have no page of their own."""
        return sum(len(stage.sections) for stage in self.stages if stage.page is None)


def pages(atlas: Atlas) -> list[Page]:
    values = values_of(atlas)
    by_group = sorted(atlas.outcomes, key=lambda outcome: (outcome.checkpoint.group, outcome.checkpoint.slug))
    each = [
        page for _, group in groupby(by_group, key=lambda outcome: outcome.checkpoint.group) for page in _family(atlas, list(group), values)
    ]
    return [*_list(atlas), *each]


def _list(atlas: Atlas) -> Iterator[Page]:
    parts = _in_pages(atlas.outcomes)
    numbers = range(1, len(parts) + 1)
    for number, outcomes in zip(numbers, parts, strict=True):
        context = {"outcomes": outcomes, "most": MOST_OF_ONE, "schemes": _schemes(atlas)}
        context |= {"numbers": numbers, "number": number, "total": len(atlas.outcomes)}
        yield Page(f"checkpoints/{'index' if number == 1 else f'list/{number}'}.md", "checkpoints.md.jinja", context)


def _in_pages(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """As many on each page as fill its rows."""
    ends = accumulate(min(max(len(outcome.readings), 1), MOST_OF_ONE) for outcome in outcomes)
    pairs = groupby(zip(ends, outcomes, strict=True), key=lambda pair: (pair[0] - 1) // ROWS)
    return [[outcome for _, outcome in some] for _, some in pairs] or [[]]


def _family(atlas: Atlas, outcomes: list[Outcome], values: Values) -> Iterator[Page]:
    for place, outcome in enumerate(outcomes):
        yield from _pages_of(atlas, outcome, values, outcomes[place - 1 : place], outcomes[place + 1 : place + 2])


def _pages_of(atlas: Atlas, outcome: Outcome, values: Values, before: list[Outcome], after: list[Outcome]) -> Iterator[Page]:
    every = [_part(atlas, outcome, reading, values) for reading in outcome.readings]
    apart_keys = _apart(every)
    parts = [part for part in every if part.reading.encoding.key not in apart_keys]
    apart = [part for part in every if part.reading.encoding.key in apart_keys]
    context = {"outcome": outcome, "checkpoint": outcome.checkpoint, "before": before, "after": after, "apart": apart, "alone": None}
    context |= {"version": atlas.versions.get("position-atlas", ""), "date": atlas.date, "many": len(every) > 1}
    context |= {"modules": modules(outcome.layout), "most_modules": MOST_MODULES, "most_cards": MOST_CARDS}
    home = f"checkpoints/{outcome.checkpoint.slug}.md"
    yield Page(home, "checkpoint.md.jinja", {**context, "parts": parts, **_remarks(every, parts)})
    for part in apart:
        alone = {"parts": [part], "apart": [], "alone": part, "many": False, **_remarks([part], [part])}
        yield Page(f"{part.folder}.md", "checkpoint.md.jinja", {**context, **alone})
    for part in every:
        own = {"part": part, "home": f"{part.folder}.md" if part.reading.encoding.key in apart_keys else home}
        yield from (Page(stage.page, "stage.md.jinja", {**context, **own, "stage": stage}) for stage in part.stages if stage.page)


def _apart(parts: list[Part]) -> set[str]:
    """Keys of the encodings that have pages of their own: many of a kind, and those for which there is no room beside the others."""
    counts = Counter(part.scheme.key for part in parts)
    seen: set[str] = set()
    apart = set()
    room = MOST_SECTIONS
    for part in parts:
        repeats = counts[part.scheme.key] > MOST_OF_A_KIND and part.scheme.key in seen
        if repeats or (seen and part.n_here > room):
            apart.add(part.reading.encoding.key)
        else:
            room -= part.n_here
        seen.add(part.scheme.key)
    return apart


def _part(atlas: Atlas, outcome: Outcome, reading: Reading, values: Values) -> Part:
    folder = f"checkpoints/{outcome.checkpoint.slug}/{reading.encoding.key}"
    data = f"data/{outcome.checkpoint.slug}/{reading.encoding.key}.npz"
    sections = [_section(outcome, reading, analysis, data, values) for analysis in atlas.analyses]
    shown = tuple(section for section in sections if section.result.reason is None)
    return Part(
        reading,
        folder,
        _schemes(atlas)[reading.encoding.scheme],
        shown,
        tuple(_stages(shown, folder)),
        tuple(section for section in sections if section.result.reason is not None),
        data,
    )


def _stages(sections: tuple[Section, ...], folder: str) -> Iterator[Stage]:
    """In order; of many sections, the stage that has the most is a page in ``folder``."""
    found = {key: tuple(section for section in sections if section.analysis.stage == key) for key in STAGES}
    longest = max(found, key=lambda key: len(found[key]))
    for key, some in found.items():
        if some:
            yield Stage(STAGES[key], some, f"{folder}/{key}.md" if key == longest and len(sections) > MOST_SECTIONS else None)


def _section(outcome: Outcome, reading: Reading, analysis: Analysis, data: str, values: Values) -> Section:
    folder = f"figures/{outcome.checkpoint.slug}/{reading.encoding.key}"
    names = [(spec, f"{analysis.key}-{spec.key}") for spec in analysis.figures]
    figures = (Figure(f"{folder}/{name}.svg", spec, reading.alts[name], data) for spec, name in names if name in reading.drawings)
    result = reading.results[analysis.key]
    standings = {metric.key: standing(metric, values.get((analysis.key, metric.key), ())) for metric in result.metrics}
    return Section(analysis, result, tuple(figures), standings)


def _remarks(parts: list[Part], shown: list[Part]) -> dict[str, list[Remark]]:
    """What is most remarkable in any of the ``parts``, and what else there is to say of those that are ``shown``."""
    every = [(part, remark) for part in parts for remark in _said(part)]
    every.sort(key=lambda pair: -pair[1].finding.weight)
    distinct: dict[str, tuple[Part, Remark]] = {}
    for part, remark in every:
        distinct.setdefault(remark.finding.text, (part, remark))  # Layers may share a finding.
    told = list(distinct.values())
    others = [remark for part, remark in told[LEADING:] if part in shown]
    return {"leading": [remark for _, remark in told[:LEADING]], "others": others}


def _said(part: Part) -> Iterator[Remark]:
    for section in part.sections:
        for finding in section.result.findings:
            metrics = tuple(metric for metric in section.result.metrics if metric.key in finding.rests_on)
            yield Remark(finding, metrics, section.analysis, part.reading)


def _schemes(atlas: Atlas) -> dict[str, Scheme]:
    return {scheme.key: scheme for scheme in atlas.schemes}


PAGE = PageKind("checkpoint", pages)
