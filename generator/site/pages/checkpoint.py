"""A page for each checkpoint, whatever became of it, and one for each of many encodings of a kind; and the list of them all."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import prod

from generator.checkpoints.model.module_tree import modules
from generator.contracts import Analysis, Atlas, Figure, Finding, Metric, Outcome, Page, PageKind, Reading, Result, Scheme
from generator.site.outline import STAGES, Story, place
from generator.site.value_strips import Standing, Values, standing, values_of

MOST_MODULES = 48
MOST_CARDS = 40  # The pages of further encodings are named without pictures.
LEADING = 5  # remarks that a page opens with
ROWS = 100  # of the list, on one page
MOST_OF_ONE = 4  # rows of one checkpoint


@dataclass(frozen=True)
class Section:
    """One analysis of one encoding, with its figures, and for each metric by key where it stands among all. address: where it stands itself"""

    analysis: Analysis
    place: str
    address: str
    result: Result
    figures: tuple[Figure, ...]
    standings: Mapping[str, Standing | None]


@dataclass(frozen=True)
class Remark:
    """A finding with the numbers that it rests on, and where it was made."""

    finding: Finding
    metrics: tuple[Metric, ...]
    section: Section
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


def pages(atlas: Atlas) -> list[Page]:
    values = values_of(atlas)
    kin = sorted(atlas.outcomes, key=lambda outcome: (_family(outcome), outcome.checkpoint.slug))
    families = (list(members) for _, members in groupby(kin, key=_family))
    return [*_list(atlas), *(page for members in families for page in _pages_of_all(atlas, members, values))]


def _family(outcome: Outcome) -> str:
    """Checkpoints are shown one after the other by what tells position first in them, or by why nothing is known of that."""
    return outcome.readings[0].encoding.scheme if outcome.readings else outcome.status


def _list(atlas: Atlas) -> Iterator[Page]:
    parts = _in_pages(atlas.outcomes)
    numbers = range(1, len(parts) + 1)
    for number, outcomes in zip(numbers, parts, strict=True):
        context = {"outcomes": outcomes, "most": MOST_OF_ONE, "schemes": _schemes(atlas), "sizes": prod}
        context |= {"numbers": numbers, "number": number, "total": len(atlas.outcomes)}
        yield Page(f"checkpoints/{'index' if number == 1 else f'list/{number}'}.md", "checkpoints.md.jinja", context)


def _in_pages(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """As many on each page as fill its rows."""
    ends = accumulate(min(max(len(outcome.readings), 1), MOST_OF_ONE) for outcome in outcomes)
    pairs = groupby(zip(ends, outcomes, strict=True), key=lambda pair: (pair[0] - 1) // ROWS)
    return [[outcome for _, outcome in some] for _, some in pairs] or [[]]


def _pages_of_all(atlas: Atlas, members: list[Outcome], values: Values) -> Iterator[Page]:
    for number, outcome in enumerate(members):
        yield from _pages_of(atlas, outcome, values, members[number - 1 : number], members[number + 1 : number + 2])


def _pages_of(atlas: Atlas, outcome: Outcome, values: Values, before: list[Outcome], after: list[Outcome]) -> Iterator[Page]:
    story = Story.of(outcome, atlas.analyses)
    every = [_part(atlas, outcome, story, reading, values) for reading in outcome.readings]
    parts = [part for part in every if part.reading.encoding.key not in story.apart]
    apart = [part for part in every if part.reading.encoding.key in story.apart]
    context = {"outcome": outcome, "checkpoint": outcome.checkpoint, "before": before, "after": after, "apart": apart, "alone": None}
    context |= {"many": len(every) > 1, "modules": modules(outcome.layout), "most_modules": MOST_MODULES, "most_cards": MOST_CARDS}
    shown = {**context, "parts": parts, **_remarks(every, parts)}
    yield Page(f"checkpoints/{outcome.checkpoint.slug}.md", "checkpoint.md.jinja", shown)
    for part in apart:
        alone = {"parts": [part], "apart": [], "alone": part, "many": False, **_remarks([part], [part])}
        yield Page(f"{part.folder}.md", "checkpoint.md.jinja", {**context, **alone})
    for part in every:
        own = {"part": part, "home": f"{story.home(part.reading)}.md"}
        stages = (stage for stage in part.stages if stage.page)
        yield from (Page(str(stage.page), "stage.md.jinja", {**context, **own, "stage": stage}) for stage in stages)


def _part(atlas: Atlas, outcome: Outcome, story: Story, reading: Reading, values: Values) -> Part:
    sections = []
    for analysis in atlas.analyses:
        result = reading.results[analysis.key]
        standings = {metric.key: standing(analysis.key, metric, values) for metric in result.metrics}
        figures = tuple(_figures(outcome, reading, analysis))
        sections.append(Section(analysis, place(reading, analysis), story.address(reading, analysis), result, figures, standings))
    shown = tuple(section for section in sections if section.result.reason is None)
    missing = tuple(section for section in sections if section.result.reason is not None)
    return Part(
        reading,
        story.folder(reading),
        _schemes(atlas)[reading.encoding.scheme],
        shown,
        tuple(_stages(story, reading, shown)),
        missing,
        f"data/{outcome.place(reading)}.npz",
    )


def _stages(story: Story, reading: Reading, sections: tuple[Section, ...]) -> Iterator[Stage]:
    for key, title in STAGES.items():
        if some := tuple(section for section in sections if section.analysis.stage == key):
            yield Stage(title, some, f"{story.folder(reading)}/{key}.md" if key == story.alone[reading.encoding.key] else None)


def _figures(outcome: Outcome, reading: Reading, analysis: Analysis) -> Iterator[Figure]:
    for spec in analysis.figures:
        if f"{analysis.key}-{spec.key}" in reading.drawings:
            yield Figure.of(outcome, reading, analysis, spec)


def _remarks(parts: list[Part], shown: list[Part]) -> dict[str, list[Remark]]:
    """What is most remarkable in any of the ``parts``, and what else there is to say of those that are ``shown``."""
    every = [(part, remark) for part in parts for remark in _remarks_of(part)]
    every.sort(key=lambda pair: -pair[1].finding.weight)
    distinct: dict[str, tuple[Part, Remark]] = {}
    for part, remark in every:
        distinct.setdefault(remark.finding.text, (part, remark))  # Layers may share a finding.
    told = list(distinct.values())
    others = [remark for part, remark in told[LEADING:] if part in shown]
    return {"leading": [remark for _, remark in told[:LEADING]], "others": others}


def _remarks_of(part: Part) -> Iterator[Remark]:
    for section in part.sections:
        for finding in section.result.findings:
            metrics = tuple(metric for metric in section.result.metrics if metric.key in finding.rests_on)
            yield Remark(finding, metrics, section, part.reading)


def _schemes(atlas: Atlas) -> dict[str, Scheme]:
    return {scheme.key: scheme for scheme in atlas.schemes}


PAGE = PageKind("checkpoint", pages)
