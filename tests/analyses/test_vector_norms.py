"""Norms of positions and dimensions, against other code and small cases by hand."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from generator.analyses import vector_norms
from generator.contracts import Finding
from generator.numerics.arrays import Floats
from tests.analyses.on import result_of, values_of

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 20))


def findings_of(table: Floats) -> list[Finding]:
    """The findings on a table (n_positions, d_model)."""
    return list(norms_of(table).findings)


norms_of = partial(result_of, vector_norms)


def with_norms(*sizes: float, width: int = 4) -> Floats:
    """Vectors of random directions with these norms: (n_positions, width)."""
    rows = np.random.default_rng(1).normal(size=(len(sizes), width))
    return np.asarray(np.array(sizes)[:, None] * rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_norms_are_those_of_numpy_and_their_spread_excludes_outliers() -> None:
    result = norms_of(NOISE)
    assert_allclose(result.arrays["norms"], np.linalg.norm(NOISE, axis=1))
    assert_allclose(result.arrays["dimension_norms"], np.linalg.norm(NOISE, axis=0))
    metrics = values_of(norms_of(with_norms(*[1.0, 1.1] * 10, 9.0)))
    assert metrics["spread_within"] == pytest.approx(np.std([1.0, 1.1]) / 1.05)
    assert metrics["spread"] == pytest.approx(
        np.std([1.0, 1.1] * 10 + [9.0]) / np.mean([1.0, 1.1] * 10 + [9.0])
    )


def test_outliers_are_listed_with_the_farthest() -> None:
    (finding,) = findings_of(with_norms(3.0, 3.0, *[1.0] * 40, 0.1))
    assert (
        "3 of 43 vectors have norms that are unusual for the table as a whole (positions 0–1, 42);"
        " the most extreme, that of position 42, is 10% of the median." in finding.text
    )
    assert finding.weight > 0.5


@pytest.mark.parametrize(("table", "texts"), [
    (with_norms(3.0, *[1.0] * 40),
     ["Position 0 has the longest vector, 3 times the median; no other norm is unusual for the"
      " table as a whole."]),
    (with_norms(0.25, *[1.0] * 40),
     ["Position 0 has the shortest vector, 25% of the median; no other norm is unusual for the"
      " table as a whole."]),
    (with_norms(*[2.0] * 9),
     ["All vectors have the same norm, 2, so only their directions can encode position."]),
    (np.random.default_rng(2).normal(size=(200, 40)), []),
], ids=["one outlier", "a short one", "equal", "noise"])  # fmt: skip
def test_norms_give_exactly_these_findings(table: Floats, texts: list[str]) -> None:
    assert [finding.text for finding in findings_of(table)] == texts


def test_only_few_strong_dimensions_are_reported() -> None:
    uneven = rng.normal(size=(200, 40)) * np.where(np.arange(40) < 2, 20.0, 1.0)
    start = "2 of the table's 40 dimensions account for half of its energy; equally"
    assert any(finding.text.startswith(start) for finding in findings_of(uneven))
    assert values_of(norms_of(np.eye(8)))["half"] == 4
