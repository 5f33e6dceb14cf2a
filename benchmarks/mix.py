"""Checkpoints in the sizes of the Hub's, with random numbers: half with rotations alone, the others
with tables and biases.

The shares are a judgement, since the Hub counts no encodings; sizes and settings are those of the
models named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Kind:
    """A config, and tensors by name. dtype: of all tensors"""

    config: Mapping[str, Any]
    tensors: Mapping[str, Shape] = field(default_factory=dict)
    dtype: type = np.float32


# The sentence takes four; more word rows would only make files larger that nothing reads.
WORDS = 50
T5_BIAS = "block.0.layer.0.SelfAttention.relative_attention_bias.weight"


def _rotary(
    model_type: str, width: int, heads: int, layers: int, positions: int, **options: object
) -> Kind:
    shape = {
        "hidden_size": width,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "max_position_embeddings": positions,
    }
    return Kind({"model_type": model_type, **shape, **options})


def _bert(positions: int, width: int, model_type: str = "bert") -> Kind:
    names = {"position_embeddings": positions, "word_embeddings": WORDS, "token_type_embeddings": 2}
    norm = {f"embeddings.LayerNorm.{name}": (width,) for name in ("weight", "bias")}
    config = {
        "model_type": model_type,
        "hidden_size": width,
        "num_attention_heads": width // 64,
        "num_hidden_layers": 12,
    }
    sizes = {"max_position_embeddings": positions, "vocab_size": WORDS, "type_vocab_size": 2}
    return Kind(
        {**config, **sizes},
        {**{f"embeddings.{name}.weight": (rows, width) for name, rows in names.items()}, **norm},
    )


def _gpt2(positions: int, width: int, layers: int) -> Kind:
    config = {
        "model_type": "gpt2",
        "n_positions": positions,
        "n_embd": width,
        "n_layer": layers,
        "n_head": width // 64,
    }
    return Kind(config, {"wpe.weight": (positions, width), "wte.weight": (WORDS, width)})


def _t5(heads: int, width: int) -> Kind:
    config = {
        "model_type": "t5",
        "d_model": width,
        "num_heads": heads,
        "num_layers": 12,
        "d_kv": 64,
    }
    return Kind(
        config,
        {f"{stack}.{T5_BIAS}": (32, heads) for stack in ("encoder", "decoder")}
        | {"shared.weight": (WORDS, width)},
    )


def _vit() -> Kind:
    config = {
        "model_type": "vit",
        "hidden_size": 768,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "image_size": 224,
        "patch_size": 16,
    }
    return Kind(
        config,
        {"embeddings.position_embeddings": (1, 197, 768), "embeddings.cls_token": (1, 1, 768)},
    )


def _whisper() -> Kind:
    sizes = {
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "encoder_layers": 4,
        "decoder_layers": 4,
    }
    config = {
        "model_type": "whisper",
        "d_model": 384,
        "encoder_attention_heads": 6,
        "decoder_attention_heads": 6,
        **sizes,
    }
    tensors = {
        "encoder.embed_positions.weight": (1500, 384),
        "decoder.embed_positions.weight": (448, 384),
    }
    return Kind(config, tensors | {"decoder.embed_tokens.weight": (WORDS, 384)})


def _opt(width: int, layers: int) -> Kind:
    shape = {
        "hidden_size": width,
        "word_embed_proj_dim": width,
        "num_attention_heads": width // 64,
        "num_hidden_layers": layers,
    }
    config = {"model_type": "opt", **shape, "max_position_embeddings": 2048}
    tensors = {
        "decoder.embed_positions.weight": (2050, width),
        "decoder.embed_tokens.weight": (WORDS, width),
    }
    return Kind(config, {f"model.{name}": size for name, size in tensors.items()}, np.float16)


LLAMA_3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
ROTATIONS = (
    _rotary("llama", 4096, 32, 32, 4096, rope_theta=1e4),  # Llama 2 7B
    _rotary("llama", 4096, 32, 32, 131_072, rope_theta=5e5, rope_scaling=LLAMA_3),  # Llama 3.1 8B
    _rotary("mistral", 4096, 32, 32, 32_768, rope_theta=1e4, sliding_window=4096),  # Mistral 7B
    _rotary("qwen2", 896, 14, 24, 32_768, rope_theta=1e6),  # Qwen2 0.5B
    _rotary("gpt_neox", 768, 12, 12, 2048, rope_theta=1e4, rotary_pct=0.25),  # Pythia 160M
)
BERT, MINI_LM, XLM_R = _bert(512, 768), _bert(512, 384), _bert(514, 1024, "xlm-roberta")
MIX = (
    *(5 * ROTATIONS),
    *(6 * [BERT]),
    *(4 * [MINI_LM]),
    *(3 * [XLM_R]),
    *(2 * [_gpt2(1024, 768, 12)]),
    *(3 * [_t5(12, 768)]),
    *(3 * [_vit()]),
    _whisper(),
    *(2 * [_opt(1024, 24)]),
    _opt(2560, 32),
)
