"""Each rule of ``lint``: a file that shows it, and one that looks alike and is fine."""

import json
from collections import defaultdict
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.model.engines_families import ENGINES
from generator.checkpoints.model.families import HALVES_BY_OTHER_CODE, TURN_HALVES
from generator.checkpoints.model.pair_order import pair_order, stated_orders
from generator.contracts import Files, LintFinding, ModelConfig
from generator.encodings import Rotation
from generator.encyclopedia.known_models import known_models
from generator.reading import lint
from generator.reading.evidence import look_closely
from generator.reading.rules.base_and_context import first_negative
from tests.gguf_files import write
from tests.support import save_folder

Settings = dict[str, Any]
LLAMA: Settings = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4,
    "vocab_size": 100, "max_position_embeddings": 64, "rope_theta": 1e6,
}  # fmt: skip
YARN: Settings = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
LONGROPE: Settings = {
    "rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8,
    "original_max_position_embeddings": 64,
}  # fmt: skip
LONG: Settings = {**LLAMA, "max_position_embeddings": 256}
DEEPSEEK_V4: Settings = {
    **LLAMA, "model_type": "deepseek_v4", "head_dim": 16, "qk_rope_head_dim": 8,
    "compress_ratios": [0, 4, 0, 4], "compress_rope_theta": 1e5, "sliding_window": 8,
    "max_position_embeddings": 1024,
}  # fmt: skip
PROPORTIONAL: Settings = {
    **LLAMA, "model_type": "gemma4_text", "head_dim": 16, "global_head_dim": 16,
    "sliding_window": 8, "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
    "rope_parameters": {
        "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25,
                           "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}},
}  # fmt: skip
LISTED = [2.0] * 7 + [3.0]
QWEN3_VL: Settings = {**LLAMA, "model_type": "qwen3_vl_text", "head_dim": 16}


def found(files: Files) -> list[LintFinding]:
    return list(lint.findings(files, look_closely(files)))


def rules(settings: Mapping[str, Any]) -> dict[str, str]:
    """Sentences of a config by rules, those of one rule one behind the other."""
    texts = defaultdict[str, list[str]](list)
    for one in found(ConfigAlone(settings, "own")):
        texts[one.rule].append(one.text)
    return {rule: " ".join(of_rule) for rule, of_rule in texts.items()}


def scaled(base: Mapping[str, Any], **scaling: Any) -> Settings:
    return {**base, "rope_scaling": scaling}


def longrope_of(family: str, **changed: Any) -> Settings:
    """LongRoPE by the settings of a family that also gives the original length at the top."""
    block = {**LONGROPE, "type": "longrope", "short_mscale": 1.2, "long_mscale": 1.2, **changed}
    lengths = {"original_max_position_embeddings": 64, "max_position_embeddings": 256}
    return {**LLAMA, **lengths, "model_type": family, "rope_scaling": block}


CASES: list[tuple[str, str, Mapping[str, Any], Mapping[str, Any]]] = [
    ("two-places", "rope_theta is 1000000.0, and rope_parameters.rope_theta is 10000.0",
     {**LLAMA, "rope_parameters": {"rope_theta": 1e4}},
     {**LLAMA, "rope_parameters": {"rope_theta": 1e6}}),
    ("two-places", "max_position_embeddings is 128, and text_config.max_position_embeddings is 64",
     {"model_type": "gemma3", "max_position_embeddings": 128,
      "text_config": {**LLAMA, "model_type": "gemma3_text"}},
     {"model_type": "gemma3", "text_config": {**LLAMA, "model_type": "gemma3_text"}}),
    ("layer-schedule", "1 of 4 layers with attention in the decoder have no rotation: 3",
     {**LLAMA, "model_type": "smollm3"},
     {**LLAMA, "model_type": "smollm3", "no_rope_layers": [1] * 4}),
    ("layer-schedule", "2 of 4 layers with attention in the decoder have windows of 8 positions",
     {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16},
     {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16,
      "layer_types": ["full_attention"] * 4}),
    # 0.1 · ln 4 + 1 = 1.138629, and its square is 1.296477 (arXiv 2309.00071, equation 22).
    ("magnitude", "cosine by 1.13863 for the “yarn” scaling, and so the rotated part of the"
     " logits by 1.296",
     scaled(LONG, **YARN), scaled(LONG, **YARN, attention_factor=1.0)),
    # The ratio of the lengths is 4: sqrt(1 + ln 4 / ln 64) = 1.15470, as in transformers.
    ("magnitude", "by 1.1547 for the “longrope” scaling, and so the rotated part of the logits by"
     " 1.333 (from original_max_position_embeddings and the context)",
     scaled(LONG, **LONGROPE), scaled(LONG, **LONGROPE, attention_factor=1.0)),
    ("share", "4 of 16 components of each head",
     {**LLAMA, "model_type": "gpt_neox"},
     {**LLAMA, "model_type": "gpt_neox", "rotary_pct": 0.25}),
    ("share", "rotary_pct of 0.19 gives 3.040 of 16 components",
     {**LLAMA, "model_type": "gpt_neox", "rotary_pct": 0.19},
     {**LLAMA, "model_type": "gpt_neox", "rotary_pct": 0.126}),
    ("unread-key", "The nearest key that is known is attention_factor",
     scaled(LONG, **YARN, attn_factor=0.9), scaled(LONG, **YARN, attention_factor=0.9)),
    ("scaling-without-effect", "The “linear” scaling in the decoder changes no angle",
     # Beyond the context, its base grows with a factor of 1 as well.
     scaled(LLAMA, rope_type="linear", factor=1.0), scaled(LLAMA, rope_type="dynamic", factor=1.0)),
    ("layer-schedule", "applies to one of two rotations alone, in layers 3",
     {**scaled(LLAMA, rope_type="linear", factor=8.0), "model_type": "gemma3_text",
      "sliding_window": 8, "layer_types": ["sliding_attention"] * 3 + ["full_attention"]},
     scaled(LLAMA, rope_type="linear", factor=8.0)),
    # _compute_proportional_rope_parameters of transformers: a quarter of 16 / 2 pairs.
    ("layer-schedule", "In layers 3, 2 of 8 pairs of a head turn (“proportional”, which scales no"
     " angle here).", PROPORTIONAL,
     {**PROPORTIONAL, "layer_types": ["full_attention"] * 4}),
    ("longrope-switch", "In texts of more than 64 tokens, transformers turns all tokens of the"
     " decoder by other angles",
     scaled(LONG, **LONGROPE), scaled(LONG, **YARN)),
    ("longrope-switch", "short_factor and long_factor are equal: texts of any length have the same"
     " angles, of pairs that are slowed 2 to 3 times.",
     scaled(LONG, **{**LONGROPE, **dict.fromkeys(("short_factor", "long_factor"), LISTED)}),
     scaled(LONG, **YARN)),
    # phi3.py of mlx-lm gives SuScaledRoPE the second list alone; its slowest pair turns as fast as
    # 1e6^(-7/8), its fastest by 1 - 1/2.
    ("readers", "mlx-lm 0.32.2 turns texts of any length by LongRoPE's factors for long ones, and"
     " transformers 5 those of up to 64 tokens by those for short ones: angles part by up to 0.5",
     longrope_of("phi3"), LLAMA),
    ("readers", "transformers 5 those of any length by those for short ones: angles",
     longrope_of("phimoe"), LLAMA),
    ("pair-order", "rope_interleave says that the components of a rotation pair are adjacent",
     {**LLAMA, "rope_interleave": True}, {**LLAMA, "rope_of_nobody": True}),
    ("factor-times-original", "4 × 64 = 256, and the context is 512",
     scaled({**LLAMA, "max_position_embeddings": 512}, **YARN), scaled(LONG, **YARN)),
    ("factor-times-original", "the scaling reaches 4 × 64 = 256; a program that requires the key",
     scaled(LLAMA, rope_type="yarn", factor=4.0), scaled(LONG, **YARN)),
    ("not-understood", "The family “nobody” is unknown", {**LLAMA, "model_type": "nobody"}, LLAMA),
    # Its class divides by the pattern.
    ("rejected-by-class", "rejects config.json (",
     {**LLAMA, "model_type": "exaone4", "sliding_window_pattern": 0, "sliding_window": 8},
     {**LLAMA, "model_type": "exaone4", "sliding_window_pattern": 4, "sliding_window": 8}),
    # Qwen2's layers have it from max_window_layers on, 28 by default (configuration_qwen3.py).
    ("window-without-effect", "layer 28 (max_window_layers, by default of the config class) on",
     {**LLAMA, "model_type": "qwen3", "use_sliding_window": True, "sliding_window": 8},
     {**LLAMA, "model_type": "qwen3", "use_sliding_window": True, "sliding_window": 8,
      "max_window_layers": 2}),
    ("window-without-effect", "by its settings no layer has it",
     {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "layer_types": ["full_attention"] * 4},
     {**LLAMA, "model_type": "gemma2", "sliding_window": 8}),
    ("window-without-effect", "sliding_window is null, although layer_types lists 2 layers",
     {**LLAMA, "model_type": "gemma2", "sliding_window": None,
      "layer_types": ["full_attention", "sliding_attention"] * 2},
     {**LLAMA, "model_type": "gemma2", "sliding_window": 8,
      "layer_types": ["full_attention", "sliding_attention"] * 2}),
    # Heads of 16 components have 8 pairs.
    ("sections", "gives 1, 2 and 3 pairs to its axes, 6 in all, but the rotation has 8",
     scaled({**LLAMA, "model_type": "qwen2_vl"}, type="mrope", mrope_section=[1, 2, 3]),
     scaled({**LLAMA, "model_type": "qwen2_vl"}, type="mrope", mrope_section=[2, 3, 3])),
    ("share", "4 of 16 components of each head",
     {**LLAMA, "model_type": "gpt_neox"}, {**LLAMA, "model_type": "gpt_neox", "rotary_emb": 4}),
    ("list-length", "layer_types has 2 items for 4 layers",
     {**LLAMA, "model_type": "qwen2", "layer_types": ["full_attention"] * 2},
     {**LLAMA, "model_type": "qwen2", "layer_types": ["full_attention"] * 4}),
    ("base-and-context", "With base 10,000",
     {**LLAMA, "rope_theta": 1e4, "max_position_embeddings": 4096},
     {**LLAMA, "rope_theta": 1e4, "max_position_embeddings": 64}),
    ("readers", "mlx-lm 0.32.2 and transformers 4.57.6 take base 10,000",
     {**{name: LLAMA[name] for name in LLAMA if name != "rope_theta"},
      "rope_parameters": {"rope_theta": 1e6}},
     {**LLAMA, "rope_parameters": {"rope_theta": 1e6}}),
    ("readers", "mlx-lm 0.32.2 turns adjacent components together (rope_traditional)",
     {**LLAMA, "rope_traditional": True}, {**LLAMA, "rope_traditional": False}),
    # Its gemma2.py has no word of a window.
    ("readers", "mlx-lm 0.32.2 gives no layer a window, and transformers 5 gives 2 of 4 layers a"
     " window of 8 positions", {**LLAMA, "model_type": "gemma2", "sliding_window": 8,
      "head_dim": 16},
     {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16, "rope_theta": 1e4,
      "layer_types": ["full_attention"] * 4}),
    # Each multiplies the length by the factor of a scaling without an original length.
    ("readers", "SGLang 0.5.23 takes texts of 128 positions, vLLM 0cd57848 takes texts of 128"
     " positions, and max_position_embeddings says 64",
     scaled(LLAMA, rope_type="dynamic", factor=2.0),
     scaled(LLAMA, rope_type="dynamic", factor=1.0)),
    ("readers", "SGLang 0.5.23 takes texts of 128 positions, vLLM 0cd57848 takes texts of 128"
     " positions, and max_position_embeddings says 64",
     scaled(LLAMA, rope_type="linear", factor=2.0), scaled(LONG, **YARN)),
    ("factor-times-original", "The context is 4 × 64 = 256 already, and vLLM 0cd57848 multiplies"
     " it by the factor once more: where no length is asked for, it takes texts of 1,024",
     scaled(LONG, rope_type="linear", factor=4.0, original_max_position_embeddings=64),
     scaled(LONG, rope_type="linear", factor=4.0)),
    # vLLM's get_rope: blocks, unless mrope_interleaved is true.
    ("sections", "time, height and width take turns over the pairs; vLLM 0cd57848 goes by"
     " mrope_interleaved, which is not true here, so it gives them blocks",
     scaled(QWEN3_VL, rope_type="default", mrope_section=[3, 3, 2]),
     scaled(QWEN3_VL, rope_type="default", mrope_section=[3, 3, 2], mrope_interleaved=True)),
    # Of 66 rows two serve padding and the offset (modeling_roberta.py).
    ("lengths", "max_position_embeddings is 66, which counts rows of the table: position 0 is row"
     " 2, so 64 positions are usable",
     {**LLAMA, "model_type": "roberta", "max_position_embeddings": 66, "pad_token_id": 1},
     {**LLAMA, "model_type": "bert", "max_position_embeddings": 66}),
    ("lengths", "max_position_embeddings is 0 in config.json, which is no length",
     {**LLAMA, "max_position_embeddings": 0, "n_positions": 64}, {**LLAMA, "n_positions": 64}),
    # transformers' SmolLM3: 1 is a layer with rotation.
    ("layer-schedule", "3 of 4 layers with attention in the decoder have no rotation: 0–2. In"
     " no_rope_layers, 1 is a layer with rotation",
     {**LLAMA, "model_type": "smollm3", "no_rope_layers": [0, 0, 0, 1]},
     {**LLAMA, "model_type": "smollm3", "no_rope_layers": [1] * 4}),
    ("layer-schedule", "windows of 8 positions: 0, 2. config.json does not say which",
     {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16},
     {**LLAMA, "model_type": "gemma2", "head_dim": 16, "layer_types": ["full_attention"] * 4}),
    # Qwen3Config sets sliding_window to None.
    ("window-without-effect", "but use_sliding_window is not true, so the config class of qwen3",
     {**LLAMA, "model_type": "qwen3", "sliding_window": 8,
      "layer_types": ["sliding_attention", "full_attention"] * 2},
     {**LLAMA, "model_type": "qwen3", "sliding_window": 8, "use_sliding_window": True,
      "layer_types": ["sliding_attention", "full_attention"] * 2}),
    ("scaling-without-effect", "is one block (“linear”), and the code of gemma3_text in",
     {**LLAMA, "model_type": "gemma3_text", "head_dim": 16,
      "rope_parameters": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}},
     {**LLAMA, "model_type": "gemma3_text", "head_dim": 16,
      "rope_scaling": {"rope_type": "linear", "factor": 8.0}}),
    # 0.1 · ln 16 + 1 = 1.277259; modeling_deepseek_v4.py multiplies by nothing.
    ("magnitude", "unless a key says otherwise, and none does",
     {**DEEPSEEK_V4, "rope_scaling": {**YARN, "factor": 16.0}}, {**DEEPSEEK_V4}),
    ("list-length", "compress_ratios has 6 items: 4 for the layers, and 2 for those that predict"
     " further tokens (num_nextn_predict_layers); 2 of the latter are 0",
     {**DEEPSEEK_V4, "compress_ratios": [0, 4, 0, 4, 0, 0], "num_nextn_predict_layers": 2},
     DEEPSEEK_V4),
    # YaRNScalingRotaryEmbedding of SGLang 0.5.23 knows no attention_factor, YarnRoPE of mlx-lm no
    # truncate.
    ("readers", "attention_factor 1.0, which is not read by llama.cpp's converter 0c1e5709, mlx-lm"
     " 0.32.2 and SGLang", scaled(LONG, **YARN, attention_factor=1.0), scaled(LONG, **YARN)),
    ("readers", "truncate false, which is not read by llama.cpp's converter 0c1e5709 and mlx-lm",
     scaled(LONG, **YARN, truncate=False), scaled(LONG, **YARN)),
    ("readers", "SGLang 0.5.23 takes base 1,000,000, 16 of 16 components, yarn scaling,"
     " cosine and sine × 2.277",
     scaled(LONG, **YARN, attn_factor=2.0), scaled(LONG, **YARN)),
    # modeling_rope_utils.py of transformers 4 takes config.rope_theta.
    ("readers", "transformers 4.57.6 take base 10,000",
     {**{name: LLAMA[name] for name in LLAMA if name != "rope_theta"},
      "rope_scaling": {"rope_type": "default", "rope_theta": 1e6}},
     {**LLAMA, "rope_scaling": {"rope_type": "default", "rope_theta": 1e6}}),
    # Files of these releases were read for it: mlx_lm/models/qwen3.py of 0.31.3,
    # configuration_minimax_m2.py of transformers 5.17, modeling_rope_utils.py of 4.55.4.
    ("older-releases", "mlx-lm up to 0.31.3 does not load the file, because its code for qwen3",
     {**LLAMA, "model_type": "qwen3", "rope_theta": None, "rope_parameters": {"rope_theta": 1e6}},
     {**LLAMA, "model_type": "qwen3"}),
    ("older-releases", "transformers up to 5.17 does not read rotary_dim here, so all 16 components"
     " of a head turn, where the file gives 8",
     {**LLAMA, "model_type": "minimax_m2", "head_dim": 16, "rotary_dim": 8},
     {**LLAMA, "model_type": "minimax_m2", "head_dim": 16, "partial_rotary_factor": 0.5}),
    ("older-releases", "transformers 4.55 takes 256 ÷ 64 = 4 for the factor of YaRN, and not 8 as",
     scaled(LONG, **{**YARN, "factor": 8.0}), scaled(LONG, **YARN)),
    # Of Ministral 3, 1.277 in vLLM 0.25.0 where transformers has 1 (github.com/vllm-project/vllm,
    # issue 48621).
    ("older-releases", "vLLM 0.25 does not read mscale and mscale_all_dim of YaRN: it multiplies"
     " sine and cosine by 1.277, where transformers 5 does by 1.",
     scaled({**LONG, "max_position_embeddings": 1024}, **{**YARN, "factor": 16.0}, mscale=1.0,
            mscale_all_dim=1.0),
     scaled({**LONG, "max_position_embeddings": 1024}, **{**YARN, "factor": 16.0}, mscale=1.0)),
    # configuration_qwen3.py has no window unless use_sliding_window is true.
    ("not-understood", "drops the window of 8 positions, since use_sliding_window is not true, so"
     " OfADraft gets none from it.",
     {**LLAMA, "model_type": "qwen3", "architectures": ["OfADraft"], "sliding_window": 8},
     {**LLAMA, "model_type": "qwen3", "sliding_window": 8}),
    # modeling_llama.py has no word of sections.
    ("sections", "stands in the settings of llama, whose code in transformers turns all pairs",
     scaled(LLAMA, rope_type="default", mrope_section=[3, 3, 2]),
     scaled({**LLAMA, "model_type": "qwen2_vl"}, type="mrope", mrope_section=[2, 3, 3])),
    ("sections", "stands beside the kind “default”",
     scaled({**LLAMA, "model_type": "qwen2_vl"}, type="default", mrope_section=[2, 3, 3]),
     scaled({**LLAMA, "model_type": "qwen2_vl"}, type="mrope", mrope_section=[2, 3, 3])),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text", "shows", "fine"), CASES)
def test_a_rule_fires_where_it_should_and_not_beside(
    rule: str, text: str, shows: Mapping[str, Any], fine: Mapping[str, Any]
) -> None:
    assert text in rules(shows).get(rule, "")
    assert rule not in rules(fine)


@pytest.mark.parametrize("family", ["phi3", "phimoe"])
def test_equal_lists_of_longrope_are_read_alike_by_all(family: str) -> None:
    text = rules(longrope_of(family, long_factor=[1.0] * 8))["readers"]
    assert "LongRoPE" not in text


def test_values_are_those_of_json() -> None:
    twice = {**LLAMA, "rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}}
    for share, known in ((1.0, True), (float("nan"), False)):
        files = ConfigAlone({**twice, "partial_rotary_factor": share}, "own")
        every = [one for one in found(files) if "partial_rotary_factor is" in one.text]
        assert [bool(one.values) for one in every] == [known] * len(every)


def test_a_scaling_that_stops_pairs_has_an_effect() -> None:
    """By such a factor, the slow ones of 8 pairs have a frequency of 0, and are left out."""
    stopping = {
        "rope_type": "llama3", "factor": 1e308, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }  # fmt: skip
    assert "scaling-without-effect" not in rules(scaled(LLAMA, **stopping))


def test_a_factor_beyond_all_numbers_is_no_reach(tmp_path: Path) -> None:
    settings = scaled(LLAMA, **{**YARN, "factor": 1e308, "original_max_position_embeddings": 64})
    files = folder(tmp_path, settings, tokenizer_config={"model_max_length": 128})
    said = {one.rule: one.text for one in found(files)}
    assert "factor-times-original" not in said
    assert "and 128 by model_max_length in tokenizer_config.json" in said["lengths"]


def test_the_factor_of_latent_attention_is_that_of_deepseek() -> None:
    """modeling_deepseek.py of DeepSeek-V2: (0.1 · 0.707 · ln 40 + 1)² = 1.5896."""
    settings = {
        **LLAMA, "model_type": "deepseek_v2", "qk_rope_head_dim": 16, "qk_nope_head_dim": 32,
        "v_head_dim": 16, "kv_lora_rank": 8, "max_position_embeddings": 163_840,
        "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.707,
                         "original_max_position_embeddings": 4096},
    }  # fmt: skip
    text = rules(settings)["magnitude"]
    assert text.startswith("transformers multiplies all attention logits, of rotated and unrotated")
    assert "1.59 = (0.1 · 0.707 · ln 40 + 1)²" in text


# Men et al. 2024 (arXiv 2405.14591), table 2: the smallest base for a context, to two digits, for
# heads of 128 components. The rows for 16,000 and 32,000 are rounded below the bound.
BOUNDS = [(1e3, 4.3e3), (2e3, 1.6e4), (4e3, 2.7e4), (8e3, 8.4e4), (64e3, 2.1e6), (128e3, 7.8e6)]


@pytest.mark.parametrize(("context", "base"), BOUNDS)
def test_the_sum_of_cosines_is_first_negative_where_the_paper_says(
    context: float, base: float
) -> None:
    n_positions = int(context)
    assert first_negative(Rotation(base, 128, 128, n_positions), n_positions) is None
    smaller = Rotation(0.9 * base, 128, 128, n_positions)
    assert first_negative(smaller, n_positions) is not None


def folder(path: Path, settings: Mapping[str, Any], tensors: Any = None, **beside: Any) -> Files:
    texts = {f"{name}.json": json.dumps(content) for name, content in beside.items()}
    save_folder(path, settings, tensors or {"other": np.zeros(1)}, texts)
    return FolderFiles(path, "own", Choice(name="model.safetensors"))


@pytest.mark.parametrize(
    ("tokens", "scaling", "level"),
    [(64, None, None), (128, None, "warning"), (32, None, "note"), (10**30, None, "fact"),
     (256, YARN, "note")],
)  # fmt: skip
def test_lengths_of_tokenizer_and_config_stand_side_by_side(
    tmp_path: Path, tokens: int, scaling: Settings | None, level: str | None
) -> None:
    settings = {**LLAMA, **({"rope_scaling": scaling} if scaling else {})}
    files = folder(tmp_path, settings, tokenizer_config={"model_max_length": tokens})
    said = [one for one in found(files) if one.rule == "lengths"]
    assert [one.level for one in said] == ([level] if level else [])
    if scaling:
        assert "256 by the “yarn” scaling, 4 × 64" in said[0].text


def table(n_rows: int, *, seed: int | None = None) -> Any:
    """A smooth table, or one of random numbers."""
    if seed is not None:
        return torch.from_numpy(np.random.default_rng(seed).normal(size=(n_rows, 64))).float()
    phases = np.arange(n_rows)[:, None] / 1.3 ** np.arange(1, 33)
    return torch.from_numpy(np.concatenate([np.sin(phases), np.cos(phases)], axis=1)).float()


BERT: Settings = {
    "model_type": "roberta", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1,
    "vocab_size": 100, "max_position_embeddings": 130, "pad_token_id": 1,
}  # fmt: skip
NAME = "roberta.embeddings.position_embeddings.weight"


def test_rows_of_a_table_are_compared_with_the_tokenizer(tmp_path: Path) -> None:
    files = folder(tmp_path, BERT, {NAME: table(130)}, tokenizer_config={"model_max_length": 130})
    said = [one for one in found(files) if one.rule == "rows"]
    assert [one.level for one in said] == ["warning", "fact"]
    assert "130 rows, of which 128 are positions: position 0 is row 2" in said[1].text


@pytest.mark.parametrize(("family", "n_rows", "said"), [
    # ViT has [CLS], and DeiT a token of distillation beside it.
    ("vit", 6, "6 rows, 2 more than"), ("vit", 4, "4 rows, as many as"), ("vit", 5, ""),
    ("deit", 6, ""),
])  # fmt: skip
def test_rows_beside_a_grid_are_those_of_the_family(
    tmp_path: Path, family: str, n_rows: int, said: str
) -> None:
    settings = {"model_type": family, "hidden_size": 64, "image_size": 4, "patch_size": 2,
                "num_attention_heads": 4, "num_hidden_layers": 1}  # fmt: skip
    files = folder(tmp_path, settings, {f"{family}.embeddings.position_embeddings":
                                        table(n_rows)[None]})  # fmt: skip
    [*texts] = [one.text for one in found(files) if one.rule == "rows"]
    end = " the 2 × 2 patches by image and patch size; the code of vit in transformers has 1 more."
    assert [text.split(" has ", 1)[1] for text in texts] == [said + end] * bool(said)


@pytest.mark.parametrize(("seed", "is_untrained"), [(1, True), (None, False)])
def test_a_table_of_random_numbers_looks_untrained(
    tmp_path: Path, seed: int | None, is_untrained: bool
) -> None:
    files = folder(tmp_path, BERT, {NAME: table(130, seed=seed)})
    said = {one.rule for one in found(files)}
    assert ("table-looks-untrained" in said) == is_untrained


@pytest.mark.parametrize(("base", "differs"), [(1e6, False), (1e4, True)])
def test_stored_frequencies_are_compared_with_the_settings(
    tmp_path: Path, base: float, differs: bool
) -> None:
    frequencies = torch.tensor(base, dtype=torch.float64) ** -(torch.arange(8) / 8)
    name = "model.layers.0.self_attn.rotary_emb.inv_freq"
    files = folder(tmp_path, LLAMA, {name: frequencies.float()})
    assert ("stored-frequencies-differ" in {one.rule for one in found(files)}) == differs


def projections(trained: str, *, noise: float = 0.5, n_keys: int = 2) -> dict[str, Any]:
    """Queries and keys of four layers whose pairs are complex numbers: a key is its query times
    one, and noise.
    """
    random = np.random.default_rng(1)

    def rows(pairs: Any) -> Any:
        parts = [pairs.real, pairs.imag]
        both = np.concatenate(parts, 1) if trained == "halves" else np.stack(parts, 2)
        return torch.from_numpy(both.reshape(-1, 64)).float()

    def complex_numbers(*shape: int) -> Any:
        return random.normal(size=shape) + 1j * random.normal(size=shape)

    tensors = {}
    for layer in range(4):
        queries = complex_numbers(4, 8, 64)
        keys = queries[:: 4 // n_keys] * complex_numbers(n_keys, 8, 1)
        name = f"model.layers.{layer}.self_attn"
        tensors[f"{name}.q_proj.weight"] = rows(queries)
        tensors[f"{name}.k_proj.weight"] = rows(keys + noise * complex_numbers(n_keys, 8, 64))
    return tensors


@pytest.mark.parametrize(
    ("trained", "settings", "level", "text"),
    [("halves", {}, "fact", "By the weights of queries and keys, the components of a rotation pair"
      " are half a head apart"),
     ("adjacent", {}, "error", "In the code of llama in transformers, the components of a rotation"
      " pair are half a head apart, but by the weights of queries and keys they are adjacent"),
     ("adjacent", {"rope_traditional": True}, "fact", "pair are adjacent"),
     ("halves", {"rope_traditional": True}, "error", "By rope_traditional, the components of a"
      " rotation pair are adjacent, but by the weights of queries and keys they are half"),
     ("adjacent", {"model_type": "cohere"}, "fact", "pair are adjacent")],
)  # fmt: skip
def test_weights_tell_which_components_were_trained_as_pairs(
    tmp_path: Path, trained: str, settings: Settings, level: str, text: str
) -> None:
    files = folder(tmp_path, {**LLAMA, **settings}, projections(trained))
    said = [one for one in found(files) if one.rule == "pair-order" and "sign test" in one.text]
    assert [one.level for one in said] == [level]
    assert text in said[0].text
    assert "comparisons in 4 layers say so" in said[0].text
    encodings = look_closely(files).all
    assert pair_order(files, encodings) == (trained, level == "error")


def test_weights_without_pairs_tell_no_order(tmp_path: Path) -> None:
    """Noise alone, heads of another size, and other shapes than those of matrices."""
    untrained = projections("halves", noise=1e3)
    cut = {name: values[:-3] for name, values in projections("halves").items()}
    flat = {name: values.reshape(-1) for name, values in projections("halves").items()}
    for index, tensors in enumerate((untrained, cut, flat)):
        files = folder(tmp_path / str(index), LLAMA, tensors)
        assert not [one for one in found(files) if one.rule == "pair-order"]
        assert pair_order(files, look_closely(files).all) == ("halves", False)


@pytest.mark.parametrize(
    ("end", "dtype", "said"),
    [("", torch.float8_e4m3fn, "F8_E4M3"), ("._data", torch.int8, "I8")],  # Of quanto.
)
def test_weights_of_a_type_that_is_not_read_tell_no_order(
    tmp_path: Path, end: str, dtype: torch.dtype, said: str
) -> None:
    stored = {f"{name}{end}": one.to(dtype) for name, one in projections("halves").items()}
    files = folder(tmp_path, LLAMA)
    save_file(stored, tmp_path / "model.safetensors")
    texts = [one.text for one in found(files) if one.rule == "pair-order"]
    not_read = "which this atlas does not read: the order of pairs is not checked."
    assert texts == [f"Queries and keys are stored as {said}, {not_read}"]


def test_an_order_that_nothing_tells_is_unknown_where_there_are_weights(tmp_path: Path) -> None:
    settings = {**LLAMA, "model_type": "cohere"}  # Its code turns neighbours in its own way.
    files = folder(tmp_path, settings, projections("halves", noise=1e3))
    [text] = [one.text for one in found(files) if one.rule == "pair-order"]
    assert "cannot be told from this file" in text
    assert "pair-order" not in rules(settings)


@pytest.mark.parametrize(
    ("model_type", "source", "orders"),
    [("llama", "a.gguf", [("gguf", "llama", "adjacent")]),
     ("qwen2", "a.gguf", [("gguf", "qwen2", "halves")]),
     ("of_nobody", "a.gguf", []), ("of_nobody", "config.json", []),
     ("llama", "params.json", [("params", "params.json", "adjacent")]),
     ("llama", "config.json", [("family", "llama", "halves")]),
     # Its code is modeling_deepseek.py.
     ("kimi_k2", "config.json", [("family", "kimi_k2", "adjacent")])],
)  # fmt: skip
def test_the_format_tells_which_components_its_program_turns_together(
    model_type: str, source: str, orders: list[tuple[str, str, str]]
) -> None:
    assert list(stated_orders(ModelConfig({"model_type": model_type}, "own", source))) == orders


@pytest.mark.parametrize("family", sorted(TURN_HALVES.difference(ENGINES, HALVES_BY_OTHER_CODE)))
def test_transformers_turns_halves_of_these_families(family: str) -> None:
    from transformers.models.auto.configuration_auto import model_type_to_module_name

    name = model_type_to_module_name(family)
    module = import_module(f"transformers.models.{name}.modeling_{name}")
    assert module.rotate_half(torch.arange(6.0)).tolist() == [-3.0, -4.0, -5.0, 0.0, 1.0, 2.0]


def test_of_a_file_without_a_context_nothing_is_said_of_it() -> None:
    """The config class has one, which is not of the file."""
    without = {name: value for name, value in LLAMA.items() if name != "max_position_embeddings"}
    assert rules({**without, "rope_theta": 100.0}) == {}
    assert "factor-times-original" not in rules(scaled(without, **YARN))
    assert "base-and-context" in rules({**LLAMA, "rope_theta": 100.0})


def test_a_head_without_a_part_for_rotation_has_no_factor_of_latent_attention() -> None:
    scaling = {**YARN, "mscale": 1.0, "mscale_all_dim": 1.0}
    text = rules(scaled({**LONG, "model_type": "deepseek_v2", "qk_rope_head_dim": 0}, **scaling))
    assert "all attention logits" not in text.get("magnitude", "")


def test_settings_in_two_places_are_in_the_order_of_their_names() -> None:
    section = {"rope_theta": 1e4, "partial_rotary_factor": 0.5, "rope_scaling_factor": 2.0}
    outer = {**LLAMA, "partial_rotary_factor": 1.0, "rope_scaling_factor": 1.0}
    files = ConfigAlone({**outer, "rope_parameters": section}, "own")
    texts = [one.text for one in found(files) if one.rule == "two-places"]
    assert len(texts) == 3
    assert texts == sorted(texts)


def test_kinds_of_scaling_that_are_no_words_are_no_two_words() -> None:
    sections = {"rope_scaling": {"type": [], "factor": 2.0}, "rope_parameters": {"rope_type": "x"}}
    assert "two-places" not in rules({**LLAMA, "rope_theta": 1e4, **sections})


def test_of_a_long_name_or_kind_a_sentence_has_the_beginning() -> None:
    for settings in ({"model_type": "x" * 9000}, {"rope_scaling": {"type": [0] * 9000}}):
        texts = [one.text for one in found(ConfigAlone({**LLAMA, **settings}, "own"))]
        assert texts
        assert max(map(len, texts)) < 1000


@pytest.mark.parametrize(("flags", "level"), [([], ["note"]), ([1, 1, 1, 0], [])])
def test_an_empty_list_of_layers_with_rotation_is_none(flags: list[int], level: list[str]) -> None:
    """Llama4TextConfig makes a list where none, or an empty one, is given."""
    settings = {**LLAMA, "model_type": "llama4_text", "no_rope_layers": flags}
    said = [one for one in found(ConfigAlone(settings, "own")) if "an empty list" in one.text]
    assert [one.level for one in said] == level


@pytest.mark.parametrize(("settings", "silent", "said"), [
    # As MiMo's, Bamba's, Ling's, PaddleOCR-VL's, Hymba's and Llama 4's files have them.
    ({"sliding_window": 8, "model_type": "mistral"}, {"attention_chunk_size": 8},
     {"attention_chunk_size": 16}),
    ({}, {"rotary_dim": 16}, {"rotary_dim": 8}),
    ({}, {"rope_is_neox_style": True}, {"use_3d_rope": True}),
    ({"head_dim": 16}, {"global_head_dim": 16}, {"global_head_dim": 32}),
    ({"model_type": "qwen3_vl_text", "head_dim": 16,
      "rope_scaling": {"rope_type": "default", "mrope_section": [3, 3, 2]}},
     {"use_3d_rope": True}, {"rotary_dim": 8}),
    ({"model_type": "llama4_text"}, {"nope_layer_interval": 4}, {"nope_layer_interval": 2}),
    ({}, {"add_swa_attention_sink_bias": True}, {"orig_max_position_embeddings": 32}),
])  # fmt: skip
def test_a_key_that_says_what_is_so_anyway_is_not_named(
    settings: Settings, silent: Settings, said: Settings
) -> None:
    assert "unread-key" not in rules({**LLAMA, **settings, **silent})
    assert next(iter(said)) in rules({**LLAMA, **settings, **said})["unread-key"]


def test_a_length_beside_a_kind_that_is_not_read_is_said_with_it() -> None:
    text = rules({**LLAMA, "rope_type": "ntk", "orig_max_position_embeddings": 32})["unread-key"]
    assert "rope_type" in text
    assert "orig_max" not in text


def test_a_scaling_is_named_by_the_settings_that_change_it() -> None:
    """llama.cpp and mlx-lm have 32 turns and 1 without these, and round always."""
    block = {**YARN, "beta_fast": 32, "beta_slow": 1, "attention_factor": 0.1 * np.log(4.0) + 1}
    text = rules(scaled(LONG, **block, truncate=False))["readers"]
    assert "From the scaling in config.json, transformers 5 takes truncate false, which is" in text
    assert "beta" not in text
    assert "factor" not in text


@pytest.mark.parametrize(("family", "is_named"), [
    ("mistral", True), ("starcoder2", True), ("olmo3", False)
])  # fmt: skip
def test_families_of_which_sglang_has_no_windows(family: str, is_named: bool) -> None:
    """RadixAttention gets no sliding_window_size in models/llama.py, starcoder2.py of 0.5.23."""
    text = rules({**LLAMA, "model_type": family, "sliding_window": 8}).get("readers", "")
    assert ("SGLang 0.5.23 give no layer a window" in text) == is_named


def test_of_published_models_few_have_a_warning() -> None:
    """None is known to be wrong; a rule that warns of many would be."""
    warned = {}
    for model in list(known_models())[::9]:
        every = found(model.files)
        if warnings := [one.text for one in every if one.level in ("error", "warning")]:
            warned[model.id] = warnings
    assert len(warned) <= 2, warned


@pytest.mark.parametrize(
    ("architecture", "base", "level", "said"),
    [("ernie4_5", None, "warning", "takes 10,000, as for every model; the config class of ernie4_5"
      " in transformers has 500,000."),
     # Of the layers that see all.
     ("gemma3", None, "warning", "takes 10,000, as for every model; the config class of gemma3_text"
      " in transformers has 1,000,000."),
     ("qwen2", None, "note", "x.gguf gives no base, so llama.cpp takes 10,000, as for every"
      " model."),
     ("ernie4_5", 10_000.0, None, ""), ("gpt2", None, None, "")],
)  # fmt: skip
def test_a_base_that_a_gguf_file_leaves_out(
    architecture: str, base: float | None, level: str | None, said: str, tmp_path: Path
) -> None:
    sizes = {"block_count": 12, "embedding_length": 64, "attention.head_count": 4}
    given = {"context_length": 256, "attention.sliding_window": 32, **sizes}
    write(tmp_path / "x.gguf", architecture, given | ({"rope.freq_base": base} if base else {}))
    files = FolderFiles(tmp_path, "own", Choice(name="x.gguf"))
    of_base = [one for one in found(files) if one.rule == "missing-base"]
    assert [one.level for one in of_base] == ([level] if level else [])
    assert all(one.text.endswith(said) for one in of_base)


def test_every_rule_has_its_words_and_a_case() -> None:
    tried = {rule for rule, *_ in CASES}
    apart = {
        "lengths", "rows", "table-looks-untrained", "stored-frequencies-differ", "missing-base",
    }  # fmt: skip
    assert {rule.key for rule in lint.all_rules()} == tried | apart
    for rule in lint.all_rules():
        assert all(kind in rule.wording for kind in rule.levels)
        for name in ("title", "looks_for", "why", "mend", "example"):
            assert rule.wording(name)
        assert rule.wording("thread").startswith("https://github.com/")
