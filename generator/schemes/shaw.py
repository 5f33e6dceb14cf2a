"""Shaw's relative positions: a learned vector for each clipped offset, multiplied with queries inside attention."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from generator.checkpoints.model.config_json import find_value
from generator.checkpoints.model.tensor_names import in_order, parts, stack
from generator.contracts import Encoding, Files, Numbers, Picture, Provenance, Scheme
from generator.encodings import Form, RelativeTable
from generator.encodings.buckets import buckets
from generator.errors import RowError
from generator.figures.panels import cell_numbers, image, panels
from generator.figures.style import DIVERGING, SERIES
from generator.numerics.arrays import Array, Floats, frozen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUERIES = "Queries are multiplied with these vectors"
BEYOND = "beyond the last offset its vector holds"
MOST_OFFSETS = 8193
LIMIT = 4  # In the picture.
COLUMNS = r"(^|\.)rel_logits_proj\.proj$"  # Has a column for each offset.
BY_BUCKET = r"(^|\.)self_attn\.relative_pos_embeddings\.weight$"  # Has a row for each bucket and head.


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
    both = find_value(files.config, "position_embedding_type") == "relative_key_query"
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
    note = f"There is a vector for offsets of up to {window}, and none beyond."
    return Rows(np.arange(-window - 1, window + 2), rows, note) if n_rows % 2 else None


def _of_granite(files: Files, n_rows: int) -> Rows | None:
    """2 · max + 1 rows in the order of query minus key, of which blocks of frames use those within a block."""
    most, block = n_rows // 2, _number(files, "context_size", 200)
    offsets = np.arange(-min(block - 1, most), min(block - 1, most) + 1)
    note = f"{QUERIES}, in blocks of {block} frames; rows for larger offsets are stored and not used."
    return Rows(offsets, most - offsets, note) if n_rows % 2 else None


def _of_inkling(_files: Files, n_rows: int) -> Rows | None:
    """A column for each distance to the past, shared by the heads; no vector beyond."""
    rows = np.concatenate([[-1], np.arange(n_rows)[::-1]])
    note = "Each head multiplies these vectors with a projection of the token of their own width, made for the purpose"
    return Rows(np.arange(-n_rows, 1), rows, f"{note}; there is none for offsets beyond {n_rows - 1}.")


def _of_prophetnet(files: Files, n_rows: int) -> Rows | None:
    """A row for each bucket and head, as wide as the model; a constant for each is added to the product."""
    n_buckets, furthest = _number(files, "num_buckets", 32), _number(files, "relative_max_distance", 128)
    if n_rows != n_buckets or n_buckets < 4 or furthest <= n_buckets // 2:
        return None
    offsets = np.arange(-furthest, 1)
    note = (
        "The hidden state, not the query, is multiplied with these vectors, those of all heads side by side, and a constant of each added"
    )
    ahead = "The streams that predict further ahead count the same offsets from the token that they predict."
    return Rows(offsets, buckets(offsets, n_buckets, furthest, causal=True), f"{note}; {BEYOND}. {ahead}")


KINDS: dict[str, tuple[str, Callable[[Files, int], Rows | None]]] = {
    r"(^|\.)self_attn\.distance_embedding\.weight$": ("", _one_sided),
    r"(^|\.)self\.distance_embedding\.weight$": ("", _of_bert),
    r"(^|\.)pe_k\.weight$": ("", _of_speecht5),
    r"(^|\.)emb_rel_k$": ("keys", _of_vits),
    r"(^|\.)emb_rel_v$": ("values", _of_vits),
    r"(^|\.)rel_pos_emb\.weight$": ("", _of_granite),
    COLUMNS: ("", _of_inkling),
    BY_BUCKET: ("", _of_prophetnet),
}


def find(files: Files) -> list[Encoding[Form]]:
    found = {name: pattern for name in in_order(files.tensors) for pattern in KINDS if re.search(pattern, name)}
    stacks = {name: "decoder" if pattern == COLUMNS else stack(name) for name, pattern in found.items()}  # Inkling has no other.
    part = parts({name: f"{stacks[name]} {KINDS[pattern][0]}".strip() for name, pattern in found.items()})
    return [_encoding(files, name, KINDS[pattern][1], part[name]) for name, pattern in found.items()]


def _encoding(files: Files, name: str, read: Callable[[Files, int], Rows | None], part: str) -> Encoding[Form]:
    tensor = files.tensors[name]
    shape = _stacked(files, name)
    rows = read(files, shape[0]) if len(shape) == 2 and 2 < shape[0] <= MOST_OFFSETS else None
    if rows is None:
        raise RowError(f"{files.where}: {name} has shape {tensor.shape}; expected as many rows as config.json has offsets")
    table = files.tensor(name)
    table = table.T if re.search(COLUMNS, name) else table.reshape(shape)
    form = RelativeTable(frozen(_taken(table, rows.rows)), frozen(rows.offsets))
    return Encoding(part, SCHEME.key, form, Provenance.of(files, name), (rows.note,))


def _stacked(files: Files, name: str) -> tuple[int, ...]:
    """The shape with a row for each offset or bucket."""
    shape = files.tensors[name].shape
    if len(shape) == 3 and shape[0] == 1:
        return shape[1:]
    if re.search(COLUMNS, name):
        return shape[::-1]
    n_buckets = _number(files, "num_buckets", 32)
    if re.search(BY_BUCKET, name) and len(shape) == 2 and shape[0] % n_buckets == 0:
        return n_buckets, shape[0] // n_buckets * shape[1]
    return shape


def _taken(table: Floats, rows: Array) -> Floats:
    return np.where(rows[:, None] >= 0, table[rows], 0.0)


def _number(files: Files, key: str, silent: int) -> int:
    value = find_value(files.config, key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_OFFSETS else silent


def _numbers() -> Numbers:
    """The clipped offset of each pair of 12 positions, query by key, and of each offset up to 10 (Shaw et al. 2018, section 3.2)."""
    index, offsets = np.arange(12), np.arange(-10, 11)
    pairs, clipped = (np.clip(each, -LIMIT, LIMIT) for each in (index[None, :] - index[:, None], offsets))
    return {"pairs": pairs, "offsets": offsets, "clipped": clipped}


def _draw(numbers: Numbers) -> "Figure":
    figure, (left, right) = panels(2, height=3.6)
    image(left, numbers["pairs"], (-LIMIT, LIMIT), DIVERGING)
    cell_numbers(left, numbers["pairs"], (-LIMIT, LIMIT), DIVERGING)
    left.set_box_aspect(1)
    left.set(xlabel="key position", ylabel="query position")
    right.plot(numbers["offsets"], numbers["clipped"], color=SERIES[0], marker="o", markersize=3)
    right.set(xlabel="offset: key minus query (positions)", ylabel="offset whose vector is taken")
    right.set_xticks(range(-10, 11, 5))
    right.grid(axis="y")
    return figure


def _alt(numbers: Numbers) -> str:
    low, high = numbers["clipped"].min(), numbers["clipped"].max()
    return (
        f"A matrix of 12 by 12 positions, one number along each diagonal, and a line that rises from {low} to {high} and is level beyond."
    )


PICTURE = Picture(
    caption=f"Which offset's vector each pair of positions takes, where the limit is {LIMIT}: {2 * LIMIT + 1} vectors do for a text of any length.",
    how_to_read=(
        "Row: the position that looks; column: the position looked at. The number is the offset whose vector the query is multiplied with. It is the same along "
        f"each diagonal, and beyond {LIMIT} positions it stays the same: all far keys on one side share a vector."
    ),
    numbers=_numbers,
    alt=_alt,
    draw=_draw,
)


SCHEME = Scheme(
    key="shaw",
    title="Shaw's relative positions",
    also=("relative position representations", "relative position embedding (relative_key in BERT)"),
    summary="A learned vector for each offset up to a limit, multiplied with the query inside attention.",
    looked_for="distance_embedding, pe_k, emb_rel_k or rel_pos_emb among the tensors",
    order=34,
    find=find,
    picture=PICTURE,
)
