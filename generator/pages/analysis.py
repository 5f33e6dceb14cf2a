"""A page for each analysis: its method, and every checkpoint side by side on one scale."""

from collections.abc import Sequence

from generator.contracts import Analysis, Atlas, Figure, FigureSpec, Outcome, Page, PageKind, Reading

Answer = tuple[Outcome, Reading]


def pages(atlas: Atlas) -> list[Page]:
    listed = Page("analyses/index.md", "analyses.md.jinja", {"analyses": atlas.analyses})
    return [listed, *(_page(atlas, analysis) for analysis in atlas.analyses)]


def _page(atlas: Atlas, analysis: Analysis) -> Page:
    every = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    answers = [(outcome, reading) for outcome, reading in every if reading.results[analysis.key].reason is None]
    titles = {metric.key: metric for _, reading in answers for metric in reading.results[analysis.key].metrics}
    comparisons = [(spec, _comparison(analysis, spec, answers)) for spec in analysis.figures]
    context = {"analysis": analysis, "answers": answers, "metrics": list(titles.values()), "comparisons": comparisons}
    figures = tuple(figure for _, drawn in comparisons for figure in drawn)
    return Page(f"analyses/{analysis.key}.md", "analysis.md.jinja", context, figures)


def _comparison(analysis: Analysis, spec: FigureSpec, answers: Sequence[Answer]) -> list[Figure]:
    """As many figures as it takes, each with what one holds legibly; one checkpoint alone has its figure already."""
    drawn = []
    for number, batch in enumerate(_batches(answers, analysis.per_figure), start=1):
        if analysis.per_figure == 1:
            outcome, reading = batch[0]
            name = f"{analysis.key}-{spec.key}"
            path = f"figures/{outcome.checkpoint.slug}/{reading.encoding.key}/{name}.svg"
            drawn.append(Figure(path, spec, reading.alts[name], f"data/{outcome.checkpoint.slug}/{reading.encoding.key}.npz"))
            continue
        results = {reading.label: reading.results[analysis.key] for _, reading in batch}
        path = f"figures/analyses/{analysis.key}-{spec.key}-{number}.svg"
        drawn.append(Figure(path, spec, spec.alt(results), "data/metrics.csv", results))
    return drawn


def _batches(answers: Sequence[Answer], size: int) -> list[Sequence[Answer]]:
    return [answers[start : start + size] for start in range(0, len(answers), size)]


PAGE = PageKind("analysis", pages)
