from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.encodings import Rotation
from generator.errors import RowError
from generator.numerics import Floats
from generator.schemes.rotary import find
from tests.support import DictFiles, form_of

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "max_position_embeddings": 256}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
# The module of transformers that makes the frequencies, by family, with what to ask of its config beside the defaults.
FAMILIES: list[tuple[str, str, dict[str, Any]]] = [
    ("llama", "LlamaRotaryEmbedding", {}),
    ("llama", "LlamaRotaryEmbedding", {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3}}),
    ("mistral", "MistralRotaryEmbedding", {}),
    ("qwen2", "Qwen2RotaryEmbedding", {}),
    ("qwen3", "Qwen3RotaryEmbedding", {}),
    ("gemma", "GemmaRotaryEmbedding", {}),
    ("gpt_neox", "GPTNeoXRotaryEmbedding", {}),
    ("phi", "PhiRotaryEmbedding", {}),
    ("phi3", "Phi3RotaryEmbedding", {}),
    ("stablelm", "StableLmRotaryEmbedding", {}),
    ("falcon", "FalconRotaryEmbedding", {}),
    ("cohere", "CohereRotaryEmbedding", {}),
    ("glm", "GlmRotaryEmbedding", {}),
    ("olmo2", "Olmo2RotaryEmbedding", {}),
    ("gpt_oss", "GptOssRotaryEmbedding", {}),
    ("deepseek_v3", "DeepseekV3RotaryEmbedding", {}),
]
BY_LAYER = [("gemma3_text", "Gemma3RotaryEmbedding"), ("modernbert", "ModernBertRotaryEmbedding"), ("olmo3", "Olmo3RotaryEmbedding")]
# The same rotation, as transformers 5 writes it and as earlier configs do.
STYLES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, {"rope_theta": 500.0}),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, {"rope_theta": 500.0, "rope_scaling": None}),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, {"rotary_emb_base": 500, "rope_theta": None}),
    (
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0}},
        {"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 4.0}},
    ),
    (
        {"rope_parameters": {"rope_type": "llama3", "rope_theta": 500.0, **LLAMA3}},
        {"rope_theta": 500.0, "rope_scaling": {"rope_type": "llama3", **LLAMA3}},
    ),
    ({"rope_parameters": {"rope_theta": 500.0, "partial_rotary_factor": 0.25}}, {"rope_theta": 500.0, "rotary_pct": 0.25}),
    ({"rope_parameters": {"rope_theta": 500.0, "partial_rotary_factor": 0.25}}, {"rope_theta": 500.0, "partial_rotary_factor": 0.25}),
    ({"rope_parameters": {"rope_theta": 500.0, "partial_rotary_factor": 0.25}}, {"rope_theta": 500.0, "rotary_dim": 8}),
]
SILENT: list[dict[str, Any]] = [
    {},
    {"model_type": "bert"},
    {"model_type": "bert", "rope_scaling": None},
    {"model_type": "bert", "rope_theta": 10000.0, "position_embedding_type": "absolute"},
    {"model_type": "granitemoehybrid", "rope_theta": 10000.0, "position_embedding_type": "nope"},
    {"model_type": "falcon", "rope_theta": 10000.0, "alibi": True},
]
BAD: list[dict[str, Any]] = [
    {"rope_theta": 0},
    {"rope_theta": -1e4},
    {"rope_theta": "10000"},
    {"rope_theta": True},
    {"rope_theta": float("nan")},
    {"rope_theta": float("inf")},
    {"rotary_dim": 0},
    {"rotary_dim": 1},
    {"rotary_dim": 34},
    {"rotary_dim": "all"},
    {"rotary_pct": 2.0},
    {"rotary_pct": 0.01},
    {"partial_rotary_factor": "half"},
    {"partial_rotary_factor": -0.5},
    {"num_attention_heads": None},
    {"num_attention_heads": 0},
    {"num_attention_heads": 128},
    {"hidden_size": None},
    {"head_dim": -8},
    {"head_dim": 2**31},
    {"qk_rope_head_dim": "x"},
    {"max_position_embeddings": 1e12},
    {"max_position_embeddings": -1},
    {"rope_parameters": {"full_attention": {"rope_theta": "x"}, "sliding_attention": {"rope_theta": 1e4}}},
]
BAD_SCALING: list[dict[str, Any]] = [
    {"rope_type": "unheard of"},
    {"rope_type": None},
    {"rope_type": ["linear"]},
    {"rope_type": "linear"},
    {"rope_type": "linear", "factor": "4"},
    {"rope_type": "linear", "factor": 0},
    {"rope_type": "linear", "factor": float("nan")},
    {"rope_type": "linear", "factor": -2.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": "x"},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": -64},
    {"rope_type": "longrope", "short_factor": [1.0, 2.0], "long_factor": [1.0, 2.0], "original_max_position_embeddings": 64},
    {"rope_type": "longrope", "short_factor": "x", "long_factor": None, "original_max_position_embeddings": 64},
    {"rope_type": "llama3", "factor": 8.0},
]


def rotation_of(config: dict[str, Any]) -> Rotation:
    (encoding,) = find(DictFiles(config))
    return form_of(encoding, Rotation)


def module_of(family: str, module: str, options: dict[str, Any]) -> Any:
    """The rotary module of a family's default config, and that config."""
    import importlib

    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[family](**options)
    folder = type(config).__module__.split(".")[2]
    return getattr(importlib.import_module(f"transformers.models.{folder}.modeling_{folder}"), module)(config), config


