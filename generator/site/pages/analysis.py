"""A page for each analysis, with its method and a comparison of all checkpoints; long tables
continue on further pages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

from generator.contracts import (
    Analysis,
    Atlas,
    Figure,
    FigureSpec,
    Page,
    PageKind,
)
from generator.figures.style import SERIES
from generator.site.answers import Answer, answer_of
from generator.site.found import UNNAMED, of_analysis
from generator.site.outline import STAGES, addresses_of
from generator.site.pictures import cards
from generator.site.pictures.colours import Member, distinct

DIGITS = 3
PER_PAGE = 18  # encodings, which fill the figures of most analyses; only the first page has figures


@dataclass(frozen=True)
class AnalysisEntry:
    """An analysis in the list.

    figure: its first comparison; answer: None where no encoding has a value
    """

    analysis: Analysis
    figure: Figure | None
    answer: Answer | None


def pages(atlas: Atlas) -> list[Page]:
    """The list of analyses, and for each its pages: the first with comparisons, all with a table of
    results.
    """
    addresses = addresses_of(atlas)
    by_analysis = {
        analysis.key: list(_pages(atlas, analysis, addresses)) for analysis in atlas.analyses
    }
    entries = [_entry(atlas, analysis, by_analysis[analysis.key][0]) for analysis in atlas.analyses]
    by_key = {
        entry.analysis.key: cards.of_analysis(
            atlas, entry.analysis, entry.answer.metric if entry.answer else None
        )
        for entry in entries
    }
    entries.sort(key=lambda entry: list(STAGES).index(entry.analysis.stage))
    stages = [
        (STAGES[stage], list(members))
        for stage, members in groupby(entries, key=lambda entry: entry.analysis.stage)
    ]
    index = Page("analyses/index.md", "analyses.md.jinja", {"stages": stages})
    return [
        index,
        *(
            replace(page, card=by_key[key])
            for key, members in by_analysis.items()
            for page in members
        ),
    ]


def _entry(atlas: Atlas, analysis: Analysis, page: Page) -> AnalysisEntry:
    every = (reading for outcome in atlas.outcomes for reading in outcome.readings)
    readings = [reading for reading in every if reading.results[analysis.key].reason is None]
    chosen = [headline.metric for headline in analysis.headlines]
    metrics = (metric for reading in readings for metric in reading.results[analysis.key].metrics)
    keys = chosen or list(dict.fromkeys(metric.key for metric in metrics))
    answers = [answer for key in keys if (answer := answer_of(analysis, key, readings))]
    return AnalysisEntry(
        analysis,
        next(iter(page.figures), None),
        next((answer for answer in answers if answer.high), next(iter(answers), None)),
    )


def _pages(atlas: Atlas, analysis: Analysis, addresses: Mapping[str, str]) -> Iterator[Page]:
    encodings = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    applicable = [
        (outcome, reading)
        for outcome, reading in encodings
        if reading.results[analysis.key].reason is None
    ]
    metrics = {
        metric.key: metric
        for _, reading in applicable
        for metric in reading.results[analysis.key].metrics
    }
    numbers = range(1, max(ceil(len(applicable) / PER_PAGE), 1) + 1)
    for number in numbers:
        members = applicable[(number - 1) * PER_PAGE : number * PER_PAGE]
        comparisons = (
            [(spec, _comparison(analysis, spec, members)) for spec in analysis.figures]
            if number == 1
            else []
        )
        context = {
            "analysis": analysis,
            "found": of_analysis(analysis) if number == 1 else UNNAMED,
            "members": members,
            "metrics": list(metrics.values()),
            "comparisons": comparisons,
        }
        context |= {
            "numbers": numbers,
            "number": number,
            "total": len(applicable),
            "addresses": addresses,
        }
        figures = tuple(figure for _, figures_of_spec in comparisons for figure in figures_of_spec)
        path = (
            f"analyses/{analysis.key}.md" if number == 1 else f"analyses/{analysis.key}/{number}.md"
        )
        yield Page(path, "analysis.md.jinja", context, figures)


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
