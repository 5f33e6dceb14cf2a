"""A page for each checkpoint, whatever its status; and one of encodings side by side where it has
many of a scheme.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from generator.checkpoints.model import origins
from generator.checkpoints.model.module_tree import Module, modules
from generator.contracts import (
    Analysis,
    Atlas,
    EncodingRecord,
    Figure,
    FigureSpec,
    Finding,
    Metric,
    Outcome,
    Page,
    PageContext,
    PageKind,
    Reading,
    Result,
    Run,
    Scheme,
    names,
)
from generator.site import relatives, use
from generator.site.at_position import PositionOfModel, at_position
from generator.site.data.citations import Home, home_of
from generator.site.data.npz import MOST_OF_ARRAY
from generator.site.outline import STAGES, Outline, anchor, figures_of
from generator.site.pictures import cards, scheme_pictures, small
from generator.site.pictures.layer_strips import LayerStrip, layer_strips
from generator.site.pictures.leading_picture import OpeningPicture, opening_picture
from generator.site.pictures.reach_bars import ReachBar, reach_bars, ticks
from generator.site.pictures.value_strips import Standing, named_values_of, standing
from generator.site.rankings.columns import NOTHING, Column, columns_of, common, place
from generator.site.rankings.peers import Statement, openings_of, peers_of
from generator.site.search_names import SearchNames, of_checkpoint

MOST_SUMMED = 12  # encodings in the table that opens a page
LEADING = 3  # findings at the top of a page


@dataclass(frozen=True)
class Section:
    """An analysis of an encoding, with its figures.

    anchor: on its page; address: of the section in the site; standings: of every metric, by key
    finding: the one that says most, None without any; thumbnail: path of it, None without figures
    """

    analysis: Analysis
    anchor: str
    address: str
    result: Result
    figures: tuple[Figure, ...]
    standings: Mapping[str, Standing | None]
    finding: Finding | None
    thumbnail: str | None

    def value_anchor(self, metric: Metric) -> str:
        """Anchor of the value of ``metric``."""
        return f"{self.anchor}.{metric.key}"


@dataclass(frozen=True)
class Summary:
    """The encodings of a checkpoint in a table. column: the headline metric that most of them have,
    None if they have none

    rows: of each encoding its chapter, where it acts, and its value
    """

    column: Column | None
    rows: tuple[tuple["Chapter", str, str], ...]


@dataclass(frozen=True)
class Chapter:
    """An encoding with all its sections.

    part: its name on the pages of its checkpoint, which no other encoding there has
    address: in the site; sections: the applicable ones; data: path of its arrays, if they are
        published
    """

    reading: Reading
    part: str
    address: str
    scheme: Scheme
    sections: tuple[Section, ...]
    not_applicable: tuple[Section, ...]
    data: str | None

    @property
    def origins(self) -> Mapping[str, str]:
        """Where the numbers of its configuration come from, in words, by title."""
        return origins.in_words(self.reading.encoding)

    @property
    def is_large(self) -> bool:
        """Whether its tensor is larger than the files of arrays hold, in single precision."""
        return 4 * prod(self.reading.encoding.provenance.shape) > MOST_OF_ARRAY

    def section(self, analysis: str) -> Section:
        """The applicable section with this key."""
        return next(section for section in self.sections if section.analysis.key == analysis)


Led = tuple[Chapter, Statement]


@dataclass(frozen=True)
class ComparedAnalysis:
    """An analysis of several encodings of one scheme.

    members: with their sections
    """

    analysis: Analysis
    members: tuple[tuple[Chapter, Section], ...]

    @property
    def findings(self) -> list[tuple[int | None, Finding, list[str]]]:
        """Each finding once, with the number that marks it in figures and the names of the
        encodings that it is true of.
        """
        found: dict[tuple[int | None, str], tuple[Finding, list[str]]] = {}
        for chapter, section in self.members:
            for number, finding in section.result.numbered:
                _, parts = found.setdefault((number, finding.text), (finding, []))
                parts.append(chapter.part)
        return [(number, finding, parts) for (number, _), (finding, parts) in found.items()]

    @property
    def figures(self) -> list[tuple[FigureSpec, list[tuple[str, Figure]]]]:
        """Each spec with the figures of the encodings, after their names."""
        by_spec: dict[str, list[tuple[str, Figure]]] = {}
        for chapter, section in self.members:
            for figure in section.figures:
                by_spec.setdefault(figure.spec.key, []).append((chapter.part, figure))
        return [(members[0][1].spec, members) for members in by_spec.values()]


@dataclass(frozen=True)
class SchemeBeside:
    """Encodings of one scheme on the page that has them side by side.

    statements: on each encoding; compared: analyses that apply to any of them
    """

    scheme: Scheme
    chapters: tuple[Chapter, ...]
    statements: Mapping[str, list[Statement]]
    compared: tuple[ComparedAnalysis, ...]


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
class CheckpointContext(PageContext, template="checkpoint.md.jinja"):
    """What the page of a checkpoint shows.

    before, after: neighbours among those with the same first scheme, none at either end
    found: names by which search finds it; home: where it is published
    of_guests: what guests have of its model, by their keys
    modules: of its tensors; chapters: encodings of this page
    linked: encodings of the page that has many of a scheme side by side
    stages: titles of groups of analyses
    leading: the most unusual statements; others: the number of further findings
    picture: that opens the page; summary: of several encodings; strips: of layers
    bars, ticks: how far it sees, on an axis with these ticks; panel: of one position
    unmeasured: encodings whose numbers were not read
    uses: measures of what the trained model does; leading_use: the leading one, with its finding
    reader: how its weights are stored
    """

    outcome: Outcome
    before: Sequence[Outcome]
    after: Sequence[Outcome]
    found: SearchNames
    home: Home | None
    of_guests: Mapping[str, object]
    modules: Sequence[Module]
    chapters: Sequence[Chapter]
    linked: Sequence[Chapter]
    stages: Mapping[str, str]
    leading: Sequence[Led]
    others: int
    picture: OpeningPicture | None
    summary: Summary | None
    strips: Sequence[LayerStrip]
    bars: Sequence[ReachBar]
    ticks: Sequence[tuple[float, str]]
    panel: PositionOfModel | None
    unmeasured: Sequence[tuple[Scheme, Sequence[EncodingRecord]]]
    without_numbers: WithoutNumbers | None
    uses: Sequence[use.Measured]
    leading_use: tuple[use.Measured, Finding] | None
    reader: use.Reader


@dataclass(frozen=True)
class LayersContext(PageContext, template="layers.md.jinja"):
    """linked: encodings of the page; groups: by scheme; stages: as on the checkpoint's page"""

    outcome: Outcome
    linked: Sequence[Chapter]
    groups: Sequence[SchemeBeside]
    stages: Mapping[str, str]


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
        before, after = members[number - 1 : number], members[number + 1 : number + 2]
        yield from _pages_of(atlas, outcome, before, after)


