"""Measures of what a model does, on models whose answer follows from a formula."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator.analyses.use import heads, induction, kernel, position, probe
from generator.analyses.use import pairs as pairs_of_use
from generator.checkpoints.model.running.losses import losses, task
from generator.checkpoints.model.running.positions import moved, places
from generator.checkpoints.model.running.rotated import heads_watched, pairs
from generator.checkpoints.model.running.stack import Read, RunningStack
from generator.checkpoints.model.running.vocabulary import Vocabulary
from generator.numerics import hidden_states
from generator.numerics.attention_profiles import at, chance, falls, grid_profile, profile
from generator.numerics.certainty import jackknife
from generator.numerics.hidden_states import Sums, rank_of_positions, share_of_position
from generator.numerics.hidden_states import probe as fitted
from tests.analyses.use.stacks import (
    N_WORDS,
    RandomText,
    attention,
    model,
    softmax,
    stack_of,
)

GPT2: dict[str, Any] = {"n_layer": 3, "n_head": 4, "n_embd": 64, "n_positions": 64}
LLAMA: dict[str, Any] = {
    "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 64,
}  # fmt: skip
T5: dict[str, Any] = {"d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16, "d_ff": 64}
BLOOM: dict[str, Any] = {"hidden_size": 64, "n_layer": 2, "n_head": 8}
SLOW = {"rope_type": "default", "rope_theta": 1e9}  # Its slowest pairs hardly turn.
ONE_WORD = np.full((1, 64), 7)


def without_positions() -> Any:
    """A GPT-2 whose table is zero, with large weights."""
    found = model("gpt2", **GPT2)
    with torch.no_grad():
        for parameter in found.parameters():
            if parameter.ndim > 1:
                parameter.mul_(8)
        found.wpe.weight.zero_()
    return found


def test_without_positions_equal_words_get_equal_attention() -> None:
    """1/(i + 1) of each visible key, whatever the weights."""
    uniform = np.tril(np.ones((40, 40))) / np.arange(1, 41)[:, None]
    for layer in attention(stack_of(without_positions()), np.full((1, 40), 7)):
        assert_allclose(layer[0], np.broadcast_to(uniform, layer[0].shape), atol=1e-6)


def test_without_positions_shuffled_words_change_nothing_in_an_encoder() -> None:
    sizes: dict[str, Any] = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    found = model("bert", **sizes, intermediate_size=64, max_position_embeddings=64)
    stack = stack_of(found, "encoder")
    words = stack.inputs(1)
    with moved(places(stack), lambda _: None):
        before, after = (
            next(iter(stack.run(inputs))).states[-1].mean(axis=1)
            for inputs in (words, np.random.default_rng(1).permutation(words, axis=1))
        )
    assert_allclose(after, before, atol=1e-5)


def test_a_bias_alone_is_its_softmax() -> None:
    """ALiBi's slopes of eight heads are 1/2 … 1/256 (arXiv 2108.12409, section 3)."""
    found = model("bloom", **BLOOM)
    with torch.no_grad():
        for block in found.h:
            fused = block.self_attention.query_key_value
            # Rows of each head: query, key, value.
            fused.weight.view(8, 3, 8, 64)[:, 0] = 0.0
            fused.bias.view(8, 3, 8)[:, 0] = 0.0
    stack = stack_of(found)
    offsets = np.arange(64)[None, :] - np.arange(64)[:, None]
    slopes = 2.0 ** -np.arange(1, 9)
    logits = np.where(offsets <= 0, slopes[:, None, None] * offsets, -np.inf)
    for layer in attention(stack, stack.inputs(2)):
        assert_allclose(layer, np.broadcast_to(softmax(logits), layer.shape), atol=1e-6)
    result = heads.compute(stack)
    row = profile(softmax(logits), is_causal=True)
    assert_allclose(result.arrays["by_offset"], np.stack([row.by_offset] * 2), atol=1e-6)
    assert np.isnan(result.arrays["exponents"]).all()
    assert (result.value("power"), result.value("exponent")) == (0.0, None)


def t5(scale: float = 2.0) -> Any:
    """An encoder of T5 whose queries are zero, so that attention is the softmax of its bias."""
    found = model("t5", **T5, is_encoder_decoder=True).get_encoder()
    with torch.no_grad():
        bias = found.block[0].layer[0].SelfAttention.relative_attention_bias.weight
        bias.copy_(torch.randn(bias.shape, generator=torch.Generator().manual_seed(0)) * scale)
        for block in found.block:
            block.layer[0].SelfAttention.q.weight.zero_()
    return found


