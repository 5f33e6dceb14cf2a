import json
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator.checkpoints.model.stacks import resolved
from generator.contracts import Encoding, ModelConfig
from generator.encodings import Form, Rotation
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.schemes.rotary import SCHEME, find
from generator.schemes.rotary.layers import rotated_layers
from tests.support import DictFiles, close, form_of

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2,
         "max_position_embeddings": 256}  # fmt: skip
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
LONG = {"rope_type": "longrope", "short_factor": [1.0 + j / 48 for j in range(48)],
        "long_factor": [2.0 + j for j in range(48)]}  # fmt: skip
# Families whose module of transformers has the frequencies, and settings other than the defaults.
FAMILIES: list[tuple[str, dict[str, Any]]] = [
    *(
        (family, {})
        for family in (
            "llama", "mistral", "qwen3", "gemma", "gpt_neox", "phi", "phi3", "stablelm", "falcon",
            "cohere", "glm", "olmo2", "gpt_oss", "nemotron3_5_transcribe_asr_audio",
            "qwen2_5_omni_dit", "deepseek_v3", "nomic_bert", "gpt_neox_japanese", "persimmon",
            "recurrent_gemma", "smollm3", "moonshine",
        )
    ),
    *(
        ("qwen2", {"rope_parameters": {"rope_theta": 1e6, **scaling}})
        for scaling in (
            {}, YARN, {"rope_type": "linear", "factor": 4.0},
            {"rope_type": "dynamic", "factor": 4.0},
        )
    ),
    ("llama", {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, **LLAMA3}}),
    ("phi3", {"rope_parameters": {"rope_theta": 1e4, **LONG},
              "original_max_position_embeddings": 1024}),
    ("deepseek_v3", {"rope_parameters": {
        "rope_theta": 1e4, **YARN, "mscale": 1.0, "mscale_all_dim": 1.0}}),
    ("bamba", {"attn_layer_indices": [9, 18, 27]}),
    ("zamba2", {"use_mem_rope": True, "attention_head_dim": 80}),
    ("granitemoehybrid", {"position_embedding_type": "rope",
                          "layer_types": ["mamba", "attention"] * 16}),
    ("esm", {"position_embedding_type": "rotary", "vocab_size": 33, "hidden_size": 64,
             "num_attention_heads": 4}),
    ("clvp_encoder", {"projection_dim": 768}),
    ("clvp_encoder", {"projection_dim": 1536}),
]  # fmt: skip
PARTLY = {"rope_theta": 500.0, "partial_rotary_factor": 0.25}
LINEAR = {"rope_type": "linear", "factor": 4.0}
# The same rotation, as transformers 5 writes it and as earlier configs do.
STYLES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"rope_theta": 500.0}, {"rope_theta": 500.0, "rope_scaling": None}),
    ({"rope_theta": 500.0}, {"rotary_emb_base": 500, "rope_theta": None}),
    ({"rope_theta": 500.0, **LINEAR},
     {"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 4.0}}),
    ({"rope_theta": 500.0, "rope_type": "llama3", **LLAMA3},
     {"rope_theta": 500.0, "rope_scaling": {"rope_type": "llama3", **LLAMA3}}),
    (PARTLY, {"rope_theta": 500.0, "rotary_pct": 0.25}),
    (PARTLY, {"rope_theta": 500.0, "partial_rotary_factor": 0.25}),
    (PARTLY, {"rope_theta": 500.0, "rotary_dim": 8}),
]  # fmt: skip
UNKNOWN_SCALING: list[dict[str, Any]] = [
    {"rope_type": "unheard of"},
    {"rope_type": None},
    {"rope_type": ["linear"]},
]
BAD_SCALING: list[dict[str, Any]] = [
    {"rope_type": "linear"},
    {"rope_type": "linear", "factor": 0},
    {"rope_type": "linear", "factor": float("nan")},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": -64},
    {"rope_type": "longrope", "short_factor": [1.0, 2.0], "long_factor": [1.0, 2.0],
     "original_max_position_embeddings": 64},
    {"rope_type": "llama3", "factor": 8.0},
]  # fmt: skip


def found(**settings: Any) -> dict[str, Encoding[Form]]:
    """The rotations of a Llama with these settings, by part."""
    return {encoding.part: encoding for encoding in find(DictFiles({**LLAMA, **settings}))}


def rotation_of(config: dict[str, Any]) -> Rotation:
    (encoding,) = find(DictFiles(config))
    return form_of(encoding, Rotation)


def rotary_class(config: Any) -> Any:
    """The module of transformers for the rotation of a text model, or for that of a part."""
    module = import_module(type(config).__module__.replace("configuration_", "modeling_"))
    members = {
        name: member
        for name, member in vars(module).items()
        if name.endswith(("RotaryEmbedding", "RotaryPositionalEmbedding")) and "Vision" not in name
    }
    own = type(config).__name__.removesuffix("Config") + "RotaryEmbedding"
    return members.get(own, next(iter(members.values())))


def module_of(family: str, options: dict[str, Any]) -> Any:
    """The rotary module of a family's default config, and that config."""
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[family](**options)
    return rotary_class(config)(config), config


def as_single(ours: Floats, theirs: Any) -> None:
    # theirs are in single precision
    assert_allclose(ours, theirs.double().numpy(), rtol=1e-5)


@pytest.mark.parametrize(("family", "options"), FAMILIES)
def test_frequencies_equal_those_of_the_module(family: str, options: dict[str, Any]) -> None:
    theirs, config = module_of(family, options)
    ours = rotation_of(config.to_dict())
    as_single(ours.frequencies, theirs.inv_freq)
    if not options:
        as_single(rotation_of({"model_type": family}).frequencies, theirs.inv_freq)
    assert ours.attention_factor == pytest.approx(getattr(theirs, "attention_scaling", 1.0))


@pytest.mark.parametrize("family", ["gemma3_text", "modernbert", "gemma4_text", "neomme"])
def test_every_kind_of_layer_has_the_rotation_of_the_module_of_the_family(family: str) -> None:
    theirs, config = module_of(family, {})
    rotations = {
        encoding.part: form_of(encoding, Rotation) for encoding in find(DictFiles(config.to_dict()))
    }
    for kind in ("full", "sliding"):
        (part,) = (part for part in rotations if part.endswith(f"coder {kind} attention"))
        turning = getattr(theirs, f"{kind}_attention_inv_freq")
        as_single(rotations[part].frequencies, turning[turning != 0])


def test_frequencies_equal_those_of_transformers_gpt_j() -> None:
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions

    ours = rotation_of(
        {"model_type": "gptj", "n_embd": 64, "n_head": 2, "rotary_dim": 8, "n_positions": 40}
    )
    angles = np.arange(8)[:, None] * ours.frequencies
    theirs = create_sinusoidal_positions(8, 8).double().numpy()
    close(np.hstack([np.sin(angles), np.cos(angles)]), theirs)


def test_older_and_newer_configs_say_the_same() -> None:
    for newer, older in STYLES:
        # Code of Llama reads no share without a scaling.
        given = LLAMA | ({"model_type": "nobody"} if newer is PARTLY else {})
        ours, same = rotation_of({**given, "rope_parameters": newer}), rotation_of(given | older)
        assert (ours.rotary_dim == 32) == (newer is not PARTLY)
        assert_array_equal(ours.frequencies, same.frequencies)
        sizes = {(form.base, form.rotary_dim, form.head_dim) for form in (ours, same)}
        assert sizes == {(500.0, ours.rotary_dim, 32)}


TWO_BASES: list[dict[str, Any]] = [
    {"rope_theta": 1e6, "rope_local_base_freq": 1e4},
    {"global_rope_theta": 1e6, "local_rope_theta": 1e4},
    {"rope_parameters": {
        "full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}},
    {"model_type": "modernbert", "global_rope_theta": 1e6, "local_rope_theta": 1e4,
     "position_embedding_type": "absolute"},
]  # fmt: skip


@pytest.mark.parametrize("older", TWO_BASES)
def test_layers_that_see_all_and_others_have_bases_of_their_own(older: dict[str, Any]) -> None:
    rotations = found(**{"model_type": "not_of_transformers", **older})
    assert {
        part.partition(" ")[2]: form_of(encoding, Rotation).base
        for part, encoding in rotations.items()
    } == {"full attention": 1e6, "sliding attention": 1e4}


def test_the_older_config_of_gemma_3_scales_only_the_layers_that_see_all() -> None:
    linear = {"rope_type": "linear", "factor": 8.0}
    full, sliding = (
        form_of(encoding, Rotation)
        for encoding in found(
            model_type="gemma3_text", **TWO_BASES[0], rope_scaling=linear
        ).values()
    )
    assert_allclose(full.unscaled_frequencies / full.frequencies, np.full(128, 8.0))
    # 256 components unless head_dim is configured
    assert_array_equal(sliding.frequencies, 1e4 ** (-np.arange(128) / 128))


@pytest.mark.parametrize(("config", "rotary_dim"), [
    ({"head_dim": 48}, 48),
    ({"model_type": "deepseek_v3", "rope_theta": 1e4, "qk_rope_head_dim": 16}, 16),
    ({"model_type": "esm", "position_embedding_type": "rotary"}, 32),
    ({"model_type": "granite", "position_embedding_type": "rope"}, 32),
    ({"model_type": "stablelm_epoch", "head_dim": 80, "rope_pct": 0.5}, 40),
    ({}, 32),  # No word of a rotation.
    # Which the code of the family does not read, and that of another does.
    ({"rotary_dim": 16}, 32),
    ({"model_type": "minimax_m3_vl_text", "rope_theta": 1e4, "head_dim": 32, "rotary_dim": 16}, 32),
    # In the words of transformers, and written for other code.
    ({"model_type": "minimax_text_01", "attn_type_list": [0, 1], "rotary_dim": 16}, 16),
    ({"model_type": "minimax_m2", "rope_theta": 1e4, "head_dim": 32, "rotary_dim": 16}, 16),
    ({"max_position_embeddings": None}, 32),
])  # fmt: skip
def test_rotated_components_follow_from_the_settings(config: Any, rotary_dim: int) -> None:
    form = rotation_of({**LLAMA, **config})
    assert (form.rotary_dim, form.frequencies.size) == (rotary_dim, rotary_dim // 2)
    assert form.base == 1e4  # Su et al. 2021, section 3.2.2.
    assert form.n_positions == (2048 if "max_position_embeddings" in config else 256)


@pytest.mark.parametrize("scaling", UNKNOWN_SCALING)
def test_scaling_of_a_kind_that_nobody_knows_has_no_numbers(scaling: dict[str, Any]) -> None:
    for key in ("rope_parameters", "rope_scaling"):
        files = DictFiles({**LLAMA, key: scaling})
        assert find(files) == []
        [question] = SCHEME.asks(files)
        assert "What that scaling does is not known" in question


@pytest.mark.parametrize("scaling", BAD_SCALING)
def test_a_scaling_that_transformers_rejects_is_a_row_error(scaling: dict[str, Any]) -> None:
    """Its sentence begins with the checkpoint, since many may be read at once."""
    for key in ("rope_parameters", "rope_scaling"):
        with pytest.raises(RowError, match=r"^test: rotary scaling"):
            _ = rotation_of({**LLAMA, key: scaling}).frequencies


@pytest.mark.parametrize("name", ["longrope", "su"])
def test_longrope_is_scaled_under_both_names(name: str, caplog: pytest.LogCaptureFixture) -> None:
    factors = {"short_factor": [1.5] * 16, "long_factor": [2.0] * 16}
    scaling = {"type": name, **factors}
    form = rotation_of({**LLAMA, "rope_scaling": scaling, "original_max_position_embeddings": 64})
    assert_allclose(form.unscaled_frequencies / form.frequencies, [1.5] * 16, rtol=1e-6)
    assert caplog.text == ""


# Families of several parts, and the key of the config of their text model.
NESTED = ["gemma3", "llava", "qwen2_5_vl", "qwen3_vl", "mistral3", "idefics3", "paligemma",
          "llama4", "gemma4", "internvl"]  # fmt: skip


@pytest.mark.parametrize("family", NESTED)
def test_the_rotation_of_a_nested_text_model_is_read_from_a_saved_config(family: str) -> None:
    """Saved configs contain only those settings of a nested one that are not its defaults."""
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


KINDS = ("full_attention", "sliding_attention")
BY_KIND = {
    "rope_parameters": {
        kind: {"rope_theta": base} for kind, base in zip(KINDS, (1e6, 1e4), strict=True)
    }
}
TYPES = {"model_type": "gemma3_text", **BY_KIND, "layer_types": KINDS, "num_hidden_layers": 2}
FULL, SLIDING = "decoder full attention", "decoder sliding attention"
WINDOWS: list[tuple[dict[str, Any], dict[str, int | None]]] = [  # config, and window by part
    ({**TYPES, "sliding_window": 1024}, {FULL: None, SLIDING: 1024}),
    (
        {**TYPES, "sliding_window": 512, "use_bidirectional_attention": True},
        {"encoder full attention": None, "encoder sliding attention": 257},
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
    ({**TYPES, "model_type": "unknown", "sliding_window": "wide"}, {}),  # What it means is unknown.
]


@pytest.mark.parametrize(("config", "windows"), WINDOWS)
def test_a_rotation_has_the_window_of_its_layers(config: dict[str, Any], windows: Any) -> None:
    rotations = found(**{"rope_theta": 1e4, **config})
    assert {part: form_of(each, Rotation).window for part, each in rotations.items()} == windows


@pytest.mark.parametrize(
    ("family", "key", "size"),
    [("gemma3_text", "sliding_window", 6), ("modernbert", "local_attention", 6)],
)
def test_the_window_equals_that_of_the_masks(family: str, key: str, size: int) -> None:
    from transformers import CONFIG_MAPPING, masking_utils

    config = CONFIG_MAPPING[family](**{key: size, "attn_implementation": "eager"})
    make = (
        masking_utils.create_sliding_window_causal_mask
        if key == "sliding_window"
        else masking_utils.create_bidirectional_sliding_window_mask
    )
    row = make(
        config,
        torch.zeros(1, 20, 4),
        None,
        *([None] if key == "sliding_window" else []),  # the cache, under either name
    )[0, 0, 10]
    visible = [10 - key for key in range(11) if row[key] == 0]
    (ours,) = (
        form_of(encoding, Rotation).window
        for encoding in find(DictFiles(config.to_dict()))
        if "sliding" in encoding.part
    )
    assert visible == list(range(ours or 0))[::-1]


DEEPSEEK = {"model_type": "deepseek_v3", "rope_theta": 1e4, "qk_rope_head_dim": 16,
            "qk_nope_head_dim": 48}  # fmt: skip
MROPE = {"type": "mrope", "mrope_section": [4, 6, 6]}
NOTES: list[tuple[dict[str, Any], str]] = [
    ({"model_type": "gpt_neox", "rotary_pct": 0.5},
     "16 of the 32 components of each query and key head"),
    (
        {"model_type": "smollm3", "no_rope_layers": [1, 1, 0, 1, 1, 0], "num_hidden_layers": 6},
        "Layers 2, 5 of 6 have attention without a rotation.",
    ),
    ({"model_type": "smollm3", "num_hidden_layers": 8}, "Layers 3, 7 of 8 have"),
    (
        {"model_type": "llama4_text", "num_hidden_layers": 4, "no_rope_layers": []},
        "Layer 3 of 4 has",
    ),
    (
        {"model_type": "cohere2", "sliding_window": 8, "num_hidden_layers": 2,
         "layer_types": ["sliding_attention", "full_attention"]},
        "Layer 1 of 2 has",
    ),
    (
        {"model_type": "granite_swa", "layer_rope_theta": [1e4, 0, 1e4], "num_hidden_layers": 3},
        "Layer 1 of 3 has",
    ),
    (
        {"model_type": "qwen2_vl", "rope_scaling": MROPE},
        "4 pairs rotate by time, 6 by height and 6 by width, in consecutive blocks",
    ),
    (
        DEEPSEEK,
        "16 of the 64 components of each query and key head are rotated. They"
        " are a separate part",
    ),
    (
        {"model_type": "llama", "partial_rotary_factor": 0.5},
        "all 32 components of each query and key head are rotated. config.json gives a share of"
        " 0.5 (partial_rotary_factor), which the code",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("config", "note"), NOTES)
def test_a_note_says_what_is_rotated_and_in_which_layers(config: dict[str, Any], note: str) -> None:
    (encoding,) = found(**{"rope_theta": 1e4, **config}).values()
    assert note in " ".join(encoding.notes)


@pytest.mark.parametrize(
    ("family", "module"),
    [("smollm3", "SmolLM3Model"), ("llama4_text", "Llama4TextModel"), ("cohere2", "Cohere2Model")],
)
def test_the_layers_without_rotation_equal_those_of_the_model(family: str, module: str) -> None:
    import transformers

    sizes = {**dict.fromkeys(("hidden_size", "intermediate_size", "intermediate_size_mlp"), 16),
             **dict.fromkeys(("num_attention_heads", "num_key_value_heads"), 2),
             "num_hidden_layers": 8, "head_dim": 8}  # fmt: skip
    model_class = getattr(transformers, module)
    tokens = {"vocab_size": 40, "pad_token_id": 0, "num_local_experts": 1}
    model = model_class(model_class.config_class(**tokens, **sizes))
    attentions = [layer.self_attn for layer in model.layers]
    turns = [
        attention.sliding_window is not None if family == "cohere2" else bool(attention.use_rope)
        for attention in attentions
    ]
    (rotated,) = rotated_layers(resolved(ModelConfig(model.config.to_dict(), "x")).stacks[0])
    assert [each.index for each in rotated.layers] == [i for i, turn in enumerate(turns) if turn]


@pytest.mark.parametrize("pattern", [1, 2])
def test_layers_without_experts_rotate_as_in_the_model(pattern: int) -> None:
    from transformers import Cohere2MoeConfig, Cohere2MoeModel

    sizes = {**dict.fromkeys(("hidden_size", "intermediate_size"), 16), "vocab_size": 40,
             **dict.fromkeys(("num_attention_heads", "num_key_value_heads"), 2),
             "num_hidden_layers": 7, "head_dim": 8,
             "prefix_dense_intermediate_size": 16}  # fmt: skip
    prefix = {"first_k_dense_replace": 2, "prefix_dense_sliding_window_pattern": pattern}
    model = Cohere2MoeModel(Cohere2MoeConfig(**sizes, **prefix))
    turns = [
        bool(layer.self_attn.force_rope or layer.self_attn.sliding_window) for layer in model.layers
    ]
    (rotated,) = rotated_layers(resolved(ModelConfig(model.config.to_dict(), "x")).stacks[0])
    assert [each.index for each in rotated.layers] == [i for i, turn in enumerate(turns) if turn]
    assert turns[:2] == [True, pattern == 1]


def test_layers_with_different_bases_have_the_rotations_of_the_model() -> None:
    from transformers import GraniteSWAConfig, GraniteSWAModel

    sizes = {"vocab_size": 40, **dict.fromkeys(("hidden_size", "intermediate_size"), 16)}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 4}
    config = GraniteSWAConfig(**sizes, **heads, layer_rope_theta=[1e4, 5e5, 0, 1e4])
    model = GraniteSWAModel(config)
    encodings = {encoding.part: encoding for encoding in find(DictFiles(model.config.to_dict()))}
    assert list(encodings) == ["decoder base 10000", "decoder base 500000"]
    for encoding, module in zip(encodings.values(), model.rotary_embs, strict=True):
        as_single(form_of(encoding, Rotation).frequencies, module.inv_freq)
    assert "Layers 0, 3 of 4 use this rotation." in encodings["decoder base 10000"].notes


def test_deepseek_zamba_2_and_a_family_that_is_not_known() -> None:
    from transformers import Zamba2Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import yarn_apply_mscale
    from transformers.models.zamba2.modeling_zamba2 import Zamba2RotaryEmbedding

    rope = {**YARN, "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0}
    (encoding,) = found(**DEEPSEEK, rope_scaling=rope).values()
    factor = f"{yarn_apply_mscale(rope, 1.0):.4g}"
    assert f"all logits are multiplied by {factor}, separately" in encoding.notes[-1]
    (encoding,) = found(**DEEPSEEK, rope_scaling={**rope, "mscale_all_dim": 0.0}).values()
    assert "logits" not in " ".join(encoding.notes)
    settings = {"model_type": "zamba2", "hidden_size": 64, "num_attention_heads": 4,
                "use_mem_rope": True, "rope_theta": 1e4}  # fmt: skip
    types = {"num_hidden_layers": 2, "layers_block_type": ["mamba", "hybrid"]}
    theirs = Zamba2RotaryEmbedding(Zamba2Config(**{**settings, **types}))
    (encoding,) = find(DictFiles({**settings, **types}))
    assert_allclose(form_of(encoding, Rotation).frequencies, theirs.inv_freq.numpy(), rtol=1e-6)
    # A family that nobody knows may rotate in some layers alone, and list them in its own way.
    settings = {"num_layers": 32, "attn_layer_idxs": [8, 16, 24], "rope_theta": 1e4}
    assert not found(model_type="nobody", **settings)


@pytest.mark.parametrize(("family", "kind", "turns"), [
    ("wav2vec2-bert", "rotary", True), ("wav2vec2-bert", "relative", False),
    ("wav2vec2-conformer", None, False), ("seamless_m4t", "relative", False),
])  # fmt: skip
def test_a_conformer_rotates_only_where_its_setting_says_so(
    family: str, kind: str | None, turns: bool
) -> None:
    settings = {"model_type": family, "position_embeddings_type": kind}
    assert bool(found(**settings, rotary_embedding_base=1e4)) == turns