def _pages_of(
    atlas: Atlas, outcome: Outcome, before: Sequence[Outcome], after: Sequence[Outcome]
) -> Iterator[Page]:
    outline = Outline.of(outcome)
    parts = names.parts([reading.encoding for reading in outcome.readings], atlas.schemes)
    chapters = [
        _chapter(atlas, outcome, outline, *pair)
        for pair in zip(outcome.readings, parts, strict=True)
    ]
    linked = [one for one in chapters if one.reading.encoding.key in outline.beside]
    on_page = [one for one in chapters if one not in linked]
    opening = openings_of(atlas).get(outcome.checkpoint.slug)
    leading, n_others = _leading(atlas, chapters, on_page, opening)
    card = cards.of_checkpoint(atlas, outcome, leading[0][1].finding.text if leading else "")
    records = [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]
    home, uses = home_of(outcome), use.measured(atlas, outcome)
    without_numbers = _without_numbers(atlas, outcome)
    context = CheckpointContext(
        outcome=outcome,
        before=before,
        after=after,
        found=of_checkpoint(outcome, atlas.schemes, home.id if home else ""),
        home=home,
        of_guests=_of_guests(atlas, outcome),
        modules=modules(outcome.inventory),
        chapters=on_page,
        linked=linked,
        stages=STAGES,
        leading=leading,
        others=n_others,
        picture=_picture(atlas, outcome, outline, leading, chapters),
        summary=_summary(atlas, chapters),
        strips=layer_strips(outcome.layers, records, atlas.schemes),
        bars=reach_bars(outcome),
        ticks=ticks(),
        panel=at_position(outcome),
        unmeasured=_unmeasured(atlas, outcome),
        without_numbers=without_numbers,
        uses=uses,
        leading_use=use.leading(uses),
        reader=use.reader_of(outcome),
    )
    figures = tuple(figure for _, figure in without_numbers.pictures) if without_numbers else ()
    yield Page(f"checkpoints/{outcome.checkpoint.slug}.md", context, figures, card)
    if linked:
        beside = LayersContext(outcome, linked, list(_side_by_side(atlas, linked)), STAGES)
        yield Page(f"{outline.page_beside}.md", beside, card=card)


def _side_by_side(atlas: Atlas, linked: Sequence[Chapter]) -> Iterator[SchemeBeside]:
    ordered = sorted(linked, key=lambda chapter: atlas.schemes.index(chapter.scheme))
    for scheme, group in groupby(ordered, key=lambda chapter: chapter.scheme):
        chapters = tuple(group)
        statements = {
            one.part: [statement for _, statement in _leading(atlas, [one], [one])[0]]
            for one in chapters
        }
        compared = (_compared(analysis, chapters) for analysis in atlas.analyses)
        yield SchemeBeside(
            scheme, chapters, statements, tuple(one for one in compared if one.members)
        )


