"""The settings of GGUF files: those that the converter of llama.cpp writes for published configs say the same as these do."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import CONFIG_MAPPING
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.formats.gguf import families
from generator.checkpoints.files.formats.gguf.header import Header, Span, Unread
from generator.checkpoints.files.formats.gguf.rope import recognised
from generator.checkpoints.files.formats.gguf.settings import NAMES, config
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Encoding, Files, Layer, ModelConfig
from generator.encodings import Form, Rotation
from generator.errors import RowError
from generator.pipeline import evaluate
from tests.built import ROOT
from tests.gguf_files import write
from tests.synthetic import write_folder

CONFIGS = ROOT / "benchmarks/configs"
Settings = dict[str, Any]
# Names of settings in published configs, in the order in which the converter looks for them (conversion/base.py of llama.cpp).
ASKED = {
    "block_count": ("num_hidden_layers", "n_layers", "n_layer", "num_layers"),
    "context_length": (
        "max_position_embeddings",
        "n_ctx",
        "n_positions",
        "max_length",
        "max_sequence_length",
        "model_max_length",
        "max_seq_len",
    ),
    "embedding_length": ("hidden_size", "n_embd", "dim", "d_model"),
    "attention.head_count": ("num_attention_heads", "n_head", "n_heads"),
    "attention.head_count_kv": ("num_key_value_heads", "n_kv_heads"),
    "attention.layer_norm_rms_epsilon": ("rms_norm_eps",),
    "attention.layer_norm_epsilon": ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"),
    "attention.key_length": ("head_dim",),
    "vocab_size": ("vocab_size",),
}


def published(name: str) -> Settings:
    """A published config."""
    settings: Settings = json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))["config"]
    return settings


def completed(config: Settings) -> Settings:
    """What the converter reads: the text model's part, with the defaults of transformers."""
    inner = config.get("text_config", config)
    if inner["model_type"] not in CONFIG_MAPPING:
        return {**inner, "rope_parameters": {**(inner.get("rope_scaling") or {}), "rope_theta": inner.get("rope_theta")}}
    return {**inner, **CONFIG_MAPPING[inner["model_type"]].from_dict(dict(inner)).to_dict()}


def general(config: Settings) -> Settings:
    """What the converter writes for every family."""
    found = {key: next((config[name] for name in names if config.get(name) is not None), None) for key, names in ASKED.items()}
    rope: Settings = config.get("rope_parameters") or {}
    full: Settings = rope.get("full_attention", rope)
    settings = {key: value for key, value in found.items() if value is not None and not isinstance(value, list)}
    if full.get("rope_theta") is not None:
        settings["rope.freq_base"] = float(full["rope_theta"])
    if (local := rope.get("sliding_attention", {}).get("rope_theta")) is not None:
        settings["rope.freq_base_swa"] = float(local)
    if full.get("rope_type") in ("linear", "yarn"):
        settings |= {"rope.scaling.type": full["rope_type"], "rope.scaling.factor": float(full["factor"])}
    if full.get("rope_type") == "yarn":
        settings["rope.scaling.original_context_length"] = full["original_max_position_embeddings"]
        settings |= {f"rope.scaling.yarn_{name}": float(full[name]) for name in ("beta_fast", "beta_slow") if full.get(name) is not None}
    if sections := rope.get("mrope_section"):
        settings["rope.dimension_sections"] = [*sections, 0]
    return settings


def head_dim(config: Settings) -> int:
    return int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"])


def share(config: Settings) -> float:
    return float(config["rope_parameters"].get("partial_rotary_factor") or config.get("partial_rotary_factor") or 1.0)


def as_llama(config: Settings) -> Settings:
    return {"rope.dimension_count": head_dim(config)}


def as_part(config: Settings) -> Settings:
    return {"rope.dimension_count": int(share(config) * head_dim(config))}


def windowed(config: Settings) -> Settings:
    return {"attention.sliding_window": config["sliding_window"]} if config.get("sliding_window") else {}


def with_pattern(config: Settings) -> Settings:
    return {**windowed(config), "attention.sliding_window_pattern": [kind == "sliding_attention" for kind in config["layer_types"]]}


