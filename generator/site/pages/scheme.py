"""A page for each scheme: how it works, with a picture, and the checkpoints that use it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from generator.contracts import (
    Atlas,
    Figure,
    FigureSpec,
    Numbers,
    Outcome,
    Page,
    PageKind,
    Reading,
    Results,
    Scheme,
)
from generator.site.outline import addresses_of
from generator.site.pictures import cards
from generator.site.ways import PLACES, way

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

MOST_CARDS = 48  # other checkpoints are in the list


def pages(atlas: Atlas) -> list[Page]:
    """The list of schemes, and a page for each."""
    users = {scheme.key: _users(atlas, scheme) for scheme in atlas.schemes}
    unmeasured = {scheme.key: _unmeasured(atlas, scheme) for scheme in atlas.schemes}
    addresses = addresses_of(atlas)
    return [
        _index(atlas),
        *(
            _page(atlas, scheme, users[scheme.key], unmeasured[scheme.key], addresses)
            for scheme in atlas.schemes
        ),
    ]


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


def _page(
    atlas: Atlas,
    scheme: Scheme,
    users: list[tuple[Outcome, Reading]],
    unmeasured: list[Outcome],
    addresses: Mapping[str, str],
) -> Page:
    picture = _figure(scheme)
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


def _users(atlas: Atlas, scheme: Scheme) -> list[tuple[Outcome, Reading]]:
    return [
        (outcome, reading)
        for outcome in atlas.outcomes
        for reading in outcome.readings
        if reading.encoding.scheme == scheme.key
    ]


def _unmeasured(atlas: Atlas, scheme: Scheme) -> list[Outcome]:
    """Checkpoints with an encoding of this scheme whose numbers were not read."""
    return [
        outcome
        for outcome in atlas.outcomes
        if any(record.scheme == scheme.key for record in outcome.unmeasured)
    ]


PAGE = PageKind("scheme", pages)
