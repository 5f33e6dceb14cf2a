"""A page for each analysis: its method, checkpoints side by side on one scale, and the numbers of all, on as many pages as that takes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from generator.contracts import Analysis, Atlas, Figure, FigureSpec, Outcome, Page, PageKind, Reading

Answer = tuple[Outcome, Reading]
ROWS = 24  # answers on one page, which fill the figures of most questions; those of the first are drawn


def pages(atlas: Atlas) -> list[Page]:
    listed = Page("analyses/index.md", "analyses.md.jinja", {"analyses": atlas.analyses})
    return [listed, *(page for analysis in atlas.analyses for page in _pages(atlas, analysis))]


def _pages(atlas: Atlas, analysis: Analysis) -> Iterator[Page]:
    every = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    answers = [(outcome, reading) for outcome, reading in every if reading.results[analysis.key].reason is None]
    titles = {metric.key: metric for _, reading in answers for metric in reading.results[analysis.key].metrics}
    numbers = range(1, max(ceil(len(answers) / ROWS), 1) + 1)
    for number in numbers:
        shown = answers[(number - 1) * ROWS : number * ROWS]
        comparisons = [(spec, _comparison(analysis, spec, shown)) for spec in analysis.figures] if number == 1 else []
        context = {"analysis": analysis, "answers": shown, "metrics": list(titles.values()), "comparisons": comparisons}
        context |= {"numbers": numbers, "number": number, "total": len(answers)}
        figures = tuple(figure for _, drawn in comparisons for figure in drawn)
        path = f"analyses/{analysis.key}.md" if number == 1 else f"analyses/{analysis.key}/{number}.md"
        yield Page(path, "analysis.md.jinja", context, figures)


def _comparison(analysis: Analysis, spec: FigureSpec, answers: Sequence[Answer]) -> list[Figure]:
    """As many figures as it takes, each with what one holds legibly; one checkpoint alone has its figure already."""
    drawn = []
    for number, batch in enumerate(_batches(answers, analysis.per_figure), start=1):
        if analysis.per_figure == 1:
            drawn.append(replace(Figure.of(*batch[0], analysis, spec), whose=batch[0][1].label.title))
            continue
        path = f"figures/analyses/{analysis.key}-{spec.key}-{number}"
        drawn.append(Figure.comparing(path, spec, analysis, batch, f"data/analyses/{analysis.key}.json"))
    return drawn


def _batches(answers: Sequence[Answer], size: int) -> list[Sequence[Answer]]:
    return [answers[start : start + size] for start in range(0, len(answers), size)]


PAGE = PageKind("analysis", pages)
