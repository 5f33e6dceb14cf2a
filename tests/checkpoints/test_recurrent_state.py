"""What recurrent layers keep, against the cache of transformers."""

from math import prod
from typing import Any

import pytest
import torch

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.recurrent_state import (
    ConvolutionsOfLayers,
    StateOfLayers,
    recurrent_state,
    short_convolutions,
    type_of_state,
)
from generator.contracts import ModelConfig
from generator.encyclopedia.known_models import known_model
from generator.reading.find import look
from tests.tiny import build

SMALL: list[tuple[str, dict[str, Any]]] = [
    ("qwen3_next", {"layer_types": ["linear_attention", "full_attention"], "head_dim": 16,
                    "num_key_value_heads": 2, "num_hidden_layers": 2, "linear_num_value_heads": 4,
                    "linear_num_key_heads": 2, "linear_key_head_dim": 8,
                    "linear_value_head_dim": 4}),
    ("mamba", {"num_hidden_layers": 2, "state_size": 4, "intermediate_size": 32, "expand": 2}),
    ("bamba", {"num_hidden_layers": 2, "attn_layer_indices": [1], "num_key_value_heads": 2,
               "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 4, "mamba_expand": 2}),
    ("jamba", {"num_hidden_layers": 2, "attn_layer_period": 2, "attn_layer_offset": 1,
               "mamba_d_state": 4, "mamba_expand": 2, "num_key_value_heads": 2,
               "use_mamba_kernels": False, "num_experts": 2, "mamba_dt_rank": 4}),
    ("nemotron_h", {"num_hidden_layers": 2, "layers_block_type": ["mamba", "attention"],
                    "mamba_num_heads": 4, "mamba_head_dim": 8, "ssm_state_size": 4, "n_groups": 1,
                    "num_key_value_heads": 2, "head_dim": 8}),
    ("kimi_linear", {"num_hidden_layers": 2, "pad_token_id": 0, "kv_lora_rank": 8,
                     "linear_attn_config": {"kda_layers": [1], "full_attn_layers": [2],
                                            "num_heads": 2, "head_dim": 8,
                                            "short_conv_kernel_size": 4},
                     "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
                     "num_key_value_heads": 2, "num_experts": 2, "num_experts_per_token": 1}),
]  # fmt: skip


def convolutions_of(settings: dict[str, Any]) -> tuple[ConvolutionsOfLayers, ...]:
    files = ConfigAlone(settings, "config")
    found = look(files)
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    return short_convolutions(files.config, layers)


def state_of(settings: dict[str, Any]) -> StateOfLayers | None:
    files = ConfigAlone(settings, "config")
    found = look(files)
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    return recurrent_state(files.config, layers)


@pytest.mark.parametrize(("model_type", "options"), SMALL, ids=[name for name, _ in SMALL])
def test_a_state_is_as_large_as_that_in_the_cache_of_transformers(
    model_type: str, options: dict[str, Any]
) -> None:
    model = build(model_type, **options)
    with torch.no_grad():
        out = model(input_ids=torch.arange(5)[None], use_cache=True)
    cache = getattr(out, "past_key_values", None) or out.cache_params
    held = [
        state.numel()
        for layer in cache.layers
        for state in getattr(layer, "recurrent_states", {}).values()
    ]
    kept = state_of(model.config.to_dict())
    assert kept is not None
    assert held == [prod(kept.sizes)] * kept.count


@pytest.mark.parametrize(
    ("model_type", "options"),
    [
        ("lfm2", {"num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"],
                  "conv_L_cache": 3, "num_key_value_heads": 2}),
        ("inkling_text", {"num_hidden_layers": 2, "local_layer_ids": [0], "head_dim": 8,
                          "layer_types": ["hybrid_sliding", "hybrid"],
                          "swa_head_dim": 4, "num_key_value_heads": 2, "swa_num_key_value_heads": 4,
                          "swa_num_attention_heads": 4, "conv_kernel_size": 4, "rel_extent": 8,
                          "sliding_window_size": 8, "d_rel": 4,
                          "mlp_layer_types": ["dense", "dense"], "unpadded_vocab_size": 64}),
    ],
)  # fmt: skip
def test_convolutions_keep_as_many_inputs_as_the_cache_of_transformers(
    model_type: str, options: dict[str, Any]
) -> None:
    model = build(model_type, **options)
    with torch.no_grad():
        cache = model(input_ids=torch.arange(5)[None], use_cache=True).past_key_values
    held = sum(
        state.numel()
        for layer in cache.layers
        for state in getattr(layer, "conv_states", {}).values()
        if state is not None
    )
    kept = convolutions_of(model.config.to_dict())
    assert sum(one.count * sum(one.channels) * one.width for one in kept) == held > 0


def test_the_convolutions_of_inkling_are_on_keys_values_and_behind_both_parts() -> None:
    """modeling_inkling.py: InklingAttention, InklingDecoderLayer; 16 and 8 heads of 128."""
    model = known_model("thinkingmachines/Inkling")
    assert model is not None
    assert convolutions_of(dict(model.settings)) == (
        ConvolutionsOfLayers(55, (2048, 2048, 6144, 6144), 4),
        ConvolutionsOfLayers(11, (1024, 1024, 6144, 6144), 4),
    )


def test_the_states_of_qwen3_next_are_those_of_its_modules() -> None:
    model = known_model("Qwen/Qwen3-Next-80B-A3B-Thinking")
    assert model is not None
    assert state_of(dict(model.settings)) == StateOfLayers(36, (32, 128, 128))


def test_a_state_whose_size_no_key_states_is_not_known() -> None:
    """Griffin's, whose width transformers takes otherwise; and Granite's without its heads."""
    for name in ("google/recurrentgemma-2b", "ibm-granite/granite-4.0-h-tiny"):
        model = known_model(name)
        assert model is not None
        assert state_of(dict(model.settings)) is None


def test_the_type_of_states_is_as_a_config_says() -> None:
    said = ModelConfig({"text_config": {"mamba_ssm_dtype": "float32"}}, "config")
    assert type_of_state(said) == ("float32", "mamba_ssm_dtype")
    assert type_of_state(ModelConfig({"mamba_ssm_dtype": "auto"}, "config")) is None
