"""A page for each checkpoint, whatever its status; and pages of its encodings and stages where it
has many.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from typing import Any

from generator.checkpoints import sources
from generator.checkpoints.model.module_tree import Module, modules
from generator.contracts import (
    Analysis,
    Atlas,
    Checkpoint,
    EncodingRecord,
    Figure,
    Finding,
    Metric,
    Outcome,
    Page,
    PageKind,
    Reading,
    Result,
    Run,
    Scheme,
    Source,
    discovery,
    names,
    paper_address,
)
from generator.site import in_use as use
from generator.site import relatives
from generator.site.at_position import AtPosition, at_position
from generator.site.data.arrays import MOST_OF_ARRAY
from generator.site.found import UNNAMED, Found, of_checkpoint
from generator.site.headlines import NOTHING, Column, columns_of, common, place
from generator.site.outline import STAGES, Outline, anchor, figures_of
from generator.site.pictures import cards, scheme_pictures
from generator.site.pictures.layer_strips import LayerStrip, layer_strips
from generator.site.pictures.opening import OpeningPicture, opening_picture
from generator.site.pictures.reach_bars import ReachBar, reach_bars, ticks
from generator.site.pictures.value_strips import Standing, standing, values_of
from generator.site.standings import Statement, openings_of, peers_of

MOST_MODULES = 16  # rows of the table of tensors, all of which are in a file beside it
MOST_UNMEASURED = 6  # encodings of one scheme whose numbers were not read
MOST_SUMMED = 12  # encodings in the table that opens a page
MOST_CARDS = 12  # Further encodings are links without pictures.
LEADING = 3  # findings at the top of a page


@dataclass(frozen=True)
class Section:
    """An analysis of an encoding, with its figures.

    anchor: on the encoding's page; address: of the section in the site; standings: of every metric,
        by key
    """

    analysis: Analysis
    anchor: str
    address: str
    result: Result
    figures: tuple[Figure, ...]
    standings: Mapping[str, Standing | None]

    def value_anchor(self, metric: Metric) -> str:
        """Anchor of the value of ``metric``, on whichever page the section is."""
        return f"{self.anchor}.{metric.key}"

    def value_address(self, metric: Metric) -> str:
        """Address in the site of the value of ``metric``."""
        return f"{self.address.partition('#')[0]}#{self.value_anchor(metric)}"


@dataclass(frozen=True)
class Remark:
    """A statement with the metrics that it rests on.

    section: of the analysis that it rests on; part: ``Chapter.part`` of its encoding
    """

    statement: Statement
    metrics: tuple[Metric, ...]
    section: Section
    part: str

    @property
    def finding(self) -> Finding:
        """What it says."""
        return self.statement.finding

    @property
    def subject(self) -> tuple[str, str, str]:
        """What it speaks of: its encoding, and its first metric or its text."""
        about = self.finding.rests_on[0] if self.finding.rests_on else self.finding.text
        return self.part, self.section.analysis.key, about


@dataclass(frozen=True)
class Summary:
    """The encodings of a checkpoint in a table. column: the headline metric that most of them have,
    None if they have none

    rows: of each encoding its chapter, the address of that, where it acts, and its value
    """

    column: Column | None
    rows: tuple[tuple["Chapter", str, str, str], ...]


@dataclass(frozen=True)
class Stage:
    """Sections of an encoding in one stage of the outline.

    page: path of the stage's own page, None without one
    """

    key: str
    title: str
    sections: tuple[Section, ...]
    page: str | None


@dataclass(frozen=True)
class Chapter:
    """An encoding with all its sections.

    part: its name on the pages of its checkpoint, which no other encoding there has
    folder: of its own pages; stages: the applicable sections by stage; data: path of its arrays, if
        they are published
    """

    reading: Reading
    part: str
    folder: str
    scheme: Scheme
    sections: tuple[Section, ...]
    stages: tuple[Stage, ...]
    not_applicable: tuple[Section, ...]
    data: str | None

    @property
    def is_large(self) -> bool:
        """Whether its tensor is larger than the files of arrays hold, in single precision."""
        return 4 * prod(self.reading.encoding.provenance.shape) > MOST_OF_ARRAY

    @property
    def shown(self) -> tuple[str, ...]:
        """Keys of the analyses whose sections are on the page of the encoding."""
        return tuple(
            section.analysis.key
            for stage in self.stages
            if not stage.page
            for section in stage.sections
        )


@dataclass(frozen=True)
class WithoutNumbers:
    """What a page shows that has no numbers of its own.

    pictures: of the schemes that the model has; nearest: a row with numbers for each of them that
        has one
    """

    pictures: tuple[tuple[Scheme, Figure], ...]
    nearest: tuple[relatives.Relative, ...]
    trainings: tuple[Run, ...]
    former: relatives.FormerNumbers | None


@dataclass(frozen=True)
class CheckpointPage:
    """What a template shows of a checkpoint: all of it, one encoding, or one stage of an encoding.

    before, after: its neighbours among those of its first scheme
    many: whether encodings need their names
    home, paper: addresses; found: of the page of the checkpoint itself
    chapters: the encodings on the page; linked: those on pages of their own; single: the one of
        such a page
    leading: the most unusual remarks; others: the number of further findings on the page
    bars, ticks: how far it sees, and the axis of that; panel: of what its rotations do by position
    unmeasured: the encodings whose numbers were not read, by scheme
    used: measures of what the trained model does; in_use: their weightiest finding
    picture: beside the leading remarks; of the encoding that the first speaks of, if it has one
    unsummed: the number of encodings that ``summary`` leaves out
    chapter, stage, parent: of a stage's own page: the encoding, the stage, and the address of the
        encoding's page
    without_numbers: None where numbers were read that tell position
    most_...: how many a list shows
    """

    outcome: Outcome
    checkpoint: Checkpoint
    before: Sequence[Outcome]
    after: Sequence[Outcome]
    many: bool
    modules: tuple[Module, ...]
    home: str | None
    paper: str
    found: Found = UNNAMED
    chapters: tuple[Chapter, ...] = ()
    linked: tuple[Chapter, ...] = ()
    single: Chapter | None = None
    leading: tuple[Remark, ...] = ()
    others: int = 0
    strips: tuple[LayerStrip, ...] = ()
    bars: tuple[ReachBar, ...] = ()
    ticks: Sequence[tuple[float, str]] = ()
    panel: AtPosition | None = None
    unmeasured: Sequence[tuple[Scheme, list[EncodingRecord]]] = ()
    used: tuple[use.Measured, ...] = ()
    in_use: tuple[use.Measured, Finding] | None = None
    picture: OpeningPicture | None = None
    summary: Summary | None = None
    unsummed: int = 0
    chapter: Chapter | None = None
    stage: Stage | None = None
    parent: str = ""
    without_numbers: WithoutNumbers | None = None
    most_modules: int = MOST_MODULES
    most_cards: int = MOST_CARDS
    most_unmeasured: int = MOST_UNMEASURED

    @property
    def context(self) -> dict[str, Any]:
        """The fields as variables of the template."""
        return dict(vars(self))  # Shallow: templates use the records themselves.


def pages(atlas: Atlas) -> list[Page]:
    """The pages of each checkpoint."""
    ordered = sorted(
        atlas.outcomes, key=lambda outcome: (_first_scheme(outcome), outcome.checkpoint.slug)
    )
    groups = (list(members) for _, members in groupby(ordered, key=_first_scheme))
    return [page for members in groups for page in _pages_of_group(atlas, members)]


def _first_scheme(outcome: Outcome) -> str:
    """Key of the first encoding's scheme, or the status of a checkpoint without encodings."""
    records = [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]
    return records[0].scheme if records else outcome.status


