"""A page for each analysis, with its method and a comparison of all checkpoints; long tables continue on further pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil

from generator.contracts import Analysis, Atlas, Figure, FigureSpec, Outcome, Page, PageKind, Reading
from generator.site.outline import addresses_of

Member = tuple[Outcome, Reading]
PER_PAGE = 24  # encodings, which fill the figures of most analyses; only the first page has figures


def pages(atlas: Atlas) -> list[Page]:
    """The list of analyses, and for each its pages: the first with comparisons, all with a table of results."""
    index = Page("analyses/index.md", "analyses.md.jinja", {"analyses": atlas.analyses})
    addresses = addresses_of(atlas)
    return [index, *(page for analysis in atlas.analyses for page in _pages(atlas, analysis, addresses))]


def _pages(atlas: Atlas, analysis: Analysis, addresses: Mapping[str, str]) -> Iterator[Page]:
    encodings = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    applicable = [(outcome, reading) for outcome, reading in encodings if reading.results[analysis.key].reason is None]
    metrics = {metric.key: metric for _, reading in applicable for metric in reading.results[analysis.key].metrics}
    numbers = range(1, max(ceil(len(applicable) / PER_PAGE), 1) + 1)
    for number in numbers:
        members = applicable[(number - 1) * PER_PAGE : number * PER_PAGE]
        comparisons = [(spec, _comparison(analysis, spec, members)) for spec in analysis.figures] if number == 1 else []
        context = {"analysis": analysis, "members": members, "metrics": list(metrics.values()), "comparisons": comparisons}
        context |= {"numbers": numbers, "number": number, "total": len(applicable), "addresses": addresses}
        figures = tuple(figure for _, figures_of_spec in comparisons for figure in figures_of_spec)
        path = f"analyses/{analysis.key}.md" if number == 1 else f"analyses/{analysis.key}/{number}.md"
        yield Page(path, "analysis.md.jinja", context, figures)


def _comparison(analysis: Analysis, spec: FigureSpec, members: Sequence[Member]) -> list[Figure]:
    """Figures of all ``members``, ``per_figure`` in each; with one in each, these are the figures of the checkpoints' pages."""
    figures = []
    for number, batch in enumerate(_batches(members, analysis.per_figure), start=1):
        if analysis.per_figure == 1:
            figures.append(replace(Figure.of(*batch[0], analysis, spec), title=batch[0][1].label.title))
            continue
        path = f"figures/analyses/{analysis.key}-{spec.key}-{number}"
        figures.append(Figure.comparing(path, spec, analysis, batch, f"data/analyses/{analysis.key}.json"))
    return figures


def _batches(members: Sequence[Member], size: int) -> list[Sequence[Member]]:
    return [members[start : start + size] for start in range(0, len(members), size)]


PAGE = PageKind("analysis", pages)
