"""What the map and the front page conclude and draw, on numbers made by hand."""

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from generator.contracts import Atlas
from generator.numerics.arrays import Floats
from generator.reading.find import all_schemes
from generator.site import render
from generator.site.compare import similarity_map as map_page
from generator.site.compare.conclusions import Named, conclusions, neighbours
from generator.site.materials import OURS
from generator.site.pictures import leading_picture
from tests.site.test_rankings import MEASURE, outcome


def between(places: Floats) -> Floats:
    """Differences of members on a line."""
    return np.asarray(np.abs(places[:, None] - places[None, :]))


def named(schemes: str) -> list[Named]:
    """A member for each letter, which is its scheme."""
    return [Named(f"M{number}", scheme) for number, scheme in enumerate(schemes)]


GROUPED = between(np.array([0.0, 0.01, 0.02, 0.03, 0.5, 0.51, 0.52, 0.53]))


def test_schemes_that_stand_together_form_groups_and_those_by_turns_none() -> None:
    places = np.array([0.0, 0.01, 0.02, 0.03, 0.5, 0.51, 0.52, 0.53, 0.9, 0.91, 0.92, 0.93])
    first = conclusions(named("AAAABBBBCCCC"), between(places))[0]
    assert first.startswith("Encodings resemble their own kind: 12 of 12 have a nearest neighbour")
    assert conclusions(named("ABABABAB"), GROUPED)[0].startswith(
        "Encodings hardly resemble their own kind"
    )


def test_chance_is_the_share_of_others_that_have_the_scheme() -> None:
    """Of 8 encodings with one nearest each, 3 of the 7 others share the scheme: 8 × 3 ÷ 7."""
    places = np.array([0.0, 0.01, 0.1, 0.11, 0.2, 0.21, 0.3, 0.31])
    found = neighbours(np.array(list("AAAABBBB")), between(places))
    assert (found.own, found.total) == (8, 8)
    assert found.by_chance == pytest.approx(8 * 3 / 7, abs=0.1)
    assert found.rarity > 0.0


def test_the_closest_two_are_of_different_schemes() -> None:
    _, closest = conclusions(named("AAAABBBB"), GROUPED)
    assert closest == (
        "The most similar encodings of different schemes are M3 (A) and M4 (B), with a similarity"
        " of 53 out of 100."
    )


def test_those_that_share_an_end_as_printed_are_named_together() -> None:
    level = between(np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5]))
    assert conclusions(named("ABABAB"), level)[1:] == (
        "The most similar encodings of different schemes are M0 (A) and M1 (B); M1 (B) and M2 (A);"
        " and 3 more pairs, with a similarity of 90 out of 100.",
    )
    two = between(np.array([0.0, 0.1, 0.2, 0.7, 0.7]))
    assert (
        "The most similar encodings of different schemes are M0 (A) and M1 (B); M1 (B) and M2 (C),"
        " with a similarity of 90 out of 100."
    ) in conclusions(named("ABCDD"), two)
    far = between(np.array([0.0, 0.01, 0.5, 0.98, 0.99, 1.0]))
    far[0, 1:] = far[1:, 0] = 0.48
    assert conclusions(named("AABCCC"), far)[-1] == (
        "M0, M1 and M2 differ most from all others: the nearest neighbour of each has a similarity"
        " of 52 out of 100."
    )


def test_what_formulas_make_equal_is_said_to_be_and_no_finding() -> None:
    same = np.zeros((8, 8), dtype=bool)
    same[3, 4] = same[4, 3] = True
    _, equal, closest = conclusions(named("AAAABBBB"), GROUPED, same)
    assert equal.startswith(
        "M3 (A) and M4 (B) are the same cosines: each kernel is the mean cosine"
    )
    assert closest == (
        "Among those that no common formula makes equal, the most similar encodings of different"
        " schemes are M2 (A) and M4 (B); M3 (A) and M5 (B), with a similarity of 52 out of 100."
    )


def test_the_one_whose_nearest_is_farthest_stands_apart() -> None:
    far = between(np.array([0.0, 0.01, 0.02, 0.9, 0.03, 0.04, 0.05]))
    assert conclusions(named("AABBCCC"), far)[-1] == (
        "M3 differs most from all others: its nearest neighbour, M6, has a similarity of 15 out of"
        " 100."
    )


def test_a_difference_that_is_not_defined_is_neither_near_nor_far() -> None:
    undefined = GROUPED.copy()
    undefined[3, :] = undefined[:, 3] = np.nan
    assert "M3" not in " ".join(conclusions(named("AAAABBBB"), undefined))


def test_below_a_map_stand_the_pairs_that_are_most_and_least_alike_with_these_first() -> None:
    places = np.array([0.0, 0.01, 0.03, 0.07, 0.15, 0.31])

    def alike(first: int, second: int) -> float:
        return 1.0 - abs(float(places[first] - places[second]))

    members: list[Any] = list(range(6))
    found = map_page._matrix(Atlas((), (), ()), members, map_page.Scale(alike, alike, 0.0))
    assert found is not None
    every = sorted((alike(*pair) for pair in combinations(members, 2)), reverse=True)
    shown = [[pair.value for pair in pairs] for pairs in (found.nearest, found.farthest)]
    assert shown == [every[:5], every[:-6:-1]]


def test_below_a_map_no_list_of_pairs_is_empty() -> None:
    macros = render.environment_of(*OURS.templates).get_template("pages/map_macros.jinja").module
    shown: str = macros.pair_list([], "Least similar pairs", "Similarity", "", str)  # type: ignore[attr-defined]
    assert not shown.strip()


def test_the_scale_beside_a_curve_is_that_of_its_values() -> None:
    """From 1 down to 0 it fills the height."""
    overlay: Any = SimpleNamespace(logarithmic="")
    values = np.array([1.0, 0.75, 0.5, 0.25, 0.0])
    drawn = leading_picture._drawn(overlay, np.arange(5), values, "")
    assert drawn.levels == (0.0, drawn.height / 2, drawn.height)
    assert drawn.path.startswith("M0 0L")
    assert drawn.path.endswith(f"L{drawn.width} {drawn.height}")


def test_of_three_nothing_is_concluded_and_of_one_scheme_nothing_across_schemes() -> None:
    assert conclusions(named("ABC"), between(np.array([0.0, 0.1, 0.5]))) == ()
    assert not any(
        "different schemes" in one for one in conclusions(named("AAAA"), GROUPED[:4, :4])
    )


def test_patches_in_reading_order_are_no_end_of_a_conclusion() -> None:
    rows = [outcome(name, 1.0) for name in "ABCD"]
    rows.append(outcome("Patches", 1.0, modality="image"))
    atlas = Atlas(tuple(rows), (MEASURE,), all_schemes())
    away = {(0, 1): 0.6, (0, 2): 0.6, (0, 3): 0.6}
    found = map_page._conclusions(
        atlas, range(5), lambda *pair: 0.9 if 4 in pair else away.get(pair, 0.1)
    )
    assert found[-1].startswith("A differs most from all others")
