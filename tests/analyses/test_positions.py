"""Profiles and spectra of tables, against theorems, other code and small cases by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import cosine_similarity

from generator.analyses import (
    seams,
    similarity_by_distance,
    spectrum,
)
from generator.encodings import PositionTable, sinusoid
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from tests.analyses.on import result_of, texts_of, values_of
from tests.support import close, subject

rng = np.random.default_rng(0)
NOISE = rng.normal(size=(60, 200))
P = np.arange(128)[:, None]
PHASES = rng.uniform(0.0, 2.0 * np.pi, 30)
PERIODS = np.where(np.arange(30) < 20, 8.0, 32.0)
# twenty dimensions of period 8, ten of period 32
SINES = np.sin(2.0 * np.pi * P / PERIODS + PHASES)


def test_the_profile_and_its_spread_follow_from_scikit_learns_cosines() -> None:
    theirs, arrays = cosine_similarity(NOISE), result_of(similarity_by_distance, NOISE).arrays
    for offset in (0, 1, 30, 59):
        assert arrays["profile"][offset] == pytest.approx(
            np.diagonal(theirs, offset).mean(), abs=1e-12
        )
        assert arrays["spread"][offset] == pytest.approx(
            np.diagonal(theirs, offset).std(), abs=1e-9
        )


def test_the_profile_of_points_on_a_circle_is_a_cosine() -> None:
    """cos 6° k: below ½ from offset 10 (60°) on; it rises first at 31, after 180°."""
    angles = np.deg2rad(6.0) * np.arange(60)
    result = result_of(similarity_by_distance, np.stack([np.cos(angles), np.sin(angles)], axis=1))
    close(result.arrays["profile"], np.cos(angles), 1e-12)
    close(result.arrays["spread"], 0.0, 1e-7)
    values = values_of(result)
    assert [values[k] for k in ("half", "rise", "invariance")] == pytest.approx([10.0, 31.0, 1.0])
    # Cosines 1, 0.8, 0.4, 0.4, mean of pairs ½: ¾ between offsets 1 and 2 at 1.125.
    profile = np.array([1.0, 0.8, 0.4, 0.4])
    assert similarity_by_distance.half_of_fall(profile, 0.5) == pytest.approx(1.125)


def test_a_shared_component_changes_one_half_distance_and_not_the_other() -> None:
    """With rows of length r, a right-angled vector of length s makes c (c r² + s²) / (r² + s²)."""
    table = sinusoid(64, 32)
    shared = np.hstack([table, np.full((64, 1), 20.0)])
    once, twice = (values_of(result_of(similarity_by_distance, table)),
                   values_of(result_of(similarity_by_distance, shared)))  # fmt: skip
    assert once["half_fall"] == pytest.approx(twice["half_fall"])
    assert (once["half"] is None, twice["half"] is None) == (False, True)


@given(st.integers(0, 20))
def test_the_profile_always_falls_halfway_to_the_mean(seed: int) -> None:
    """The mean of all pairs weighs the diagonals' means, so one of these is at most as high."""
    table = np.random.default_rng(seed).normal(size=(9, 3)) + 1.0
    assert 0.0 < (values_of(result_of(similarity_by_distance, table))["half_fall"] or 0.0) < 9.0


def test_rising_and_falling_profiles_give_different_findings() -> None:
    angles = np.deg2rad(3.0) * np.arange(60)
    falling, circle = (
        texts_of(
            result_of(
                similarity_by_distance, np.stack([np.cos(k * angles), np.sin(k * angles)], axis=1)
            )
        )[0]
        for k in (1, 4)
    )
    assert "never rises" in falling
    assert "first rises again at distance 16" in circle


def test_invariant_and_varying_tables_give_different_findings() -> None:
    waves, noise = (
        " ".join(texts_of(result_of(similarity_by_distance, table)))
        for table in (sinusoid(64, 32), NOISE)
    )
    assert ("Distance alone decides" in waves, "halfway" in waves) == (True, True)
    assert ("Distance" in noise, "halfway" in noise) == (False, False)


@given(st.integers(16, 40), st.integers(1, 5))
def test_the_power_over_frequencies_is_the_energy(n_positions: int, width: int) -> None:
    """Parseval: Σ |X_f|² = n Σ x²."""
    table = np.random.default_rng(n_positions).normal(size=(n_positions, width)) + 3.0
    energy = n_positions * np.sum((table - table.mean(axis=0)) ** 2, axis=0)
    assert_allclose(spectrum.power(table).sum(axis=0), energy, rtol=1e-12)


def test_sines_have_peaks_at_their_periods_and_amplitudes() -> None:
    """Root mean square 1/√2 throughout, so an amplitude of 1 is √2 of it; 20 of 30 dimensions have
    it. Of 128 positions the slowest tenth of the frequencies ends at 6: period 32 is within.
    """
    result = result_of(spectrum, SINES)
    periods, mean = result.arrays["periods"], result.arrays["mean"]
    assert result.arrays["peaks"].tolist() == [8.0, 32.0]
    heights = [mean[np.argmin(np.abs(periods - period))] for period in (8.0, 32.0)]
    assert_allclose(heights, np.sqrt(2.0) * np.array([20, 10]) / 30)
    assert values_of(result)["strongest"] == 8.0
    assert values_of(result)["slow"] == pytest.approx(100.0 / 3.0)


