"""T5's relative bias: a learned number for each head and bucket of offsets, added to the attention logit."""

import re

import numpy as np

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, OffsetBias
from generator.errors import RowError
from generator.model_config import whole
from generator.numerics import Array, Floats, frozen

NAME = re.compile(r"(^|\.)relative_attention_bias\.weight$")
N_BUCKETS, MAX_DISTANCE = 32, 128  # Raffel et al. 2020, section 2.1; what transformers takes when the config is silent.


def buckets(offsets: Floats, n_buckets: int, max_distance: int, causal: bool) -> Array:
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
    return [_encoding(files, name) for name in files.tensors if NAME.search(name)]


def _encoding(files: Files, name: str) -> Encoding[Form]:
    tensor = files.tensors[name]
    n_buckets = whole(files.config.get("relative_attention_num_buckets", N_BUCKETS), f"{files.where}: relative_attention_num_buckets")
    max_distance = whole(files.config.get("relative_attention_max_distance", MAX_DISTANCE), f"{files.where}: relative_attention_max_distance")
    if len(tensor.shape) != 2 or tensor.shape[0] != n_buckets or n_buckets < 4 or max_distance > 100_000:
        raise RowError(f"{files.where}: {name} has shape {tensor.shape}; expected ({n_buckets} buckets, heads)")
    causal = "decoder" in name
    offsets = np.arange(-max_distance, 1 if causal else max_distance + 1)
    bucket = buckets(offsets, n_buckets, max_distance, causal)
    values = frozen(files.tensor(name)[bucket].T)  # (n_heads, n_offsets)
    form = OffsetBias(values, frozen(offsets), causal, beyond="constant")
    provenance = Provenance(tensor.file, name, tensor.dtype, tensor.shape, files.sha256(name))
    return Encoding("decoder" if causal else "encoder", SCHEME.key, form, provenance, _notes(bucket, offsets, n_buckets))


def _notes(bucket: Array, offsets: Array, n_buckets: int) -> tuple[str, ...]:
    last = int(np.min(np.abs(offsets[bucket == bucket[0]])))
    used = f"All offsets of {last} positions and more share the last bucket of their side."
    unused = ", ".join(str(index) for index in sorted(set(range(n_buckets)) - set(bucket.tolist())))
    return (used, f"No offset falls into bucket {unused}, so that stored row has no effect and is not drawn.") if unused else (used,)


SCHEME = Scheme(
    key="t5_bias",
    title="T5's relative bias",
    summary="A learned number for each head and range of offsets, added to the attention logit; the input carries no position.",
    looked_for="relative_attention_bias.weight among the tensors",
    order=30,
    find=find,
)
