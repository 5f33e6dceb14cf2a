"""What the settings of a stack alone say of its layers, for families whose code may do more than
these say.
"""

from collections.abc import Mapping
from types import MappingProxyType

from generator.checkpoints.model.families import LSTM, RECURRENT
from generator.checkpoints.model.layers import TYPES
from generator.contracts import Layer, ModelConfig
from generator.contracts.model_config import SIZES

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


def is_read(config: ModelConfig, layer: Layer) -> bool:
    """Whether it is known how a layer mixes positions: its kind is listed or that of the family, or
    there are heads and none of LIMITS.
    """
    if config.layer_types:
        return layer.type in TYPES
    if config.family in RECURRENT | LSTM or "chunked" in layer.mixers:
        return True
    read = {
        name for name, kind in READ_FOR.items() if "sliding" in layer.mixers and layer.stack == kind
    }
    return config.first(*HEADS) is not None and not any(
        config.value(name) for name in LIMITS if name not in read
    )
