"""T5's relative bias: a learned number for each head and bucket of offsets, added to the attention logit."""

import re
from collections import Counter

import numpy as np

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, OffsetBias
from generator.errors import RowError
from generator.model_config import whole
from generator.numerics import Array, frozen

# The first published checkpoints hold a table for cross-attention as well, which no model reads.
NAME = re.compile(r"(?<!EncDecAttention)(^|\.)relative_attention_bias\.weight$")
LAYER = re.compile(r"\.block\.(\d+)\.")
N_BUCKETS, MAX_DISTANCE = 32, 128  # Raffel et al. 2020, section 2.1; what transformers takes when the config is silent.
MOST_DISTANCE = 100_000


def buckets(offsets: Array, n_buckets: int, max_distance: int, causal: bool) -> Array:
    """The bucket of each offset (Raffel et al. 2020, arXiv 1910.10683, section 2.1, and the code published with it).

    Half of the buckets hold one distance each, the others grow with its logarithm up to ``max_distance``; the last holds
    all beyond. Both directions have n_buckets/2 each, unless ``causal``: then the past has all of them.
    offsets: (n_offsets,), key minus query
    returns: (n_offsets,), int
    """
    side = n_buckets if causal else n_buckets // 2
    first = 0 if causal else side * (offsets > 0)
    distance = np.maximum(-offsets, 0) if causal else np.abs(offsets)
    exact = side // 2
    # In float32, as the models do it: the edges of buckets fall on whole distances.
    ratio = np.log(np.maximum(distance, exact).astype(np.float32) / np.float32(exact)) / np.float32(np.log(max_distance / exact))
    wide = exact + (ratio * np.float32(side - exact)).astype(np.int64)
    return np.asarray(first + np.where(distance < exact, distance, np.minimum(wide, side - 1)), dtype=np.int64)


def find(files: Files) -> list[Encoding[Form]]:
    names = [name for name in files.tensors if NAME.search(name)]
    tables = Counter(_stack(name) for name in names)
    return [_encoding(files, name, _stack(name) if tables[_stack(name)] == 1 else _layer(name)) for name in names]


def _stack(name: str) -> str:
    return "decoder" if "decoder" in name else "encoder"


def _layer(name: str) -> str:
    """The part where every layer has a table of its own, as in UMT5."""
    layer = LAYER.search(name)
    return f"{_stack(name)} layer {layer[1]}" if layer else _stack(name)


def _encoding(files: Files, name: str, part: str) -> Encoding[Form]:
    tensor = files.tensors[name]
    causal = _stack(name) == "decoder"
    n_buckets, max_distance = _sizes(files, name, causal)
    offsets = np.arange(-max_distance, 1 if causal else max_distance + 1)
    bucket = buckets(offsets, n_buckets, max_distance, causal)
    values = frozen(files.tensor(name)[bucket].T)  # (n_heads, n_offsets)
    form = OffsetBias(values, frozen(offsets), causal, beyond="constant")
    provenance = Provenance(tensor.file, name, tensor.dtype, tensor.shape, files.sha256(name))
    return Encoding(part, SCHEME.key, form, provenance, _notes(bucket, offsets, n_buckets))


def _sizes(files: Files, name: str, causal: bool) -> tuple[int, int]:
    said = {"relative_attention_num_buckets": N_BUCKETS, "relative_attention_max_distance": MAX_DISTANCE}
    n_buckets, max_distance = (whole(files.config.get(key, silent), f"{files.where}: {key}") for key, silent in said.items())
    shape = files.tensors[name].shape
    if len(shape) != 2 or shape[0] != n_buckets or n_buckets < 4:
        raise RowError(f"{files.where}: {name} has shape {shape}; expected ({n_buckets} buckets, heads)")
    exact = n_buckets // (2 if causal else 4)
    if not exact < max_distance <= MOST_DISTANCE:
        raise RowError(f"{files.where}: relative_attention_max_distance is {max_distance:,}; expected {exact + 1} to {MOST_DISTANCE:,}")
    return n_buckets, max_distance


def _notes(bucket: Array, offsets: Array, n_buckets: int) -> tuple[str, ...]:
    last = int(np.min(np.abs(offsets[bucket == bucket[0]])))
    used = f"All offsets of {last} positions and more share the last bucket of their side."
    unused = ", ".join(str(index) for index in sorted(set(range(n_buckets)) - set(bucket.tolist())))
    return (used, f"No offset falls into bucket {unused}, so that stored row has no effect and is not drawn.") if unused else (used,)


SCHEME = Scheme(
    key="t5_bias",
    title="T5's relative bias",
    summary="A learned number for each head and range of offsets, added to the attention logit. This scheme adds nothing to the input.",
    looked_for="relative_attention_bias.weight among the tensors",
    order=30,
    find=find,
)
