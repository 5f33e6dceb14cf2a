"""A page for each scheme: how it works, with a picture, and the checkpoints that use it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from generator.contracts import (
    Atlas,
    Figure,
    FigureSpec,
    Numbers,
    Page,
    PageKind,
    Results,
    Scheme,
)
from generator.site.outline import addresses_of
from generator.site.pictures import cards
from generator.site.ways import PLACES, is_unread, readings_of, way

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

MOST_CARDS = 48  # other checkpoints are in the list


def pages(atlas: Atlas) -> list[Page]:
    """The list of schemes, and a page for each."""
    addresses = addresses_of(atlas)
    return [_index(atlas), *(_page(atlas, scheme, addresses) for scheme in atlas.schemes)]


def _index(atlas: Atlas) -> Page:
    """The cards of all schemes, by what they change; what encodes no position is apart."""
    built = [outcome for outcome in atlas.outcomes if outcome.status == "ok"]
    ways = [way(scheme, built, MOST_CARDS) for scheme in atlas.schemes]
    telling = [one for one in ways if one.scheme.tells_position]
    places = [
        (words.heading, [one for one in telling if one.scheme.acts_in == key])
        for key, words in PLACES.items()
    ]
    beside = [one for one in ways if not one.scheme.tells_position]
    return Page("schemes/index.md", "schemes.md.jinja", {"places": places, "beside": beside})


def _page(atlas: Atlas, scheme: Scheme, addresses: Mapping[str, str]) -> Page:
    picture = _figure(scheme)
    users = [
        (outcome, reading) for outcome in atlas.outcomes for reading in readings_of(scheme, outcome)
    ]
    unmeasured = [outcome for outcome in atlas.outcomes if is_unread(scheme, outcome)]
    context = {
        "scheme": scheme,
        "users": users[:MOST_CARDS],
        "total": len(users),
        "unmeasured": unmeasured[:MOST_CARDS],
        "picture": picture,
        "addresses": addresses,
    }
    card = cards.of_scheme(atlas, scheme, [reading for _, reading in users])
    return Page(f"schemes/{scheme.key}.md", "scheme.md.jinja", context, (picture,), card)


def _figure(scheme: Scheme) -> Figure:
    """The picture of a scheme as a figure without results."""
    picture, numbers = scheme.picture, scheme.picture.numbers()
    alt = picture.alt(numbers)
    spec = FigureSpec(
        "picture",
        picture.caption,
        picture.how_to_read,
        alt=lambda _: alt,
        draw=partial(_draw, picture.draw, numbers),
    )
    return Figure(
        f"figures/schemes/{scheme.key}",
        spec,
        alt,
        f"data/schemes/{scheme.key}.npz",
        cache_key=(scheme.key,),
    )


# No lambda: another process may draw it, and no lambda can be pickled.
def _draw(draw: "Callable[[Numbers], Drawing]", numbers: Numbers, _: Results) -> "Drawing":
    return draw(numbers)


PAGE = PageKind("scheme", pages)
