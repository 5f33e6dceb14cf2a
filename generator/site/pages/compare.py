"""The page on which readers compare encodings of their choice; without JavaScript, it has figures
of some pairs instead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise

from generator.contracts import Analysis, Atlas, Figure, Page, PageContext, PageKind, Scheme
from generator.site.compare.presets import Preset, presets
from generator.site.compare.similarity_map import SimilarityMap, similarity_map
from generator.site.pictures.colours import Member, distinct

Pair = tuple[Member, Member, tuple[Figure, ...]]
PER_SCHEME, MOST = 3, 24  # pairs with figures


@dataclass(frozen=True)
class CompareContext(PageContext, template="compare.md.jinja"):
    """pairs: for readers without JavaScript, sorted by scheme; similarity: None of too few
    encodings; n_encodings, n_models: that readers can choose, and of how many checkpoints
    """

    similarity: SimilarityMap | None
    presets: Sequence[Preset]
    schemes: Sequence[Scheme]
    pairs: Sequence[Pair]
    n_encodings: int
    n_models: int


def pages(atlas: Atlas) -> list[Page]:
    """The compare page, with pairs for readers without JavaScript; none of fewer than two."""
    members = list(atlas.encodings)
    if len(members) < 2 or not atlas.analyses:
        return []
    # The analysis that accepts the most forms compares any two encodings.
    analysis = max(
        atlas.analyses, key=lambda analysis: (analysis.per_figure > 1, len(analysis.forms))
    )
    order = [scheme.key for scheme in atlas.schemes]
    by_scheme = sorted(members, key=lambda member: order.index(_scheme(member)))
    pairs: list[Pair] = [
        (first, second, _figures(analysis, first, second))
        for first, second in islice(_neighbours(analysis, by_scheme), MOST)
    ]
    context = CompareContext(
        similarity_map(atlas),
        presets(atlas),
        atlas.schemes,
        pairs,
        len(members),
        len({outcome.checkpoint.slug for outcome, _ in members}),
    )
    figures = tuple(figure for _, _, of_pair in pairs for figure in of_pair)
    return [Page("compare.md", context, figures)]


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


PAGE = PageKind("compare", pages, ("compare.md",))
