"""Standard errors by leaving out, against theorems and scipy, and counts against chance."""

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc
from scipy.stats import bootstrap

from generator.numerics.arrays import Floats
from generator.numerics.certainty import (
    ALARM,
    is_beyond_chance,
    jackknife,
    mean_error,
    quotient_error,
    resamples,
    without_each,
)

rng = np.random.default_rng(0)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = rng.normal(size=12)
    without = np.array([rest.mean() for rest in without_each(values)])
    assert jackknife(without) == pytest.approx(values.std(ddof=1) / np.sqrt(12))


def test_samples_of_sequences_have_the_error_of_a_mean() -> None:
    """Of the mean, a bootstrap gives √((n − 1)/n) of the standard error (Efron 1979)."""
    values = rng.normal(size=40)
    error = mean_error(np.append(values, np.nan))
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(40))
    assert np.isnan(mean_error(values[:1]))
    means = resamples(40) @ values
    assert means.std(ddof=1) == pytest.approx(np.sqrt(39 / 40) * error, rel=0.15)
    assert means.mean() == pytest.approx(values.mean(), abs=0.3 * error)


def test_samples_know_the_error_of_a_count_beyond_a_limit_and_leaving_one_out_does_not() -> None:
    """What is counted is how many of 40 means of 16 numbers exceed a limit near all of them."""
    centres = rng.normal(0.0, 0.3, size=40)
    draws = centres + rng.normal(size=(60, 16, 40))
    counts = [(each.mean(axis=0) > 0.0).sum() for each in draws]
    by_samples = [(resamples(16) @ each > 0.0).sum(axis=1).std(ddof=1) for each in draws]
    left_out = [
        jackknife(np.array([(rest.mean(axis=0) > 0.0).sum() for rest in without_each(each)]))
        for each in draws
    ]
    assert np.median(by_samples) == pytest.approx(np.std(counts), rel=0.25)
    assert np.mean(np.abs(np.array(left_out) - np.std(counts))) > 2.0 * np.mean(
        np.abs(np.array(by_samples) - np.std(counts))
    )


def with_mean(values: Floats, mean: float, error: float) -> Floats:
    """``values`` (n,), moved and scaled to this mean and standard error of the mean."""
    unit = (values - values.mean()) / values.std(ddof=1)
    return np.asarray(mean + error * np.sqrt(values.size) * unit)


def test_a_quotient_has_the_error_of_the_delta_method() -> None:
    """(0.631 ± 0.049) / (0.508 ± 0.064) = 124 ± 18% where both do not go together:
    √((0.049/0.508)² + (0.631 · 0.064/0.508²)²) = 0.184. Where they do, it is less.
    """
    above = with_mean(rng.normal(size=400), 0.631, 0.049)
    other = rng.normal(size=400)
    unit = above - above.mean()
    other -= other.mean()
    below = with_mean(other - unit * (other @ unit) / (unit @ unit), 0.508, 0.064)
    assert quotient_error(above, below) == pytest.approx(0.184, abs=0.005)
    assert quotient_error(2.0 * below, below) == pytest.approx(0.0, abs=1e-12)


def test_a_quotient_of_numbers_that_go_together_has_the_error_of_scipys_bootstrap() -> None:
    below = rng.normal(0.5, 0.25, size=40)
    above = 0.8 * below + rng.normal(0.2, 0.1, size=40)
    theirs = bootstrap(
        (above, below),
        lambda a, b, axis=-1: a.mean(axis=axis) / b.mean(axis=axis),
        paired=True,
        n_resamples=20_000,
        random_state=np.random.default_rng(1),
    )
    assert quotient_error(above, below) == pytest.approx(theirs.standard_error, rel=0.08)


@pytest.mark.parametrize(("count", "total", "chance", "expected"), [
    (3, 3, 0.1, True),  # 2 · 0.001
    (2, 3, 0.1, False),  # 2 · 0.028
    (0, 8, 0.5, True),  # 2 · 0.0039
    (0, 6, 0.5, False),  # 2 · 0.0156
    (0, 6, 1.0, False),
])  # fmt: skip
def test_a_count_is_beyond_chance_in_one_of_a_hundred_cases(
    count: int, total: int, chance: float, expected: bool
) -> None:
    assert is_beyond_chance(count, total, chance) == expected


@pytest.mark.parametrize("total", [1, 12, 144, 5000])
@pytest.mark.parametrize("chance", [1e-6, 0.0155, 0.5, 0.99])
def test_counts_against_chance_are_as_by_scipy(total: int, chance: float) -> None:
    for count in {*range(0, total, max(total // 99, 1)), round(total * chance), total}:
        pvalue = 2.0 * min(bdtrc(count - 1, total, chance), bdtr(count, total, chance))
        assert is_beyond_chance(count, total, chance) == (pvalue <= ALARM)
