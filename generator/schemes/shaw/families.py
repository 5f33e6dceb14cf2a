"""Kinds of stored vectors by offset: names of tensors, and the order of their rows."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from generator.contracts import Modality, ModelConfig
from generator.contracts.wording import Wording
from generator.encodings.buckets import buckets
from generator.numerics.arrays import Array

WORDING = Wording("schemes/shaw.md.jinja")
MOST_OFFSETS = 8193
# One column for each offset: Inkling, and Inkling 2.
COLUMNS = r"(^|\.)(rel_logits_proj|relative_position_bias)\.proj$"
SPEECHT5 = r"(^|\.)pe_k\.weight$"
# In a SpeechT5 with an encoder of speech.
SPEECH_INPUT = re.compile(r"(^|\.)encoder\.prenet\.pos_conv_embed\.")
# One row for each bucket and head.
BY_BUCKET = r"(^|\.)self_attn\.relative_pos_embeddings\.weight$"


@dataclass(frozen=True)
class Rows:
    """Offsets (key minus query) and their rows in the table: (n_offsets,) each; row −1 is a vector
    of zeros.
    """

    offsets: Array
    rows: Array
    note: str


def configured(config: ModelConfig, name: str, default: int) -> int:
    """A number of buckets or offsets in ``config``; ``default`` if it is missing or above
    ``MOST_OFFSETS``.
    """
    value = config.count(name)
    return default if value is None or value > MOST_OFFSETS else value


def _one_sided(config: ModelConfig, n_rows: int) -> Rows | None:
    """Wav2Vec2-BERT and SeamlessM4T v2: more offsets to the left than to the right, in the order of
    key minus query.
    """
    left = configured(config, "left_max_position_embeddings", 64)
    if n_rows != left + configured(config, "right_max_position_embeddings", 8) + 1:
        return None
    return Rows(np.arange(n_rows) - left, np.arange(n_rows), WORDING("with_queries"))


def _of_bert(config: ModelConfig, n_rows: int) -> Rows | None:
    """BERT with “relative_key”: 2 · max − 1 rows, in the order of query minus key."""
    most = n_rows // 2
    both = config.text("position_embedding_type") == "relative_key_query"
    note = WORDING("with_queries_and_keys" if both else "with_queries_alone")
    offsets = np.arange(-most, most + 1)
    return Rows(offsets, np.arange(n_rows)[::-1], note) if n_rows % 2 else None


def _of_speecht5(_config: ModelConfig, n_rows: int) -> Rows | None:
    """SpeechT5: 2 · max rows for query minus key from −max to max − 1, shared by all layers and
    heads.
    """
    most = n_rows // 2
    note = WORDING("in_all_layers")
    offsets = np.arange(-most + 1, most + 1)
    return None if n_rows % 2 else Rows(offsets, np.arange(n_rows)[::-1], note)


def _of_vits(_config: ModelConfig, n_rows: int) -> Rows | None:
    """VITS: 2 · window + 1 rows; no vector beyond."""
    window = n_rows // 2
    rows = np.concatenate([[-1], np.arange(n_rows), [-1]])
    note = WORDING("within", furthest=window)
    return Rows(np.arange(-window - 1, window + 2), rows, note) if n_rows % 2 else None


def _of_granite(config: ModelConfig, n_rows: int) -> Rows | None:
    """Granite Speech: 2 · max + 1 rows in the order of query minus key; only offsets within a block
    of frames are used.
    """
    most, block = n_rows // 2, configured(config, "context_size", 200)
    offsets = np.arange(-min(block - 1, most), min(block - 1, most) + 1)
    note = WORDING("in_blocks", n_frames=block)
    return Rows(offsets, most - offsets, note) if n_rows % 2 else None


def _of_inkling(_config: ModelConfig, n_rows: int) -> Rows | None:
    """Inkling: a column for each distance to the past, shared by the heads; no vector beyond."""
    rows = np.concatenate([[-1], np.arange(n_rows)[::-1]])
    note = WORDING("with_projection", furthest=n_rows - 1)
    return Rows(np.arange(-n_rows, 1), rows, note)


def _of_prophetnet(config: ModelConfig, n_rows: int) -> Rows | None:
    """ProphetNet: a row of width d_model for each bucket and head, and a constant that is added to
    the product.
    """
    n_buckets = configured(config, "num_buckets", 32)
    furthest = configured(config, "relative_max_distance", 128)
    if n_rows != n_buckets or n_buckets < 4 or furthest <= n_buckets // 2:
        return None
    offsets = np.arange(-furthest, 1)
    rows = buckets(offsets, n_buckets, furthest, causal=True)
    return Rows(offsets, rows, WORDING("with_hidden_state"))


@dataclass(frozen=True)
class VectorKind:
    """A kind of stored vectors.

    rows: the order of rows for a config and a number of rows; None if they do not match
    role: factor that the vectors are multiplied with, if a layer has several tables
    modality: default, for tensors without a word for audio in their names
    """

    rows: Callable[[ModelConfig, int], Rows | None]
    role: str = ""
    modality: Modality = "text"


# By the end of the tensor's name.
KINDS: Mapping[str, VectorKind] = {
    r"(^|\.)self_attn\.distance_embedding\.weight$": VectorKind(_one_sided, modality="audio"),
    r"(^|\.)self\.distance_embedding\.weight$": VectorKind(_of_bert),
    SPEECHT5: VectorKind(_of_speecht5),
    r"(^|\.)emb_rel_k$": VectorKind(_of_vits, "keys"),
    r"(^|\.)emb_rel_v$": VectorKind(_of_vits, "values"),
    r"(^|\.)rel_pos_emb\.weight$": VectorKind(_of_granite, modality="audio"),
    COLUMNS: VectorKind(_of_inkling),
    BY_BUCKET: VectorKind(_of_prophetnet),
}