def as_phi3(config: Settings) -> Settings:
    trained, context = config["original_max_position_embeddings"], config["max_position_embeddings"]
    longer = math.sqrt(1 + math.log(context / trained) / math.log(trained)) if context > trained else 1.0
    factor = {"rope.scaling.attn_factor": longer} if config["rope_parameters"].get("long_factor") else {}
    turned = {"rope.dimension_count": int(share(config) * config["hidden_size"]) // config["num_attention_heads"]}
    return {
        **turned,
        "rope.scaling.original_context_length": trained,
        "attention.sliding_window": config.get("sliding_window") or 0,
        **factor,
    }


def as_deepseek(config: Settings) -> Settings:
    turned, beside = config["qk_rope_head_dim"], config["qk_nope_head_dim"]
    scale = config["rope_parameters"].get("mscale_all_dim")
    return {
        "rope.dimension_count": turned,
        "attention.key_length": config["kv_lora_rank"] + turned,
        "attention.key_length_mla": turned + beside,
        "attention.kv_lora_rank": config["kv_lora_rank"],
        "expert_gating_func": 2 if config["model_type"] == "deepseek_v3" else 1,
        **({"rope.scaling.yarn_log_multiplier": 0.1 * scale} if scale else {}),
    }


def as_deci(config: Settings) -> Settings:
    attentions = [block["attention"] for block in config["block_configs"]]
    heads = [0 if own["no_op"] else config["num_attention_heads"] // own["n_heads_in_group"] for own in attentions]
    return {"attention.head_count_kv": heads, "rope.dimension_count": head_dim(config)}


def as_mistral3(config: Settings) -> Settings:
    rope = config["rope_parameters"]
    return {"attention.temperature_scale": rope["llama_4_scaling_beta"], "rope.scaling.yarn_log_multiplier": rope["mscale_all_dim"]}


def as_mpt(config: Settings) -> Settings:
    attention = config["attn_config"]
    return {"attention.max_alibi_bias": float(attention.get("alibi_bias_max", 8)) if attention["alibi"] else 0.0}


def as_gemma4(config: Settings) -> Settings:
    return {
        **with_pattern(config),
        "attention.key_length": config["global_head_dim"],
        "attention.key_length_swa": config["head_dim"],
        "rope.dimension_count": config["global_head_dim"],
        "rope.dimension_count_swa": config["head_dim"],
    }


def nothing(_: Settings) -> Settings:
    return {}


# Architecture, and what the converter writes beside the general settings.
MODELS: dict[str, tuple[str, Callable[[Settings], Settings]]] = {
    "HuggingFaceTB--SmolLM2-135M-Instruct": ("llama", as_llama),
    "HuggingFaceTB--SmolLM3-3B": ("smollm3", as_llama),
    "LGAI-EXAONE--EXAONE-3.5-7.8B-Instruct": ("exaone", nothing),
    "LGAI-EXAONE--EXAONE-4.0-32B": ("exaone4", with_pattern),
    "Qwen--Qwen2.5-3B-Instruct": ("qwen2", nothing),
    "Qwen--Qwen2-VL-7B-Instruct": ("qwen2vl", nothing),
    "Qwen--Qwen3-8B": ("qwen3", nothing),
    "Qwen--Qwen3-30B-A3B": ("qwen3moe", nothing),
    "Qwen--Qwen3-VL-8B-Instruct": ("qwen3vl", nothing),
    "EleutherAI--pythia-160m": ("gptneox", as_part),
    "allenai--OLMo-2-1124-7B": ("olmo2", nothing),
    "bigscience--bloom-560m": ("bloom", nothing),
    "deepseek-ai--DeepSeek-V2-Lite": ("deepseek2", as_deepseek),
    "deepseek-ai--DeepSeek-V3": ("deepseek2", as_deepseek),
    "google--gemma-2b": ("gemma", nothing),
    "google--gemma-2-9b": ("gemma2", windowed),
    "google--gemma-3-1b-it": ("gemma3", windowed),
    "google--gemma-3-27b-it": ("gemma3", windowed),
    "google--gemma-4-26B-A4B": ("gemma4", as_gemma4),
    "jinaai--jina-embeddings-v2-base-en": ("jina-bert-v2", lambda _: {"attention.causal": False}),
    "meta-llama--Llama-2-7b-hf": ("llama", as_llama),
    "meta-llama--Llama-3.1-8B-Instruct": ("llama", as_llama),
    "meta-llama--Llama-3.2-1B-Instruct": ("llama", as_llama),
    "meta-llama--Llama-4-Scout-17B-16E-Instruct": ("llama4", as_llama),
    "microsoft--Phi-3-mini-4k-instruct": ("phi3", as_phi3),
    "microsoft--Phi-3-mini-128k-instruct": ("phi3", as_phi3),
    "microsoft--Phi-4-mini-instruct": ("phi3", as_phi3),
    "microsoft--phi-2": ("phi2", as_part),
    "mosaicml--mpt-7b": ("mpt", as_mpt),
    "nomic-ai--nomic-embed-text-v1.5": ("nomic-bert", lambda _: {"attention.causal": False, "context_length": 8192}),
    "openai--gpt-oss-20b": ("gpt-oss", windowed),
    "stabilityai--stablelm-3b-4e1t": ("stablelm", as_part),
    "state-spaces--mamba-130m-hf": ("mamba", lambda _: {"attention.head_count": 0}),
    "swiss-ai--Apertus-8B-2509": ("apertus", nothing),
    "tiiuae--falcon-7b": ("falcon", lambda _: {"context_length": 2048}),
    "answerdotai--ModernBERT-base": (
        "modern-bert",
        lambda _: {"attention.causal": False, "attention.sliding_window": 128, "attention.sliding_window_pattern": 3},
    ),
    "baichuan-inc--Baichuan-7B": ("baichuan", as_llama),
    "baichuan-inc--Baichuan-13B-Base": ("baichuan", as_llama),
    "CohereLabs--c4ai-command-r-v01": ("command-r", nothing),
    "CohereLabs--c4ai-command-r7b-12-2024": ("cohere2", windowed),
    "THUDM--glm-4-9b-chat": (
        "chatglm",
        lambda config: {
            "rope.dimension_count": 64,
            "context_length": config["seq_length"],
            "block_count": 40,
            "rope.freq_base": 10_000.0 * config["rope_ratio"],
        },
    ),
    "mistralai--Ministral-3-3B-Reasoning-2512": ("mistral3", as_mistral3),
    "LiquidAI--LFM2-1.2B": (
        "lfm2",
        lambda config: {"attention.head_count_kv": [8 if kind == "full_attention" else 0 for kind in config["layer_types"]]},
    ),
    "nvidia--Llama-3_3-Nemotron-Super-49B-v1": ("deci", as_deci),
    "microsoft--phi-4": ("phi3", as_phi3),
    "openbmb--MiniCPM-2B-sft-bf16": ("minicpm", as_llama),
    "Qwen--Qwen3-Next-80B-A3B-Thinking": ("qwen3next", as_part),
    "google-bert--bert-base-uncased": ("bert", lambda _: {"attention.causal": False}),
    "zai-org--GLM-4.5-Air": ("glm4moe", as_part),
}


def factors(config: Settings, architecture: str) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors in which the converter stores a scaling; Llama 3's by its definition (transformers, modeling_rope_utils)."""
    rope = config.get("rope_parameters") or {}
    if architecture == "gemma4":
        n_pairs, n_turned = config["global_head_dim"] // 2, int(0.25 * config["global_head_dim"] / 2)
        return {"rope_freqs.weight": np.array([1.0] * n_turned + [1e30] * (n_pairs - n_turned), dtype=np.float32)}
    if rope.get("long_factor"):
        return {f"rope_factors_{name}.weight": np.array(rope[f"{name}_factor"], dtype=np.float32) for name in ("long", "short")}
    if rope.get("rope_type") != "llama3":
        return {}
    frequencies = float(rope["rope_theta"]) ** -(np.arange(0, head_dim(config), 2, dtype=np.float32) / head_dim(config))
    stored = []
    for wavelength in 2 * math.pi / frequencies:
        smooth = 0.0
        if wavelength < 8192 / rope["high_freq_factor"]:
            stored.append(1.0)
        elif wavelength > 8192 / rope["low_freq_factor"]:
            stored.append(rope["factor"])
        else:
            smooth = (8192 / wavelength - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"])
            stored.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return {"rope_freqs.weight": np.array(stored, dtype=np.float32)}


def converted(name: str, tmp_path: Path) -> Files:
    """A GGUF file without layers, as the converter makes it of a published config."""
    architecture, own = MODELS[name]
    config = completed(published(name))
    path = write(tmp_path / "x.gguf", architecture, {**general(config), **own(config)}, factors(config, architecture))
    return FolderFiles(Folder(tmp_path, "here", named=path.name), "here", Choice(name=path.name))


def own_files(name: str, tmp_path: Path) -> Files:
    """The published config itself, of the text model."""
    config = published(name)
    text = {key: value for key, value in config.get("text_config", config).items() if key != "vision_config"}
    return FolderFiles(write_folder(tmp_path / "published", {"config.json": json.dumps(text).encode()}), "here")


def told(encoding: Encoding[Form]) -> Any:
    return encoding.part, encoding.scheme, type(encoding.form).__name__, encoding.stack, encoding.layers, encoding.modality


@pytest.mark.parametrize("name", MODELS)
def test_a_converted_config_has_the_encodings_of_the_published_one(name: str, tmp_path: Path) -> None:
    of_gguf, of_json = evaluate.find(converted(name, tmp_path)), evaluate.find(own_files(name, tmp_path))
    assert list(map(told, of_gguf)) == list(map(told, of_json))
    for own, other in zip(of_gguf, of_json, strict=True):
        assert own.form.extent == other.form.extent
        if isinstance(own.form, Rotation) and isinstance(other.form, Rotation):
            np.testing.assert_allclose(own.form.frequencies, other.form.frequencies, rtol=1e-5)
            assert (own.form.base, own.form.rotary_dim, own.form.head_dim, own.form.window, own.form.rope_type) == (
                other.form.base, other.form.rotary_dim, other.form.head_dim, other.form.window, other.form.rope_type,
            )  # fmt: skip
            assert math.isclose(own.form.attention_factor, other.form.attention_factor, rel_tol=1e-6)
        else:
            np.testing.assert_allclose(own.form.numbers, other.form.numbers, rtol=1e-6)


def kinds(files: Files) -> list[Layer]:
    """The layers, without what acts in them."""
    return [replace(layer, encodings=None) for layer in layer_map(files, [])]


@pytest.mark.parametrize("name", MODELS)
def test_a_converted_config_has_the_layers_of_the_published_one(name: str, tmp_path: Path) -> None:
    of_gguf, of_json = converted(name, tmp_path), own_files(name, tmp_path)
    assert kinds(of_gguf) == kinds(of_json)


# Architectures of which transformers reads the settings, and what a file of each says.
SMALL = {"block_count": 6, "context_length": 256, "embedding_length": 64, "attention.head_count": 4, "attention.head_count_kv": 2}
ROTARY = {**SMALL, "rope.freq_base": 50_000.0, "feed_forward_length": 96, "attention.layer_norm_rms_epsilon": 1e-6, "vocab_size": 100}
WIDE_HEADS = {**ROTARY, "attention.key_length": 32}
READ_BY_TRANSFORMERS: dict[str, Settings] = {
    "llama": {**ROTARY, "rope.dimension_count": 16},
    "qwen2": ROTARY,
    "qwen2moe": ROTARY,
    "qwen3": ROTARY,
    "qwen3moe": WIDE_HEADS,
    "falcon": ROTARY,
    "phi3": {**ROTARY, "rope.dimension_count": 16, "attention.sliding_window": 0},
    "bloom": {**SMALL, "vocab_size": 100},
    "t5": {**SMALL, "attention.key_length": 16, "attention.relative_buckets_count": 16, "vocab_size": 100},
    "stablelm": {**SMALL, "rope.dimension_count": 4, "vocab_size": 100},
    "gpt2": {**SMALL, "vocab_size": 100},
    "starcoder2": SMALL,
    "mamba": {**SMALL, "vocab_size": 100},
    "nemotron": {**ROTARY, "rope.dimension_count": 8},
    "gemma2": {**WIDE_HEADS, "attention.sliding_window": 32},
    "gemma3": {**WIDE_HEADS, "attention.sliding_window": 32},
    "gpt-oss": ROTARY,
    "lfm2": {**ROTARY, "attention.head_count_kv": [0, 0, 2, 0, 0, 2]},
    "minimax-m2": {**WIDE_HEADS, "rope.dimension_count": 16},
}
COMPARED = ("num_hidden_layers", "hidden_size", "num_attention_heads", "max_position_embeddings", "vocab_size", "head_dim")
NOT_COMPARED = {"gpt2": {"max_position_embeddings"}}  # transformers 5 has it as n_ctx, which its config class ignores.


@pytest.mark.parametrize("architecture", READ_BY_TRANSFORMERS)
def test_sizes_are_those_that_transformers_reads(architecture: str, tmp_path: Path) -> None:
    given = {**READ_BY_TRANSFORMERS[architecture], "general.name": "small", "tokenizer.ggml.tokens": [str(index) for index in range(100)]}
    path = write(tmp_path / "x.gguf", architecture, given, {"output.weight": np.zeros((2, 2), dtype=np.float32)})
    theirs = dict(load_gguf_checkpoint(path)["config"])
    ours = FolderFiles(Folder(tmp_path, "here"), "here").config
    assert ours.family == theirs["model_type"]
    their_class = CONFIG_MAPPING[ours.family].from_dict(theirs)
    our_class = CONFIG_MAPPING[ours.family].from_dict(dict(ours.settings))
    for name in COMPARED:
        if name not in NOT_COMPARED.get(architecture, ()) and hasattr(their_class, name):
            assert getattr(our_class, name) == getattr(their_class, name), name
    if "rope.freq_base" in given and architecture != "gemma3":
        assert our_class.rope_parameters["rope_theta"] == their_class.rope_parameters["rope_theta"] == 50_000.0
    assert getattr(our_class, "layer_types", None) == getattr(their_class, "layer_types", None)


def settings_of(tmp_path: Path, architecture: str, given: Settings, tensors: dict[str, Any] | None = None) -> ModelConfig:
    """The config that a file says."""
    write(tmp_path / "x.gguf", architecture, given, tensors)
    return FolderFiles(Folder(tmp_path, "here"), "here").config


def test_an_unknown_architecture_keeps_its_name_and_its_sizes(tmp_path: Path) -> None:
    config = settings_of(tmp_path, "unheard-of", {**ROTARY, "rope.dimension_count": 8})
    assert (config.family, config.size("d_model"), config.size("n_layers"), config.size("n_positions")) == ("unheard-of", 64, 6, 256)
    [encoding] = evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))
    assert isinstance(encoding.form, Rotation)
    assert (encoding.form.base, encoding.form.rotary_dim, encoding.form.head_dim) == (50_000.0, 8, 16)


def test_a_file_without_an_architecture_has_no_model_type(tmp_path: Path) -> None:
    config = settings_of(tmp_path, "", {"tokenizer.ggml.tokens": ["a", "b"]})
    assert (config.family, config.size("vocab_size")) == ("unknown", 2)


def test_numbers_of_heads_by_layer_count_as_the_largest(tmp_path: Path) -> None:
    config = settings_of(tmp_path, "openelm", {**SMALL, "attention.head_count": [4, 8, 6], "attention.head_count_kv": [1, 2, 2]})
    assert (config.size("n_heads"), config.value("num_key_value_heads")) == (8, 2)


def test_the_vocabulary_is_that_of_the_tokens_or_else_of_the_word_table(tmp_path: Path) -> None:
    words = {"token_embd.weight": np.zeros((7, 4), dtype=np.float32)}
    assert settings_of(tmp_path, "llama", {}, words).size("vocab_size") == 7
    assert settings_of(tmp_path, "llama", {"tokenizer.ggml.tokens": ["a"] * 5}, words).size("vocab_size") == 5


def test_the_former_name_of_linear_scaling_is_read(tmp_path: Path) -> None:
    rope = settings_of(tmp_path, "llama", {**ROTARY, "rope.scale_linear": 4.0}).rope
    assert (rope.value("rope_type"), rope.value("factor")) == ("linear", 4.0)


def test_a_tokenizer_in_the_file_is_read(tmp_path: Path) -> None:
    write(tmp_path / "x.gguf", "llama", {"tokenizer.huggingface.json": '{"version": "1.0"}'})
    assert FolderFiles(Folder(tmp_path, "here"), "here").read("tokenizer.json") == b'{"version": "1.0"}'


def test_a_t5_with_a_bias_in_every_layer_is_umt5(tmp_path: Path) -> None:
    bias = np.zeros((32, 4), dtype=np.float32)
    tensors = {f"{stack}.blk.{layer}.attn_rel_b.weight": bias for stack in ("enc", "dec") for layer in range(2)}
    assert settings_of(tmp_path, "t5", SMALL, tensors).family == "umt5"
    parts = [encoding.part for encoding in evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))]
    assert parts == ["encoder layer 0", "encoder layer 1", "decoder layer 0", "decoder layer 1"]


