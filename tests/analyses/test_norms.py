"""Norms of positions and dimensions, against other code and small cases by hand."""

import numpy as np
import pytest

from generator.analyses import norms
from generator.contracts import Finding, Result
from generator.encodings import PositionTable
from generator.numerics.arrays import Floats, frozen
from tests.support import subject

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 20))


def result_of(table: Floats) -> Result:
    """The result for a table (n_positions, d_model)."""
    return norms.compute(subject(PositionTable(frozen(table))))


def values_of(result: Result) -> dict[str, float | None]:
    return {metric.key: metric.value for metric in result.metrics}


def findings_of(table: Floats) -> list[Finding]:
    """The findings on a table (n_positions, d_model)."""
    return list(result_of(table).findings)


def with_norms(*sizes: float, width: int = 4) -> Floats:
    """Vectors of random directions with these norms: (n_positions, width)."""
    rows = np.random.default_rng(1).normal(size=(len(sizes), width))
    return np.asarray(np.array(sizes)[:, None] * rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_norms_are_those_of_numpy() -> None:
    result = result_of(NOISE)
    np.testing.assert_allclose(result.arrays["norms"], np.linalg.norm(NOISE, axis=1))
    np.testing.assert_allclose(result.arrays["dimension_norms"], np.linalg.norm(NOISE, axis=0))


def test_an_outlier_has_a_modified_z_score_above_three_and_a_half_by_hand() -> None:
    """Median 10, MAD 1: 0.6745 · 5.1 = 3.44, 0.6745 · 5.3 = 3.57."""
    usual = [9.0] * 12 + [11.0] * 11 + [10.0]
    assert [np.asarray(norms.outliers(np.array([*usual, last]))).tolist() for last in (15.1, 15.3)] == [[], [24]]


@pytest.mark.parametrize(("sizes", "indices"), [([1.0] * 20 + [1.19], []), ([1.0] * 20 + [1.21], [20]), ([1.0] * 18 + [5.0] * 2, [18, 19])])
def test_among_equal_norms_an_outlier_differs_by_a_fifth(sizes: list[float], indices: list[int]) -> None:
    assert np.asarray(norms.outliers(np.array(sizes))).tolist() == indices


def test_more_than_a_tenth_are_not_outliers() -> None:
    assert norms.outliers(np.array([1.0] * 17 + [5.0] * 3)) is None


def test_the_spread_within_excludes_outliers() -> None:
    metrics = values_of(result_of(with_norms(*[1.0, 1.1] * 10, 9.0)))
    assert metrics["spread_within"] == pytest.approx(np.std([1.0, 1.1]) / 1.05)
    assert metrics["spread"] == pytest.approx(np.std([1.0, 1.1] * 10 + [9.0]) / np.mean([1.0, 1.1] * 10 + [9.0]))


def test_outliers_are_listed_with_the_farthest() -> None:
    (finding,) = findings_of(with_norms(3.0, 3.0, *[1.0] * 40, 0.1))
    assert "3 positions have vectors of unusual length (0–1, 42); that of 42 is 0.1 times" in finding.text
    assert finding.weight > 0.5


def test_a_single_outlier_is_reported_by_its_position() -> None:
    assert "Position 0 has a vector 3 times as long as the median." in [
        finding.text for finding in findings_of(with_norms(3.0, *[1.0] * 40))
    ]


def test_without_outliers_there_is_no_finding() -> None:
    assert findings_of(rng.normal(size=(200, 40))) == []


def test_equal_norms_are_reported() -> None:
    assert [finding.text for finding in findings_of(with_norms(*[2.0] * 9))] == ["All positions have vectors of one length, 2."]


def test_only_few_strong_dimensions_are_reported() -> None:
    uneven = rng.normal(size=(200, 40)) * np.where(np.arange(40) < 2, 20.0, 1.0)
    assert any("2 of 40 dimensions hold half" in finding.text for finding in findings_of(uneven))
    assert values_of(result_of(np.eye(8)))["half"] == 4


def test_runs_of_numbers_are_joined() -> None:
    assert norms.ranges(np.array([0, 1, 2, 7, 9, 10])) == "0–2, 7, 9–10"
    assert norms.ranges(np.arange(0, 12, 2)) == "0, 2, 4, 6 and 2 more stretches"
