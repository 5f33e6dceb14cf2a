"""Seams of tables, against other code, tables with a given seam, and small cases by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import cosine_similarity

from generator.analyses import seams
from generator.contracts import Result
from generator.encodings import PositionTable, sinusoid
from generator.numerics import breaks, change_points
from generator.numerics.arrays import Floats, frozen
from tests.analyses.on import drifting, texts_of
from tests.analyses.on import values_of as by_key
from tests.support import close, subject

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 200))


def result_of(table: Floats, family: str = "") -> Result:
    """The result for a table (n_positions, d_model) of a model of this family."""
    return seams.compute(replace(subject(PositionTable(frozen(table))), family=family))


def values_of(table: Floats) -> dict[str, float | None]:
    """The metrics of a table (n_positions, d_model), by key."""
    return by_key(result_of(table))


@pytest.mark.parametrize("distance", [1, 4])
def test_cosines_at_a_distance_equal_those_of_scikit_learn(distance: int) -> None:
    ours = change_points.cosines_apart(NOISE, distance)
    theirs = np.diagonal(cosine_similarity(NOISE), distance)
    close(ours, theirs, 1e-12)
    if distance == 1:
        assert_array_equal(change_points.adjacent_cosines(NOISE), ours)


def test_windows_and_borders_by_hand() -> None:
    before, after = change_points.window_medians(np.arange(20.0))
    assert (before[8], before[19], after[0], after[11]) == (3.5, 14.5, 4.5, 15.5)
    assert np.isnan(before[:8]).all()
    assert np.isnan(after[12:]).all()
    # Before index 8 lie 0 … 7: without 0 … 3 the median is 5.5; without 0 … 4 too few are left.
    values = np.arange(20.0)
    for missing, median in ((4, 5.5), (5, np.nan)):
        values[:missing] = np.nan
        assert_array_equal(change_points.window_medians(values)[0][8], median)
    # Depths by hand: 9 at 20; 3 at 30, which without a border would reach from 10 on.
    depth = np.zeros(60)
    depth[10:31] = 2.0
    depth[20], depth[30] = 9.0, 3.0
    assert change_points.seams(depth, depth > 2.5) == [(20, 20), (21, 30)]


@pytest.mark.parametrize(("position", "weight"), [(127, 1.0), (90, 0.9)])
def test_two_concatenated_tables_have_a_seam_between_them(position: int, weight: float) -> None:
    """On both sides of it neighbours are equally alike, so that no training length explains it."""
    halves = [drifting(position + 1, 0.8, seed=1), drifting(200 - position, 0.8, seed=2)]
    result = result_of(np.vstack(halves), family="bert")
    finding = result.findings[0]
    assert result.arrays["seams"].tolist() == [[position, position]]
    assert result.value("at") == position
    assert (
        f"A seam may divide the table after position {position}: positions {position} and"
        in finding.text
    )
    assert (finding.weight, finding.context) == (weight, "")


@pytest.mark.parametrize(("family", "position", "sides", "n_positions", "named"), [
    ("bert", 127, (0.9, 0.5), 512, "the published BERT was trained"),
    ("distilbert", 127, (0.9, 0.5), 512, "the published DistilBERT was made from BERT"),
    ("mpnet", 127, (0.9, 0.5), 512, ""),
    ("", 127, (0.9, 0.5), 512, ""),
    ("bert", 130, (0.9, 0.5), 512, ""),
    ("bert", 127, (0.9, 0.5), 256, ""),
    ("bert", 127, (0.5, 0.9), 512, ""),
])  # fmt: skip
def test_a_seam_is_explained_only_in_berts_family_size_and_training_length(
    family: str, position: int, sides: tuple[float, float], n_positions: int, named: str
) -> None:
    """BERT has 512 positions; seldom seen ones are expected to be less similar, not more."""
    counts = (position + 1, n_positions - position - 1)
    halves = [
        drifting(count, side, seed=seed)
        for seed, (count, side) in enumerate(zip(counts, sides, strict=True), start=1)
    ]
    finding = result_of(np.vstack(halves), family=family).findings[0]
    how = "less" if sides[0] > sides[1] else "more"
    where = f"The table may have a seam after position {position}: adjacent positions are"
    assert f"{where} {how} similar after it (median cosine 0." in finding.text
    assert (named in finding.context, bool(finding.context)) == (True, bool(named))


def on_a_circle(steps: Floats) -> Floats:
    """Points on a circle, each ``steps`` (n,) radians after the one before: (n + 1, 2)."""
    angles = np.append(0.0, np.cumsum(steps))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.mark.parametrize(("step", "seams", "dips"), [(0.80, 0, 1), (0.86, 1, 0)])
def test_a_seam_goes_farther_than_four_usual_steps(step: float, seams: int, dips: int) -> None:
    """Of steps of 0.2, four have a cosine of cos 0.8; with the margin of 0.02, that of 0.827."""
    steps = np.full(199, 0.2)
    steps[127] = step
    values = values_of(on_a_circle(steps))
    assert (values["seams"], values["dips"]) == (seams, dips)


# Cosines of a BART's adjacent positions 22 to 28, between its two levels.
FALLING = [0.79, 0.72, 0.52, 0.29, 0.02, -0.09, 0.02]


@pytest.mark.parametrize(("cosines", "kind"), [
    (FALLING, "slopes"), ([0.79, 0.72, 0.02, -0.09], "seams"), ([0.79, 0.52, 0.02], "seams"),
])  # fmt: skip
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_change_that_takes_several_steps_is_a_slope_and_no_seam(
    cosines: list[float], kind: str, is_reversed: bool
) -> None:
    """0.72, 0.52, 0.29, 0.02: two cosines are near neither 0.80 nor 0.10."""
    draws = np.random.default_rng(0)
    ends = draws.normal(0.8, 0.03, 22), draws.uniform(-0.14, 0.26, 30)
    whole = np.concatenate([ends[0], cosines, ends[1]])
    result = result_of(on_a_circle(np.arccos(whole[::-1] if is_reversed else whole)))
    found = {key: result.value(key) for key in ("seams", "slopes", "dips")}
    assert found == {"seams": 0, "slopes": 0, "dips": 0, kind: 1}
    places = "33 to 35" if is_reversed else "24 to 26"
    start = f"changes gradually from position {places}, which is a slope rather than a seam: adja"
    assert result.findings[0].text.startswith(
        "The table may have a seam after position" if kind == "seams" else f"The table {start}"
    )


def test_one_larger_step_makes_no_headline_and_has_no_explanation() -> None:
    """A step of 0.7 rad among steps of 0.2; in a table of BERT's size, at 127|128."""
    steps = np.full(511, 0.2)
    steps[127] = 0.7
    result = result_of(on_a_circle(steps), family="bert")
    finding = result.findings[0]
    assert (result.arrays["seams"].tolist(), result.arrays["dips"].tolist()) == ([], [[127, 127]])
    assert (
        finding.text
        == "Positions 127 and 128 are less similar than the adjacent positions around them: their"
        " cosine is 0.76, while the median is 0.98 before them and 0.98 after."
    )
    assert (finding.weight < 0.5, finding.context) == (True, "")