def test_the_encoder_of_a_t5_alone_is_an_encoder(tmp_path: Path) -> None:
    write(tmp_path / "x.gguf", "t5encoder", SMALL, {"enc.blk.0.attn_rel_b.weight": np.zeros((32, 4), dtype=np.float32)})
    [encoding] = evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))
    assert (encoding.part, encoding.stack, encoding.scheme) == ("encoder", "encoder", "t5_bias")


# Scaling of Llama 3 (factor, low, high, context before), of which other edges with another context make the same factors.
SCALED = {
    "Llama 3.1": (8.0, 1.0, 4.0, 8192, 64),
    "Llama 3.2": (32.0, 1.0, 4.0, 8192, 32),
    "Llama 4": (16.0, 1.0, 1.0, 8192, 64),
    "another": (5.0, 1.5, 6.0, 4096, 64),
}


@pytest.mark.parametrize(("factor", "low", "high", "trained", "n_pairs"), SCALED.values(), ids=SCALED)
def test_stored_factors_of_llama_3_are_recognised(factor: float, low: float, high: float, trained: int, n_pairs: int) -> None:
    parameters = {"rope_type": "llama3", "factor": factor, "low_freq_factor": low, "high_freq_factor": high}
    given = Rotation(500_000.0, 2 * n_pairs, 2 * n_pairs, 131_072, {**parameters, "original_max_position_embeddings": trained})
    stored = np.asarray(given.unscaled_frequencies / given.frequencies, dtype=np.float32).astype(np.float64)
    stored[np.abs(stored - 1.0) < 1e-6] = 1.0  # The converter writes 1 for these.
    found = recognised(stored, 500_000.0, 8192)
    assert found["rope_type"] == "llama3"
    np.testing.assert_allclose(Rotation(500_000.0, 2 * n_pairs, 2 * n_pairs, 131_072, found).frequencies, given.frequencies, rtol=2e-5)
    if trained == 8192:
        assert {key: found[key] for key in parameters} == {**parameters, "factor": pytest.approx(factor, rel=1e-6)}


