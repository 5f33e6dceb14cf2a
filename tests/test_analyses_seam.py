"""Breaks of tables, against other code, tables made with a break, and small cases by hand."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from generator.analyses import seam
from generator.contracts import Finding, Result
from generator.encodings import PositionTable, sinusoid
from generator.numerics import change_points
from generator.numerics.arrays import Floats, frozen
from tests.support import subject

draws = np.random.default_rng(0)
NOISE = draws.normal(size=(60, 200))


def asked(values: Floats) -> Result:
    return seam.compute(subject(PositionTable(frozen(values))))


def measured(values: Floats) -> dict[str, float | None]:
    return {metric.key: metric.value for metric in asked(values).metrics}


def told(values: Floats) -> list[Finding]:
    return list(asked(values).findings)


def drifting(n_positions: int, cosine: float, width: int = 400, seed: int = 0) -> Floats:
    """A walk in which each vector has about this cosine with the one before."""
    steps = np.random.default_rng(seed).normal(size=(n_positions, width))
    rows = [steps[0]]
    for step in steps[1:]:
        rows.append(cosine * rows[-1] + np.sqrt(1.0 - cosine**2) * step)
    return np.array(rows)


def test_the_cosine_of_neighbours_is_that_of_scikit_learn() -> None:
    np.testing.assert_allclose(change_points.adjacent_cosines(NOISE), np.diagonal(cosine_similarity(NOISE), 1), rtol=0, atol=1e-12)


def test_windows_by_hand() -> None:
    before, after = change_points.window_medians(np.arange(20.0))
    assert (before[8], before[19], after[0], after[11]) == (3.5, 14.5, 4.5, 15.5)
    assert np.isnan(before[:8]).all()
    assert np.isnan(after[12:]).all()


@pytest.mark.parametrize(("place", "weight"), [(127, 1.0), (90, 0.9)])
def test_a_table_made_of_two_breaks_between_them(place: int, weight: float) -> None:
    parts = [drifting(place + 1, 0.8, seed=1), drifting(200 - place, 0.8, seed=2)]
    result = asked(np.vstack(parts))
    finding = result.findings[0]
    assert (result.arrays["seams"].tolist(), result.value("at")) == ([[place, place]], place)
    assert f"A seam lies between positions {place} and {place + 1}" in finding.text
    assert (finding.weight, "Devlin" in finding.context) == (weight, place == 127)


def test_one_position_unlike_both_its_neighbours_is_told_as_such() -> None:
    """A steady walk with one row of another direction in the place of its own."""
    table = drifting(256, 0.9)
    table[127] += 1.2 * np.linalg.norm(table[127]) * draws.normal(size=400) / 20.0
    result, cosines = asked(table), np.diagonal(cosine_similarity(table), 1)
    assert result.arrays["seams"].tolist() == [[126, 127]]
    assert result.findings[0].text.startswith(
        f"Position 127 stands apart: its cosine with 126 is {cosines[126]:.2f} and with 128 {cosines[127]:.2f}, against 0.9"
    )
    assert (result.findings[0].weight, "Devlin" in result.findings[0].context) == (1.0, True)


def test_where_neighbours_stop_and_begin_to_be_alike_is_told() -> None:
    parts = drifting(128, 0.9, seed=1), draws.normal(size=(128, 400))
    assert told(np.vstack(parts))[0].text.startswith(
        "From position 128 on, neighbouring positions are less alike: the cosine of 127 and 128 is"
    )
    assert " on, neighbouring positions are more alike: the cosine of 1" in told(np.vstack(parts[::-1]))[0].text


@pytest.mark.parametrize("values", [sinusoid(128, 64), draws.normal(size=(512, 64)), drifting(300, 0.9)])
def test_sinusoids_noise_and_steady_walks_have_no_seam(values: Floats) -> None:
    assert measured(values)["seams"] == 0
    assert told(values) == []


def test_where_every_step_is_like_another_no_place_is_given() -> None:
    """Rows of a sinusoid turn by the same angles at every step."""
    found = measured(sinusoid(128, 64))
    assert [found[key] for key in ("at", "depth", "contrast", "norm_at", "norm_step")] == [None, 0.0, 0.0, None, 1.0]


def test_ends_that_stand_apart_are_told() -> None:
    table = drifting(100, 0.95)
    table[0], table[-1] = draws.normal(size=400), draws.normal(size=400)
    texts = [finding.text for finding in told(table)]
    assert [text.split(" stands apart")[0] for text in texts] == ["The first position", "The last position, 99,"]


def test_a_step_of_the_norm_is_found_by_hand() -> None:
    table = drifting(60, 0.9) * np.where(np.arange(60) < 30, 1.0, 4.0)[:, None]
    found = measured(table)
    assert found["norm_at"] == pytest.approx(29, abs=3)
    assert found["norm_step"] == pytest.approx(4.0, rel=0.2)
    assert any("Vectors grow" in finding.text for finding in told(table))
