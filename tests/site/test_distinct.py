"""Colours of encodings that one figure compares."""

from collections.abc import Sequence

from generator.contracts import Encoding, Label, Outcome, Provenance, Reading
from generator.encodings import NoEncoding
from generator.figures.style import SERIES, series_colour
from generator.site.pictures.colours import Member, distinct
from tests.support import checkpoint

SLUGS = [f"row-{index}" for index in range(2 * len(SERIES))]


def members(slugs: Sequence[str]) -> list[Member]:
    encoding = Encoding("encoder", "none", NoEncoding("from the config"), Provenance(""))
    return [
        (
            Outcome(checkpoint(slug=slug), "ok"),
            Reading.of(encoding, Label(slug, series_colour(slug)), {}, {}, {}),
        )
        for slug in slugs
    ]


def colours(slugs: Sequence[str]) -> dict[str, str]:
    return {reading.label.title: reading.label.colour for _, reading in distinct(members(slugs))}


def test_as_many_colours_as_there_are_differ_and_then_begin_anew() -> None:
    found = list(colours(SLUGS).values())
    assert set(found[: len(SERIES)]) == set(found[len(SERIES) :]) == set(SERIES)


def test_a_slug_has_its_own_colour_unless_one_before_it_has_that() -> None:
    different = [
        slug
        for place, slug in enumerate(SLUGS)
        if series_colour(slug) not in map(series_colour, SLUGS[:place])
    ]
    assert colours(different) == {slug: series_colour(slug) for slug in different}


def test_the_removal_of_a_member_recolours_at_most_those_whose_colours_meet() -> None:
    different = [
        slug
        for place, slug in enumerate(SLUGS)
        if series_colour(slug) not in map(series_colour, SLUGS[:place])
    ]
    assert colours(different[1:]) == {
        slug: colour for slug, colour in colours(different).items() if slug != different[0]
    }