def test_factors_that_no_rule_explains_are_taken_as_they_are(tmp_path: Path) -> None:
    stored = np.random.default_rng(0).uniform(1.0, 9.0, 8).astype(np.float32)
    write(tmp_path / "x.gguf", "llama", {**ROTARY, "rope.dimension_count": 16}, {"rope_freqs.weight": stored})
    [encoding] = evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))
    assert isinstance(encoding.form, Rotation)
    assert encoding.form.rope_type == "stored"
    np.testing.assert_allclose(encoding.form.frequencies * stored, 50_000.0 ** -(np.arange(8) / 8), rtol=1e-12)
    assert encoding.notes[0].startswith("The frequency of each pair is divided by its factor in rope_freqs.weight; all 16 components")


def test_factors_of_1_are_no_scaling(tmp_path: Path) -> None:
    rope = settings_of(tmp_path, "llama", ROTARY, {"rope_freqs.weight": np.ones(8, dtype=np.float32)}).rope
    assert rope.value("rope_type") == "default"


@pytest.mark.parametrize("shape", [(0,), (2, 2), (2**16 + 1,)])
def test_factors_of_another_shape_are_refused(shape: tuple[int, ...], tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"rope_freqs.weight has shape .*; expected a number for each pair of a rotation"):
        settings_of(tmp_path, "llama", ROTARY, {"rope_freqs.weight": np.ones(shape, dtype=np.float32)})


