"""The page on which readers compare what they choose; without JavaScript, pairs of each scheme stand there instead."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice, pairwise
from math import ceil
from typing import Any

from generator.contracts import Analysis, Atlas, Figure, Outcome, Page, PageKind, Reading

Member = tuple[Outcome, Reading]
Pair = tuple[Member, Member, tuple[Figure, ...]]
PER_SCHEME, MOST = 3, 24  # pairs that are drawn
PER_PAGE = 8


def pages(atlas: Atlas) -> list[Page]:
    every = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    # The question that the most forms can answer puts any two on one scale.
    analysis = max(atlas.analyses, key=lambda analysis: (analysis.per_figure > 1, len(analysis.forms)))
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    by_scheme = sorted(every, key=lambda member: list(titles).index(_scheme(member)))
    pairs = islice(_pairs(analysis, by_scheme), MOST)
    drawn = [(titles[_scheme(first)], (first, second, _figures(analysis, first, second))) for first, second in pairs]
    numbers = range(1, max(ceil(len(drawn) / PER_PAGE), 1) + 1)
    return [
        _page(drawn[(number - 1) * PER_PAGE : number * PER_PAGE], {"count": len(every), "numbers": numbers, "number": number})
        for number in numbers
    ]


def _page(drawn: Sequence[tuple[str, Pair]], context: Mapping[str, Any]) -> Page:
    groups = [(group, [pair for _, pair in members]) for group, members in groupby(drawn, key=lambda pair: pair[0])]
    figures = tuple(figure for _, (_, _, shown) in drawn for figure in shown)
    first = context["number"] == 1
    path, template = ("compare.md", "compare.md.jinja") if first else (f"compare/{context['number']}.md", "pairs.md.jinja")
    return Page(path, template, {**context, "groups": groups}, figures)


def _pairs(analysis: Analysis, every: list[Member]) -> Iterator[tuple[Member, Member]]:
    """Neighbours that tell position alike, a few of each scheme."""
    answered = (member for member in every if member[1].results[analysis.key].reason is None)
    for _, members in groupby(answered, key=_scheme):
        distinct = ((first, second) for first, second in pairwise(members) if first[1].label != second[1].label)
        yield from islice(distinct, PER_SCHEME)


def _scheme(member: Member) -> str:
    return member[1].encoding.scheme


def _figures(analysis: Analysis, *pair: Member) -> tuple[Figure, ...]:
    name = "--".join(f"{outcome.checkpoint.slug}--{reading.encoding.key}" for outcome, reading in pair)
    paths = ((f"figures/compare/{name}--{spec.key}", spec) for spec in reversed(analysis.figures))
    return tuple(Figure.comparing(path, spec, analysis, pair, f"data/analyses/{analysis.key}.json") for path, spec in paths)


PAGE = PageKind("compare", pages)
