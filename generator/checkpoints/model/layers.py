"""The layers of a stack: how each mixes positions and how far it sees, from config.json as
transformers resolves it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from generator.checkpoints.model.diffusion_transformers import ROTATED
from generator.checkpoints.model.engines_families import MOST_LAYERS
from generator.checkpoints.model.families import (
    BESIDE,
    CHUNKED,
    CONTEXT,
    EXCLUSIVE,
    HALVED,
    IN_BLOCKS,
    LSTM,
    MIXERS,
    OF_N_GRAMS,
    POSITIONS_OF_FRAMES,
    RECURRENT,
    WITHOUT_WINDOW,
)
from generator.checkpoints.model.resolved import defaults, is_known
from generator.contracts import Layer, Mixer, ModelConfig, Stack, StackKind
from generator.contracts.model_config import SIZES

FULL, SLIDING, RECURRENT_TYPE = "full attention", "sliding attention", "recurrent"
# BigBird (arXiv 2007.14062): every position may be chosen, and few are.
SPARSE = "block sparse attention"
# Three blocks of the window and two global ones beside the random (section 2 and its code).
NOT_RANDOM = 5
# DeepSeek-V3.2 (arXiv 2512.02556, section 2.1), DeepSeek-V4, MiniMax-M3: an indexer chooses.
INDEXED, MINIMAX_SPARSE = "indexed attention", "minimax m3 sparse"
COMPRESSED_SPARSE, COMPRESSED = "compressed sparse attention", "heavily compressed attention"
CROSS = "cross attention"  # To an image alone, as in some layers of Llama 3.2 Vision.
# Settings of the window: of both sides together, of one side without the query, of one side with
# it.
BOTH_SIDES, ONE_SIDE, WITH_QUERY = (
    ("attention_window", "local_attention"),
    ("local_radius",),
    ("sliding_window", "sliding_window_size", "attention_window_size", "window_size"),
)
VOCABULARIES = ("vocab_size", "src_vocab_size")
# Of each layer, the query counted on its left (Moonshine Streaming).
BEFORE_AND_AFTER = "sliding_windows"
# The window of layers that are listed as local; in other configs, something else.
BY_TYPE = "window_size"
DENSE_EVERY, CROSSING = "dense_attention_every_n_layers", "cross_attention_layers"
CHUNK, CHUNKED_TYPE = "attention_chunk_size", "chunked attention"
TYPES: Mapping[str, tuple[Mixer, ...]] = MappingProxyType(
    {
        **dict.fromkeys(
            (FULL, "attention", "global", "reference sliding attention"),
            ("full",),
        ),
        **dict.fromkeys((SPARSE, INDEXED, MINIMAX_SPARSE), ("sparse",)),
        COMPRESSED_SPARSE: ("sparse", "compressed"),
        COMPRESSED: ("compressed",),
        **dict.fromkeys((SLIDING, "local"), ("sliding",)),
        CHUNKED_TYPE: ("chunked",),
        **dict.fromkeys(("linear attention", "mamba", "recurrent"), ("recurrent",)),
        "conv": ("convolution",),
        **dict.fromkeys(("moe", "mlp", CROSS), ("none",)),
        "hybrid": ("full", "recurrent"),
        "hybrid sliding": ("sliding", "recurrent"),
    }
)
# Settings by which code limits attention, or puts something else in its place or beside it, in ways
# that the layer map does not read.
LIMITS = (
    "attention_type", "attention_window", "attn_layers", "block_per_row", "block_size",
    "block_sizes", "context_size",
    "conv_depthwise_kernel_size", "conv_kernel_size", "depths", "fullatt_block_indexes",
    "global_attn_indexes", "index_block_size", "keep_window_size", "local_attn_chunk_length",
    "n_window", "num_global_layers",
    "num_hash", "num_landmarks", "positionwise_conv_kernel_size", "speech_encoder_chunk_size",
    "window_block_indexes", "window_block_indices", "window_kernel_size",
    "window_size",
)  # fmt: skip
# Windows that the map reads, of stacks of this kind.
READ_FOR: Mapping[str, str] = MappingProxyType({"attention_window": "encoder"})
HEADS = (
    *SIZES["n_heads"],
    "attention_heads",
    "decoder_attention_heads",
    "num_encoder_attention_heads",
)
N_LAYERS: Mapping[StackKind, tuple[str, ...]] = MappingProxyType(
    {
        "encoder": (
            "encoder_layers",
            "encoder_num_hidden_layers",
            "num_encoder_layers",
            "num_layers",
            "num_hidden_layers",
        ),
        "decoder": (
            "decoder_layers",
            "decoder_num_hidden_layers",
            "num_decoder_layers",
            "num_layers",
            "num_hidden_layers",
        ),
    }
)


def _window(config: ModelConfig, index: int) -> tuple[str, int] | None:
    """Name and value of the setting of the window of layer ``index``; None where it has none."""
    config = config.of_layer(index)
    for name in (*WITH_QUERY, *ONE_SIDE, *BOTH_SIDES):
        sizes = config.listed(name)
        size = sizes[index] if index < len(sizes) else config.value(name)
        if isinstance(size, int) and not isinstance(size, bool) and size > 0:
            return name, size
    return None


def _is_windowed(config: ModelConfig, kind: StackKind) -> bool:
    """Whether the window of a config without kinds of layers limits all of them; one as long as the
    context limits none.
    """
    if config.listed(BEFORE_AND_AFTER) or config.family in CONTEXT:
        return True
    window = _window(config, 0)
    if (
        config.family in WITHOUT_WINDOW
        or config.flag("use_sliding_window") is False
        or _sees_all(config, kind)
        or window is None
        or window[0] == BY_TYPE
    ):
        return False
    context = next((size for name in SIZES["n_positions"] if (size := config.count(name))), None)
    return context is None or window[1] < context


def _sees_all(config: ModelConfig, kind: StackKind) -> bool:
    """Whether the window is that of the other stack, or is completed by summaries of all blocks
    (LongT5, arXiv 2112.07916, section 3.1.2).
    """
    if config.is_encoder_decoder and kind == "decoder":
        return "local_radius" in config or "attention_window" in config
    return config.text("encoder_attention_type") == "transient-global"


@dataclass(frozen=True)
class LayerRule:
    """The type of layers, under a condition.

    holds: of the config and the kind of their stack; at: of the config and the index of a layer
    """

    reason: str
    type: str
    holds: Callable[[ModelConfig, StackKind], bool]
    at: Callable[[ModelConfig, int], bool] = lambda *_: True


# Where a config does not list the types of layers, the first that holds says that of each.
KINDS = (
    LayerRule("a family of recurrent layers", RECURRENT_TYPE,
              lambda config, _: config.family in RECURRENT | LSTM),
    LayerRule("a family that attends to chunks", CHUNKED_TYPE,
              lambda config, _: config.family in CHUNKED),
    # Every so many layers of Phi-3 small (arXiv 2404.14219, section 2) attend to all.
    LayerRule("between layers that attend to all", SPARSE,
              lambda config, _: config.count(DENSE_EVERY) is not None,
              lambda config, layer: (layer + 1) % config.value(DENSE_EVERY) > 0),
    LayerRule("a layer for images", CROSS, lambda config, _: bool(config.listed(CROSSING)),
              lambda config, layer: layer in config.listed(CROSSING)),
    # The decoder of BigBird-Pegasus attends to all (arXiv 2007.14062, section 4.1).
    LayerRule("attention to chosen blocks", SPARSE,
              lambda config, kind: config.text("attention_type") == "block_sparse"
              and not (config.is_encoder_decoder and kind == "decoder")),
    LayerRule("a window", SLIDING, _is_windowed),
    LayerRule("any other", FULL, lambda *_: True),
)  # fmt: skip


def layers(stack: Stack) -> tuple[Layer, ...]:
    """Every layer of a stack, the encoder's before the decoder's; empty where their number is not
    known, or their kinds since the config class refuses the settings.
    """
    if stack.refused and len(set(defaults(stack.config.family).get("layer_types") or ())) > 1:
        return ()
    if stack.config.is_encoder_decoder:
        return (
            *_layers("encoder", "encoder", stack.config),
            *_layers("decoder", "decoder", stack.config),
        )
    return _layers(stack.part, stack.kind, stack.config)


def counts_tokens(config: ModelConfig) -> bool:
    """Whether the positions are those of tokens of a vocabulary."""
    return any(name in config for name in VOCABULARIES)


def assumed(config: ModelConfig) -> tuple[str, ...]:
    """Settings of layers that have the form which transformers gives them, so that their meaning
    there is assumed for an unknown family of tokens: their kinds with the window of some, and a
    list of 1 for a layer with rotation, or 0.
    """
    if not counts_tokens(config):
        return ()
    kinds, flags = config.listed("layer_types"), config.listed("no_rope_layers")
    count, known = _n_layers(config, "decoder"), (FULL.replace(" ", "_"), SLIDING.replace(" ", "_"))
    is_windowed = config.count("sliding_window") is not None
    of_kinds = is_windowed and len(kinds) == count and all(kind in known for kind in kinds)
    of_flags = bool(flags) and len(flags) == count and all(flag in (0, 1) for flag in flags)
    names = ("layer_types", "sliding_window") if of_kinds else ()
    return (*names, "no_rope_layers") if of_flags else names


def is_read(config: ModelConfig, layer: Layer) -> bool:
    """Whether it is known how a layer mixes positions: its kind is listed or that of the family, or
    there are heads and none of LIMITS.
    """
    if config.layer_types:
        return layer.type in TYPES
    if config.family in RECURRENT | LSTM | ROTATED.keys() or "chunked" in layer.mixers:
        return True
    read = {
        name for name, kind in READ_FOR.items() if "sliding" in layer.mixers and layer.stack == kind
    }
    return config.first(*HEADS) is not None and not any(
        config.value(name) for name in LIMITS if name not in read
    )


def _layers(part: str, kind: StackKind, config: ModelConfig) -> tuple[Layer, ...]:
    types, rates = _layer_types(config, kind), config.section("compress_rates")
    reaches = (
        _reach(config, kind, _mixers_of(config, layer_type, index), index)
        for index, layer_type in enumerate(types)
    )
    return tuple(
        Layer(
            part,
            kind,
            index,
            layer_type,
            _mixers_of(config, layer_type, index),
            before,
            after,
            chosen=_chosen(config, layer_type),
            positions_per_key=rates.count(layer_type.replace(" ", "_")) if rates else None,
        )
        for index, (layer_type, (before, after)) in enumerate(zip(types, reaches, strict=True))
    )


def _chosen(config: ModelConfig, layer_type: str) -> int | None:
    """Most keys that a query of a layer of this type chooses: by itself, or in blocks."""
    if layer_type in (INDEXED, COMPRESSED_SPARSE):
        return config.count("index_topk")
    if layer_type == MINIMAX_SPARSE:
        blocks, size, more = config.count("index_topk_blocks"), config.count("index_block_size"), 0
    elif layer_type == SPARSE and config.family in IN_BLOCKS:
        blocks, size = config.count("num_random_blocks"), config.count("block_size")
        more = NOT_RANDOM
    else:
        return None
    return None if blocks is None or size is None else (blocks + more) * size


def _n_layers(config: ModelConfig, kind: StackKind) -> int | None:
    """Number of layers of a stack; None where config.json does not give it, or gives more than
    MOST_LAYERS.
    """
    # mBART as a decoder alone still counts the other side's.
    is_side = config.is_encoder_decoder or config.flag("is_decoder") is True
    names = N_LAYERS[kind] if is_side else SIZES["n_layers"]
    size = next((count for name in names if (count := config.count(name)) is not None), None)
    return size if size is not None and size <= MOST_LAYERS else None


def _layer_types(config: ModelConfig, kind: StackKind) -> Sequence[str]:
    """Kind of every layer, with spaces for underscores: as listed, or else by ``KINDS``; empty
    where neither kinds nor the number of layers are known, where there are more than MOST_LAYERS,
    and where a family that lists kinds gives none.
    """
    listed = [layer_type.replace("_", " ") for layer_type in config.layer_types]
    count = _n_layers(config, kind)
    # LFM2-MoE has no default for them.
    is_unset = "layer_types" in config and config.value("layer_types") is None
    if len(listed) > MOST_LAYERS or (is_unset and is_known(config.family)):
        return []
    if listed and len(listed) >= (count or 0):
        return listed[:count]
    rules = [rule for rule in KINDS if rule.holds(config, kind)]
    return [
        next(rule.type for rule in rules if rule.at(config, layer)) for layer in range(count or 0)
    ]


def _mixers_of(config: ModelConfig, layer_type: str, index: int) -> tuple[Mixer, ...]:
    """How a layer of a type mixes positions, which the code of some families decides."""
    mixers = MIXERS.get((config.family, layer_type)) or TYPES.get(layer_type, ("full",))
    if config.family in OF_N_GRAMS and index + 1 in config.listed("ple_layer_ids"):
        return (*mixers, "convolution")
    return (*mixers, *BESIDE.get(config.family, ()))


def _reach(
    config: ModelConfig, kind: StackKind, mixers: Sequence[Mixer], index: int
) -> tuple[int | None, int | None]:
    """Largest distance of a visible position before and after the query; None without a limit."""
    after = None if kind == "encoder" else 0
    if "chunked" in mixers and (chunk := _chunk(config)) is not None:
        return chunk - 1, chunk - 1 if kind == "encoder" else after
    if config.family in CONTEXT:
        left, right = (config.count(name) or 0 for name in CONTEXT[config.family])
        return max(left - 2, 0), max(right - 1, 0)
    match config.listed(BEFORE_AND_AFTER)[index : index + 1]:
        case [[int(left), int(right)]]:
            return max(left - 1, 0), max(right - 1, 0)
    if "sliding" in mixers and (window := _window(config, index)) is not None:
        return _sides(config, kind, window)
    if "convolution" in mixers and len(mixers) == 1 and (width := config.count("conv_L_cache")):
        return width - 1, after
    return (0, 0) if tuple(mixers) == ("none",) else (None, after)


def _sides(config: ModelConfig, kind: StackKind, window: tuple[str, int]) -> tuple[int, int]:
    name, size = window
    if config.family in HALVED and kind == "encoder":
        return (size + 1) // 2 - 1, size // 2
    if name in BOTH_SIDES:
        size = size // 2
    elif name in WITH_QUERY and (kind == "decoder" or config.family.startswith(EXCLUSIVE)):
        size -= 1
    return size, 0 if kind == "decoder" else size


def _chunk(config: ModelConfig) -> int | None:
    """The size of chunks in positions; None without one."""
    name = CHUNKED.get(config.family, CHUNK)
    size, half = config.count(name), config.count("n_window")
    # Of Qwen3-Omni (arXiv 2509.17765), in frames.
    if size is not None and half is not None and name == "n_window_infer":
        size = size // (2 * half) * POSITIONS_OF_FRAMES
    return size
