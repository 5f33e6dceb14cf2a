"""A page for each analysis, with its method and a comparison of all checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from generator.cache.fingerprint import of_parts
from generator.contracts import (
    Analysis,
    Atlas,
    Figure,
    FigureSpec,
    Headline,
    Label,
    Page,
    PageContext,
    PageKind,
)
from generator.figures.lines import hidden
from generator.figures.style import QUIET, SERIES
from generator.site.outline import STAGES, applicable
from generator.site.pictures import cards
from generator.site.pictures.colours import Member, distinct
from generator.site.pictures.dot_plot import DotPlot, dot_plot
from generator.site.rankings.ranking import Ranking, ranking, ranking_of
from generator.site.search_names import SearchNames, of_analysis
from generator.text import plural

MOST_DRAWN = 18  # encodings in figures, where no order chooses some
MOST_QUIET = 15  # lines that stand back in a figure


@dataclass(frozen=True)
class AnalysisEntry:
    """An analysis in the list.

    count: encodings to which it applies; figure: its first comparison; sentence: its answer
    range: the values of its first metric where there is no such answer, None where no encoding has
        a value
    """

    analysis: Analysis
    count: int
    figure: Figure | None
    sentence: str
    range: Ranking | None


@dataclass(frozen=True)
class AnalysesContext(PageContext, template="analyses.md.jinja"):
    """stages: title of each; absent: what applies to no encoding"""

    stages: Mapping[str, str]
    entries: Sequence[AnalysisEntry]
    absent: Sequence[Analysis]


@dataclass(frozen=True)
class AnalysisContext(PageContext, template="analysis.md.jinja"):
    """found: names by which search finds it; ranking: by its answer, None where nothing has one
    conclusion: sentence on all encodings, "" without one; opening: figures of all of them
    members: encodings to which it applies
    """

    analysis: Analysis
    found: SearchNames
    conclusion: str
    opening: Sequence[Figure]
    ranking: Ranking | None
    plot: DotPlot | None
    members: Sequence[Member]
    comparisons: Sequence[tuple[FigureSpec, Sequence[Figure]]]


def pages(atlas: Atlas) -> list[Page]:
    """The list of analyses, and the page of each that applies to an encoding."""
    shown = applicable(atlas)
    contexts = [_context(atlas, analysis) for analysis in shown]
    entries = [_entry(atlas, context) for context in contexts]
    own = [_page(atlas, *pair) for pair in zip(contexts, entries, strict=True)]
    index = AnalysesContext(
        STAGES,
        sorted(entries, key=lambda entry: list(STAGES).index(entry.analysis.stage)),
        [analysis for analysis in atlas.analyses if analysis not in shown],
    )
    return [Page("analyses/index.md", index), *own]


def _page(atlas: Atlas, context: AnalysisContext, entry: AnalysisEntry) -> Page:
    card = cards.of_analysis(atlas, entry.analysis, entry.range.metric if entry.range else None)
    compared = (figure for _, of_spec in context.comparisons for figure in of_spec)
    figures = (*context.opening, *compared)
    return Page(f"analyses/{entry.analysis.key}.md", context, figures, card)


def _entry(atlas: Atlas, page: AnalysisContext) -> AnalysisEntry:
    every = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    analysis, by_answer = page.analysis, page.ranking
    metrics = (metric for _, reading in every for metric in reading.results[analysis.key].metrics)
    headlines = analysis.headlines or [
        Headline(key) for key in dict.fromkeys(metric.key for metric in metrics)
    ]
    ranges = [one for head in headlines if (one := ranking(atlas, analysis, head, every))]
    return AnalysisEntry(
        analysis,
        len(page.members),
        next((figure for _, figures in page.comparisons for figure in figures), None),
        page.conclusion or (by_answer.sentence if by_answer else ""),
        by_answer or next((one for one in ranges if one.high), next(iter(ranges), None)),
    )


def _context(atlas: Atlas, analysis: Analysis) -> AnalysisContext:
    members = [
        (outcome, reading)
        for outcome in atlas.outcomes
        for reading in outcome.readings
        if reading.results[analysis.key].reason is None
    ]
    by_answer, overview = ranking_of(atlas, analysis), analysis.overview(members)
    return AnalysisContext(
        analysis,
        of_analysis(analysis),
        overview.sentence,
        [_opening(analysis, spec) for spec in overview.figures],
        by_answer,
        # Figures of all encodings stand for it.
        dot_plot(by_answer) if by_answer and not overview.figures else None,
        members,
        _comparisons(analysis, members, by_answer, shares=len(atlas.outcomes) > 1),
    )


def _opening(analysis: Analysis, spec: FigureSpec) -> Figure:
    path, data = f"{analysis.key}-{spec.key}", f"data/analyses/{analysis.key}.json"
    drawn_from = spec.draw.args if isinstance(spec.draw, partial) else ()
    key = (of_parts(drawn_from),)
    return Figure(f"figures/analyses/{path}", spec, spec.alt({}), data, cache_key=key)


def _comparisons(
    analysis: Analysis, members: Sequence[Member], ranking: Ranking | None, *, shares: bool
) -> list[tuple[FigureSpec, list[Figure]]]:
    """Figures of the encodings that answer, lowest, median and highest, each spec with its own;
    where all are lines in one panel, the others stand back behind them. Of the first MOST_DRAWN
    where no order answers.

    shares: a figure of one encoding is that of its checkpoint's page; not where a row alone is
        tried, which shall fail if no figure can be drawn of its numbers
    """
    chosen = [(entry.outcome, entry.reading) for entry in ranking.chosen] if ranking else []
    if not chosen:
        return [
            (spec, _comparison(analysis, spec, members[:MOST_DRAWN], shares))
            for spec in analysis.figures
        ]
    readings = [reading for _, reading in chosen]
    others = [member for member in members if not any(member[1] is one for one in readings)]
    step = max(ceil(len(others) / MOST_QUIET), 1)
    return [
        (
            spec,
            [_with_others(analysis, spec, chosen, others[::step])]
            if spec.overlays and (others or not shares)
            else _comparison(analysis, spec, chosen, shares),
        )
        for spec in analysis.figures
    ]


def _with_others(
    analysis: Analysis, spec: FigureSpec, chosen: Sequence[Member], others: Sequence[Member]
) -> Figure:
    quiet = [
        (outcome, replace(reading, label=Label(hidden(reading.label.title), QUIET, is_quiet=True)))
        for outcome, reading in others
    ]
    coloured = distinct(chosen)
    figure = Figure.comparing(
        f"figures/analyses/{analysis.key}-{spec.key}-1",
        spec,
        analysis,
        [*quiet, *coloured],
        f"data/analyses/{analysis.key}.json",
    )
    alt = spec.alt({reading.label: reading.results[analysis.key] for _, reading in coloured})
    in_grey = f" In grey: {plural(len(quiet), 'other encoding')}." if quiet else ""
    return replace(figure, alt=alt + in_grey)


def _comparison(
    analysis: Analysis, spec: FigureSpec, members: Sequence[Member], shares: bool
) -> list[Figure]:
    """Figures of all ``members``, ``per_figure`` in each; with one in each, and those of one alone
    where they are shared, these are the figures of the checkpoints' pages.
    """
    figures = []
    # Colours differ within each.
    groups = [members] if len(members) <= len(SERIES) else _batches(members, analysis.per_figure)
    coloured = [member for group in groups for member in distinct(group)]
    for number, batch in enumerate(_batches(coloured, analysis.per_figure), start=1):
        is_drawn = f"{analysis.key}-{spec.key}" in batch[0][1].drawings
        if analysis.per_figure == 1 or (shares and is_drawn and len(batch) == 1):
            figures.append(
                replace(Figure.of(*batch[0], analysis, spec), title=batch[0][1].label.title)
            )
            continue
        path = f"figures/analyses/{analysis.key}-{spec.key}-{number}"
        figures.append(
            Figure.comparing(path, spec, analysis, batch, f"data/analyses/{analysis.key}.json")
        )
    return figures


def _batches(members: Sequence[Member], size: int) -> list[Sequence[Member]]:
    return [members[start : start + size] for start in range(0, len(members), size)]


PAGE = PageKind("analysis", pages, ("analyses/*.md",))