def close(ours: Floats, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs.double().numpy(), rtol=1e-5)  # theirs are in single precision


@pytest.mark.parametrize(("family", "module", "options"), FAMILIES)
def test_frequencies_equal_those_that_the_family_runs_with(family: str, module: str, options: dict[str, Any]) -> None:
    theirs, config = module_of(family, module, options)
    ours = rotation_of(config.to_dict())
    close(ours.frequencies, theirs.inv_freq)
    assert ours.attention_factor == pytest.approx(theirs.attention_scaling)


@pytest.mark.parametrize(("family", "module"), BY_LAYER)
def test_each_kind_of_layer_has_the_rotation_that_the_family_runs_with(family: str, module: str) -> None:
    theirs, config = module_of(family, module, {})
    found = {encoding.part: form_of(encoding, Rotation) for encoding in find(DictFiles(config.to_dict()))}
    for kind in ("full", "sliding"):
        close(found[f"decoder {kind} attention"].frequencies, getattr(theirs, f"{kind}_attention_inv_freq"))


def test_frequencies_equal_those_of_transformers_gpt_j() -> None:
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions

    ours = rotation_of({"model_type": "gptj", "n_embd": 64, "n_head": 2, "rotary_dim": 8, "n_positions": 40})
    angles = np.arange(40)[:, None] * ours.frequencies
    theirs = create_sinusoidal_positions(40, 8).double().numpy()
    np.testing.assert_allclose(np.hstack([np.sin(angles), np.cos(angles)]), theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("newer", "older"), STYLES)
def test_older_and_newer_configs_say_the_same(newer: dict[str, Any], older: dict[str, Any]) -> None:
    ours, same = rotation_of({**LLAMA, **newer}), rotation_of({**LLAMA, **older})
    np.testing.assert_array_equal(ours.frequencies, same.frequencies)
    assert (ours.base, ours.rotary_dim, ours.head_dim) == (same.base, same.rotary_dim, same.head_dim) == (500.0, ours.rotary_dim, 32)


def test_the_older_config_of_modernbert_has_both_its_bases() -> None:
    older = {"global_rope_theta": 160_000.0, "local_rope_theta": 10_000.0, "position_embedding_type": "absolute"}
    found = find(DictFiles({**LLAMA, "model_type": "modernbert", **older}))
    bases = {encoding.part: form_of(encoding, Rotation).base for encoding in found}
    assert bases == {"decoder full attention": 160_000.0, "decoder sliding attention": 10_000.0}


def test_the_older_config_of_gemma_3_scales_only_the_layers_that_see_all() -> None:
    older = {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    full, sliding = (form_of(encoding, Rotation) for encoding in find(DictFiles({**LLAMA, "model_type": "gemma3_text", **older})))
    np.testing.assert_allclose(full.unscaled_frequencies / full.frequencies, np.full(16, 8.0), rtol=1e-6)
    np.testing.assert_array_equal(sliding.frequencies, 1e4 ** (-np.arange(16) / 16))


def test_a_llama_without_any_rotary_word_turns_by_the_base_of_the_paper() -> None:
    rotation = rotation_of(LLAMA)
    assert (rotation.base, rotation.rotary_dim, rotation.n_positions) == (10_000.0, 32, 256)


def test_a_config_without_a_length_gets_one_that_transformers_takes() -> None:
    assert rotation_of({key: value for key, value in LLAMA.items() if key != "max_position_embeddings"}).n_positions == 2048


def test_the_width_of_a_head_that_the_config_gives_outweighs_the_quotient() -> None:
    assert rotation_of({**LLAMA, "head_dim": 48}).rotary_dim == 48


def test_deepseek_turns_the_components_that_it_keeps_for_this() -> None:
    assert rotation_of({**LLAMA, "model_type": "deepseek_v3", "rope_theta": 1e4, "qk_rope_head_dim": 16}).frequencies.size == 8


@pytest.mark.parametrize(("family", "said"), [("esm", "rotary"), ("granite", "rope")])
def test_a_config_may_ask_for_it_by_name(family: str, said: str) -> None:
    assert rotation_of({**LLAMA, "model_type": family, "position_embedding_type": said}).frequencies.size == 16


def test_the_note_says_how_many_components_turn() -> None:
    (encoding,) = find(DictFiles({**LLAMA, "rotary_pct": 0.5}))
    assert "16 of the 32 components of each query and key head" in encoding.notes[0]


@pytest.mark.parametrize("config", SILENT)
def test_nothing_is_found_where_no_rotation_is_asked_for(config: dict[str, Any]) -> None:
    assert find(DictFiles({"hidden_size": 64, "num_attention_heads": 2, **config})) == []


@pytest.mark.parametrize("wrong", BAD)
def test_a_value_out_of_range_is_a_row_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(RowError, match=r"test.*expected"):
        find(DictFiles({**LLAMA, **wrong}))


@pytest.mark.parametrize("key", ["rope_parameters", "rope_scaling"])
@pytest.mark.parametrize("scaling", BAD_SCALING)
def test_a_scaling_that_transformers_cannot_make_is_a_row_error(scaling: dict[str, Any], key: str) -> None:
    with pytest.raises(RowError, match="rotary scaling"):
        find(DictFiles({**LLAMA, key: scaling}))


@given(st.text(max_size=12))
def test_the_name_of_a_kind_of_layer_makes_no_path(kind: str) -> None:
    (encoding,) = find(DictFiles({**LLAMA, "rope_parameters": {kind: {"rope_theta": 1e4}}}))
    assert set(encoding.key) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")
