"""A page for each scheme: how it works, with a picture, and the checkpoints that use it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import (
    Analysis,
    Atlas,
    Figure,
    Finding,
    Outcome,
    Page,
    PageContext,
    PageKind,
    Scheme,
)
from generator.encodings import ActsIn
from generator.site.pictures import cards, scheme_pictures
from generator.site.pictures.colours import Member
from generator.site.rankings.columns import Column, columns_of
from generator.site.rankings.peers import alike, peers_of
from generator.site.rankings.ranking import Ranking, ranking
from generator.site.search_names import SearchNames, of_scheme
from generator.site.ways import PLACES, Place, Way, is_unread, partly_bare, readings_of, way

MOST_CARDS = 48  # of a scheme in the list


@dataclass(frozen=True)
class SchemesContext(PageContext, template="schemes.md.jinja"):
    """places: where schemes act, in words; ways: all schemes"""

    places: Mapping[ActsIn, Place]
    ways: Sequence[Way]


@dataclass(frozen=True)
class SchemeContext(PageContext, template="scheme.md.jinja"):
    """further: figures in its text, by key
    found: names by which search finds it; users: encodings; unmeasured: with numbers unread
    bare: where no encoding is the scheme, listed models with layers that attend without one
    published: by guest, how many models use it, and where a table has these alone
    ranges: see ``_ranges``; shared: findings that all encodings have
    """

    scheme: Scheme
    found: SearchNames
    picture: Figure
    further: Mapping[str, Figure]
    users: Sequence[Member]
    unmeasured: Sequence[Outcome]
    bare: Sequence[Outcome]
    published: Mapping[str, tuple[int, str]]
    ranges: Sequence[tuple[Column, Ranking]]
    shared: Sequence[tuple[Analysis, Finding]]


def pages(atlas: Atlas) -> list[Page]:
    """The list of schemes, by what they change, and a page for each."""
    built = [outcome for outcome in atlas.outcomes if outcome.status == "ok"]
    ways = [way(scheme, built, MOST_CARDS, atlas.schemes) for scheme in atlas.schemes]
    index = Page("schemes/index.md", SchemesContext(PLACES, ways))
    return [index, *(_page(atlas, scheme) for scheme in atlas.schemes)]


def _page(atlas: Atlas, scheme: Scheme) -> Page:
    users = [
        (outcome, reading) for outcome in atlas.outcomes for reading in readings_of(scheme, outcome)
    ]
    analyses = {analysis.key: analysis for analysis in atlas.analyses}
    context = SchemeContext(
        scheme,
        of_scheme(scheme),
        scheme_pictures.figure(scheme),
        scheme_pictures.further(scheme),
        users,
        [outcome for outcome in atlas.outcomes if is_unread(scheme, outcome)],
        partly_bare(scheme, atlas.outcomes, atlas.schemes),
        {guest.key: guest.users(atlas, scheme) for guest in atlas.guests},
        _ranges(atlas, users),
        [(analyses[key], finding) for key, finding in peers_of(atlas).shared(scheme.key)],
    )
    card = cards.of_scheme(atlas, scheme, [reading for _, reading in users])
    return Page(
        f"schemes/{scheme.key}.md", context, (context.picture, *context.further.values()), card
    )


def _ranges(atlas: Atlas, users: Sequence[Member]) -> list[tuple[Column, Ranking]]:
    """The order by each headline metric in which the encodings differ by more than what is as good
    as equal.
    """
    found = (
        (column, ranking(atlas, column.analysis, column.headline, users))
        for column in columns_of(atlas)
    )
    return [
        (column, order)
        for column, order in found
        if order and order.high and not alike([entry.value for entry in order.entries])
    ]


PAGE = PageKind("scheme", pages, ("schemes/*.md",))
