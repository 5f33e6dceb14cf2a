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
    labels = [Label(slug, series_colour(slug)) for slug in slugs]
    readings = [Reading.of(encoding, label, {}, {}, {}) for label in labels]
    return [(Outcome(checkpoint(slug=one.label.title), "ok"), one) for one in readings]


def colours(slugs: Sequence[str]) -> dict[str, str]:
    return {reading.label.title: reading.label.colour for _, reading in distinct(members(slugs))}


def test_as_many_colours_as_there_are_differ_and_then_begin_anew() -> None:
    found = list(colours(SLUGS).values())
    assert set(found[: len(SERIES)]) == set(found[len(SERIES) :]) == set(SERIES)


def test_a_slug_has_its_own_colour_unless_one_before_it_has_that() -> None:
    """With or without the first."""
    own = {series_colour(slug): slug for slug in reversed(SLUGS)}
    different = [slug for slug in SLUGS if slug in own.values()]
    for slugs in (different, different[1:]):
        assert colours(slugs) == {slug: series_colour(slug) for slug in slugs}