def test_attention_of_t5_without_queries_is_the_softmax_of_its_bias() -> None:
    stack = stack_of(t5(), "encoder")
    module = stack.model.block[0].layer[0].SelfAttention
    bias = module.compute_bias(64, 64).detach().double().numpy()[0]
    for layer in attention(stack, replace(stack, seed=3).inputs(2)):
        assert_allclose(layer, np.broadcast_to(softmax(bias), layer.shape), atol=1e-6)
    stack = stack_of(t5(), "encoder")
    with moved(places(stack), lambda _: None):
        for layer in attention(stack, replace(stack, seed=3).inputs(1)):
            assert_allclose(layer, 1.0 / 64.0, atol=1e-6)


@pytest.mark.parametrize("by", [1.0, 640.0])
def test_a_shift_of_all_positions_is_nothing_to_a_bias(by: float) -> None:
    stack = stack_of(t5(), "encoder")
    inputs = replace(stack, seed=3).inputs(1)
    before = attention(stack, inputs)
    with moved(places(stack), lambda n: np.arange(n, dtype=np.float64) + by):
        for now, then in zip(attention(stack, inputs), before, strict=True):
            assert_allclose(now, then, atol=1e-7)


def test_a_rotation_of_equal_words_follows_from_one_query_and_one_key() -> None:
    """Logits are Σ a_j cos δθ_j + b_j sin δθ_j over √d, with a_j = q_j·k_j (Su et al. 2021)."""
    found = model("llama", **LLAMA)
    stack = stack_of(found)
    with torch.no_grad():
        found.layers[0].self_attn.q_proj.weight *= 20
        found.layers[0].self_attn.k_proj.weight *= 20
        state = found.layers[0].input_layernorm(found.embed_tokens(torch.tensor([7])))
        query = found.layers[0].self_attn.q_proj(state).view(4, 16).double().numpy()
        key = found.layers[0].self_attn.k_proj(state).view(2, 16).double().numpy()
    key = np.repeat(key, 2, axis=0)
    angles = 1e4 ** (-np.arange(8) / 8.0)
    same = query[:, :8] * key[:, :8] + query[:, 8:] * key[:, 8:]
    turned = query[:, 8:] * key[:, :8] - query[:, :8] * key[:, 8:]
    offsets = np.arange(64)[None, :] - np.arange(64)[:, None]
    phases = offsets[:, :, None] * angles
    logits = np.einsum("hp,ijp->hij", same, np.cos(phases)) + np.einsum(
        "hp,ijp->hij", turned, np.sin(phases)
    )
    logits = np.where(offsets <= 0, logits / 4.0, -np.inf)
    (layer,) = attention(stack, ONE_WORD)
    assert_allclose(layer[0], softmax(logits), atol=1e-5)


def test_a_rotation_notices_no_shift_and_is_uniform_when_off() -> None:
    stack = stack_of(model("llama", **LLAMA))
    found = places(stack)
    before = attention(stack, ONE_WORD)
    with moved(found, lambda n: np.arange(n, dtype=np.float64) + 1000.0):
        assert_allclose(attention(stack, ONE_WORD)[0], before[0], atol=1e-4)
    with moved(found, lambda _: None):
        uniform = np.tril(np.ones((64, 64))) / np.arange(1, 65)[:, None]
        off = attention(stack, ONE_WORD)[0][0]
        assert_allclose(off, np.broadcast_to(uniform, off.shape), atol=1e-6)


def hand_set() -> Any:
    """One layer of GPT-2, whose heads look at the previous, the first and their own position."""
    found = model("gpt2", n_layer=1, n_head=4, n_embd=256, n_positions=64)
    with torch.no_grad():
        found.wte.weight.zero_()
        found.wpe.weight.zero_()
        found.wpe.weight[:64, :64] = torch.eye(64) * 16.0
        block = found.h[0]
        block.ln_1.weight.fill_(1.0)
        block.attn.c_attn.weight.zero_()
        block.attn.c_attn.bias.zero_()
        previous, own = torch.eye(64).roll(-1, dims=1), torch.eye(64)
        first = torch.zeros(64, 64)
        first[:, 0] = 1.0
        for head, wanted in enumerate((previous, first, own)):
            block.attn.c_attn.weight[:64, head * 64 : head * 64 + 64] = wanted
            block.attn.c_attn.weight[:64, 256 + head * 64 : 256 + head * 64 + 64] = torch.eye(64)
    return found