@pytest.mark.parametrize("position", [40, 127])
def test_a_position_unlike_both_neighbours_is_an_outlier_and_no_seam(position: int) -> None:
    """A steady walk with one vector of another direction."""
    table = drifting(256, 0.9)
    table[position] += 1.2 * np.linalg.norm(table[position]) * rng.normal(size=400) / 20.0
    result, cosines = result_of(table, family="bert"), np.diagonal(cosine_similarity(table), 1)
    assert result.arrays["seams"].tolist() == []
    assert result.arrays["spikes"].tolist() == [position]
    assert result.value("spikes") == 1
    expected = (
        f"Position {position} is an outlier: its cosines with the positions before and after it"
        f" are only {cosines[position - 1]:.2f} and {cosines[position]:.2f}, "
    )
    assert (expected in result.findings[0].text, result.findings[0].context) == (True, "")
    assert (result.value("depth") or 0.0) < 0.1
    # A cosine is drawn at the first of its two positions.
    lower = position - 1 + int(np.argmin(cosines[position - 1 : position + 1]))
    [spot] = result.findings[0].spots
    assert (spot.x, spot.y) == pytest.approx((lower + 0.5, cosines[lower]))


def test_a_seam_is_measured_at_its_deepest_pair_and_beside_an_outlier() -> None:
    """Noise after a steady walk, and a single odd vector well before it."""
    table = np.vstack([drifting(128, 0.9, seed=1), drifting(128, 0.5, seed=2)])
    table[100] = rng.normal(size=400)
    result = result_of(table)
    assert result.arrays["spikes"].tolist() == [100]
    assert result.arrays["seams"][0, 0] == 127
    # Angles of neighbours by hand: 0.1 everywhere, but 0.5 and 0.7 at two pairs in a row.
    steps = np.full(99, 0.1)
    steps[49:51] = 0.5, 0.7
    result = result_of(on_a_circle(steps))
    assert (result.value("at"), result.arrays["seams"].tolist()) == (50, [[49, 50]])
    assert result.value("depth") == pytest.approx(np.cos(0.1) - np.cos(0.7))


