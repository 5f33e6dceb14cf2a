"""The settings of a GGUF file as those of a config.json."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from generator.checkpoints.files.formats.gguf import families
from generator.checkpoints.files.formats.gguf.header import Header, Unread
from generator.checkpoints.files.formats.gguf.rope import rope_settings
from generator.numerics.arrays import Floats

BIAS = "enc.blk.1.attn_rel_b.weight"


def config(header: Header, tensor: Callable[[str], Floats]) -> dict[str, Any]:
    """The names and values of a config.json. tensor: returns the values of a tensor, which are read where they are settings"""
    architecture = header.text("general.architecture")
    model_type = _model_type(header, architecture)
    if model_type == "mmproj":
        return {"model_type": model_type, **_encoders(header)}
    settings: dict[str, Any] = {"model_type": model_type, **_sizes(header, architecture, model_type)}
    settings |= _layers(header, architecture, model_type, settings)
    settings |= _attention(header, architecture, model_type, settings)
    if settings.get("alibi") is not True:
        settings |= rope_settings(header, architecture, settings, tensor)
    return settings


def _model_type(header: Header, architecture: str) -> str:
    if architecture == "deepseek2":
        return "deepseek_v3" if header.integer("deepseek2.expert_gating_func") == families.SIGMOID else "deepseek_v2"
    if architecture == "t5" and BIAS in header.spans:  # A bias in every layer, as UMT5 has (arXiv 2304.09151, section 3).
        return "umt5"
    return families.MODEL_TYPES.get(architecture, architecture)


def _sizes(header: Header, architecture: str, model_type: str) -> dict[str, Any]:
    names = {**families.NAMES, **families.OWN_NAMES.get("t5" if model_type == "umt5" else model_type, {})}
    settings: dict[str, Any] = {}
    for end, given in names.items():
        value = _largest(header.settings.get(f"{architecture}.{end}"))
        settings |= dict.fromkeys(given, value) if value is not None else {}
    if "vocab_size" not in settings:
        settings |= _vocabulary(header)
    if (padding := header.integer("tokenizer.ggml.padding_token_id")) is not None:
        settings["pad_token_id"] = padding
    return settings


def _largest(value: object) -> object:
    """A setting with a value for each layer as its largest; None for one without a value, or of 0."""
    if isinstance(value, tuple):
        return max(value, default=None) or None
    return None if isinstance(value, Unread) or value == 0 else value


def _vocabulary(header: Header) -> dict[str, int]:
    tokens, words = header.settings.get("tokenizer.ggml.tokens"), header.spans.get("token_embd.weight")
    if isinstance(tokens, Unread):
        return {"vocab_size": tokens.count}
    return {} if words is None or len(words.shape) != 2 else {"vocab_size": words.shape[0]}


def _layers(header: Header, architecture: str, model_type: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Kinds of layers, where the file lists them."""
    pattern, heads = (header.settings.get(f"{architecture}.attention.{name}") for name in ("sliding_window_pattern", "head_count_kv"))
    n_layers = sizes.get("num_hidden_layers")
    if isinstance(pattern, tuple):
        return {"layer_types": ["sliding_attention" if slides else "full_attention" for slides in pattern[:n_layers]]}
    if model_type == "modernbert" and isinstance(pattern, int):
        return {"global_attn_every_n_layers": pattern}
    if not isinstance(heads, tuple):
        return {}
    if model_type in families.WORDS:
        without, attention = families.WORDS[model_type]
        return {"layer_types": [attention if count else without for count in heads]}
    if model_type == "nemotron-nas":
        return {"block_configs": [{"attention": {"no_op": not count}} for count in heads]}
    return _pattern(header, architecture, heads) if model_type == "nemotron_h" else {}


def _pattern(header: Header, architecture: str, heads: tuple[Any, ...]) -> dict[str, str]:
    """Nemotron-H (arXiv 2504.03624): a letter for attention, a network alone, or Mamba."""
    widths = header.settings.get(f"{architecture}.feed_forward_length")
    if not isinstance(widths, tuple) or len(widths) != len(heads):
        return {}
    letters = ("*" if count else "-" if width else "M" for count, width in zip(heads, widths, strict=True))
    return {"hybrid_override_pattern": "".join(letters)}


def _attention(header: Header, architecture: str, model_type: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Windows, the mask, and ALiBi."""
    settings: dict[str, Any] = {}
    window = header.integer(f"{architecture}.attention.sliding_window")
    if window is not None:
        settings |= {"sliding_window": window or None}
    elif model_type == "exaone4":  # Only the larger model has windows, which are a default of its config class.
        settings |= {"sliding_window": None, "layer_types": ["full_attention"] * min(sizes.get("num_hidden_layers", 0), 10_000)}
    if header.settings.get(f"{architecture}.attention.causal") is False:
        settings["is_causal"] = False
    if architecture == "gemma-embedding":
        settings["use_bidirectional_attention"] = True
    if architecture == "t5encoder":
        settings["is_encoder_decoder"] = False
    if model_type in families.BY_KIND and model_type == "modernbert" and window:
        settings["local_attention"] = window
    return settings | _alibi(header, architecture, sizes) | _latent(header, architecture)


def _alibi(header: Header, architecture: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    steepest = header.settings.get(f"{architecture}.attention.max_alibi_bias")
    if architecture == "mpt":
        return {"attn_config": {"alibi": bool(steepest), **({"alibi_bias_max": steepest} if steepest else {})}}
    if architecture == "baichuan":
        is_large = sizes.get("num_hidden_layers") == families.ALIBI_LAYERS_OF_BAICHUAN
        return {"alibi": True} if is_large else {"model_type": "llama"}
    asks = architecture in families.ALIBI or (isinstance(steepest, float) and math.isclose(steepest, families.USUAL_ALIBI))
    return {"alibi": True} if asks else {}


def _latent(header: Header, architecture: str) -> dict[str, Any]:
    """Sizes of the parts of a head in latent attention."""
    turned = header.integer(f"{architecture}.rope.dimension_count")
    if architecture not in families.LATENT or turned is None:
        return {}
    whole = header.integer(f"{architecture}.attention.key_length_mla") or header.integer(f"{architecture}.attention.key_length") or 0
    ranks = {f"{part}_lora_rank": header.integer(f"{architecture}.attention.{part}_lora_rank") for part in ("q", "kv")}
    return {**ranks, "qk_rope_head_dim": turned, "qk_nope_head_dim": whole - turned, "head_dim": None}


def _encoders(header: Header) -> dict[str, Any]:
    """Settings of an encoder of images or sound; nested where a file has both."""
    parts = {}
    for part in ("vision", "audio"):
        if header.settings.get(f"clip.has_{part}_encoder") is True:
            names = {**families.NAMES, **families.OF_ENCODERS}
            given = {name: header.settings.get(f"clip.{part}.{end}") for end, all_names in names.items() for name in all_names}
            parts[part] = {name: value for name, value in given.items() if value is not None}
    return next(iter(parts.values())) if len(parts) == 1 else {f"{part}_config": settings for part, settings in parts.items()}