def test_heads_that_were_set_by_hand_are_of_their_kinds() -> None:
    result = heads.compute(stack_of(hand_set()))
    known = {metric.key: metric.value for metric in result.metrics}
    assert (known["previous"], known["first"], known["own"], known["none"]) == (25, 25, 25, 25)
    assert min(known[f"{kind}_highest"] or 0.0 for kind in ("previous", "first", "own")) > 99.0


def without_queries() -> Any:
    """A GPT-2 that attends to all keys evenly."""
    found = model("gpt2", **GPT2)
    with torch.no_grad():
        for block in found.h:
            block.attn.c_attn.weight[:, :64] = 0.0
            block.attn.c_attn.bias[:64] = 0.0
    return found


def test_sinks_are_heads_that_give_the_first_position_over_a_third_of_all_queries() -> None:
    """Gu et al. 2025, arXiv 2410.10781, section 3.1: of four heads, the one that looks there; of
    heads that attend evenly, whose mean is (1 + 1/2 + … + 1/n) / n, none of 64 tokens (0.074) and
    all of 8 (0.340), although queries of the second half give 0.159.
    """
    for stack, sinks, first in (
        (stack_of(hand_set()), 25.0, 25.0),
        (stack_of(without_queries()), 0.0, 0.0),
        (stack_of(without_queries(), length=8), 100.0, 0.0),
    ):
        result = heads.compute(stack)
        for key in ("sinks", "sinks_repeated"):
            assert (result.value(key), result.value(f"{key}_error")) == (sinks, 0.0)
        assert result.value("first") == first


def first_is_a_sink(model_type: str, settings: dict[str, Any]) -> Any:
    """One whose heads all look for the state of token 7, which nothing else resembles."""
    found = model(model_type, **settings)
    with torch.no_grad():
        words = found.get_input_embeddings().weight
        words.zero_()
        words[:, 1] = 1.0
        words[7, :2] = torch.tensor([1.0, 0.0])
        for layer in found.layers:
            for name, column in (("q_proj", slice(0, 2)), ("k_proj", 0)):
                weight = getattr(layer.self_attn, name).weight.view(-1, 16, 64)
                weight.zero_()
                weight[:, 7, column] = 30.0  # In the slowest pair, which hardly turns.
            layer.self_attn.v_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
    return found


def test_a_sink_of_a_rotary_model_needs_a_first_state_unlike_the_others() -> None:
    """Of one token repeated, all states are equal, so attention follows the offset alone (Gu et
    al. 2025, appendix on repeated tokens: no sinks with rotary).
    """
    stack = stack_of(first_is_a_sink("llama", LLAMA))
    words, one_word = (
        attention(stack, inputs)[0][0, :, :, 0].mean(axis=1)
        for inputs in (np.array([[7, *range(8, 39), *range(8, 39), 8]]), ONE_WORD)
    )
    assert (words > 0.99).all()
    assert (one_word < heads.LARGE).all()
    assert heads.compute(stack).value("sinks_repeated") == 0.0


def test_no_mark_takes_the_place_of_the_first_word_of_a_sink() -> None:
    """Of a model whose texts begin with token 39, sequences begin with a word."""
    read: list[Any] = []
    stack = stack_of(without_queries(), vocabulary=Vocabulary(np.arange(1, 39), before=(39,)))
    run = RunningStack.run

    def noted(stack: RunningStack, inputs: Any, *rest: Any) -> Any:
        read.append(inputs)
        return run(stack, inputs, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningStack, "run", noted)
        heads._shares_of_sinks(stack, "sinks")
    assert [inputs.shape for inputs in read] == [(16, 64)]
    assert 39 not in read[0]


def test_sinks_are_those_of_models_that_read_in_order() -> None:
    result = heads.compute(stack_of(t5(), "encoder"))
    assert [result.value(key) for key in heads.SINKS] == [None, None, None]


