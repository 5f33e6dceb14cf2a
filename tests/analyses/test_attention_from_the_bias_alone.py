import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from generator.analyses.attention_from_the_bias_alone import ANALYSIS, compute
from generator.contracts import Result
from generator.encodings import OffsetBias, WindowBias
from generator.errors import NotApplicableError
from generator.numerics.arrays import Array, frozen
from generator.numerics.attention_of_bias import attention, locality, perplexity, symmetry
from generator.text import measured
from tests.analyses.on import values_of as by_key
from tests.support import subject

N = 128
BOTH_SIDES, PAST = np.arange(-N, N + 1), np.arange(-N, 1)
rng = np.random.default_rng(0)


def bias(*heads: Array, causal: bool = False) -> OffsetBias:
    return OffsetBias(frozen(heads), frozen(PAST if causal else BOTH_SIDES), causal, "constant")


def alibi(*slopes: float) -> OffsetBias:
    return bias(*(slope * PAST for slope in slopes), causal=True)


def result_of(form: OffsetBias | WindowBias) -> Result:
    return compute(subject(form))


def values_of(form: OffsetBias | WindowBias) -> dict[str, float | None]:
    return by_key(result_of(form))


def sentences(form: OffsetBias | WindowBias) -> list[tuple[str, float]]:
    return [(finding.text, finding.weight) for finding in result_of(form).findings]


def uniform_locality(n: int) -> float:
    """Uniform attention: Σ_d (pairs at distance d) 2^−d / n² = (3n − 4 + 4·2^−n) / n²."""
    return (3 * n - 4 + 4 * 0.5**n) / n**2


def test_attention_is_that_of_torch_and_by_hand() -> None:
    logits = rng.normal(size=(9, 9)) * 30.0
    assert_allclose(attention(logits), torch.softmax(torch.tensor(logits), 1).numpy(), atol=1e-15)
    weights = attention(np.array([[0.0, np.nan], [0.0, np.log(3.0)]]))
    assert_allclose(weights, [[1.0, 0.0], [0.25, 0.75]])
    # Row by row: 1/2 + 1/8 + 1/16, 1/4 · 1/2 + 1/2 + 1/4 · 1/2, 0 + 1/2 · 1/2 + 1/2.
    weights = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])
    assert locality(weights, 3) == pytest.approx((0.6875 + 0.75 + 0.75) / 3)
    assert perplexity(weights) == pytest.approx((2.0**1.5 + 2.0**1.5 + 2.0) / 3)


def test_symmetry_by_its_definition() -> None:
    """Both sums of the definition, over the pairs of each query."""
    weights = attention(logits := rng.normal(size=(7, 7)))
    shares = []
    for i in range(1, 6):
        pairs = [(weights[i, i - k], weights[i, i + k]) for k in range(1, 7) if k <= min(i, 6 - i)]
        shares.append(1.0 - sum(abs(a - b) for a, b in pairs) / sum(a + b for a, b in pairs))
    assert symmetry(logits, 7) == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("deviation", [0.1, 1.0])
def test_symmetry_of_random_logits_is_one_minus_a_gini_coefficient(deviation: float) -> None:
    """E|X − Y| / E(X + Y) of two lognormal numbers, erf(σ/2)."""
    logits = rng.normal(size=(300, 300)) * deviation
    assert symmetry(logits, 300) == pytest.approx(1.0 - math.erf(deviation / 2.0), abs=0.01)


@pytest.mark.parametrize("level", [0.0, -7.0])
def test_a_constant_bias_has_the_locality_of_uniform_attention(level: float) -> None:
    values = values_of(bias(np.full(BOTH_SIDES.size, level)))
    assert values["locality"] == values["chance"] == pytest.approx(100.0 * uniform_locality(N))
    assert values["symmetry"] == pytest.approx(100.0)
    assert (values["above"], values["one_sided"]) == (0.0, 0.0)
    assert values["keys"] == pytest.approx(N)


def test_uniform_causal_attention_in_closed_form() -> None:
    """Query i sees i + 1 keys: (2 − 2^−i) / (i + 1)."""
    values = values_of(alibi(0.0))
    assert values["chance"] == pytest.approx(
        100.0 * np.mean([(2.0 - 0.5**i) / (i + 1) for i in range(N)])
    )
    assert values["keys"] == pytest.approx((N + 1) / 2)


@pytest.mark.parametrize("slope", [0.5, 2.0**-8])
def test_slopes_have_the_locality_of_two_geometric_series(slope: float) -> None:
    """With r = e^−slope, attention from i to i − d is r^d / Σ r^d; Σ (r/2)^d is geometric too."""
    r, terms = np.exp(-slope), np.arange(N) + 1.0
    expected = np.mean((1.0 - (r / 2.0) ** terms) / (1.0 - r / 2.0) * (1.0 - r) / (1.0 - r**terms))
    assert values_of(alibi(slope))["locality"] == pytest.approx(100.0 * expected)


