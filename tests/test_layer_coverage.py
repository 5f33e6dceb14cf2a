"""The oracle of layers against papers and small cases by hand, and the layer map against the
oracle, for models that are quick to run.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import logits
from benchmarks.layers_coverage import CONFIGS, compare
from benchmarks.layers_oracle import ObservedLayer, observe
from benchmarks.shrink import shrink

SIZES = {
    "hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1,
    "vocab_size": 512,
}  # fmt: skip
TINY: Mapping[str, Mapping[str, Any]] = {
    "llama": {**SIZES, "num_hidden_layers": 2},
    "gemma3_text": {**SIZES, "num_hidden_layers": 6, "head_dim": 32, "sliding_window": 1024},
    "cohere2": {**SIZES, "num_hidden_layers": 4, "sliding_window": 4096},
    "lara_mini": {**SIZES, "num_hidden_layers": 5},
    "smollm3": {**SIZES, "num_hidden_layers": 4},
    "llama4_text": {**SIZES, "num_hidden_layers": 4, "head_dim": 32, "num_local_experts": 2,
    "intermediate_size_mlp": 64},
    "gpt_oss": {**SIZES, "num_hidden_layers": 2, "head_dim": 32, "num_local_experts": 2},
    "bert": {**SIZES, "num_hidden_layers": 1},
    "roberta": {**SIZES, "num_hidden_layers": 1, "max_position_embeddings": 514},
    "bloom": {"hidden_size": 64, "n_head": 2, "n_layer": 1, "vocab_size": 512},
    "t5": {"d_model": 64, "d_kv": 32, "d_ff": 64, "num_layers": 1, "num_heads": 2,
    "vocab_size": 512},
    "jamba": {**SIZES, "num_hidden_layers": 8, "num_experts": 2, "mamba_d_state": 4,
    "use_mamba_kernels": False},
    "modernbert": {**SIZES, "num_hidden_layers": 3},
    "gpt_neox": {**SIZES, "num_hidden_layers": 1, "rotary_pct": 0.25},
    "roformer": {**SIZES, "num_hidden_layers": 1},
    "rwkv": {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 512,
    "attention_hidden_size": 64},
}  # fmt: skip


def settings(name: str) -> dict[str, Any]:
    return {"model_type": name, **TINY[name]}


def layers(name: str, path: str = "layers") -> tuple[ObservedLayer, ...]:
    return observe(settings(name)).stacks[path]


def bases(base: float, rotary_dim: int) -> Any:
    """Su et al. 2021 (arXiv 2104.09864), section 3.2.2."""
    return pytest.approx(
        [base ** (-2 * pair / rotary_dim) for pair in range(rotary_dim // 2)], rel=1e-5
    )


@pytest.mark.parametrize("name", TINY)
def test_the_layer_map_says_what_the_layers_do(name: str) -> None:
    row = compare(name, settings(name))
    assert (row.problem, row.differences) == ("", ())


def test_llama_turns_whole_heads_and_sees_all_before() -> None:
    for layer in layers("llama"):
        assert (layer.mixers, layer.before, layer.after) == (("attention",), None, 0)
        assert layer.attention_factor == pytest.approx(1.0)
        assert layer.frequencies == bases(1e4, 32)


def test_gemma_3_has_a_base_for_local_layers_and_one_for_global_layers() -> None:
    """Gemma 3 (arXiv 2503.19786), section 2: 10,000 and 1,000,000, five local layers to one
    global.
    """
    *local, whole = layers("gemma3_text")
    assert {(layer.before, layer.after) for layer in local} == {(6, 0)}
    assert all(layer.frequencies == bases(1e4, 32) for layer in local)
    assert (whole.before, whole.frequencies) == (None, bases(1e6, 32))


def test_llama_4_turns_in_chunks_and_rescales_queries_where_it_does_not_turn() -> None:
    """The model card of Llama 4 Scout: every fourth layer without positional embeddings, with a
    temperature at inference.
    """
    *chunked, whole = layers("llama4_text")
    assert {
        (layer.chunk, layer.before, len(layer.frequencies), layer.temperature) for layer in chunked
    } == {(9, 8, 16, False)}
    assert (whole.chunk, whole.before, whole.frequencies, whole.temperature) == (
        None,
        None,
        (),
        True,
    )


def test_gpt_oss_has_sinks_a_window_in_every_second_layer_and_the_factor_of_yarn() -> None:
    """YaRN (arXiv 2309.00071), section 3.4: 0.1 ln(s) + 1; the scale of gpt-oss is 32."""
    windowed, whole = layers("gpt_oss")
    assert (windowed.before, whole.before, windowed.sink, whole.sink) == (6, None, True, True)
    assert whole.attention_factor == pytest.approx(0.1 * math.log(32) + 1, rel=1e-5)


def test_bloom_has_the_slopes_of_alibi() -> None:
    """Press et al. 2022 (arXiv 2108.12409), section 3: from 2^(−8/n) on, a geometric sequence; here
    n is 2.
    """
    (layer,) = layers("bloom", "h")
    assert (layer.bias, layer.frequencies) == (True, ())
    assert layer.slopes == pytest.approx((-(2.0**-4), -(2.0**-8)), rel=1e-3)


def test_rows_of_tables_begin_where_the_models_begin() -> None:
    """RoBERTa counts from padding_idx + 1 = 2."""
    assert [
        [(rows.path, rows.first) for rows in observe(settings(name)).tables or ()]
        for name in ("bert", "roberta", "llama")
    ] == [
        [("embeddings.position_embeddings.weight", 0)],
        [("embeddings.position_embeddings.weight", 2)],
        [],
    ]


def test_t5_has_a_bias_that_is_no_slope_in_encoder_and_decoder() -> None:
    stacks = observe(settings("t5")).stacks
    found = {
        path: [(layer.bias, layer.slopes, layer.after) for layer in stack]
        for path, stack in stacks.items()
    }
    assert found == {"encoder.block": [(True, (), None)], "decoder.block": [(True, (), 0)]}


def test_jamba_attends_in_one_layer_of_eight() -> None:
    """Jamba (arXiv 2403.19887), section 2: one attention layer for seven Mamba layers, without
    positional encoding.
    """
    found = [layer.mixers for layer in layers("jamba")]
    assert sorted(found) == [("attention",), *[("recurrent",)] * 7]


WINDOW = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]
CHUNKS = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]


@pytest.mark.parametrize(("mask", "expected"), [
    (WINDOW, logits.Reach(1, 0)),
    (CHUNKS, logits.Reach(1, 0, 2)),
    (np.tri(3), logits.Reach(None, 0)),
    (np.ones((3, 3)), logits.Reach(None, None)),
])  # fmt: skip
def test_reach_tells_windows_from_chunks(mask: Any, expected: logits.Reach) -> None:
    assert logits.reach(np.array(mask, dtype=bool)) == expected


def test_a_temperature_is_no_bias() -> None:
    every = np.ones((1, 3, 3), dtype=bool)
    scaled = np.array([[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]])
    assert (logits.bias(scaled, every), logits.temperature(scaled, None)) == (False, True)
    assert (
        logits.bias(scaled.swapaxes(1, 2), every),
        logits.temperature(scaled[:, :1, :1], 2 * scaled[:, :1, :1]),
    ) == (True, True)


@pytest.mark.parametrize("is_bare", [True, False])
def test_another_base_is_found_though_the_small_config_hides_it(*, is_bare: bool) -> None:
    """Fuyu, of whose bare text model transformers 5 takes the default base."""
    text = {} if is_bare else {**SIZES, "num_hidden_layers": 2, "rope_theta": 25_000.0}
    around = {**SIZES, "num_hidden_layers": 2, "rope_theta": 25_000.0, "patch_size": 4}
    row = compare(
        "fuyu", {"model_type": "fuyu", **around, "text_config": {"model_type": "persimmon", **text}}
    )
    assert row.problem == ""
    assert row.differences == (("bases [25000.0] ≠ [10000.0]",) if is_bare else ())


def test_shrinking_leaves_depth_heads_and_rotation_as_published() -> None:
    from transformers import CONFIG_MAPPING

    published = json.loads(
        (Path(CONFIGS) / "HuggingFaceTB--SmolLM3-3B.json").read_text(encoding="utf-8")
    )["config"]
    small = shrink(published, CONFIG_MAPPING["smollm3"].from_dict(published)).settings
    assert small["hidden_size"] // small["num_attention_heads"] == 2048 // 16
    unchanged = (
        "num_hidden_layers",
        "no_rope_layers",
        "rope_theta",
        "rope_scaling",
        "layer_types",
        "max_position_embeddings",
    )
    assert {name: small[name] for name in unchanged} == {
        name: published[name] for name in unchanged
    }
    assert (small["num_attention_heads"], small["vocab_size"]) == (2, 512)