@pytest.mark.parametrize(
    ("n", "is_causal", "expected"), [(64, False, 1 / 64), (64, True, 0.021419)]
)
def test_chance_is_of_a_head_telling_nothing(n: int, is_causal: bool, expected: float) -> None:
    weights = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    given = weights if is_causal else np.full((n, n), 1.0 / n)
    found = profile(given[None], is_causal)
    assert chance(n, is_causal) == pytest.approx(float(at(found, 0)[0]))
    assert found.first[0] == pytest.approx(float(at(found, 0)[0]))
    assert chance(n, is_causal) == pytest.approx(expected, abs=1e-3)


def _falling(law: Any, n: int = 64, *, is_causal: bool = True) -> Any:
    """Exponents and R² of one head whose attention follows ``law`` of the distance."""
    apart = np.abs(np.arange(n)[None, :] - np.arange(n)[:, None]).astype(float)
    weights = law(np.maximum(apart, 1.0)) * (np.tril(np.ones((n, n))) if is_causal else 1.0)
    found = profile((weights / weights.sum(axis=1, keepdims=True))[None], is_causal)
    fall = falls(found.offsets, found.by_offset, n // 2)
    return fall.exponents[0], fall.r2[0]


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("is_causal", [True, False])
def test_the_exponent_of_a_power_law_is_found(gamma: float, is_causal: bool) -> None:
    """Rows are normalised by sums that differ, which adds a little to small exponents."""
    exponent, r2 = _falling(lambda apart: apart**-gamma, is_causal=is_causal)
    assert exponent == pytest.approx(gamma, abs=0.06)
    assert r2 > 0.99


@pytest.mark.parametrize("law", [
    *(lambda apart, slope=2.0**-power: np.exp(-slope * apart) for power in range(1, 9)),  # ALiBi
    np.ones_like, lambda apart: apart**-0.1, lambda apart: apart**1.0,
    lambda apart: np.where(apart == 3, 1.0, 0.01), lambda apart: (apart < 9) * 1.0,
])  # fmt: skip
def test_other_laws_have_no_exponent(law: Any) -> None:
    """ALiBi's slopes of eight heads; an even, a slow and a rising law; one place; a window."""
    assert np.isnan(_falling(law)).all()


def test_heads_whose_bias_is_a_power_law_are_counted() -> None:
    """Of eight heads of T5, whose attention is the softmax of a bias: half with −log δ."""
    settings: dict[str, Any] = {**T5, "relative_attention_num_buckets": 256}
    found = model("t5", **settings, is_encoder_decoder=True).get_encoder()
    with torch.no_grad():
        bias = found.block[0].layer[0].SelfAttention.relative_attention_bias.weight
        bias.zero_()
        for past in (0, 128):  # Buckets of 64 distances each are exact.
            bias[past : past + 64, :2] = -torch.arange(64.0).clamp(min=1.0).log()[:, None]
        for block in found.block:
            block.layer[0].SelfAttention.q.weight.zero_()
    result = heads.compute(stack_of(found, "encoder"))
    assert (result.value("power"), float(result.arrays["power_random"])) == (50.0, 0.0)
    assert result.value("exponent") == pytest.approx(1.0, abs=0.06)
    (*_, finding) = heads.confirmed(result, result)
    assert (
        "4 of 8 heads (50%) falls as a power of the distance, with a median exponent"
        in finding.text
    )


def test_pictures_of_uniform_attention_are_even() -> None:
    pictures, first = grid_profile(np.full((2, 65, 65), 1.0 / 65.0), (8, 8), 1)
    assert pictures.shape == (2, 5, 5)
    assert_allclose(pictures, 1.0 / 65.0)
    assert_allclose(first, 1.0 / 65.0)


def test_chance_of_induction_is_that_of_a_model_without_positions_and_content() -> None:
    """.0213156 for 32 words: the mean of 1/(i + 1) over queries 33 to 62."""
    result = induction.compute(stack_of(without_positions()))
    assert result.value("chance") == pytest.approx(0.021315589, abs=1e-8)


def test_a_planted_share_of_position_is_found() -> None:
    """Of μ ~ 0.5 N(0, 1) and noise N(0, 1), the mean product of the means of two texts, over all
    pairs, each less its mean over positions; of noise alone, 0.
    """
    draws = np.random.default_rng(0)
    means = draws.normal(size=(64, 96)) * 0.5
    states = means + draws.normal(size=(200, 64, 96))
    own = (states - states.mean(axis=1, keepdims=True)).reshape(200, -1)
    products = own @ own.T
    of_pairs = (products.sum() - np.trace(products)) / (200 * 199)
    total = ((states - states.mean(axis=(0, 1))) ** 2).sum() / 200
    assert share_of_position(sums(states)) == pytest.approx(of_pairs / total, abs=1e-9)
    assert of_pairs / total == pytest.approx(0.2, abs=0.01)
    noise = np.random.default_rng(1).normal(size=(200, 64, 96))
    assert abs(share_of_position(sums(noise))) < 1e-3


def test_what_a_text_has_in_all_positions_is_no_share_of_theirs() -> None:
    """With half of the variance by text, one analysis by position alone gives −1 / (2 · 64)."""
    draws = np.random.default_rng(2)
    states = draws.normal(size=(64, 1, 96)) + draws.normal(size=(64, 60, 96))
    assert abs(share_of_position(sums(states))) < 1e-3


def test_the_share_is_that_of_two_halves_and_the_plain_one_is_too_high() -> None:
    """⟨pos^A, pos^B⟩ / total of means A and B over halves of 40 texts, which share no noise."""
    draws = np.random.default_rng(0)
    states = draws.normal(size=(64, 96)) * 0.5 + draws.normal(size=(40, 64, 96))
    one, other = (states[first::2].mean(axis=0) - states.mean(axis=(0, 1)) for first in (0, 1))
    total = ((states - states.mean(axis=(0, 1))) ** 2).sum() / 40
    ours = share_of_position(sums(states))
    assert ours == pytest.approx(float((one * other).sum() / total), abs=2e-3)
    plain = ((states.mean(axis=0) - states.mean(axis=(0, 1))) ** 2).sum() / total
    assert float(plain) - ours == pytest.approx(0.02, abs=2e-3)


def shaped(singular: Any, n_texts: int, noise: float = 1.0, seed: int = 3) -> Any:
    """States whose positions' means have these singular values, and noise."""
    draws = np.random.default_rng(seed)
    left = np.linalg.qr(draws.normal(size=(60, len(singular) + 1)))[0]
    left -= left.mean(axis=0)
    left = np.linalg.qr(left)[0][:, : len(singular)]
    right = np.linalg.qr(draws.normal(size=(96, len(singular))))[0]
    means = left @ np.diag(singular) @ right.T
    return means + noise * draws.normal(size=(n_texts, 60, 96))


def test_a_planted_rank_is_found_and_noise_has_none() -> None:
    """Σσ² / max σ² of σ = 40, 40, 40, 20: 3.25. The plain rank of means over 20 texts is higher."""
    states = shaped([40.0, 40.0, 40.0, 20.0], 20)
    assert rank_of_positions(sums(states)) == pytest.approx(3.25, rel=0.03)
    values = np.linalg.svd(states.mean(axis=0) - states.mean(axis=(0, 1)), compute_uv=False)
    assert (values**2).sum() / values[0] ** 2 > 3.3
    assert rank_of_positions(sums(shaped([1e-9], 20))) is None


def test_errors_of_share_and_rank_are_their_spread_over_draws() -> None:
    """Of 60 draws of 32 texts each. That of a rank is a little too large."""
    found, errors = [], []
    for draw in range(60):
        own = sums(shaped([12.0, 12.0, 12.0, 6.0], 32, seed=10 + draw))
        found.append([share_of_position(own), rank_of_positions(own)])
        rests = [[share_of_position(rest), rank_of_positions(rest)] for rest in own.without_each()]
        errors.append(jackknife(np.array(rests, float)))
    assert len(rests) == hidden_states.BLOCKS
    spread = np.array(found, float).std(axis=0, ddof=1)
    of_share, of_rank = np.sqrt((np.array(errors) ** 2).mean(axis=0)) / spread
    assert of_share == pytest.approx(1.0, abs=0.25)
    assert 1.0 < of_rank < 1.6


def test_massive_dimensions_hide_the_rank_of_the_others() -> None:
    """One dimension that grows with the position is all of a rank of 1; without it, 3.25."""
    states = shaped([40.0, 40.0, 40.0, 20.0], 40)
    states[..., 5] = 1e3 * np.arange(60.0)
    found = sums(states)
    assert_array_equal(np.flatnonzero(found.massive), [5])
    assert rank_of_positions(found) == pytest.approx(1.0, abs=1e-3)
    assert rank_of_positions(found, ~found.massive) == pytest.approx(3.25, rel=0.03)


def test_the_shape_of_a_model_without_positions_is_none() -> None:
    """Attention of GPT-2 to equal words is even, so all positions have one state."""
    stack = stack_of(without_positions(), vocabulary=OneWord(np.arange(1, N_WORDS)))
    result = probe.compute(stack)
    assert np.isnan(result.arrays["rank"]).all()
    assert result.value("rank_last") is None


class OneWord(Vocabulary):
    """One whose texts repeat a single word."""

    def pieces(self, text: str, n: int, length: int, seed: int) -> Any:  # noqa: ARG002
        return np.full((n, length), 7)


def sums(states: Any) -> Sums:
    found = Sums(np.arange(states.shape[1], dtype=float), states.shape[2])
    found.add(states)
    return found


def test_the_probe_agrees_with_scikit_learn() -> None:
    """A ridge with the same penalty, fitted to rows instead of sums."""
    from sklearn.linear_model import Ridge

    draws = np.random.default_rng(0)
    directions = draws.normal(size=12)
    places_ = np.arange(20.0)
    states = draws.normal(size=(60, 20, 12)) * 3.0 + places_[None, :, None] * directions * 0.2
    train, other = states[:30], states[30:]
    rows, target = train.reshape(-1, 12), np.tile(places_, 30)
    errors = [
        (
            Ridge(penalty * np.trace(np.cov(rows.T, bias=True)) * len(rows) / 12)
            .fit(rows, target)
            .predict(other.reshape(-1, 12))
            - target
        )
        ** 2
        for penalty in (1e-6, 1e-3)
    ]
    best = min(float(error.mean()) for error in errors) / places_.var()
    ours = fitted(sums(train)).missed(other)
    assert ours.shape == (30,)
    assert float(ours.mean()) == pytest.approx(best, rel=0.02)
    assert 0.0 < best < 1.0


def test_the_score_of_a_penalty_is_that_of_its_hat_matrix() -> None:
    """‖y − Hy‖² / (n − 1 − tr H)², H = X(XᵀX + λ)⁻¹Xᵀ (Golub, Heath and Wahba 1979), with
    one degree of freedom for the mean.
    """
    states = np.random.default_rng(4).normal(size=(3, 5, 4))
    train, penalty = sums(states), 2.5
    rows, target = states.reshape(15, 4) - train.mean, np.tile(np.arange(5.0) - 2.0, 3)
    hat = rows @ np.linalg.inv(rows.T @ rows + penalty * np.eye(4)) @ rows.T
    expected = np.sum((target - hat @ target) ** 2) / (15 - 1 - np.trace(hat)) ** 2
    values, vectors = np.linalg.eigh(train.gram)
    found = hidden_states._gcv(values, vectors.T @ train.with_position, train, penalty)
    assert found == pytest.approx(expected)


def test_a_probe_is_told_by_its_ends_and_its_best_layer() -> None:
    """Positions 0 to 4 have a variance of 2; half of it missed is an error of 1."""
    missed = 1.0 - np.array([0.5, 0.25, 0.75, 0.375])[:, None] + np.array([-0.1, 0.1])
    found = probe._metrics(missed, np.arange(5.0))
    assert {metric.key: metric.value for metric in found} == pytest.approx(
        {
            "r2_highest": 0.75,
            "layer_highest": 2.0,
            "r2_input": 0.5,
            "r2_last": 0.375,
            "error_input": 1.0,
            "error_last": np.sqrt(1.25),
            **dict.fromkeys(("r2_highest_error", "r2_input_error", "r2_last_error"), 0.1),
        }
    )


def test_noise_tells_no_position() -> None:
    draws = np.random.default_rng(2)
    train, other = (draws.normal(size=(40, 32, 16)) for _ in range(2))
    assert abs(1.0 - float(fitted(sums(train)).missed(other).mean())) < 0.05


def test_the_pairs_of_a_rotation_are_those_of_its_code() -> None:
    """Llama turns component j with j + d/2."""
    found = pairs(stack_of(model("llama", **LLAMA)))
    assert_array_equal(found, np.stack([np.arange(8), np.arange(8, 16)], axis=1))


@pytest.mark.parametrize("of", ["q_proj", "k_proj"])
def test_pairs_that_were_made_long_are_found(of: str) -> None:
    """Those of queries weigh as much as those of keys."""
    found = model("llama", **LLAMA)
    with torch.no_grad():
        rows = getattr(found.layers[0].self_attn, of).weight.view(-1, 16, 64)
        rows[:, [3, 11]] *= 100.0
    stack = stack_of(found)
    lengths: list[Any] = []
    with heads_watched(stack, lambda _layer, query, *_: lengths.append(query)):
        for _ in stack.run(stack.inputs(1)):
            pass
    found_lengths = pairs_of_use._lengths(stack, stack.inputs(2), pairs(stack))
    shares = pairs_of_use._shares(found_lengths.norms)
    assert lengths[0].shape == (1, 4, 64, 16)
    assert_allclose(shares.sum(axis=2), 1.0)
    assert (shares.argmax(axis=2) == 3).all()


@pytest.mark.parametrize(("of", "counts"), [("q_proj", (2, 0, 0)), ("k_proj", (0, 1, 0)),
                                            ("v_proj", (0, 0, 1))])  # fmt: skip
def test_planted_massive_values_are_found_in_their_pair(of: str, counts: Any) -> None:
    """Of a head of 16 components, one that is c times as long as each other is c · 16 / (c + 15)
    times the mean, at most 16: with c = 100, 13.9; a pair of two would be 7.5 (and 8 at most).
    """
    found = model("llama", **{**LLAMA, "rope_parameters": SLOW})
    with torch.no_grad():
        rows = getattr(found.layers[0].self_attn, of).weight.view(-1, 16, 64)
        rows[: max(counts), 15] *= 100.0  # The slower of the pair's places, in the last pair.
    stack = stack_of(found, vocabulary=RandomText(np.arange(1, N_WORDS)))
    result = pairs_of_use.compute(stack)
    kinds = pairs_of_use.KINDS
    assert tuple(result.value(f"massive_{kind}") for kind in kinds) == counts
    expected = np.zeros((3, 1, 8))
    expected[:, 0, 7] = counts
    assert_array_equal(result.arrays["massive"], expected)
    assert result.arrays["massive_random"] == 0
    assert result.value("massive_slow") == (100.0 if sum(counts[:2]) else None)
    (finding, *_) = pairs_of_use.confirmed(result, result) or (None,)
    assert (finding is not None and "massive" in finding.text) == (counts[0] > 1)


def test_a_massive_value_is_so_over_all_tokens_and_as_attention_multiplies_it() -> None:
    """Without full turns a pair stays what it was; in a fast one, the rotation spreads a component
    over both of its pair, each c · cos and c · sin: 0.71 of it on average.
    """
    found = model("llama", **LLAMA)
    with torch.no_grad():
        found.layers[0].self_attn.q_proj.weight.view(-1, 16, 64)[:, 0] *= 100.0
    stack = stack_of(found)
    lengths = pairs_of_use._lengths(stack, stack.inputs(2), pairs(stack))
    queries = lengths.squares[0].sum(axis=0)[0]
    assert_allclose(queries[:, 0] / queries[:, 8], 1.0, rtol=0.4)
    assert (pairs_of_use._by_pair(lengths, pairs(stack))[0, 0, 0]) == 8


def test_a_table_whose_rows_are_equal_loses_nothing_when_it_is_off() -> None:
    found = model("gpt2", head=True, **GPT2)
    with torch.no_grad():
        found.transformer.wpe.weight.copy_(found.transformer.wpe.weight[:1].expand(64, 64).clone())
    stack = stack_of(found, length=32)
    given = task(stack, stack.inputs())
    before = losses(stack, given)
    for to in (lambda _: None, lambda n: np.arange(n)[::-1].astype(float)):
        with moved(places(stack), to):
            assert_allclose(losses(stack, given), before, atol=1e-5)


def test_a_table_that_is_moved_gives_the_rows_of_other_positions() -> None:
    found = model("gpt2", **GPT2)
    stack = stack_of(found, length=16)
    inputs = stack.inputs(1)
    with moved(places(stack), lambda n: np.arange(n, dtype=np.float64) + 5.0):
        (now,) = stack.run(inputs)
    with torch.no_grad():
        expected = found(
            input_ids=torch.from_numpy(inputs), position_ids=torch.arange(5, 21)[None]
        ).last_hidden_state
    assert_allclose(now.states[-1], expected.numpy(), atol=1e-5)


def test_losses_are_those_of_transformers() -> None:
    found = model("gpt2", head=True, **GPT2)
    stack = stack_of(found)
    inputs = stack.inputs(20)
    ours = losses(stack, task(stack, inputs))
    with torch.no_grad():
        theirs = found(torch.from_numpy(inputs), labels=torch.from_numpy(inputs)).loss
    assert float(ours.mean()) == pytest.approx(float(theirs), abs=1e-5)


def test_the_first_layer_of_a_model_without_queries_favours_no_offset() -> None:
    result = kernel.compute(stack_of(without_queries().double()))
    assert_allclose(result.arrays["logits"], 0.0, atol=1e-9)
    assert result.value("by_offset") == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("model_type", "kind", "settings"),
    [("gpt2", "decoder", GPT2), ("bloom", "decoder", BLOOM), ("llama", "decoder", LLAMA)],
)
def test_random_weights_say_nothing(model_type: str, kind: Any, settings: dict[str, Any]) -> None:
    """Neither do those whose rule alone has heads look nearby, as ALiBi's."""
    stack = stack_of(model(model_type, **settings), kind)
    for use in (kernel, heads, probe, induction):
        first = use.compute(stack)
        assert use.confirmed(first, use.compute(replace(stack, seed=1, again=first))) == ()


