"""The page on which readers compare what they choose; without JavaScript, pairs of each group stand there instead."""

from collections.abc import Iterator
from itertools import groupby, islice, pairwise

from generator.contracts import Analysis, Atlas, Figure, Outcome, Page, PageKind, Reading

Member = tuple[Outcome, Reading]
PER_GROUP, MOST = 3, 24  # pairs that are drawn


def pages(atlas: Atlas) -> list[Page]:
    every = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    # The question that the most forms can answer puts any two on one scale.
    analysis = max(atlas.analyses, key=lambda analysis: (analysis.per_figure > 1, len(analysis.forms)))
    pairs = islice(_pairs(analysis, every), MOST)
    drawn = [(first[0].checkpoint.group, (first, second, _figures(analysis, first, second))) for first, second in pairs]
    groups = [(group, [pair for _, pair in members]) for group, members in groupby(drawn, key=lambda pair: pair[0])]
    figures = tuple(figure for _, (_, _, shown) in drawn for figure in shown)
    return [Page("compare.md", "compare.md.jinja", {"count": len(every), "groups": groups}, figures)]


def _pairs(analysis: Analysis, every: list[Member]) -> Iterator[tuple[Member, Member]]:
    """Neighbours of one group, a few of each."""
    answered = [member for member in every if member[1].results[analysis.key].reason is None]
    by_group = sorted(answered, key=lambda member: member[0].checkpoint.group)
    for _, members in groupby(by_group, key=lambda member: member[0].checkpoint.group):
        distinct = ((first, second) for first, second in pairwise(members) if first[1].label != second[1].label)
        yield from islice(distinct, PER_GROUP)


def _figures(analysis: Analysis, *pair: Member) -> tuple[Figure, ...]:
    name = "--".join(f"{outcome.checkpoint.slug}--{reading.encoding.key}" for outcome, reading in pair)
    paths = ((f"figures/compare/{name}--{spec.key}.svg", spec) for spec in reversed(analysis.figures))
    return tuple(Figure.comparing(path, spec, analysis, pair, f"data/analyses/{analysis.key}.json") for path, spec in paths)


PAGE = PageKind("compare", pages)
