"""The settings of a GGUF file as those of a config.json."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from generator.checkpoints.files.formats.gguf import architectures
from generator.checkpoints.files.formats.gguf.header import Header, Unread, positive
from generator.checkpoints.files.formats.gguf.rope import rope_settings
from generator.checkpoints.model.resolved import defaults
from generator.numerics.arrays import Floats

ENCODER = "clip"  # The architecture of encoders of images and sound.
UNKNOWN_ENCODER = "mmproj_of_unknown_kind"  # Their model type where the projector is not known.
KEY_LENGTH = "attention.key_length"
WINDOW = "attention.sliding_window"  # 0 for none
# Settings by the end of their key, and their names in transformers.
NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "block_count": ("num_hidden_layers",),
        "context_length": ("max_position_embeddings",),
        "embedding_length": ("hidden_size",),
        "attention.head_count": ("num_attention_heads",),
        "attention.head_count_kv": ("num_key_value_heads",),
        KEY_LENGTH: ("head_dim",),
        "attention.layer_norm_epsilon": ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"),
        "attention.layer_norm_rms_epsilon": ("rms_norm_eps",),
        "attention.relative_buckets_count": ("relative_attention_num_buckets",),
        WINDOW: ("sliding_window",),
        "feed_forward_length": ("intermediate_size",),
        "full_attention_interval": ("full_attention_interval",),
        "vocab_size": ("vocab_size",),
    }
)
NAMES_OF_ENCODERS = {
    **NAMES,
    "image_size": ("image_size",),
    "patch_size": ("patch_size",),
    "num_mel_bins": ("num_mel_bins",),
}
USUAL_ALIBI = 8.0


def config(header: Header, tensor: Callable[[str], Floats]) -> dict[str, Any]:
    """The names and values of a config.json.

    tensor: returns the values of a tensor, which are read where they are settings
    """
    architecture = header.text("general.architecture")
    settings: dict[str, Any] = {
        "model_type": architectures.MODEL_TYPES.get(architecture, architecture)
    }
    if architecture == ENCODER:
        return settings | _encoders(header)
    settings |= _sizes(header, architecture)
    settings |= _head(architecture, settings)
    settings |= _layers(header, architecture, settings.get("num_hidden_layers"))
    settings |= _latent(header, architecture)
    settings |= architectures.UNSAID.get(architecture, {})
    if architecture in architectures.OWN:
        settings |= architectures.OWN[architecture](header, settings)
    return settings | rope_settings(header, architecture, settings, tensor)


def _sizes(header: Header, architecture: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for end, names in {**NAMES, **architectures.OWN_NAMES.get(architecture, {})}.items():
        stored = header.settings.get(f"{architecture}.{end}")
        value = _largest(stored)
        if value is not None or (end == WINDOW and stored == 0):
            settings |= dict.fromkeys(names, value)
    # Those that predict further tokens stand behind the others, and are not run (llama-model.cpp).
    further = header.integer(f"{architecture}.nextn_predict_layers") or 0
    if 0 < further < (n_layers := settings.get("num_hidden_layers") or 0):
        settings["num_hidden_layers"] = n_layers - further
    if "vocab_size" not in settings:
        settings |= _vocabulary(header)
    if (padding := header.integer("tokenizer.ggml.padding_token_id")) is not None:
        settings["pad_token_id"] = padding
    return settings


def _head(architecture: str, settings: Mapping[str, Any]) -> dict[str, int]:
    """The size of a head where no key gives it and the class of the family has one of its own: the
    width by the number of heads (src/llama-model.cpp).
    """
    is_own = not architectures.OWN_NAMES.get(architecture, {}).get(KEY_LENGTH, True)
    if is_own or "head_dim" in settings or not defaults(settings["model_type"]).get("head_dim"):
        return {}
    width, heads = (positive(settings.get(name)) for name in ("hidden_size", "num_attention_heads"))
    return {"head_dim": int(width // heads)} if width and heads else {}


def _largest(value: object) -> object:
    """A setting with a value for each layer as its largest; None for one without a value, or of
    0.
    """
    if isinstance(value, tuple):
        return max(value, default=0) or None
    return None if isinstance(value, Unread) or value == 0 else value


def _vocabulary(header: Header) -> dict[str, int]:
    tokens, words = (
        header.settings.get("tokenizer.ggml.tokens"),
        header.spans.get("token_embd.weight"),
    )
    if isinstance(tokens, Unread):
        return {"vocab_size": tokens.count}
    return {} if words is None or len(words.shape) != 2 else {"vocab_size": words.shape[0]}


def _layers(header: Header, architecture: str, n_layers: int | None) -> dict[str, Any]:
    """Windows by layer, the mask, and ALiBi, where a setting says so."""
    settings: dict[str, Any] = {}
    if slides := _slides(header, architecture, n_layers):
        settings["layer_types"] = [
            "sliding_attention" if each else "full_attention" for each in slides
        ]
    if architecture in architectures.WINDOWS and f"{architecture}.{WINDOW}" not in header.settings:
        settings["sliding_window"] = architectures.WINDOWS[architecture] or None
    if architecture in architectures.WITHOUT_WINDOWS:
        settings["sliding_window"] = None
    if header.settings.get(f"{architecture}.attention.causal") is False:
        settings["is_causal"] = False
    steepest = header.settings.get(f"{architecture}.attention.max_alibi_bias")
    if isinstance(steepest, float) and math.isclose(steepest, USUAL_ALIBI):
        settings["alibi"] = True
    return settings


def _slides(header: Header, architecture: str, n_layers: int | None) -> list[bool]:
    """Whether each layer has a window; empty where neither the file nor llama.cpp says so."""
    usual = architectures.PERIODS.get(architecture)
    pattern = header.settings.get(f"{architecture}.{WINDOW}_pattern", usual)
    if isinstance(pattern, tuple):
        return [bool(slides) for slides in pattern[: n_layers if isinstance(n_layers, int) else 0]]
    window = header.settings.get(
        f"{architecture}.{WINDOW}", architectures.WINDOWS.get(architecture)
    )
    layers = range(min(n_layers, architectures.MOST_LAYERS) if isinstance(n_layers, int) else 0)
    if window == 0 and usual is not None:
        return [False for _ in layers]
    if usual is None or not positive(window) or type(pattern) is not int or pattern < 0:
        return []
    full = 0 if architecture in architectures.DENSE_FIRST else pattern - 1
    return [pattern == 0 or layer % pattern != full for layer in layers]


def _latent(header: Header, architecture: str) -> dict[str, Any]:
    """Sizes of the parts of a head in latent attention."""
    turned = header.integer(f"{architecture}.rope.dimension_count")
    if architecture not in architectures.LATENT or turned is None:
        return {}
    whole = (
        header.integer(f"{architecture}.attention.key_length_mla")
        or header.integer(f"{architecture}.attention.key_length")
        or 0
    )
    ranks = {
        f"{part}_lora_rank": header.integer(f"{architecture}.attention.{part}_lora_rank")
        for part in ("q", "kv")
    }
    return {**ranks, "qk_rope_head_dim": turned, "qk_nope_head_dim": whole - turned}


def _encoders(header: Header) -> dict[str, Any]:
    """Settings of an encoder of images or sound; nested where a file has both."""
    parts = {
        part: _encoder(header, part)
        for part in ("vision", "audio")
        if header.settings.get(f"{ENCODER}.has_{part}_encoder") is True
    }
    return (
        next(iter(parts.values()))
        if len(parts) == 1
        else {f"{part}_config": settings for part, settings in parts.items()}
    )


def _encoder(header: Header, part: str) -> dict[str, Any]:
    values = {end: header.settings.get(f"{ENCODER}.{part}.{end}") for end in NAMES_OF_ENCODERS}
    settings = {
        name: value
        for end, value in values.items()
        if value is not None and not isinstance(value, Unread)
        for name in NAMES_OF_ENCODERS[end]
    }
    kind = header.text(f"{ENCODER}.{part}.projector_type") or header.text(
        f"{ENCODER}.projector_type"
    )
    if part == "vision" and kind in architectures.ROTATED_ENCODERS:
        return _rotated_encoder(header, kind, settings)
    is_known = kind in architectures.TABLE_ALONE[part]
    return {
        "model_type": architectures.MODEL_TYPES[ENCODER] if is_known else UNKNOWN_ENCODER
    } | settings


def _rotated_encoder(header: Header, kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Under the names that its model type has for sizes. One layer in so many sees the whole image
    (tools/mtmd/models/qwen2vl.cpp).
    """
    model_type, names = architectures.ROTATED_ENCODERS[kind]
    own: dict[str, Any] = {names.get(name, name): value for name, value in settings.items()}
    width, heads, n_layers, every = (
        header.integer(f"{ENCODER}.vision.{end}") or 0
        for end in ("embedding_length", "attention.head_count", "block_count", "n_wa_pattern")
    )
    if width > 0 and heads > 0:
        own["head_dim"] = width // heads
    if model_type in architectures.WINDOWED:
        every = max(every, 1)
        whole = range(every - 1, min(n_layers, architectures.MOST_LAYERS), every)
        own["fullatt_block_indexes"] = list(whole)
    return {**own, "model_type": model_type}