@pytest.mark.parametrize(
    ("amplitudes", "found"), [([0, 1, 1, 1, 9, 1, 1, 1, 1], [4]), ([0, 1, 1, 1, 9, 9, 1, 1, 1], [])]
)
def test_a_peak_is_above_both_beside_it(amplitudes: list[float], found: list[int]) -> None:
    assert spectrum.peaks(np.array(amplitudes, dtype=np.float64), 0.0).tolist() == found


def test_spectra_of_sines_noise_and_walks() -> None:
    """±1 by turns: root mean square 1, amplitude 1, period 2."""
    result = result_of(spectrum, (-1.0) ** np.arange(32)[:, None])
    assert (result.arrays["mean"][-1], values_of(result)["strongest"]) == (pytest.approx(1.0), 2.0)
    assert "The table's spectrum peaks at periods of 8 and 32 positions." in texts_of(
        result_of(spectrum, SINES)
    )
    assert not result_of(spectrum, NOISE).findings
    slow = np.sin(2.0 * np.pi * P / 64.0 + PHASES)
    assert "change slowly with position, because 100%" in " ".join(
        texts_of(result_of(spectrum, slow))
    )


@pytest.mark.parametrize(
    ("n_positions", "outliers"), [(40, []), (41, []), (40, [0, 7, 20, 21, 22, 23, 39])]
)
def test_the_energy_expected_of_shuffled_positions_is_the_mean_of_many_orders(
    n_positions: int, outliers: list[int]
) -> None:
    vectors = np.cumsum(np.random.default_rng(0).normal(size=(n_positions, 8)), axis=0)
    others = np.delete(np.arange(n_positions), outliers)
    draws, slow, whole = np.random.default_rng(1), 0.0, 0.0
    for _ in range(4000):
        rows = draws.permutation(vectors[others])
        curves = [np.interp(np.arange(n_positions), others, curve) for curve in rows.T]
        energy = spectrum.power(np.stack(curves, axis=1))[1:].sum(axis=1)
        slow, whole = slow + energy[: n_positions // 20].sum(), whole + energy.sum()
    table = PositionTable(frozen(vectors), known_outliers=np.array(outliers, dtype=np.int64))
    expected = spectrum.compute(subject(table)).value("slow_control")
    assert 100.0 * slow / whole == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("module", [similarity_by_distance, spectrum, seams])
def test_grids_have_no_profile_spectrum_or_seams(module: Any) -> None:
    with pytest.raises(NotApplicableError, match="grid"):
        result_of(module, NOISE, grid=(6, 10))


@pytest.mark.parametrize(
    ("distance", "text"),
    [
        (
            0.8,
            "Even adjacent positions have a mean cosine nearer to the overall mean (0.20) than to",
        ),
        (1.0, "halfway from 1 to its overall mean (0.20) from one position to the next."),
        (2.21, "halfway from 1 to its overall mean (0.20) within 2.21 positions."),
    ],
)
def test_a_distance_of_about_one_is_written_in_words(distance: float, text: str) -> None:
    values = {"half_fall": distance, "rise": None, "mean": 0.2, "left_out": 0.0}
    profile = np.array([1.0, 0.9, 0.4, 0.2])
    (finding,) = similarity_by_distance.of_fall(values, profile, is_clear=False)
    assert text in finding.text
    assert finding.text.endswith(" The mean never rises with distance.")
    assert [spot.x for spot in finding.spots] == [distance]


def test_an_odd_row_changes_no_profile() -> None:
    """All pairs at one offset have one cosine, so that leaving out a row takes nothing away."""
    table = sinusoid(200, 32).copy()
    table[0] = 50.0 * np.eye(32)[5]
    odd, plain = (result_of(similarity_by_distance, table),
                  result_of(similarity_by_distance, sinusoid(200, 32)))  # fmt: skip
    close(odd.arrays["profile"][:199], plain.arrays["profile"][:199], 1e-12)
    assert values_of(odd)["invariance"] == pytest.approx(1.0)
    assert values_of(odd)["left_out"] == 1


def test_a_first_rise_that_random_vectors_have_too_is_no_sentence() -> None:
    random = np.random.default_rng(0).normal(size=(64, 64))
    assert not similarity_by_distance.is_clear_rise(cosine_similarity(random), 3)
    angles = np.arange(64)[:, None] * 2 * np.pi / 16
    turning = np.hstack([np.cos(angles), np.sin(angles)]) + 0.01 * random[:, :2]
    assert similarity_by_distance.is_clear_rise(cosine_similarity(turning), 9)
