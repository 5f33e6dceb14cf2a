"""Configs of model families whose code transformers does not have, and older formats of others, under the names that it uses today."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from generator.contracts import Json, ModelConfig

KINDS_OF_MIMO = {0: "full_attention", 1: "sliding_attention"}


def translated(config: ModelConfig) -> ModelConfig:
    """``config`` under the names of transformers; unchanged where it has them."""
    translate = FORMATS.get(config.family)
    return config if translate is None else config.updated(translate(config))


def _refined_web(config: ModelConfig) -> Json:
    """The names of Falcon before it was a part of transformers."""
    return {"model_type": "falcon", "num_hidden_layers": config.value("n_layer"), "num_attention_heads": config.value("n_head")}


def _chatglm(config: ModelConfig) -> Json:
    """ChatGLM2, ChatGLM3 and GLM-4 (THUDM, modeling_chatglm.py): half of each head is rotated, by a base of 10,000 times rope_ratio."""
    ratio = config.value("rope_ratio", 1)
    base = 10_000.0 * ratio if isinstance(ratio, int | float) else ratio
    return {"rope_parameters": {"rope_type": "default", "rope_theta": base, "partial_rotary_factor": 0.5}}


def _baichuan(config: ModelConfig) -> Json:
    """Baichuan with 7B parameters is rotary and gives max_position_embeddings; that with 13B has ALiBi and gives model_max_length."""
    if config.value("max_position_embeddings") is None:
        return {"alibi": True}
    return {"rope_parameters": {"rope_type": "default", "rope_theta": config.value("rope_theta", 10_000.0)}}


def _dbrx(config: ModelConfig) -> Json:
    """The base stands in attn_config, of which transformers 5 reads nothing."""
    attention = config.section("attn_config")
    if attention is None or attention.value("rope_theta") is None or "rope_parameters" in config:
        return {}
    return {"rope_parameters": {"rope_type": "default", "rope_theta": attention.value("rope_theta")}}


def _bert(config: ModelConfig) -> Json:
    """Encoders with ALiBi whose own code calls them BERT: Jina v2 (arXiv 2310.19923) and MosaicBERT (arXiv 2312.17482)."""
    asks = config.text("position_embedding_type") == "alibi" or config.value("alibi_starting_size") is not None
    return {"alibi": True} if asks else {}


def _mimo(config: ModelConfig) -> Json:
    """The published format of MiMo V2 Flash: a pattern of 0 and 1 for full and sliding layers, and a base of its own for the latter."""
    kinds = [KINDS_OF_MIMO.get(kind, "full_attention") for kind in config.listed("hybrid_layer_pattern") if isinstance(kind, int)]
    settings: dict[str, object] = {"layer_types": kinds} if kinds and config.value("layer_types") is None else {}
    if config.value("swa_rope_theta") is not None and config.value("rope_parameters") is None:
        shared = {"rope_type": "default", "partial_rotary_factor": config.value("partial_rotary_factor", 1.0)}
        bases = {"full_attention": config.value("rope_theta"), "sliding_attention": config.value("swa_rope_theta")}
        settings["rope_parameters"] = {kind: {**shared, "rope_theta": base} for kind, base in bases.items()}
    return settings


FORMATS: Mapping[str, Callable[[ModelConfig], Json]] = MappingProxyType(
    {
        **dict.fromkeys(("RefinedWeb", "RefinedWebModel"), _refined_web),
        "chatglm": _chatglm,
        "baichuan": _baichuan,
        "dbrx": _dbrx,
        "bert": _bert,
        "mimo_v2_flash": _mimo,
    }
)
