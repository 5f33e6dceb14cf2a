"""Published configs: what the converter of llama.cpp makes of them says the same as they do."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import CONFIG_MAPPING

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Encoding, Files, Layer
from generator.encodings import Form, Rotation
from generator.reading.find import find
from tests.built import ROOT
from tests.gguf_files import write
from tests.synthetic import write_folder

CONFIGS = ROOT / "generator/encyclopedia/models"
Settings = dict[str, Any]
# Names of settings in published configs, in the order in which the converter looks for them
# (conversion/base.py of llama.cpp).
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
    settings = json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))["config"]
    return dict(settings)


def completed(config: Settings) -> Settings:
    """What the converter reads: the text model's part, with the defaults of transformers."""
    inner = config.get("text_config", config)
    if inner["model_type"] not in CONFIG_MAPPING:
        rope = {**(inner.get("rope_scaling") or {}), "rope_theta": inner.get("rope_theta")}
        return {**inner, "rope_parameters": rope}
    whole = CONFIG_MAPPING[inner["model_type"]].from_dict(dict(inner)).to_dict()
    return {**inner, **whole, **whole.get("text_config", {})}


def general(config: Settings) -> Settings:
    """What the converter writes for every family."""
    found = {
        key: next((config[name] for name in names if config.get(name) is not None), None)
        for key, names in ASKED.items()
    }
    rope: Settings = config.get("rope_parameters") or {}
    full: Settings = rope.get("full_attention", rope)
    plain = (int, float, str)
    settings: Settings = {key: value for key, value in found.items() if isinstance(value, plain)}
    if full.get("rope_theta") is not None:
        settings["rope.freq_base"] = float(full["rope_theta"])
    if (local := rope.get("sliding_attention", {}).get("rope_theta")) is not None:
        settings["rope.freq_base_swa"] = float(local)
    if full.get("rope_type") in ("linear", "yarn"):
        settings["rope.scaling.type"] = full["rope_type"]
        settings["rope.scaling.factor"] = float(full["factor"])
    if full.get("rope_type") == "yarn":
        settings["rope.scaling.original_context_length"] = full["original_max_position_embeddings"]
        for name in ("beta_fast", "beta_slow"):
            if full.get(name) is not None:
                settings[f"rope.scaling.yarn_{name}"] = float(full[name])
    if sections := rope.get("mrope_section"):
        settings["rope.dimension_sections"] = [*sections, 0]
    return settings


def head_dim(config: Settings) -> int:
    return int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"])


def share(config: Settings) -> float:
    given = (config["rope_parameters"], config)
    return float(next(filter(None, (each.get("partial_rotary_factor") for each in given)), 1.0))


def as_llama(config: Settings) -> Settings:
    return {"rope.dimension_count": head_dim(config)}


def as_part(config: Settings) -> Settings:
    return {"rope.dimension_count": int(share(config) * head_dim(config))}


def windowed(config: Settings) -> Settings:
    window = config.get("sliding_window")
    return {"attention.sliding_window": window} if window else {}


def with_pattern(config: Settings) -> Settings:
    pattern = [kind == "sliding_attention" for kind in config["layer_types"]]
    return {**windowed(config), "attention.sliding_window_pattern": pattern}


def as_phi3(config: Settings) -> Settings:
    trained, context = config["original_max_position_embeddings"], config["max_position_embeddings"]
    settings: Settings = {
        "rope.dimension_count": (
            int(share(config) * config["hidden_size"]) // config["num_attention_heads"]
        ),
        "rope.scaling.original_context_length": trained,
        "attention.sliding_window": config.get("sliding_window") or 0,
    }
    if config["rope_parameters"].get("long_factor"):
        longer = max(math.log(context / trained), 0.0) / math.log(trained)
        settings["rope.scaling.attn_factor"] = math.sqrt(1 + longer)
    return settings


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
    heads = [
        0 if own["no_op"] else config["num_attention_heads"] // own["n_heads_in_group"]
        for own in attentions
    ]
    return {"attention.head_count_kv": heads, "rope.dimension_count": head_dim(config)}


def as_mistral3(config: Settings) -> Settings:
    rope = config["rope_parameters"]
    return {
        "attention.temperature_scale": rope["llama_4_scaling_beta"],
        "rope.scaling.yarn_log_multiplier": rope["mscale_all_dim"],
    }


