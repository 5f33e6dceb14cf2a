import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.checkpoints.model.stacks import stacks
from generator.contracts import ModelConfig
from generator.encodings import Rotation
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.schemes.rotary import find
from generator.schemes.rotary.layers import rotated_layers
from tests.support import DictFiles, form_of

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 2,
    "max_position_embeddings": 256,
}
LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
LONG = {
    "rope_type": "longrope",
    "short_factor": [1.0 + j / 48 for j in range(48)],
    "long_factor": [2.0 + j for j in range(48)],
}
# Module of transformers for the frequencies, by family, and settings other than the defaults.
FAMILIES: list[tuple[str, str, dict[str, Any]]] = [
    ("llama", "LlamaRotaryEmbedding", {}),
    (
        "llama",
        "LlamaRotaryEmbedding",
        {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3}},
    ),
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
    ("nemotron3_5_transcribe_asr_audio", "Nemotron3_5TranscribeRotaryEmbedding", {}),
    ("qwen2_5_omni_dit", "Qwen2_5OmniDiTRotaryEmbedding", {}),
    ("deepseek_v3", "DeepseekV3RotaryEmbedding", {}),
    ("nomic_bert", "NomicBertRotaryEmbedding", {}),
    ("gpt_neox_japanese", "GPTNeoXJapaneseRotaryEmbedding", {}),
    ("persimmon", "PersimmonRotaryEmbedding", {}),
    ("recurrent_gemma", "RecurrentGemmaRotaryEmbedding", {}),
    ("bamba", "BambaRotaryEmbedding", {"attn_layer_indices": [9, 18, 27]}),
    ("smollm3", "SmolLM3RotaryEmbedding", {}),
    ("moonshine", "MoonshineRotaryEmbedding", {}),
    ("zamba2", "Zamba2RotaryEmbedding", {"use_mem_rope": True, "attention_head_dim": 80}),
    (
        "granitemoehybrid",
        "GraniteMoeHybridRotaryEmbedding",
        {"position_embedding_type": "rope", "layer_types": ["mamba", "attention"] * 16},
    ),
    (
        "esm",
        "EsmRotaryEmbedding",
        {
            "position_embedding_type": "rotary",
            "vocab_size": 33,
            "hidden_size": 64,
            "num_attention_heads": 4,
        },
    ),
    (
        "deepseek_v3",
        "DeepseekV3RotaryEmbedding",
        {"rope_parameters": {"rope_theta": 1e4, **YARN, "mscale": 1.0, "mscale_all_dim": 1.0}},
    ),
    ("qwen2", "Qwen2RotaryEmbedding", {"rope_parameters": {"rope_theta": 1e6, **YARN}}),
    (
        "qwen2",
        "Qwen2RotaryEmbedding",
        {"rope_parameters": {"rope_theta": 1e6, "rope_type": "linear", "factor": 4.0}},
    ),
    (
        "qwen2",
        "Qwen2RotaryEmbedding",
        {"rope_parameters": {"rope_theta": 1e6, "rope_type": "dynamic", "factor": 4.0}},
    ),
    (
        "phi3",
        "Phi3RotaryEmbedding",
        {"rope_parameters": {"rope_theta": 1e4, **LONG}, "original_max_position_embeddings": 1024},
    ),
]
BY_LAYER = [
    ("gemma3_text", "Gemma3RotaryEmbedding"),
    ("modernbert", "ModernBertRotaryEmbedding"),
    ("gemma4_text", "Gemma4TextRotaryEmbedding"),
    ("neomme", "NeoMMERotaryEmbedding"),
]
# The same rotation, as transformers 5 writes it and as earlier configs do.
STYLES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}, {"rope_theta": 500.0}),
    (
        {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        {"rope_theta": 500.0, "rope_scaling": None},
    ),
    (
        {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        {"rotary_emb_base": 500, "rope_theta": None},
    ),
    (
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0}},
        {"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 4.0}},
    ),
    (
        {"rope_parameters": {"rope_type": "llama3", "rope_theta": 500.0, **LLAMA3}},
        {"rope_theta": 500.0, "rope_scaling": {"rope_type": "llama3", **LLAMA3}},
    ),
    (
        {"rope_parameters": {"rope_theta": 500.0, "partial_rotary_factor": 0.25}},
        {"rope_theta": 500.0, "rotary_pct": 0.25},
    ),
    (
        {"rope_parameters": {"rope_theta": 500.0, "partial_rotary_factor": 0.25}},
        {"rope_theta": 500.0, "partial_rotary_factor": 0.25},
    ),
    (
        {"rope_parameters": {"rope_theta": 500.0, "partial_rotary_factor": 0.25}},
        {"rope_theta": 500.0, "rotary_dim": 8},
    ),
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
    {
        "rope_parameters": {
            "full_attention": {"rope_theta": "x"},
            "sliding_attention": {"rope_theta": 1e4},
        }
    },
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
    {
        "rope_type": "longrope",
        "short_factor": [1.0, 2.0],
        "long_factor": [1.0, 2.0],
        "original_max_position_embeddings": 64,
    },
    {
        "rope_type": "longrope",
        "short_factor": "x",
        "long_factor": None,
        "original_max_position_embeddings": 64,
    },
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
    return (
        getattr(importlib.import_module(f"transformers.models.{folder}.modeling_{folder}"), module)(
            config
        ),
        config,
    )


def close(ours: Floats, theirs: Any) -> None:
    # theirs are in single precision
    np.testing.assert_allclose(ours, theirs.double().numpy(), rtol=1e-5)


@pytest.mark.parametrize(("family", "module", "options"), FAMILIES)
def test_frequencies_equal_those_of_the_module_of_the_family(
    family: str, module: str, options: dict[str, Any]
) -> None:
    theirs, config = module_of(family, module, options)
    ours = rotation_of(config.to_dict())
    close(ours.frequencies, theirs.inv_freq)
    assert ours.attention_factor == pytest.approx(theirs.attention_scaling)


@pytest.mark.parametrize(("family", "module"), BY_LAYER)
def test_every_kind_of_layer_has_the_rotation_of_the_module_of_the_family(
    family: str, module: str
) -> None:
    theirs, config = module_of(family, module, {})
    rotations = {
        encoding.part: form_of(encoding, Rotation) for encoding in find(DictFiles(config.to_dict()))
    }
    for kind in ("full", "sliding"):
        (part,) = (part for part in rotations if part.endswith(f"coder {kind} attention"))
        turning = getattr(theirs, f"{kind}_attention_inv_freq")
        close(rotations[part].frequencies, turning[turning != 0])


@pytest.mark.parametrize("projection", [768, 1536])
def test_the_rotated_components_of_clvp_follow_from_its_projection(projection: int) -> None:
    theirs, config = module_of(
        "clvp_encoder", "ClvpRotaryPositionalEmbedding", {"projection_dim": projection}
    )
    close(rotation_of(config.to_dict()).frequencies, theirs.inv_freq)


def test_both_encoders_of_clvp_have_a_rotation_unless_it_is_disabled() -> None:
    inner = {
        "model_type": "clvp_encoder",
        "hidden_size": 768,
        "num_attention_heads": 12,
        "projection_dim": 768,
    }
    config = {"model_type": "clvp", "text_config": inner, "speech_config": inner}
    assert [encoding.part for encoding in find(DictFiles(config))] == ["encoder", "speech encoder"]
    assert find(DictFiles({**inner, "use_rotary_embedding": False})) == []


def test_frequencies_equal_those_of_transformers_gpt_j() -> None:
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions

    ours = rotation_of(
        {"model_type": "gptj", "n_embd": 64, "n_head": 2, "rotary_dim": 8, "n_positions": 40}
    )
    angles = np.arange(8)[:, None] * ours.frequencies
    theirs = create_sinusoidal_positions(8, 8).double().numpy()
    np.testing.assert_allclose(
        np.hstack([np.sin(angles), np.cos(angles)]), theirs, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(("newer", "older"), STYLES)
def test_older_and_newer_configs_say_the_same(newer: dict[str, Any], older: dict[str, Any]) -> None:
    ours, same = rotation_of({**LLAMA, **newer}), rotation_of({**LLAMA, **older})
    np.testing.assert_array_equal(ours.frequencies, same.frequencies)
    assert (
        (ours.base, ours.rotary_dim, ours.head_dim)
        == (same.base, same.rotary_dim, same.head_dim)
        == (500.0, ours.rotary_dim, 32)
    )


def test_the_older_config_of_modernbert_has_both_its_bases() -> None:
    older = {
        "global_rope_theta": 160_000.0,
        "local_rope_theta": 10_000.0,
        "position_embedding_type": "absolute",
    }
    encodings = find(DictFiles({**LLAMA, "model_type": "modernbert", **older}))
    bases = {encoding.part: form_of(encoding, Rotation).base for encoding in encodings}
    assert bases == {"encoder full attention": 160_000.0, "encoder sliding attention": 10_000.0}


def test_the_older_config_of_gemma_3_scales_only_the_layers_that_see_all() -> None:
    older = {
        "rope_theta": 1e6,
        "rope_local_base_freq": 1e4,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }
    full, sliding = (
        form_of(encoding, Rotation)
        for encoding in find(DictFiles({**LLAMA, "model_type": "gemma3_text", **older}))
    )
    np.testing.assert_allclose(
        full.unscaled_frequencies / full.frequencies, np.full(128, 8.0), rtol=1e-6
    )
    # 256 components unless head_dim is configured
    np.testing.assert_array_equal(sliding.frequencies, 1e4 ** (-np.arange(128) / 128))


@pytest.mark.parametrize(
    "older",
    [
        {"rope_theta": 1e6, "rope_local_base_freq": 1e4},
        {"global_rope_theta": 1e6, "local_rope_theta": 1e4},
        {
            "rope_parameters": {
                "full_attention": {"rope_theta": 1e6},
                "sliding_attention": {"rope_theta": 1e4},
            }
        },
    ],
)
def test_a_family_that_transformers_does_not_know_has_both_its_bases(older: dict[str, Any]) -> None:
    encodings = find(DictFiles({**LLAMA, "model_type": "not_of_transformers", **older}))
    bases = {encoding.part: form_of(encoding, Rotation).base for encoding in encodings}
    assert bases == {"decoder full attention": 1e6, "decoder sliding attention": 1e4}


def test_a_llama_without_any_rotary_word_turns_by_the_base_of_the_paper() -> None:
    rotation = rotation_of(LLAMA)
    assert (rotation.base, rotation.rotary_dim, rotation.n_positions) == (10_000.0, 32, 256)


def test_a_config_without_a_length_gets_a_default_that_transformers_accepts() -> None:
    assert (
        rotation_of(
            {key: value for key, value in LLAMA.items() if key != "max_position_embeddings"}
        ).n_positions
        == 2048
    )


def test_head_dim_in_the_config_overrides_the_quotient() -> None:
    assert rotation_of({**LLAMA, "head_dim": 48}).rotary_dim == 48


def test_deepseek_rotates_a_separate_part_of_each_head() -> None:
    assert (
        rotation_of(
            {**LLAMA, "model_type": "deepseek_v3", "rope_theta": 1e4, "qk_rope_head_dim": 16}
        ).frequencies.size
        == 8
    )


@pytest.mark.parametrize(("family", "embedding_type"), [("esm", "rotary"), ("granite", "rope")])
def test_a_position_embedding_type_enables_the_rotation(family: str, embedding_type: str) -> None:
    assert (
        rotation_of(
            {**LLAMA, "model_type": family, "position_embedding_type": embedding_type}
        ).frequencies.size
        == 16
    )


def test_a_note_gives_the_number_of_rotated_components() -> None:
    (encoding,) = find(DictFiles({**LLAMA, "rotary_pct": 0.5}))
    assert "16 of the 32 components of each query and key head" in encoding.notes[0]


@pytest.mark.parametrize("config", SILENT)
def test_configs_without_a_rotation_have_none(config: dict[str, Any]) -> None:
    assert find(DictFiles({"hidden_size": 64, "num_attention_heads": 2, **config})) == []


@pytest.mark.parametrize("wrong", BAD)
def test_a_value_out_of_range_is_a_row_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(RowError, match=r"test.*expected"):
        find(DictFiles({**LLAMA, **wrong}))


@pytest.mark.parametrize("key", ["rope_parameters", "rope_scaling"])
@pytest.mark.parametrize("scaling", BAD_SCALING)
def test_a_scaling_that_transformers_rejects_is_a_row_error(
    scaling: dict[str, Any], key: str
) -> None:
    (encoding,) = find(DictFiles({**LLAMA, key: scaling}))
    with pytest.raises(RowError, match="rotary scaling"):
        _ = form_of(encoding, Rotation).frequencies


@pytest.mark.parametrize("kind", ["spiral", ["a"]])
def test_the_error_for_an_unknown_scaling_lists_the_valid_ones(kind: object) -> None:
    (encoding,) = find(DictFiles({**LLAMA, "rope_parameters": {"rope_type": kind}}))
    with pytest.raises(
        RowError, match=r"of the kind .*; expected one of .*linear, llama3, longrope"
    ):
        _ = form_of(encoding, Rotation).frequencies


def test_a_scaling_logs_no_warning_of_transformers(caplog: pytest.LogCaptureFixture) -> None:
    longrope = {
        "rope_type": "longrope",
        "short_factor": [1.0] * 16,
        "long_factor": [2.0] * 16,
        "original_max_position_embeddings": 64,
    }
    (encoding,) = find(DictFiles({**LLAMA, "rope_parameters": longrope}))
    assert form_of(encoding, Rotation).frequencies.size == 16
    assert caplog.text == ""


# Families of several parts, and the key of the config of their text model.
NESTED = [
    "gemma3",
    "llava",
    "qwen2_5_vl",
    "qwen3_vl",
    "mistral3",
    "idefics3",
    "paligemma",
    "llama4",
    "gemma4",
    "internvl",
]


def rotary_class(config: Any) -> Any:
    import importlib

    module = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    return next(
        member
        for name, member in vars(module).items()
        if name.endswith("RotaryEmbedding") and "Vision" not in name
    )


@pytest.mark.parametrize("family", NESTED)
def test_the_rotation_of_a_nested_text_model_is_read_from_a_saved_config(family: str) -> None:
    """Saved configs contain only settings of a nested config that differ from the defaults of its
    family.
    """
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[family]()
    module = rotary_class(config.text_config)(config.text_config)
    saved = json.loads(config.to_json_string())
    theirs = [
        buffer.double().numpy()
        for name, buffer in module.named_buffers()
        if name.endswith("inv_freq") and "original" not in name
    ]
    ours = [
        form_of(encoding, Rotation).frequencies
        for encoding in find(DictFiles(saved))
        if encoding.part.startswith("decoder")
    ]
    assert len(ours) == len(theirs)
    for turning in (frequencies[frequencies != 0] for frequencies in theirs):
        assert any(
            form.shape == turning.shape and np.allclose(form, turning, rtol=1e-5) for form in ours
        )


def test_a_rotation_in_a_nested_config_overrides_the_defaults_of_its_family() -> None:
    text = {"model_type": "gemma3_text", "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    rotations = {
        encoding.part: form_of(encoding, Rotation)
        for encoding in find(DictFiles({"model_type": "gemma3", "text_config": text}))
    }
    full, sliding = rotations["decoder full attention"], rotations["decoder sliding attention"]
    assert (full.base, full.rope_type, sliding.base, sliding.rope_type) == (
        1e6,
        "linear",
        1e4,
        "default",
    )


KINDS = ("full_attention", "sliding_attention")
BY_KIND = {
    "rope_parameters": {
        kind: {"rope_theta": base} for kind, base in zip(KINDS, (1e6, 1e4), strict=True)
    }
}
TYPES = {"model_type": "gemma3_text", **BY_KIND, "layer_types": KINDS, "num_hidden_layers": 2}
WINDOWS = [  # config, and window by part
    (
        {**TYPES, "sliding_window": 1024},
        {"decoder full attention": None, "decoder sliding attention": 1024},
    ),
    (
        {**TYPES, "sliding_window": 512, "use_bidirectional_attention": True},
        {"decoder full attention": None, "decoder sliding attention": 257},
    ),
    (
        {"model_type": "modernbert", "local_rope_theta": 1e4, "local_attention": 128},
        {"encoder full attention": None, "encoder sliding attention": 65},
    ),
    ({"model_type": "mistral", "sliding_window": 128}, {"decoder": 128}),
    ({"model_type": "mistral", "sliding_window": 256}, {"decoder": None}),  # as long as the context
    ({"model_type": "mistral", "sliding_window": None}, {"decoder": None}),
    ({"model_type": "qwen2", "sliding_window": 4096}, {"decoder": None}),
    (
        {"model_type": "qwen2", "sliding_window": 4096, "layer_types": ["sliding_attention"] * 2},
        {"decoder": 4096},
    ),
    (
        {**TYPES, "model_type": "unknown", "sliding_window": "wide"},
        {"decoder full attention": None, "decoder sliding attention": None},
    ),
    (
        {
            "model_type": "llava",
            "text_config": {
                **LLAMA,
                "model_type": "mistral",
                "rope_theta": 1e4,
                "sliding_window": None,
            },
        },
        {"decoder": None},
    ),
]


@pytest.mark.parametrize(("config", "windows"), WINDOWS)
def test_a_rotation_has_the_attention_window_of_its_layers(
    config: dict[str, Any], windows: dict[str, int | None]
) -> None:
    whole = config if "text_config" in config else {**LLAMA, "rope_theta": 1e4, **config}
    assert {
        encoding.part: form_of(encoding, Rotation).window for encoding in find(DictFiles(whole))
    } == windows


@pytest.mark.parametrize(
    ("family", "key", "size"),
    [("gemma3_text", "sliding_window", 6), ("modernbert", "local_attention", 6)],
)
def test_the_window_equals_that_of_the_masks_of_transformers(
    family: str, key: str, size: int
) -> None:
    import torch
    from transformers import CONFIG_MAPPING, masking_utils

    config = CONFIG_MAPPING[family](**{key: size, "attn_implementation": "eager"})
    make = (
        masking_utils.create_sliding_window_causal_mask
        if key == "sliding_window"
        else masking_utils.create_bidirectional_sliding_window_mask
    )
    row = make(
        config=config,
        inputs_embeds=torch.zeros(1, 20, 4),
        attention_mask=None,
        **({"past_key_values": None} if key == "sliding_window" else {}),
    )[0, 0, 10]
    visible = [10 - key for key in range(11) if row[key] == 0]
    (ours,) = (
        form_of(encoding, Rotation).window
        for encoding in find(DictFiles(config.to_dict()))
        if "sliding" in encoding.part
    )
    assert visible == list(range(ours or 0))[::-1]


@pytest.mark.parametrize("key", ["vision_config", "vq_config"])
def test_a_rotation_of_images_is_ignored(key: str) -> None:
    assert (
        find(
            DictFiles(
                {
                    "model_type": "clip",
                    key: {"rope_theta": 1e4, "hidden_size": 64, "num_attention_heads": 2},
                }
            )
        )
        == []
    )


def test_nested_encoder_and_decoder_have_distinct_parts() -> None:
    parts = [
        encoding.part
        for encoding in find(
            DictFiles({"model_type": "t5gemma", "encoder": LLAMA, "decoder": LLAMA})
        )
    ]
    assert sorted(parts) == ["decoder", "encoder"]


WITHOUT = [  # config, and note
    (
        {"model_type": "smollm3", "no_rope_layers": [1, 1, 0, 1, 1, 0]},
        "Layers 2, 5 of 6 have attention without a rotation.",
    ),
    ({"model_type": "smollm3", "num_hidden_layers": 8}, "Layers 3, 7 of 8 have"),
    (
        {"model_type": "llama4_text", "num_hidden_layers": 4, "no_rope_layers": []},
        "Layer 3 of 4 has",
    ),
    (
        {
            "model_type": "cohere2",
            "sliding_window": 8,
            "layer_types": ["sliding_attention", "full_attention"],
        },
        "Layer 1 of 2 has",
    ),
    ({"model_type": "granite_swa", "layer_rope_theta": [1e4, 0, 1e4]}, "Layer 1 of 3 has"),
]


@pytest.mark.parametrize(("config", "note"), WITHOUT)
def test_a_note_lists_the_layers_without_rotation(config: dict[str, Any], note: str) -> None:
    lists = (
        len(value)
        for name, value in config.items()
        if name in ("no_rope_layers", "layer_types", "layer_rope_theta")
    )
    (encoding,) = find(
        DictFiles(
            {**LLAMA, "num_hidden_layers": max(lists, default=8), "rope_theta": 1e4, **config}
        )
    )
    assert note in " ".join(encoding.notes)


@pytest.mark.parametrize(
    ("family", "module"),
    [("smollm3", "SmolLM3Model"), ("llama4_text", "Llama4TextModel"), ("cohere2", "Cohere2Model")],
)
def test_the_layers_without_rotation_equal_those_of_the_model(family: str, module: str) -> None:
    import transformers

    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 8,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "intermediate_size": 16,
        "head_dim": 8,
    }
    model_class = getattr(transformers, module)
    model = model_class(
        model_class.config_class(
            vocab_size=40, pad_token_id=0, intermediate_size_mlp=16, num_local_experts=1, **sizes
        )
    )
    attentions = [layer.self_attn for layer in model.layers]
    turns = [
        attention.sliding_window is not None if family == "cohere2" else bool(attention.use_rope)
        for attention in attentions
    ]
    (rotated,) = rotated_layers(stacks(ModelConfig(model.config.to_dict(), "x"))[0])
    assert [layer.index for layer in rotated.layers] == [
        layer for layer, turn in enumerate(turns) if turn
    ]


def test_a_note_lists_the_layers_of_every_kind() -> None:
    types = {
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        "num_hidden_layers": 3,
    }
    encodings = {
        encoding.part: encoding for encoding in find(DictFiles({**LLAMA, **TYPES, **types}))
    }
    assert "Layer 2 of 3 uses this rotation." in encodings["decoder full attention"].notes
    assert "Layers 0–1 of 3 use this rotation." in encodings["decoder sliding attention"].notes


def test_layers_with_different_bases_have_the_rotations_of_the_model() -> None:
    from transformers import GraniteSWAConfig, GraniteSWAModel

    sizes = {
        "vocab_size": 40,
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
    }
    model = GraniteSWAModel(
        GraniteSWAConfig(**sizes, num_hidden_layers=4, layer_rope_theta=[1e4, 5e5, 0, 1e4])
    )
    encodings = {encoding.part: encoding for encoding in find(DictFiles(model.config.to_dict()))}
    assert list(encodings) == ["decoder base 10000", "decoder base 500000"]
    for encoding, module in zip(encodings.values(), model.rotary_embs, strict=True):
        close(form_of(encoding, Rotation).frequencies, module.inv_freq)
    assert "Layers 0, 3 of 4 use this rotation." in encodings["decoder base 10000"].notes


def test_a_multimodal_rotation_of_an_older_config_is_split_between_time_height_and_width() -> None:
    rope = {"type": "mrope", "mrope_section": [4, 6, 6]}
    (encoding,) = find(
        DictFiles({**LLAMA, "model_type": "qwen2_vl", "rope_theta": 1e6, "rope_scaling": rope})
    )
    assert form_of(encoding, Rotation).rope_type == "default"
    assert any(
        note.startswith("4 pairs rotate by time, 6 by height and 6 by width, in consecutive blocks")
        for note in encoding.notes
    )


def test_the_former_name_of_longrope_is_accepted() -> None:
    scaling = {"short_factor": [1.5] * 16, "long_factor": [2.0] * 16}
    older = {
        **LLAMA,
        "rope_scaling": {"type": "su", **scaling},
        "original_max_position_embeddings": 64,
    }
    np.testing.assert_allclose(
        rotation_of(older).unscaled_frequencies / rotation_of(older).frequencies,
        np.full(16, 1.5),
        rtol=1e-6,
    )


def test_a_note_on_deepseek_gives_the_rotated_part_of_each_head() -> None:
    (encoding,) = find(
        DictFiles(
            {
                **LLAMA,
                "model_type": "deepseek_v3",
                "rope_theta": 1e4,
                "qk_rope_head_dim": 16,
                "qk_nope_head_dim": 48,
            }
        )
    )
    assert (
        "16 of the 64 components of each query and key head are rotated, as config.json says. They"
        " are a separate part" in encoding.notes[0]
    )


@given(st.text(max_size=12).filter(lambda kind: kind != "type"))  # That is a setting.
def test_the_key_for_any_name_of_a_kind_of_layer_is_a_valid_path(kind: str) -> None:
    (encoding,) = find(DictFiles({**LLAMA, "rope_parameters": {kind: {"rope_theta": 1e4}}}))
    assert set(encoding.record.key) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")


def test_a_note_on_deepseek_gives_the_factor_on_logits_of_its_code() -> None:
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import yarn_apply_mscale

    sizes = {
        "model_type": "deepseek_v3",
        "hidden_size": 64,
        "num_attention_heads": 1,
        "qk_rope_head_dim": 16,
        "qk_nope_head_dim": 48,
    }
    rope = {**YARN, "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0}
    (encoding,) = find(DictFiles({**sizes, "rope_scaling": rope}))
    assert (
        f"all logits are multiplied by {yarn_apply_mscale(rope, 1.0):.4g}, separately from the"
        " rotation." in encoding.notes[-1]
    )
    (encoding,) = find(DictFiles({**sizes, "rope_scaling": {**rope, "mscale_all_dim": 0.0}}))
    assert "logits" not in " ".join(encoding.notes)


def test_the_rotation_of_zamba_2_is_as_wide_as_its_heads_of_both_inputs() -> None:
    from transformers import Zamba2Config
    from transformers.models.zamba2.modeling_zamba2 import Zamba2RotaryEmbedding

    settings = {
        "model_type": "zamba2",
        "hidden_size": 64,
        "num_attention_heads": 4,
        "use_mem_rope": True,
        "rope_theta": 1e4,
    }
    types = {"num_hidden_layers": 2, "layers_block_type": ["mamba", "hybrid"]}
    theirs = Zamba2RotaryEmbedding(Zamba2Config(**{**settings, **types}))
    (encoding,) = find(DictFiles({**settings, **types}))
    np.testing.assert_allclose(
        form_of(encoding, Rotation).frequencies, theirs.inv_freq.double().numpy(), rtol=1e-6
    )


def test_the_share_of_the_first_stablelm_is_read() -> None:
    (encoding,) = find(
        DictFiles({**LLAMA, "model_type": "stablelm_epoch", "head_dim": 80, "rope_pct": 0.5})
    )
    assert form_of(encoding, Rotation).rotary_dim == 40


def test_the_first_chatglm_is_not_taken_for_its_successors() -> None:
    assert not find(
        DictFiles({**LLAMA, "model_type": "chatglm", "num_layers": 2, "position_encoding_2d": True})
    )


def test_the_layers_of_a_family_that_is_not_known_stay_open() -> None:
    """StripedHyena (Evo) rotates in 3 of 32 layers, which its config lists under a name of its
    own.
    """
    (encoding,) = find(
        DictFiles(
            {
                **LLAMA,
                "model_type": "stripedhyena",
                "num_layers": 32,
                "attn_layer_idxs": [8, 16, 24],
                "rope_theta": 1e4,
            }
        )
    )
    assert encoding.layers is None


def test_glm_with_tables_is_not_taken_for_its_successors() -> None:
    assert not find(
        DictFiles({**LLAMA, "model_type": "glm", "num_layers": 2, "block_position_encoding": True})
    )