def test_a_rise_has_the_error_of_its_mean_over_pieces_unless_it_is_none() -> None:
    """Of a table with large rows; a rise of equal rows is given as 0."""
    found = model("gpt2", head=True, **GPT2)
    words = RandomText(np.arange(1, N_WORDS))
    with torch.no_grad():
        found.transformer.wpe.weight.mul_(50.0)
    stack = stack_of(found, length=32, vocabulary=words)
    result = position.compute(stack)
    given = task(stack, stack.pieces())
    before = losses(stack, given)
    with moved(places(stack), lambda n: np.arange(n)[::-1].astype(float)):
        rises = losses(stack, given) - before
    read = result.read["reversed"]
    error = rises[:read].std(ddof=1) / np.sqrt(read)
    assert result.error("reversed") == pytest.approx(error, rel=1e-4)
    with torch.no_grad():
        found.transformer.wpe.weight.copy_(found.transformer.wpe.weight[:1].expand(64, 64).clone())
    even = position.compute(stack)
    assert (even.value("off"), even.error("off")) == (0.0, None)
    assert (even.error("as_is") or 0.0) > 0.0


def test_positions_are_changed_as_their_names_say() -> None:
    stack = stack_of(model("gpt2", **GPT2), length=16)
    found = {
        key: None if (at := change(4)) is None else at.tolist()
        for key, change in position._variants(stack, places(stack)).items()
    }
    assert found == {
        "off": None, "shift_64": [64, 65, 66, 67], "shift_most": [48, 49, 50, 51],
        "half": [0, 0.5, 1, 1.5], "double": [0, 2, 4, 6], "reversed": [3, 2, 1, 0],
    }  # fmt: skip


