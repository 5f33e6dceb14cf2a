"""What a decoder keeps of each position, against published figures and caches of transformers."""

import json
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.families import WITHOUT_CACHE
from generator.checkpoints.model.kv_cache import (
    BYTES,
    CachedLayers,
    kv_cache,
    type_of_cache,
)
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Files, ModelConfig
from generator.encyclopedia.known_models import known_model, known_models
from generator.encyclopedia.made import made
from generator.reading.find import look
from tests.tiny import build

# Bytes of a position in bf16.
PUBLISHED = {
    "deepseek-ai/DeepSeek-V3": 70_272,  # arXiv 2505.09343, table 1, as the next two
    "Qwen/Qwen2.5-72B": 327_680,
    "meta-llama/Llama-3.1-405B": 516_096,
    "facebook/opt-13b": 800 * 1024,  # arXiv 2309.06180, section 3
    "deepseek-ai/DeepSeek-V2": 2 * 34_560,  # arXiv 2405.04434, table 9: 34.6 K numbers
}
CONFIGS: dict[str, dict[str, Any]] = {
    "Qwen/Qwen2.5-72B": {
        "model_type": "qwen2", "hidden_size": 8192, "num_attention_heads": 64,
        "num_key_value_heads": 8, "num_hidden_layers": 80, "max_position_embeddings": 131_072,
    },
    "meta-llama/Llama-3.1-405B": {
        "model_type": "llama", "hidden_size": 16_384, "num_attention_heads": 128,
        "num_key_value_heads": 8, "num_hidden_layers": 126, "max_position_embeddings": 131_072,
    },
    "facebook/opt-13b": {
        "model_type": "opt", "hidden_size": 5120, "num_attention_heads": 40,
        "num_hidden_layers": 40, "max_position_embeddings": 2048, "word_embed_proj_dim": 5120,
    },
    "deepseek-ai/DeepSeek-V2": {
        "model_type": "deepseek_v2", "hidden_size": 5120, "num_attention_heads": 128,
        "num_hidden_layers": 60, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "v_head_dim": 128, "max_position_embeddings": 163_840,
    },
}  # fmt: skip


def cache_of(files: Files) -> tuple[CachedLayers, ...] | None:
    found = look(files)
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    return kv_cache(files.resolved.config, layers)


def by_config(settings: dict[str, Any]) -> tuple[CachedLayers, ...] | None:
    return cache_of(ConfigAlone(settings, "config"))


@pytest.mark.parametrize("name", PUBLISHED)
def test_bytes_of_a_position_are_as_published(name: str) -> None:
    model = known_model(name)
    kept = by_config(CONFIGS[name] if model is None else dict(model.settings))
    assert kept is not None
    assert 2 * sum(one.count * one.values for one in kept) == PUBLISHED[name]


SMALL: list[tuple[str, dict[str, Any]]] = [
    ("llama", {"num_key_value_heads": 2}),
    ("gpt2", {}),
    ("gemma2", {"num_key_value_heads": 1, "head_dim": 16, "sliding_window": 8}),
    ("qwen3_next", {"layer_types": ["linear_attention", "full_attention"], "head_dim": 16,
                    "num_key_value_heads": 2, "num_hidden_layers": 2}),
    ("falcon", {"multi_query": True, "new_decoder_architecture": False, "alibi": False}),
]  # fmt: skip


@pytest.mark.parametrize(("model_type", "options"), SMALL, ids=[name for name, _ in SMALL])
def test_numbers_that_are_kept_are_those_in_the_cache_of_transformers(
    model_type: str, options: dict[str, Any]
) -> None:
    length = 20
    model = build(model_type, **options)
    with torch.no_grad():
        cache = model(input_ids=torch.arange(length)[None], use_cache=True).past_key_values
    tensors = (getattr(layer, name, None) for layer in cache.layers for name in ("keys", "values"))
    held = sum(tensor.numel() for tensor in tensors if tensor is not None)
    kept = by_config(model.config.to_dict())
    assert kept is not None
    # transformers keeps of a window all but the position that is read next.
    most = [length if one.positions is None else one.positions - 1 for one in kept]
    assert held == sum(
        one.count * one.values * min(length, many) for one, many in zip(kept, most, strict=True)
    )


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_the_type_of_a_cache_is_that_of_transformers(name: str, tmp_path: Path) -> None:
    model = build("llama").to(getattr(torch, name))
    model.save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    with torch.no_grad():
        cache = loaded(input_ids=torch.arange(8)[None], use_cache=True).past_key_values
    settings = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert type_of_cache(ModelConfig(settings, "config")) == (name, "dtype")
    assert {layer.keys.element_size() for layer in cache.layers} == {BYTES[name]}


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"torch_dtype": "torch.float16"}, ("float16", "torch_dtype")),
        ({"text_config": {"dtype": "bfloat16"}}, ("bfloat16", "text_config.dtype")),
        (
            {"torch_dtype": "bfloat16", "quantization_config": {
                "kv_cache_scheme": {"num_bits": 8, "type": "float"}}},
            ("float8", "quantization_config.kv_cache_scheme"),
        ),
        ({"torch_dtype": "bfloat16", "quantization_config": {"kv_cache_scheme": None}},
         ("bfloat16", "torch_dtype")),
        ({"torch_dtype": None}, None), ({"torch_dtype": "auto"}, None),
        ({"torch_dtype": 16}, None), ({"torch_dtype": ["float16"]}, None),
        ({"quantization_config": [8]}, None),
    ],
)  # fmt: skip
def test_the_type_of_a_cache_is_as_a_config_says(
    settings: dict[str, Any], found: tuple[str, str] | None
) -> None:
    assert type_of_cache(ModelConfig(settings, "config")) == found


