"""What a decoder keeps of each position while it writes: keys and values, or what these are made
of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.checkpoints.model.families import WITHOUT_CACHE
from generator.contracts import Layer, ModelConfig
from generator.contracts.layer_map import LIMITED
from generator.contracts.model_config import TEXT
from generator.libraries import light_transformers

# Names of the number of heads for keys and values, in configs of transformers and of model authors.
N_KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads", "num_query_groups")
GROUPS = "multi_query_group_num"  # ChatGLM's, where multi_query_attention is on.
ALONE = ("multi_query", "multi_query_attention")  # One head for keys and values where it is on.
DECODER, ENCODER = "decoder", "encoder"  # of text
KEEPING = frozenset({"full", "sliding", "chunked", "sparse"})
WITHOUT = frozenset({"recurrent", "convolution", "none"})  # whose state has one size at any length
# Bytes of a number, by its type in configs of transformers.
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "float8": 1}


@dataclass(frozen=True)
class CachedLayers:
    """Layers that keep alike.

    count: of them; values: numbers for each position, in one layer
    positions: the last ones, of which it keeps them; None for all
    is_latent: whether these are a latent from which keys and values are made (MLA)
    heads: for keys and values; None with a latent
    """

    count: int
    values: int
    positions: int | None
    is_latent: bool = False
    heads: int | None = None


def kv_cache(config: ModelConfig, layers: Sequence[Layer]) -> tuple[CachedLayers, ...] | None:
    """The layers of a decoder that keep something of each position, alike ones together, the first
    first; None where that is not known, as with an indexer whose keys stand for several positions
    (GLM-5.3-Flash), and for what has no decoder alone; none for a text tower that writes nothing,
    and for code without a cache.

    Source: heads · (components of a key + of a value) numbers; with a latent (DeepSeek-V2, arXiv
    2405.04434, section 2.1.2) kv_lora_rank + qk_rope_head_dim

    errors: RowError
    """
    known = KEEPING | WITHOUT
    own = [layer for layer in layers if layer.part == DECODER]
    if not own or any(
        layer.part == ENCODER or layer.is_of_unknown_width or not known.issuperset(layer.mixers)
        for layer in layers
    ):
        return None
    if config.family in WITHOUT_CACHE or _is_read_at_once(config.family):
        return ()
    of_text = config.text_model
    if of_text.count("index_kpool"):
        return None
    n_own = len(own) - (of_text.integer("num_kv_shared_layers") or 0)
    # Of so many neighbouring layers the first keeps keys and values for all (cross-layer attention
    # of Hunyuan-Large, arXiv 2411.02265, section 2.2.1).
    every = (of_text.count("cla_share_factor") or 2) if of_text.flag("use_cla") else 1
    # Those that take keys and values of the first of their group: Hymba, arXiv 2411.13676.
    groups = [group for group in of_text.listed("kv_reuse_group") if isinstance(group, list)]
    taking = {index for group in groups for index in group[1:]}
    found: dict[tuple[int, int | None, bool, int | None], int] = {}
    for layer in own[:n_own:every]:
        if not KEEPING.isdisjoint(layer.mixers) and layer.index not in taking:
            own_config = of_text.of_layer(layer.index)
            key = (
                _values(own_config, layer),
                _positions(layer),
                config.is_latent,
                None if config.is_latent else _heads(own_config, layer),
            )
            found[key] = found.get(key, 0) + 1
    return tuple(CachedLayers(count, *key) for key, count in found.items())


def _is_read_at_once(family: str) -> bool:
    """Whether transformers has a family to compare texts with images, and to write none (CLIP)."""
    auto = light_transformers("models.auto.modeling_auto")
    writing = (
        auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES.keys()
        | auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.keys()
    )
    return family in auto.MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES.keys() - writing


def type_of_cache(config: ModelConfig) -> tuple[str, str] | None:
    """Type of the numbers in the cache, one of BYTES, and the key of config.json that says it; None
    where none does.

    Source: kv_cache_scheme of compressed-tensors; otherwise the type of the model, as transformers
    from version 5 and vLLM take it
    """
    quantized = config.section("quantization_config")
    scheme = None if quantized is None else quantized.section("kv_cache_scheme")
    if scheme is not None and (scheme.text("type"), scheme.value("num_bits")) == ("float", 8):
        return "float8", "quantization_config.kv_cache_scheme"
    for path, section in ("", config), *((f"{name}.", config.section(name)) for name in TEXT):
        for key in ("dtype", "torch_dtype"):
            name = ((section and section.text(key)) or "").removeprefix("torch.")
            if name in BYTES:
                return name, f"{path}{key}"
    return None


def _positions(layer: Layer) -> int | None:
    """The width of its window or chunk."""
    is_limited = LIMITED.issuperset({*layer.mixers} - WITHOUT)
    return layer.width if is_limited else None


def _values(config: ModelConfig, layer: Layer) -> int:
    # Of what chooses keys (DeepSeek-V3.2, arXiv 2512.02556, section 2.1): one key of its own.
    indexer = (config.count("index_head_dim") or 0) if "sparse" in layer.mixers else 0
    return indexer + _of_attention(config, layer)


def _of_attention(config: ModelConfig, layer: Layer) -> int:
    if config.is_latent:
        return config.whole("kv_lora_rank") + config.whole("qk_rope_head_dim")
    kind = _kind(layer)
    of_value = config.first(f"{kind}v_head_dim", "v_head_dim", default=_size(config, layer))
    return width_of_keys(config, layer) + _heads(config, layer) * int(of_value)


def width_of_keys(config: ModelConfig, layer: Layer) -> int:
    """Numbers in the keys of all heads of a layer. errors: RowError"""
    return _heads(config, layer) * _size(config, layer)


def _size(config: ModelConfig, layer: Layer) -> int:
    """Components of a key."""
    return config.count(f"{_kind(layer)}head_dim") or config.head_dim


def _kind(layer: Layer) -> str:
    """How settings of layers of this kind begin: Gemma 4; MiMo 2"""
    return "global_" if "full" in layer.mixers else "swa_"


def _heads(config: ModelConfig, layer: Layer) -> int:
    """Heads for keys and values of a layer."""
    kind = _kind(layer)
    heads = config.first(f"num_{kind}key_value_heads", f"{kind}num_key_value_heads")
    if heads:
        return int(heads)
    sharing = _sharing(config, layer)
    return config.needed("n_heads") // sharing if sharing else n_kv_heads(config)


def _sharing(config: ModelConfig, layer: Layer) -> int | None:
    """How many heads of queries share one for keys, where a search has chosen that for each layer.

    Source: DeciLMAttention in vLLM's nemotron_nas.py
    """
    blocks = config.listed("block_configs")
    block = blocks[layer.index] if layer.index < len(blocks) else None
    own = ModelConfig(block, config.where) if isinstance(block, Mapping) else None
    attention = None if own is None else own.section("attention")
    return None if attention is None else attention.count("n_heads_in_group")


def n_kv_heads(config: ModelConfig) -> int:
    """Heads for keys and values of a layer that has no number of its own. errors: RowError"""
    for name in N_KV_HEADS:
        found = next((n for each in config.nested(2) if (n := each.count(name))), None)
        if found and not (name == "num_kv_heads" and _is_alone(config)):
            return found
    if _is_alone(config):
        return config.count(GROUPS) or 1
    return config.needed("n_heads")


def _is_alone(config: ModelConfig) -> bool:
    """Whether its heads share keys and values; in Falcon's code only without the new decoder."""
    return any(config.flag(name) for name in ALONE) and not config.flag("new_decoder_architecture")