def _pages_of_group(atlas: Atlas, members: list[Outcome]) -> Iterator[Page]:
    """Pages of checkpoints that link their neighbours, in this order."""
    for number, outcome in enumerate(members):
        # Slices, which are empty at either end.
        yield from _pages_of(
            atlas, outcome, members[number - 1 : number], members[number + 1 : number + 2]
        )


def _pages_of(
    atlas: Atlas, outcome: Outcome, before: list[Outcome], after: list[Outcome]
) -> Iterator[Page]:
    outline = Outline.of(outcome, atlas.analyses)
    parts = names.parts([reading.encoding for reading in outcome.readings], atlas.schemes)
    chapters = tuple(
        _chapter(atlas, outcome, outline, *pair)
        for pair in zip(outcome.readings, parts, strict=True)
    )
    shared = CheckpointPage(
        outcome,
        outcome.checkpoint,
        before,
        after,
        many=len(chapters) > 1,
        modules=modules(outcome.layout),
        home=_home(outcome),
        paper=paper_address(outcome.checkpoint.paper),
    )
    main = _main(atlas, outline, shared, chapters)
    card = cards.of_checkpoint(atlas, outcome, main.leading[0].finding.text if main.leading else "")
    path = f"checkpoints/{outcome.checkpoint.slug}.md"
    figures = (
        [figure for _, figure in main.without_numbers.pictures] if main.without_numbers else []
    )
    yield Page(path, "checkpoint.md.jinja", main.context, tuple(figures), card)
    for chapter in main.linked:
        leading, others = _remarks(atlas, [chapter], [chapter], None)
        single = replace(
            shared,
            chapters=(chapter,),
            single=chapter,
            many=False,
            leading=leading,
            others=others,
            picture=_picture(atlas, outline, leading, [chapter]),
        )
        yield Page(f"{chapter.folder}.md", "checkpoint.md.jinja", single.context, card=card)
    for chapter in chapters:
        parent = f"{outline.page(chapter.reading)}.html"
        for stage in chapter.stages:
            if stage.page:
                own = replace(shared, chapter=chapter, stage=stage, parent=parent)
                yield Page(stage.page, "stage.md.jinja", own.context, card=card)


