"""How model families store vectors by offset: the tensor's name, and which row each offset has."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from generator.contracts import Modality, ModelConfig
from generator.encodings.buckets import buckets
from generator.numerics.arrays import Array

QUERIES = "Queries are multiplied with these vectors"
BEYOND = "beyond the last offset its vector holds"
MOST_OFFSETS = 8193
COLUMNS = r"(^|\.)rel_logits_proj\.proj$"  # Has a column for each offset.
SPEECHT5 = r"(^|\.)pe_k\.weight$"
SPEECH_INPUT = re.compile(r"(^|\.)encoder\.prenet\.pos_conv_embed\.")  # Of a SpeechT5 whose encoder reads speech.
BY_BUCKET = r"(^|\.)self_attn\.relative_pos_embeddings\.weight$"  # Has a row for each bucket and head.


@dataclass(frozen=True)
class Rows:
    """Which row each offset (key minus query) has: two arrays (n_offsets,). A row of −1 stands for a vector of zeros."""

    offsets: Array
    rows: Array
    note: str


def configured(config: ModelConfig, name: str, default: int) -> int:
    """How many buckets or offsets ``config`` has; the default also where that is beyond all measure."""
    value = config.count(name)
    return default if value is None or value > MOST_OFFSETS else value


def _one_sided(config: ModelConfig, n_rows: int) -> Rows | None:
    """Of Wav2Vec2-BERT and SeamlessM4T v2: further to the left than to the right, in the order of key minus query."""
    left = configured(config, "left_max_position_embeddings", 64)
    if n_rows != left + configured(config, "right_max_position_embeddings", 8) + 1:
        return None
    return Rows(np.arange(n_rows) - left, np.arange(n_rows), f"{QUERIES}; {BEYOND}.")


def _of_bert(config: ModelConfig, n_rows: int) -> Rows | None:
    """Of BERT with “relative_key”: 2 · max − 1 rows, in the order of query minus key."""
    most = n_rows // 2
    both = config.text("position_embedding_type") == "relative_key_query"
    met = "Queries and keys are" if both else "Queries are"
    return Rows(np.arange(-most, most + 1), np.arange(n_rows)[::-1], f"{met} multiplied with these vectors.") if n_rows % 2 else None


def _of_speecht5(_config: ModelConfig, n_rows: int) -> Rows | None:
    """2 · max rows for query minus key from −max to max − 1; all layers and heads share them."""
    most = n_rows // 2
    note = f"{QUERIES} in all layers and heads; {BEYOND}."
    return None if n_rows % 2 else Rows(np.arange(-most + 1, most + 1), np.arange(n_rows)[::-1], note)


def _of_vits(_config: ModelConfig, n_rows: int) -> Rows | None:
    """2 · window + 1 rows; no vector beyond."""
    window = n_rows // 2
    rows = np.concatenate([[-1], np.arange(n_rows), [-1]])
    note = f"There is a vector for offsets of up to {window}, and none beyond."
    return Rows(np.arange(-window - 1, window + 2), rows, note) if n_rows % 2 else None


def _of_granite(config: ModelConfig, n_rows: int) -> Rows | None:
    """2 · max + 1 rows in the order of query minus key, of which blocks of frames use those within a block."""
    most, block = n_rows // 2, configured(config, "context_size", 200)
    offsets = np.arange(-min(block - 1, most), min(block - 1, most) + 1)
    note = f"{QUERIES}, in blocks of {block} frames; rows for larger offsets are stored and not used."
    return Rows(offsets, most - offsets, note) if n_rows % 2 else None


def _of_inkling(_config: ModelConfig, n_rows: int) -> Rows | None:
    """A column for each distance to the past, shared by the heads; no vector beyond."""
    rows = np.concatenate([[-1], np.arange(n_rows)[::-1]])
    note = "Each head multiplies these vectors with a projection of the token of their own width, made for the purpose"
    return Rows(np.arange(-n_rows, 1), rows, f"{note}; there is none for offsets beyond {n_rows - 1}.")


def _of_prophetnet(config: ModelConfig, n_rows: int) -> Rows | None:
    """A row for each bucket and head, as wide as the model; a constant for each is added to the product."""
    n_buckets, furthest = configured(config, "num_buckets", 32), configured(config, "relative_max_distance", 128)
    if n_rows != n_buckets or n_buckets < 4 or furthest <= n_buckets // 2:
        return None
    offsets = np.arange(-furthest, 1)
    note = (
        "The hidden state, not the query, is multiplied with these vectors, those of all heads side by side, and a constant of each added"
    )
    ahead = "The streams that predict further ahead count the same offsets from the token that they predict."
    return Rows(offsets, buckets(offsets, n_buckets, furthest, causal=True), f"{note}; {BEYOND}. {ahead}")


@dataclass(frozen=True)
class VectorKind:
    """A kind of stored vectors.

    rows: which row each offset has, of a config and a number of rows; None where they do not fit
    role: what the vectors are multiplied with, where a layer has several tables
    modality: what offsets are between, unless the tensor's name says audio
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