@pytest.mark.parametrize("depth", [1e3, 1e300, 1.7e308])
def test_extreme_biases_have_extreme_measures(depth: float) -> None:
    itself = values_of(bias(np.where(BOTH_SIDES == 0, depth, -depth)))
    assert (itself["locality"], itself["keys"], itself["symmetry"]) == (100.0, 1.0, 100.0)
    one_side = values_of(bias(np.where(BOTH_SIDES > 0, -depth, depth)))
    assert one_side["symmetry"] == pytest.approx(0.0, abs=1e-12)
    assert one_side["one_sided"] == 100.0


def test_metrics_are_taken_over_heads() -> None:
    steep, level, away = -1e3 * np.abs(BOTH_SIDES), 0.0 * BOTH_SIDES, 1e3 * np.abs(BOTH_SIDES)
    values = values_of(bias(steep, level, away))
    assert values["most_local"] == 100.0
    assert values["least_local"] == pytest.approx(0.0, abs=1e-12)
    assert values["above"] == pytest.approx(100.0 / 3)


def test_a_causal_bias_has_a_reason_instead_of_symmetry() -> None:
    metric = result_of(alibi(0.5)).metric("symmetry")
    assert (metric.value, metric.reason) == (None, "no query has keys on both sides")
    assert np.isnan(result_of(alibi(0.5)).arrays["attention"][0, 1])


def test_distances_and_mirrors_of_a_window() -> None:
    """2^−(r + c) is a product, so uniform locality over a window is that over its sides."""
    values = values_of(WindowBias(frozen(np.zeros((1, 9, 13)))))
    assert values["positions"] == 35.0
    assert values["locality"] == pytest.approx(100.0 * uniform_locality(5) * uniform_locality(7))
    half = rng.normal(size=(1, 7, 9))
    both, one = (
        values_of(WindowBias(frozen(half + mirrored)))["symmetry"]
        for mirrored in (half[:, ::-1, ::-1], half[:, :, ::-1])
    )
    assert both == pytest.approx(100.0)
    assert one != pytest.approx(100.0, abs=1.0)


@pytest.mark.parametrize(("slope", "word"), [(-0.1, "more"), (0.1, "less")])
def test_the_finding_is_beside_the_same_biases_in_random_order(slope: float, word: str) -> None:
    form = bias(*[slope * np.abs(BOTH_SIDES)] * 3)
    [(text, _)] = sentences(form)
    of_order, of_random = (result_of(form).value(key) or 0.0 for key in ("locality", "shuffled"))
    assert f"is {word} local than by the same biases in random order: it has a" in text
    assert f"locality of {measured(of_order, '%')}%, against" in text
    assert f"against {measured(of_random, '%')}% (uniform" in text
    assert f"single heads {measured(of_order, '%')} to {measured(of_order, '%')}%)." in text
    assert (of_order > of_random) == (word == "more")


def test_random_biases_get_a_sentence_in_few_cases() -> None:
    """Of windows and of buckets; each is compared with 99 orders, on either side."""
    n_found = 0
    for seed in range(40):
        draws = np.random.default_rng(seed)
        buckets = np.sort(draws.integers(0, 8, 2 * N + 1))
        for form in (
            bias(*draws.normal(size=(4, 8))[:, buckets] * 2.0),
            WindowBias(frozen(draws.normal(size=(4, 7, 7)) * 2.0)),
        ):
            n_found += len(sentences(form))
    assert n_found <= 5  # of 80; 2 in 100 on average


def test_a_slope_is_local_by_its_rule_which_is_no_finding_and_no_place() -> None:
    form = OffsetBias(frozen([-0.5 * np.abs(PAST)]), frozen(PAST), True, "linear")
    placed = ANALYSIS.headlines[0].placed(result_of(form))
    assert sentences(form) == []
    assert placed is not None
    assert (placed.chance, placed.is_apart) == (None, False)


@pytest.mark.parametrize(("values", "is_apart"), [
    (-np.abs(np.arange(-8.0, 9.0)), True), (np.random.default_rng(0).normal(size=17), False),
])  # fmt: skip
def test_chance_is_the_mean_of_the_same_biases_in_random_order(
    values: Array, is_apart: bool
) -> None:
    result = result_of(bias(values[np.clip(BOTH_SIDES, -8, 8) + 8]))
    placed = ANALYSIS.headlines[0].placed(result)
    assert placed is not None
    assert placed.chance == result.value("shuffled") != result.value("chance")
    assert placed.is_apart == is_apart


def test_a_single_position_is_not_applicable() -> None:
    with pytest.raises(NotApplicableError, match="single position"):
        result_of(OffsetBias(frozen([[1.0]]), frozen([0]), causal=True, beyond="constant"))