def test_states_of_an_encoder_and_decoder_are_those_of_the_decoder() -> None:
    ones, zeros = (torch.full((1, 2, 3), value) for value in (1.0, 0.0))
    both = SimpleNamespace(decoder_hidden_states=[ones], encoder_hidden_states=[zeros])
    for output in (both, SimpleNamespace(hidden_states=[ones])):
        (state,) = Read(output, None).states
        assert_array_equal(state, ones.numpy())


def test_a_model_of_images_without_queries_attends_to_all_patches_alike() -> None:
    """1/17 of the class token and each of 16 patches: the patch itself, and four beside it."""
    sizes: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    found = model("vit", **sizes, intermediate_size=16, image_size=32, patch_size=8)
    with torch.no_grad():
        for name, weights in found.named_parameters():
            if "query" in name or "q_proj" in name:
                weights.zero_()
    stack = stack_of(found, "encoder", vocabulary=None, grid=(4, 4), n_sequences=2)
    result = heads.compute(stack)
    highest = {key: result.value(f"{key}_highest") for key in ("own", "beside", "first")}
    assert highest == pytest.approx({"own": 100 / 17, "beside": 400 / 17, "first": 100 / 17})


def test_every_change_of_positions_has_its_name() -> None:
    assert position.TITLES.keys() == position.NAMES.keys()