def _main(
    atlas: Atlas, outline: Outline, shared: CheckpointPage, every_chapter: tuple[Chapter, ...]
) -> CheckpointPage:
    """The page of the checkpoint itself."""
    outcome, own = shared.outcome, outline.own_pages
    chapters = tuple(one for one in every_chapter if one.reading.encoding.key not in own)
    linked = tuple(one for one in every_chapter if one.reading.encoding.key in own)
    leading, others = _remarks(
        atlas, every_chapter, chapters, openings_of(atlas).get(outcome.checkpoint.slug)
    )
    used = use.measured(atlas, outcome)
    records = [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]
    return replace(
        shared,
        chapters=chapters,
        linked=linked,
        leading=leading,
        others=others,
        picture=_picture(atlas, outline, leading, every_chapter),
        strips=layer_strips(outcome.layers, records, atlas.schemes),
        bars=reach_bars(outcome),
        ticks=ticks(),
        panel=at_position(outcome),
        found=of_checkpoint(outcome, atlas.schemes, is_published=shared.home is not None),
        unmeasured=_unmeasured(atlas, outcome),
        used=tuple(one for one in used if one.result.reason is None),
        in_use=use.leading(used),
        summary=_summary(atlas, outline, every_chapter),
        unsummed=max(len(every_chapter) - MOST_SUMMED, 0),
        without_numbers=_without_numbers(atlas, outcome),
    )


def _without_numbers(atlas: Atlas, outcome: Outcome) -> WithoutNumbers | None:
    schemes = [scheme for scheme, _ in _unmeasured(atlas, outcome) if scheme.tells_position]
    former = relatives.former_numbers(atlas, outcome)
    if outcome.readings or not (schemes or former):
        return None
    nearest = [relatives.nearest(atlas, outcome, scheme) for scheme in schemes]
    return WithoutNumbers(
        tuple((scheme, scheme_pictures.figure(scheme)) for scheme in schemes),
        tuple(filter(None, nearest)),
        relatives.trainings(atlas, outcome),
        former,
    )


def _picture(
    atlas: Atlas, outline: Outline, leading: Sequence[Remark], chapters: Sequence[Chapter]
) -> OpeningPicture | None:
    """The picture of the encoding that the page opens with, or of the first that has one."""
    parts = [remark.part for remark in leading[:1]]
    # False comes first.
    ordered = sorted(chapters, key=lambda chapter: chapter.part not in parts)
    return opening_picture([chapter.reading for chapter in ordered], atlas.analyses, outline)


def _summary(atlas: Atlas, outline: Outline, chapters: Sequence[Chapter]) -> Summary | None:
    """The first MOST_SUMMED encodings of a checkpoint that has several."""
    if len(chapters) < 2:
        return None
    column = common(columns_of(atlas), [chapter.reading for chapter in chapters])
    return Summary(
        column, tuple(_summed(outline, chapter, column) for chapter in chapters[:MOST_SUMMED])
    )


