"""The page on which readers compare encodings of their choice; without JavaScript, it has figures
of some pairs instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice, pairwise
from math import ceil
from typing import Any

from generator.contracts import Analysis, Atlas, Figure, Page, PageKind
from generator.site.compare.presets import presets
from generator.site.pictures.colours import Member, distinct

Pair = tuple[Member, Member, tuple[Figure, ...]]
PER_SCHEME, MOST = 3, 24  # pairs with figures
PER_PAGE = 8


def pages(atlas: Atlas) -> list[Page]:
    """The compare page, and pages of pairs for readers without JavaScript."""
    members = list(atlas.encodings)
    # The analysis that accepts the most forms compares any two encodings.
    analysis = max(
        atlas.analyses, key=lambda analysis: (analysis.per_figure > 1, len(analysis.forms))
    )
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    by_scheme = sorted(members, key=lambda member: list(titles).index(_scheme(member)))
    neighbours = islice(_neighbours(analysis, by_scheme), MOST)
    pairs = [
        (titles[_scheme(first)], (first, second, _figures(analysis, first, second)))
        for first, second in neighbours
    ]
    chosen = presets(atlas)
    numbers = range(1, max(ceil(len(pairs) / PER_PAGE), 1) + 1)
    return [
        _page(
            pairs[(number - 1) * PER_PAGE : number * PER_PAGE],
            {"count": len(members), "numbers": numbers, "number": number, "presets": chosen},
        )
        for number in numbers
    ]


def _page(titled_pairs: Sequence[tuple[str, Pair]], context: Mapping[str, Any]) -> Page:
    groups = [
        (title, [pair for _, pair in members])
        for title, members in groupby(titled_pairs, key=lambda titled: titled[0])
    ]
    figures = tuple(
        figure for _, (_, _, figures_of_pair) in titled_pairs for figure in figures_of_pair
    )
    first = context["number"] == 1
    path, template = (
        ("compare.md", "compare.md.jinja")
        if first
        else (f"compare/{context['number']}.md", "pairs.md.jinja")
    )
    return Page(path, template, {**context, "groups": groups}, figures)


def _neighbours(analysis: Analysis, members: list[Member]) -> Iterator[tuple[Member, Member]]:
    """Pairs of consecutive members with the same scheme, at most PER_SCHEME of each scheme.

    members: sorted by scheme
    """
    applicable = (member for member in members if member[1].results[analysis.key].reason is None)
    for _, of_scheme in groupby(applicable, key=_scheme):
        yield from islice(pairwise(of_scheme), PER_SCHEME)


def _scheme(member: Member) -> str:
    return member[1].encoding.scheme


def _figures(analysis: Analysis, *pair: Member) -> tuple[Figure, ...]:
    name = "--".join(
        f"{outcome.checkpoint.slug}--{reading.encoding.key}" for outcome, reading in pair
    )
    paths = ((f"figures/compare/{name}--{spec.key}", spec) for spec in reversed(analysis.figures))
    return tuple(
        Figure.comparing(path, spec, analysis, distinct(pair), f"data/analyses/{analysis.key}.json")
        for path, spec in paths
    )


PAGE = PageKind("compare", pages)