def test_as_many_factors_as_pairs_are_demanded(tmp_path: Path) -> None:
    stored = np.linspace(1.0, 3.0, 5, dtype=np.float32)
    write(tmp_path / "x.gguf", "llama", {**ROTARY, "rope.dimension_count": 16}, {"rope_freqs.weight": stored})
    [encoding] = evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))
    with pytest.raises(RowError, match="expected a positive number for each of 8 pairs"):
        assert encoding.form.numbers.size


KEYS = [
    *sorted({*NAMES, *(key for names in families.OWN_NAMES.values() for key in names)}),
    "attention.causal", "attention.max_alibi_bias", "attention.q_lora_rank", "attention.key_length_mla", "attention.sliding_window_pattern",
    "attention.temperature_scale", "expert_gating_func", "rope.dimension_count", "rope.dimension_sections", "rope.freq_base",
    "rope.freq_base_swa", "rope.scale_linear", "rope.scaling.attn_factor", "rope.scaling.factor", "rope.scaling.original_context_length",
    "rope.scaling.type", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_log_multiplier",
]  # fmt: skip
scalars = st.one_of(st.booleans(), st.integers(-(2**63), 2**64), st.floats(), st.sampled_from(["", "linear", "yarn", "longrope", "none"]))
lists = st.one_of(st.lists(st.integers(-9, 9), max_size=4), st.lists(st.floats(), max_size=4), st.lists(st.booleans(), max_size=4)).map(
    tuple
)
any_settings = st.dictionaries(st.sampled_from(KEYS), st.one_of(scalars, lists, st.builds(Unread, st.integers(0, 9))))
ARCHITECTURES = sorted({*families.MODEL_TYPES, *families.OWN, *families.OWN_NAMES, *families.BY_KIND, "llama", "qwen2"})


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(ARCHITECTURES), any_settings, st.lists(st.floats(), min_size=1, max_size=9), st.booleans())
def test_settings_of_any_value_make_a_config(architecture: str, given: Settings, numbers: list[float], is_short: bool) -> None:
    names = ("rope_factors_short.weight", "rope_factors_long.weight") if is_short else ("rope_freqs.weight",)
    spans = {name: Span("F32", (len(numbers),), 0, 0) for name in names}
    keys = {"general.architecture": architecture, **{f"{architecture}.{key}": value for key, value in given.items()}}
    made = config(Header(keys, spans), lambda _: np.array(numbers))
    assert isinstance(json.loads(json.dumps(made)), dict)


