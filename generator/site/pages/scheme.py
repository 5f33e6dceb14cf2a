"""A page for each scheme: how it works, with a picture, and the checkpoints that use it."""

from collections.abc import Mapping, Sequence

from generator.contracts import Atlas, Outcome, Page, PageKind, Reading, Scheme, untyped
from generator.site import search_names
from generator.site.outline import addresses_of
from generator.site.pictures import cards, scheme_pictures
from generator.site.rankings.columns import Column, columns_of
from generator.site.rankings.order import Ranking, ranking
from generator.site.rankings.peers import alike, peers_of
from generator.site.ways import PLACES, is_unread, readings_of, way

MOST_CARDS = 48  # other checkpoints are in the list


def pages(atlas: Atlas) -> list[Page]:
    """The list of schemes, and a page for each."""
    addresses = addresses_of(atlas)
    return [_index(atlas), *(_page(atlas, scheme, addresses) for scheme in atlas.schemes)]


def _index(atlas: Atlas) -> Page:
    """The cards of all schemes, by what they change; what encodes no position is apart."""
    built = [outcome for outcome in atlas.outcomes if outcome.status == "ok"]
    ways = [way(scheme, built, MOST_CARDS, atlas.schemes) for scheme in atlas.schemes]
    telling = [one for one in ways if one.scheme.tells_position]
    places = [
        (words.heading, [one for one in telling if one.scheme.acts_in == key])
        for key, words in PLACES.items()
    ]
    beside = [one for one in ways if not one.scheme.tells_position]
    return Page(
        "schemes/index.md", untyped("schemes.md.jinja", {"places": places, "beside": beside})
    )


def _page(atlas: Atlas, scheme: Scheme, addresses: Mapping[str, str]) -> Page:
    picture = scheme_pictures.figure(scheme)
    users = [
        (outcome, reading) for outcome in atlas.outcomes for reading in readings_of(scheme, outcome)
    ]
    unmeasured = [outcome for outcome in atlas.outcomes if is_unread(scheme, outcome)]
    context = {
        "scheme": scheme,
        "found": search_names.of_scheme(scheme),
        "users": users[:MOST_CARDS],
        "total": len(users),
        "unmeasured": unmeasured[:MOST_CARDS],
        "picture": picture,
        "addresses": addresses,
        "ranges": _ranges(atlas, users),
        "shared": [
            (analysis, finding)
            for key, finding in peers_of(atlas).shared(scheme.key)
            for analysis in atlas.analyses
            if analysis.key == key
        ],
    }
    card = cards.of_scheme(atlas, scheme, [reading for _, reading in users])
    return Page(f"schemes/{scheme.key}.md", untyped("scheme.md.jinja", context), (picture,), card)


def _ranges(atlas: Atlas, users: Sequence[tuple[Outcome, Reading]]) -> list[tuple[Column, Ranking]]:
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


PAGE = PageKind("scheme", pages)
