"""Shaw's relative positions: a learned vector for each clipped offset, multiplied with queries inside attention."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, RelativeTable
from generator.errors import RowError
from generator.model_config import said
from generator.naming import in_order, parts, stack
from generator.numerics import Array, Floats, frozen

QUERIES = "Queries are multiplied with these vectors"
BEYOND = "beyond the last offset its vector holds"
MOST_OFFSETS = 8193


@dataclass(frozen=True)
class Rows:
    """Which row each offset (key minus query) has: two arrays (n_offsets,). A row of −1 stands for a vector of zeros."""

    offsets: Array
    rows: Array
    note: str


def _one_sided(files: Files, n_rows: int) -> Rows | None:
    """Of Wav2Vec2-BERT and SeamlessM4T v2: further to the left than to the right, in the order of key minus query."""
    left = _number(files, "left_max_position_embeddings", 64)
    if n_rows != left + _number(files, "right_max_position_embeddings", 8) + 1:
        return None
    return Rows(np.arange(n_rows) - left, np.arange(n_rows), f"{QUERIES}; {BEYOND}.")


def _of_bert(files: Files, n_rows: int) -> Rows | None:
    """Of BERT with “relative_key”: 2 · max − 1 rows, in the order of query minus key."""
    most = n_rows // 2
    both = said(files.config, "position_embedding_type") == "relative_key_query"
    met = "Queries and keys are" if both else "Queries are"
    return Rows(np.arange(-most, most + 1), np.arange(n_rows)[::-1], f"{met} multiplied with these vectors.") if n_rows % 2 else None


def _of_speecht5(_files: Files, n_rows: int) -> Rows | None:
    """2 · max rows for query minus key from −max to max − 1; all layers and heads share them."""
    most = n_rows // 2
    note = f"{QUERIES} in all layers and heads; {BEYOND}."
    return None if n_rows % 2 else Rows(np.arange(-most + 1, most + 1), np.arange(n_rows)[::-1], note)


def _of_vits(_files: Files, n_rows: int) -> Rows | None:
    """2 · window + 1 rows; no vector beyond."""
    window = n_rows // 2
    rows = np.concatenate([[-1], np.arange(n_rows), [-1]])
    return (
        Rows(np.arange(-window - 1, window + 2), rows, f"There is a vector for offsets of up to {window}, and none beyond.")
        if n_rows % 2
        else None
    )


def _of_granite(files: Files, n_rows: int) -> Rows | None:
    """2 · max + 1 rows in the order of query minus key, of which blocks of frames use those within a block."""
    most, block = n_rows // 2, _number(files, "context_size", 200)
    offsets = np.arange(-min(block - 1, most), min(block - 1, most) + 1)
    note = f"{QUERIES}, in blocks of {block} frames; rows for larger offsets are stored and not used."
    return Rows(offsets, most - offsets, note) if n_rows % 2 else None


KINDS: dict[str, tuple[str, Callable[[Files, int], Rows | None]]] = {
    r"(^|\.)self_attn\.distance_embedding\.weight$": ("", _one_sided),
    r"(^|\.)self\.distance_embedding\.weight$": ("", _of_bert),
    r"(^|\.)pe_k\.weight$": ("", _of_speecht5),
    r"(^|\.)emb_rel_k$": ("keys", _of_vits),
    r"(^|\.)emb_rel_v$": ("values", _of_vits),
    r"(^|\.)rel_pos_emb\.weight$": ("", _of_granite),
}


def find(files: Files) -> list[Encoding[Form]]:
    found = {name: pattern for name in in_order(files.tensors) for pattern in KINDS if re.search(pattern, name)}
    part = parts({name: f"{stack(name)} {KINDS[pattern][0]}".strip() for name, pattern in found.items()})
    return [_encoding(files, name, KINDS[pattern][1], part[name]) for name, pattern in found.items()]


def _encoding(files: Files, name: str, read: Callable[[Files, int], Rows | None], part: str) -> Encoding[Form]:
    tensor = files.tensors[name]
    shape = tensor.shape[1:] if len(tensor.shape) == 3 and tensor.shape[0] == 1 else tensor.shape
    rows = read(files, shape[0]) if len(shape) == 2 and 2 < shape[0] <= MOST_OFFSETS else None
    if rows is None:
        raise RowError(f"{files.where}: {name} has shape {tensor.shape}; expected as many rows as config.json has offsets")
    form = RelativeTable(frozen(_taken(files.tensor(name).reshape(shape), rows.rows)), frozen(rows.offsets))
    provenance = Provenance(tensor.file, name, tensor.dtype, tensor.shape, files.sha256(name))
    return Encoding(part, SCHEME.key, form, provenance, (rows.note,))


def _taken(table: Floats, rows: Array) -> Floats:
    return np.where(rows[:, None] >= 0, table[rows], 0.0)


def _number(files: Files, key: str, silent: int) -> int:
    value = said(files.config, key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_OFFSETS else silent


SCHEME = Scheme(
    key="shaw",
    title="Shaw's relative positions",
    summary="A learned vector for each offset up to a limit, multiplied with the query inside attention.",
    looked_for="distance_embedding, pe_k, emb_rel_k or rel_pos_emb among the tensors",
    order=34,
    find=find,
)