def _summed(
    outline: Outline, chapter: Chapter, column: Column | None
) -> tuple[Chapter, str, str, str]:
    reading = chapter.reading
    return (
        chapter,
        outline.encoding(reading),
        place(reading),
        column.text(reading) if column else NOTHING,
    )


def _home(outcome: Outcome) -> str | None:
    """URL where the source of a checkpoint shows it, at the revision that was read."""
    row = outcome.checkpoint
    source = next(
        (source for source in discovery.load(sources, Source) if source.key == row.source), None
    )
    return source.address(row.id, outcome.revision or row.revision) if source else None


def _unmeasured(atlas: Atlas, outcome: Outcome) -> list[tuple[Scheme, list[EncodingRecord]]]:
    """The encodings whose numbers were not read, by scheme."""
    by_scheme: dict[str, list[EncodingRecord]] = {}
    for record in outcome.unmeasured:
        by_scheme.setdefault(record.scheme, []).append(record)
    return [(_schemes(atlas)[key], records) for key, records in by_scheme.items()]


def _chapter(
    atlas: Atlas, outcome: Outcome, outline: Outline, reading: Reading, part: str
) -> Chapter:
    sections, values = [], values_of(atlas)
    for analysis in atlas.analyses:
        result = reading.results[analysis.key]
        standings = {
            metric.key: standing(analysis.key, metric, values) for metric in result.metrics
        }
        figures = tuple(figures_of(outcome, reading, analysis))
        sections.append(
            Section(
                analysis,
                anchor(reading, analysis),
                outline.address(reading, analysis),
                result,
                figures,
                standings,
            )
        )
    applicable = tuple(section for section in sections if section.result.reason is None)
    not_applicable = tuple(section for section in sections if section.result.reason is not None)
    return Chapter(
        reading,
        part,
        outline.folder(reading),
        _schemes(atlas)[reading.encoding.scheme],
        applicable,
        tuple(_stages(outline, reading, applicable)),
        not_applicable,
        outcome.arrays_of(reading),
    )


def _stages(outline: Outline, reading: Reading, sections: tuple[Section, ...]) -> Iterator[Stage]:
    for key, title in STAGES.items():
        if members := tuple(section for section in sections if section.analysis.stage == key):
            has_own_page = key == outline.own_stage[reading.encoding.key]
            yield Stage(
                key, title, members, f"{outline.folder(reading)}/{key}.md" if has_own_page else None
            )


def _remarks(
    atlas: Atlas, candidates: Sequence[Chapter], shown: Sequence[Chapter], opening: str | None
) -> tuple[tuple[Remark, ...], int]:
    """The LEADING most unusual remarks of ``candidates``, at most one on each subject, and the
    number of other findings of the chapters ``shown`` on the page. opening: text of the first
    """
    pairs = [(chapter, remark) for chapter in candidates for remark in _remarks_of(atlas, chapter)]
    # Not reversed, so that remarks of one weight stay in the order of the page.
    pairs.sort(key=lambda pair: (pair[1].finding.text != opening, -pair[1].statement.weight))
    by_text: dict[str, tuple[Chapter, Remark]] = {}
    for chapter, remark in pairs:
        by_text.setdefault(remark.finding.text, (chapter, remark))  # Layers may share a finding.
    leading: dict[tuple[str, str, str], Remark] = {}
    for _, remark in by_text.values():
        if len(leading) < LEADING:
            leading.setdefault(remark.subject, remark)
    others = sum(
        chapter in shown and not remark.statement.is_standing and remark not in leading.values()
        for chapter, remark in by_text.values()
    )
    return tuple(leading.values()), others


def _remarks_of(atlas: Atlas, chapter: Chapter) -> Iterator[Remark]:
    sections = {section.analysis.key: section for section in chapter.sections}
    for statement in peers_of(atlas).statements(chapter.reading):
        section = sections[statement.analysis]
        metrics = tuple(
            metric for metric in section.result.metrics if metric.key in statement.finding.rests_on
        )
        yield Remark(statement, metrics, section, chapter.part)


def _schemes(atlas: Atlas) -> dict[str, Scheme]:
    return {scheme.key: scheme for scheme in atlas.schemes}


PAGE = PageKind("checkpoint", pages)