def test_an_unknown_kind_of_scaling_is_no_rotation_without_one(tmp_path: Path) -> None:
    write(tmp_path / "x.gguf", "llama", {**ROTARY, "rope.scaling.type": "unheard of", "rope.scaling.factor": 2.0})
    [encoding] = evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))
    with pytest.raises(RowError, match="rotary scaling is of the kind 'unheard of'"):
        assert encoding.form.numbers.size


def test_two_scalings_at_once_are_refused(tmp_path: Path) -> None:
    given = {**ROTARY, "rope.scaling.type": "linear", "rope.scaling.factor": 2.0, "rope.dimension_count": 16}
    write(tmp_path / "x.gguf", "llama", given, {"rope_freqs.weight": np.linspace(1.0, 9.0, 8, dtype=np.float32)})
    [encoding] = evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))
    with pytest.raises(RowError, match="rotary scaling is of the kind 'linear and stored'"):
        assert encoding.form.numbers.size


def test_settings_within_a_file_of_weights_are_said_to_come_from_it(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", "llama", ROTARY)
    [encoding] = evaluate.find(FolderFiles(Folder(tmp_path, "here"), "here"))
    assert encoding.provenance.file == "model.gguf"
    assert encoding.notes[0] == "No tensor holds it; all 16 components of each query and key head are turned, as model.gguf says."


def test_a_config_that_a_row_gives_takes_the_place_of_the_settings_within_a_file(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf", "llama", ROTARY)
    given = json.dumps({"model_type": "gpt2", "n_positions": 8})
    config = FolderFiles(Folder(tmp_path, "here"), "here", Choice(name="model.gguf"), config=given).config
    assert (config.family, config.source) == ("gpt2", "config.json")