def as_mpt(config: Settings) -> Settings:
    attention = config["attn_config"]
    most = float(attention.get("alibi_bias_max", 8)) if attention["alibi"] else 0.0
    return {"attention.max_alibi_bias": most}


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
    "nomic-ai--nomic-embed-text-v1.5": (
        "nomic-bert",
        lambda _: {"attention.causal": False},
    ),
    "openai--gpt-oss-20b": ("gpt-oss", windowed),
    "stabilityai--stablelm-3b-4e1t": ("stablelm", as_part),
    "state-spaces--mamba-130m-hf": ("mamba", lambda _: {"attention.head_count": 0}),
    "swiss-ai--Apertus-8B-2509": ("apertus", nothing),
    "tiiuae--falcon-7b": ("falcon", lambda _: {"context_length": 2048}),
    "answerdotai--ModernBERT-base": (
        "modern-bert",
        lambda _: {
            "attention.causal": False,
            "attention.sliding_window": 128,
            "attention.sliding_window_pattern": 3,
        },
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
        lambda config: {
            "attention.head_count_kv": [
                8 if kind == "full_attention" else 0 for kind in config["layer_types"]
            ]
        },
    ),
    "nvidia--Llama-3_3-Nemotron-Super-49B-v1": ("deci", as_deci),
    "microsoft--phi-4": ("phi3", as_phi3),
    "openbmb--MiniCPM-2B-sft-bf16": ("minicpm", as_llama),
    "Qwen--Qwen3-Next-80B-A3B-Thinking": ("qwen3next", as_part),
    "google-bert--bert-base-uncased": ("bert", lambda _: {"attention.causal": False}),
    "zai-org--GLM-4.5-Air": ("glm4moe", as_part),
}


def factors(config: Settings, architecture: str) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors in which the converter stores a scaling; Llama 3's by its definition
    (transformers, modeling_rope_utils).
    """
    rope = config.get("rope_parameters") or {}
    if architecture == "gemma4":
        n_pairs, n_turned = (
            config["global_head_dim"] // 2,
            int(0.25 * config["global_head_dim"] / 2),
        )
        return {
            "rope_freqs.weight": np.array(
                [1.0] * n_turned + [1e30] * (n_pairs - n_turned), dtype=np.float32
            )
        }
    if rope.get("long_factor"):
        return {
            f"rope_factors_{name}.weight": np.array(rope[f"{name}_factor"], dtype=np.float32)
            for name in ("long", "short")
        }
    if rope.get("rope_type") != "llama3":
        return {}
    frequencies = float(rope["rope_theta"]) ** -(
        np.arange(0, head_dim(config), 2, dtype=np.float32) / head_dim(config)
    )
    stored = []
    for wavelength in 2 * math.pi / frequencies:
        smooth = 0.0
        if wavelength < 8192 / rope["high_freq_factor"]:
            stored.append(1.0)
        elif wavelength > 8192 / rope["low_freq_factor"]:
            stored.append(rope["factor"])
        else:
            smooth = (8192 / wavelength - rope["low_freq_factor"]) / (
                rope["high_freq_factor"] - rope["low_freq_factor"]
            )
            stored.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return {"rope_freqs.weight": np.array(stored, dtype=np.float32)}


def converted(name: str, tmp_path: Path) -> Files:
    """A GGUF file without layers, as the converter makes it of a published config."""
    architecture, own = MODELS[name]
    config = completed(published(name))
    path = write(
        tmp_path / "x.gguf",
        architecture,
        {**general(config), **own(config)},
        factors(config, architecture),
    )
    return FolderFiles(Folder(tmp_path, "here", named=path.name), "here", Choice(name=path.name))


def own_files(name: str, tmp_path: Path) -> Files:
    """The published config itself, of the text model."""
    config = published(name)
    text = {
        key: value
        for key, value in config.get("text_config", config).items()
        if key != "vision_config"
    }
    return FolderFiles(
        write_folder(tmp_path / "published", {"config.json": json.dumps(text).encode()}), "here"
    )


def told(encoding: Encoding[Form]) -> Any:
    return (
        encoding.part, encoding.scheme, type(encoding.form).__name__, encoding.stack,
        encoding.layers, encoding.modality,
    )  # fmt: skip


def kinds(files: Files) -> list[Layer]:
    """The layers, without what acts in them."""
    return [replace(layer, encodings=None) for layer in layer_map(files, [])]


# llama.cpp does not apply the window of the one, and ends the ramp of the other at pairs
# (src/models/phi3.cpp; ggml_rope_yarn_corr_dims in ggml.c).
LOST = {"microsoft--Phi-3-mini-4k-instruct", "openai--gpt-oss-20b"}


@pytest.mark.parametrize("name", [name for name in MODELS if name not in LOST])
def test_a_converted_config_has_the_encodings_and_layers_of_the_published_one(
    name: str, tmp_path: Path
) -> None:
    files, published_files = converted(name, tmp_path), own_files(name, tmp_path)
    assert kinds(files) == kinds(published_files)
    assert files.resolved.refused == published_files.resolved.refused
    of_gguf, of_json = find(files), find(published_files)
    assert list(map(told, of_gguf)) == list(map(told, of_json))
    for own, other in zip(of_gguf, of_json, strict=True):
        assert own.form.extent == other.form.extent
        if isinstance(own.form, Rotation) and isinstance(other.form, Rotation):
            np.testing.assert_allclose(own.form.frequencies, other.form.frequencies, rtol=1e-5)
            assert (own.form.base, own.form.rotary_dim, own.form.head_dim, own.form.window,
                own.form.rope_type) == (
                other.form.base, other.form.rotary_dim, other.form.head_dim, other.form.window,
                other.form.rope_type,
            )  # fmt: skip
            assert math.isclose(
                own.form.attention_factor, other.form.attention_factor, rel_tol=1e-6
            )
        else:
            np.testing.assert_allclose(own.form.numbers, other.form.numbers, rtol=1e-6)