def test_what_has_no_decoder_alone_or_is_not_known_says_nothing() -> None:
    bert = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2}
    t5 = {"model_type": "t5", "d_model": 8, "num_heads": 2, "d_kv": 4, "num_layers": 1}
    for settings in (bert, t5, {"model_type": "nobody"}):
        assert by_config(settings) is None


def test_a_state_of_one_size_is_not_kept_by_position() -> None:
    mamba = {"model_type": "mamba", "hidden_size": 8, "num_hidden_layers": 2, "state_size": 4}
    assert by_config(mamba) == ()


def test_a_text_tower_that_writes_nothing_keeps_nothing() -> None:
    assert by_config({"model_type": "clip", "text_config": {"model_type": "clip_text_model"}}) == ()


def test_layers_that_share_keys_and_values_keep_none() -> None:
    model = known_model("google/gemma-4-E2B-it")
    assert model is not None
    kept = by_config(dict(model.settings))
    assert kept is not None
    assert sum(one.count for one in kept) == 15


def test_what_chooses_keys_keeps_one_of_its_own() -> None:
    """index_head_dim is 128 in the config of DeepSeek-V3.2, whose latent is that of V3."""
    values = []
    for name in ("deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3.2"):
        model = known_model(name)
        assert model is not None
        [kept] = by_config(dict(model.settings)) or ()
        values.append(kept.values)
    assert values == [576, 704]


def test_neighbouring_layers_may_share_keys_and_values() -> None:
    """Hunyuan-Large has 64 layers, of which every second one keeps any (arXiv 2411.02265)."""
    model = known_model("tencent/Tencent-Hunyuan-Large")
    assert model is not None
    [kept] = by_config(dict(model.settings)) or ()
    assert (kept.count, kept.values) == (32, 2 * 8 * 128)


@pytest.mark.parametrize(
    ("name", "kept"),
    [  # 64 heads in groups of 8 have 8 for keys: DeciLMAttention in vLLM's nemotron_nas.py.
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", [CachedLayers(49, 2 * 8 * 128, None, heads=8)]),
        # 3 global layers, and 14 groups with windows: kv_reuse_group.
        ("nvidia/Hymba-1.5B-Base", [
            CachedLayers(3, 640, None, heads=5), CachedLayers(14, 640, 1024, heads=5)]),
        ("zai-org/GLM-5.3-Flash", None),  # Its indexer pools keys of four positions.
    ],
)  # fmt: skip
def test_settings_of_single_layers_count(name: str, kept: list[CachedLayers] | None) -> None:
    model = known_model(name)
    assert model is not None
    found = by_config(dict(model.settings))
    assert (None if found is None else list(found)) == kept


def test_code_without_a_cache_keeps_nothing() -> None:
    """The code of every published decoder takes a cache, but that of the first GPT."""
    from transformers import CONFIG_MAPPING, MODEL_MAPPING

    rows = [(one.files.config.family, made(one.id)["row"]["cache"]) for one in known_models()]
    families = WITHOUT_CACHE | {family for family, cache in rows if cache}
    codes = {
        family: MODEL_MAPPING[CONFIG_MAPPING[family]]
        for family in families
        if family in CONFIG_MAPPING and CONFIG_MAPPING[family] in MODEL_MAPPING
    }
    names = {"past_key_values", "cache", "cache_params"}
    without = {
        family
        for family, code in codes.items()
        if names.isdisjoint(signature(code.forward).parameters)
    }
    assert len(codes) > 50
    assert without == WITHOUT_CACHE
    model = known_model("openai-community/openai-gpt")
    assert model is not None
    assert cache_of(model.files) == ()
