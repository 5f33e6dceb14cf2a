"""Kinds of stored biases by bucket: names of tensors, and the keys of their sizes in
config.json.
"""

from dataclasses import dataclass

from generator.contracts import Modality

# Raffel et al. 2020, section 2.1; also the defaults of transformers.
T5_BUCKETS = ("relative_attention_num_buckets", 32)
T5_DISTANCE = ("relative_attention_max_distance", 128)
FIXED = None  # A size that the code does not take from the config.
SCALED = frozenset({"layoutlmv3"})  # The logit is divided by √d after the bias is added.


@dataclass(frozen=True)
class BiasKind:
    """A kind of stored table.

    ends: pattern for the end of the name of the tensor
    n_buckets, max_distance: key in config.json, and default
    along: axis of the offsets other than the sequence
    note: name of a sentence on it, "" for none; notes: of a sum, its own sentences
    radius: key and default of the largest offset; by_head: shape (n_heads, n_buckets) in place of
        (n_buckets, n_heads)
    has_more: whether rows beyond the buckets have another meaning
    each_offset: one row for each offset, without buckets
    modality: default, for tensors without a word for audio in their names
    """

    ends: str
    n_buckets: tuple[str | None, int] = T5_BUCKETS
    max_distance: tuple[str | None, int] = T5_DISTANCE
    along: str = ""
    note: str = ""
    notes: tuple[str, ...] = ()
    radius: tuple[str, int] | None = None
    by_head: bool = False
    has_more: bool = False
    each_offset: bool = False
    modality: Modality = "text"


KINDS = (
    BiasKind(
        r"(^|\.)encoder\.relative_attention_bias\.weight$", (FIXED, 32), (FIXED, 128), has_more=True
    ),
    BiasKind(
        r"(^|\.)TransientGlobalSelfAttention\.global_relative_attention_bias\.weight$",
        along="blocks",
        note="in_blocks",
    ),
    BiasKind(
        r"(^|\.)(Local|TransientGlobal)SelfAttention\.relative_attention_bias\.weight$",
        note="nothing_beyond",
        radius=("local_radius", 127),
    ),
    BiasKind(
        r"(^|\.)rel_attn_embed\.weight$",
        ("num_buckets", 320),
        ("max_bucket_distance", 800),
        note="gated",
        modality="audio",
    ),
    BiasKind(
        r"(^|\.)rel_pos_bias\.weight$", ("rel_pos_bins", 32), ("max_rel_pos", 128), by_head=True
    ),
    BiasKind(
        r"(^|\.)rel_pos_x_bias\.weight$",
        ("rel_2d_pos_bins", 64),
        ("max_rel_2d_pos", 256),
        "across the page",
        "across",
        by_head=True,
        modality="page",
    ),
    BiasKind(
        r"(^|\.)rel_pos_y_bias\.weight$",
        ("rel_2d_pos_bins", 64),
        ("max_rel_2d_pos", 256),
        "down the page",
        "down",
        by_head=True,
        modality="page",
    ),
    BiasKind(
        r"(^|\.)position_bias\.relative_attention_bias$",
        ("position_bias_num_buckets", 512),
        ("position_bias_max_distance", 2048),
        note="segment",
        has_more=True,
    ),
    BiasKind(
        r"(^|\.)relative_attention_bias_layer\.bias_values\.weight$",
        max_distance=("bias_max_distance", 1000),
        note="no_buckets",
        each_offset=True,
    ),
    BiasKind(r"^(enc|dec)\.blk\.\d+\.attn_rel_b\.weight$"),  # in files of llama.cpp
    BiasKind(
        r"(?<!EncDecAttention)(?<!relative_bias\.biases\.\d)(^|\.)relative_attention_bias\.weight$"
    ),
)
