"""Seams of tables, against other code, tables with a given seam, and small cases by hand."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from generator.analyses import seam
from generator.contracts import Finding, Result
from generator.encodings import PositionTable, sinusoid
from generator.numerics import change_points
from generator.numerics.arrays import Floats, frozen
from tests.support import subject

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 200))


def result_of(table: Floats) -> Result:
    """The result for a table (n_positions, d_model)."""
    return seam.compute(subject(PositionTable(frozen(table))))


def values_of(table: Floats) -> dict[str, float | None]:
    """The metrics of a table (n_positions, d_model), by key."""
    return {metric.key: metric.value for metric in result_of(table).metrics}


def findings_of(table: Floats) -> list[Finding]:
    """The findings on a table (n_positions, d_model)."""
    return list(result_of(table).findings)


def drifting(n_positions: int, cosine: float, width: int = 400, seed: int = 0) -> Floats:
    """A random walk with about this cosine between neighbouring vectors: (n_positions, width)."""
    steps = np.random.default_rng(seed).normal(size=(n_positions, width))
    rows = [steps[0]]
    for step in steps[1:]:
        rows.append(cosine * rows[-1] + np.sqrt(1.0 - cosine**2) * step)
    return np.array(rows)


def test_cosines_of_neighbours_equal_those_of_scikit_learn() -> None:
    np.testing.assert_allclose(change_points.adjacent_cosines(NOISE), np.diagonal(cosine_similarity(NOISE), 1), rtol=0, atol=1e-12)


def test_windows_by_hand() -> None:
    before, after = change_points.window_medians(np.arange(20.0))
    assert (before[8], before[19], after[0], after[11]) == (3.5, 14.5, 4.5, 15.5)
    assert np.isnan(before[:8]).all()
    assert np.isnan(after[12:]).all()


@pytest.mark.parametrize(("position", "weight"), [(127, 1.0), (90, 0.9)])
def test_two_concatenated_tables_have_a_seam_between_them(position: int, weight: float) -> None:
    halves = [drifting(position + 1, 0.8, seed=1), drifting(200 - position, 0.8, seed=2)]
    result = result_of(np.vstack(halves))
    finding = result.findings[0]
    assert (result.arrays["seams"].tolist(), result.value("at")) == ([[position, position]], position)
    assert f"A seam lies between positions {position} and {position + 1}" in finding.text
    assert (finding.weight, "Devlin" in finding.context) == (weight, position == 127)


def test_a_position_unlike_both_neighbours_is_reported_as_an_outlier() -> None:
    """A steady walk with one vector of another direction."""
    table = drifting(256, 0.9)
    table[127] += 1.2 * np.linalg.norm(table[127]) * rng.normal(size=400) / 20.0
    result, cosines = result_of(table), np.diagonal(cosine_similarity(table), 1)
    assert result.arrays["seams"].tolist() == [[126, 127]]
    assert result.findings[0].text.startswith(
        f"Position 127 stands apart: its cosine with 126 is {cosines[126]:.2f} and with 128 {cosines[127]:.2f}, against 0.9"
    )
    assert (result.findings[0].weight, "Devlin" in result.findings[0].context) == (1.0, True)


def test_a_change_of_the_similarity_of_neighbours_is_reported() -> None:
    halves = drifting(128, 0.9, seed=1), rng.normal(size=(128, 400))
    assert findings_of(np.vstack(halves))[0].text.startswith(
        "From position 128 on, neighbouring positions are less alike: the cosine of 127 and 128 is"
    )
    assert " on, neighbouring positions are more alike: the cosine of 1" in findings_of(np.vstack(halves[::-1]))[0].text


@pytest.mark.parametrize("values", [sinusoid(128, 64), rng.normal(size=(512, 64)), drifting(300, 0.9)])
def test_sinusoids_noise_and_steady_walks_have_no_seam(values: Floats) -> None:
    assert values_of(values)["seams"] == 0
    assert findings_of(values) == []


def test_equal_steps_have_no_strongest_break() -> None:
    """Vectors of a sinusoid rotate by the same angles at every step."""
    metrics = values_of(sinusoid(128, 64))
    assert [metrics[key] for key in ("at", "depth", "contrast", "norm_at", "norm_step")] == [None, 0.0, 0.0, None, 1.0]


def test_dissimilar_ends_are_reported() -> None:
    table = drifting(100, 0.95)
    table[0], table[-1] = rng.normal(size=400), rng.normal(size=400)
    texts = [finding.text for finding in findings_of(table)]
    assert [text.split(" stands apart")[0] for text in texts] == ["The first position", "The last position, 99,"]


def test_a_step_of_the_norm_is_detected_by_hand() -> None:
    table = drifting(60, 0.9) * np.where(np.arange(60) < 30, 1.0, 4.0)[:, None]
    metrics = values_of(table)
    assert metrics["norm_at"] == pytest.approx(29, abs=3)
    assert metrics["norm_step"] == pytest.approx(4.0, rel=0.2)
    assert any("Vectors grow" in finding.text for finding in findings_of(table))
