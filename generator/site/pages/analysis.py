"""A page for each analysis, with its method and a comparison of all checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

from generator.contracts import (
    Analysis,
    Atlas,
    Figure,
    FigureSpec,
    Headline,
    Label,
    Page,
    PageKind,
)
from generator.figures.lines import hidden
from generator.figures.style import QUIET, SERIES
from generator.site.outline import STAGES, addresses_of, applicable
from generator.site.pictures import cards
from generator.site.pictures.colours import Member, distinct
from generator.site.pictures.dot_plot import dot_plot
from generator.site.rankings.order import Ranking, ranking, ranking_of
from generator.site.search_names import of_analysis
from generator.text import plural

DIGITS = 3
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


def pages(atlas: Atlas) -> list[Page]:
    """The list of analyses, and the page of each that applies to an encoding."""
    addresses, shown = addresses_of(atlas), applicable(atlas)
    of_analyses = [_page(atlas, analysis, addresses) for analysis in shown]
    entries = [
        _entry(atlas, analysis, page) for analysis, page in zip(shown, of_analyses, strict=True)
    ]
    of_analyses = [
        replace(
            page,
            card=cards.of_analysis(
                atlas, entry.analysis, entry.range.metric if entry.range else None
            ),
        )
        for page, entry in zip(of_analyses, entries, strict=True)
    ]
    entries.sort(key=lambda entry: list(STAGES).index(entry.analysis.stage))
    stages = [
        (STAGES[stage], list(members))
        for stage, members in groupby(entries, key=lambda entry: entry.analysis.stage)
    ]
    context = {
        "stages": stages,
        "widest": max(
            (entry for entry in entries if entry.sentence),
            key=lambda entry: entry.count,
            default=None,
        ),
        "count": len(entries),
        "encodings": sum(len(outcome.readings) for outcome in atlas.outcomes),
        "absent": [analysis for analysis in atlas.analyses if analysis not in shown],
    }
    return [Page("analyses/index.md", "analyses.md.jinja", context), *of_analyses]


def _entry(atlas: Atlas, analysis: Analysis, page: Page) -> AnalysisEntry:
    every = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    by_answer = ranking_of(atlas, analysis)
    metrics = (metric for _, reading in every for metric in reading.results[analysis.key].metrics)
    headlines = analysis.headlines or [
        Headline(key, "") for key in dict.fromkeys(metric.key for metric in metrics)
    ]
    ranges = [one for head in headlines if (one := ranking(atlas, analysis, head, every))]
    return AnalysisEntry(
        analysis,
        len(page.context["members"]),
        next(iter(page.figures), None),
        by_answer.sentence if by_answer else "",
        by_answer or next((one for one in ranges if one.high), next(iter(ranges), None)),
    )


def _page(atlas: Atlas, analysis: Analysis, addresses: Mapping[str, str]) -> Page:
    applicable = [
        (outcome, reading)
        for outcome in atlas.outcomes
        for reading in outcome.readings
        if reading.results[analysis.key].reason is None
    ]
    metrics = {
        metric.key: metric
        for _, reading in applicable
        for metric in reading.results[analysis.key].metrics
    }
    by_answer = ranking_of(atlas, analysis)
    comparisons = _comparisons(analysis, applicable, by_answer)
    context = {
        "analysis": analysis,
        "found": of_analysis(analysis),
        "sentence": by_answer.sentence if by_answer else "",
        "valued": len(by_answer.entries) if by_answer else 0,
        "plot": dot_plot(by_answer) if by_answer else None,
        "chosen": by_answer.chosen if by_answer else (),
        "members": applicable,
        "metrics": list(metrics.values()),
        "comparisons": comparisons,
        "addresses": addresses,
    }
    figures = tuple(figure for _, figures_of_spec in comparisons for figure in figures_of_spec)
    return Page(f"analyses/{analysis.key}.md", "analysis.md.jinja", context, figures)


def _comparisons(
    analysis: Analysis, members: Sequence[Member], ranking: Ranking | None
) -> list[tuple[FigureSpec, list[Figure]]]:
    """Figures of the encodings that answer, lowest, median and highest, each spec with its own;
    where all are lines in one panel, the others stand back behind them. Of the first MOST_DRAWN
    where no order answers.
    """
    chosen = [(entry.outcome, entry.reading) for entry in ranking.chosen] if ranking else []
    if not chosen:
        return [
            (spec, _comparison(analysis, spec, members[:MOST_DRAWN])) for spec in analysis.figures
        ]
    readings = [reading for _, reading in chosen]
    others = [member for member in members if not any(member[1] is one for one in readings)]
    step = max(ceil(len(others) / MOST_QUIET), 1)
    return [
        (
            spec,
            [_with_others(analysis, spec, chosen, others[::step])]
            if spec.overlays
            else _comparison(analysis, spec, chosen),
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


def _comparison(analysis: Analysis, spec: FigureSpec, members: Sequence[Member]) -> list[Figure]:
    """Figures of all ``members``, ``per_figure`` in each; with one in each, these are the figures
    of the checkpoints' pages.
    """
    figures = []
    # Colours differ within each.
    groups = [members] if len(members) <= len(SERIES) else _batches(members, analysis.per_figure)
    coloured = [member for group in groups for member in distinct(group)]
    for number, batch in enumerate(_batches(coloured, analysis.per_figure), start=1):
        if analysis.per_figure == 1:
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


PAGE = PageKind("analysis", pages)