@pytest.mark.parametrize("seed", [0, 1])
def test_of_a_table_in_steps_only_a_seam_that_rounding_does_not_make_remains(seed: int) -> None:
    """In whole numbers, neighbours in a slow walk are equal until one value goes on by a step."""
    walks = [drifting(count, 0.999, 16, seed + start) for start, count in ((0, 100), (50, 60))]
    rounded = np.asarray(np.round(np.vstack(walks)), dtype=np.float64)
    cosines = change_points.adjacent_cosines(rounded)
    steps = change_points.norm_steps(np.linalg.norm(rounded, axis=1))
    depth = change_points.break_depths(cosines)
    assert len(breaks.breaks(rounded, cosines, depth, steps)) > 1
    assert result_of(rounded).arrays["seams"].tolist() == [[99, 99]]


@pytest.mark.parametrize(
    "values", [sinusoid(128, 64), rng.normal(size=(512, 64)), drifting(300, 0.9)]
)
def test_sinusoids_noise_and_steady_walks_have_no_seam(values: Floats) -> None:
    assert (values_of(values)["seams"], values_of(values)["spikes"]) == (0, 0)
    texts = texts_of(result_of(values))
    assert [text for text in texts if "all along the table" not in text] == []


def test_a_level_line_has_no_break_and_its_cosine() -> None:
    """Vectors of a sinusoid rotate by the same angles at every step."""
    metrics = values_of(sinusoid(128, 64))
    assert [metrics[key] for key in ("at", "depth", "contrast", "norm_at", "norm_step")] == [
        None,
        0.0,
        0.0,
        None,
        1.0,
    ]
    # Neighbours in a sinusoid have the mean of cos 10000^(−2j/d).
    expected = np.mean(np.cos(10_000.0 ** (-2.0 * np.arange(32) / 64)))
    assert texts_of(result_of(sinusoid(128, 64))) == [
        f"Adjacent positions have a cosine of {expected:.2f} all along the table, so it has no"
        " break."
    ]
    assert texts_of(result_of(drifting(300, 0.9))) == []


LEAST = {True: "the least similar of all", False: "less similar than most"}


def test_dissimilar_ends_and_a_step_of_the_norm_are_reported() -> None:
    table = drifting(100, 0.95)
    table[0], table[-1] = rng.normal(size=400), rng.normal(size=400)
    assert [text.split(":")[0] for text in texts_of(result_of(table))] in (
        [
            f"The first two positions, 0 and 1, are {LEAST[first]} adjacent positions",
            f"The last two positions, 98 and 99, are {LEAST[not first]} adjacent positions",
        ]
        for first in (True, False)
    )
    table = drifting(60, 0.9) * np.where(np.arange(60) < 30, 1.0, 4.0)[:, None]
    metrics = values_of(table)
    assert metrics["norm_at"] == pytest.approx(29, abs=3)
    assert metrics["norm_step"] == pytest.approx(4.0, rel=0.2)
    assert any(", the norm rises to" in text for text in texts_of(result_of(table)))