def _compared(analysis: Analysis, chapters: Sequence[Chapter]) -> ComparedAnalysis:
    members = (
        (chapter, section)
        for chapter in chapters
        for section in chapter.sections
        if section.analysis is analysis
    )
    return ComparedAnalysis(analysis, tuple(members))


def _of_guests(atlas: Atlas, outcome: Outcome) -> dict[str, object]:
    shown = ((guest.key, guest.of_checkpoint(atlas, outcome)) for guest in atlas.guests)
    return {key: found for key, found in shown if found is not None}


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
    atlas: Atlas,
    outcome: Outcome,
    outline: Outline,
    leading: Sequence[Led],
    chapters: Sequence[Chapter],
) -> OpeningPicture | None:
    """The picture of the encoding that the page opens with, or of the first that has one."""
    parts = [chapter.part for chapter, _ in leading[:1]]
    # False comes first.
    ordered = sorted(chapters, key=lambda chapter: chapter.part not in parts)
    readings = [chapter.reading for chapter in ordered]
    return opening_picture(outcome, readings, atlas.analyses, outline)


def _summary(atlas: Atlas, chapters: Sequence[Chapter]) -> Summary | None:
    """The first MOST_SUMMED encodings of a checkpoint that has several."""
    if len(chapters) < 2:
        return None
    column = common(columns_of(atlas), [chapter.reading for chapter in chapters])
    rows = (
        (chapter, place(chapter.reading), column.text(chapter.reading) if column else NOTHING)
        for chapter in chapters[:MOST_SUMMED]
    )
    return Summary(column, tuple(rows))


def _unmeasured(atlas: Atlas, outcome: Outcome) -> list[tuple[Scheme, list[EncodingRecord]]]:
    """The encodings whose numbers were not read, by scheme."""
    by_scheme: dict[str, list[EncodingRecord]] = {}
    for record in outcome.unmeasured:
        by_scheme.setdefault(record.scheme, []).append(record)
    return [(_schemes(atlas)[key], records) for key, records in by_scheme.items()]


def _chapter(
    atlas: Atlas, outcome: Outcome, outline: Outline, reading: Reading, part: str
) -> Chapter:
    sections, values = [], named_values_of(atlas)
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
                _says_most(atlas, reading, analysis),
                small.thumbnail_of(figures[0].path) if figures else None,
            )
        )
    return Chapter(
        reading,
        part,
        outline.encoding(reading),
        _schemes(atlas)[reading.encoding.scheme],
        tuple(section for section in sections if section.result.reason is None),
        tuple(section for section in sections if section.result.reason is not None),
        outcome.arrays_of(reading),
    )


def _says_most(atlas: Atlas, reading: Reading, analysis: Analysis) -> Finding | None:
    """The finding of an analysis that a closed row shows: no remark where there is another."""
    peers = peers_of(atlas)
    return max(
        reading.results[analysis.key].findings,
        key=lambda one: (not one.is_remark, peers.place(reading, analysis, one)),
        default=None,
    )


def _leading(
    atlas: Atlas,
    candidates: Sequence[Chapter],
    shown: Sequence[Chapter],
    opening: str | None = None,
) -> tuple[list[Led], int]:
    """The LEADING most unusual statements on ``candidates``, at most one on each subject, and the
    number of other findings of the chapters ``shown`` on the page. opening: text of the first
    """
    pairs = [
        (chapter, statement)
        for chapter in candidates
        for statement in peers_of(atlas).statements(chapter.reading)
    ]
    # Not reversed, so that statements of one weight stay in the order of the page.
    pairs.sort(key=lambda pair: (pair[1].finding.text != opening, -pair[1].weight))
    by_text: dict[str, Led] = {}
    for pair in pairs:
        by_text.setdefault(pair[1].finding.text, pair)  # Layers may share a finding.
    by_subject: dict[tuple[str, tuple[str, str]], Led] = {}
    for chapter, statement in by_text.values():
        by_subject.setdefault((chapter.part, statement.subject), (chapter, statement))
    leading = list(by_subject.values())[:LEADING]
    # The place of a number among the peers says what the finding on this number does.
    said = {(led.part, statement.subject) for led, statement in leading if statement.is_standing}
    others = sum(
        chapter in shown
        and not statement.is_standing
        and (chapter, statement) not in leading
        and (chapter.part, statement.subject) not in said
        for chapter, statement in by_text.values()
    )
    return leading, others


def _schemes(atlas: Atlas) -> dict[str, Scheme]:
    return {scheme.key: scheme for scheme in atlas.schemes}


PAGE = PageKind("checkpoint", pages, ("checkpoints/*.md",))
