"""Disentangled attention (DeBERTa): a vector for each offset, multiplied with queries and with
keys.
"""

import re
from collections.abc import Iterator

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, parts, stack, stack_kind
from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.model_config import whole
from generator.contracts.wording import Wording
from generator.encodings import Form, RelativeTable
from generator.errors import RowError
from generator.numerics.arrays import Array, Floats, frozen
from generator.text import as_json

WORDING = Wording("schemes/deberta.md.jinja")
EXACT = frozenset({"deberta"})  # The first version: one vector for each offset, no LayerNorm.

NAME = re.compile(r"(^|\.)rel_embeddings\.weight$")
LAYER_NORM = "layer_norm"  # Value of norm_rel_ebd.
MOST_OFFSETS = 4096


def buckets(offsets: Array, n_buckets: int, max_position: int) -> Array:
    """Signed bucket of each offset (DeBERTa version 2; He et al. 2021, arXiv 2006.03654, and the
    code published with it).

    Offsets up to n_buckets/2 in size have one bucket each; beyond, the width of a bucket grows with
    the logarithm of the distance, up to ``max_position``. Computed in float32, as in the model.
    offsets: (n_offsets,), positions; returns: (n_offsets,), int
    """
    middle = n_buckets // 2
    distance = np.maximum(np.abs(offsets), middle).astype(np.float32) / np.float32(middle)
    share = np.log(distance) / np.log(np.float32((max_position - 1) / middle))
    wide = np.ceil(share * np.float32(middle - 1)).astype(np.int64) + middle
    return np.asarray(
        np.where(np.abs(offsets) <= middle, offsets, wide * np.sign(offsets)), dtype=np.int64
    )


def find(files: Files) -> list[Encoding[Form]]:
    """One table for every ``rel_embeddings``; none if the config disables relative attention.

    errors: RowError when the shape of a table and the config do not match, or LayerNorm is missing
    """
    is_relative = files.config.anywhere.flag("relative_attention") is not False
    names = [name for name in in_order(files.tensors) if NAME.search(name)] if is_relative else []
    part = parts({name: stack(name) for name in names})
    return [_encoding(files, name, part[name]) for name in names]


def _encoding(files: Files, name: str, part: str) -> Encoding[Form]:
    reach, n_buckets = _sizes(files, name)
    vectors, normed = _vectors(files, name)
    offsets = np.arange(-reach, reach + 1)
    # The model counts query minus key; the atlas counts key minus query.
    moved = -offsets if n_buckets is None else buckets(-offsets, n_buckets, reach)
    span = len(vectors) // 2
    form = RelativeTable(frozen(vectors[np.clip(moved + span, 0, 2 * span - 1)]), frozen(offsets))
    notes = (*normed, *_notes(files, n_buckets), WORDING("shared"))
    origin, kind = Provenance.of(files, name), stack_kind(name)
    return Encoding(part, SCHEME.key, form, origin, notes, stack=kind)


def _sizes(files: Files, name: str) -> tuple[int, int | None]:
    """The largest offset, and the number of buckets; None without buckets.

    errors: RowError when config.json and the shape of the tensor do not match
    """
    shape = files.tensors[name].shape
    config = files.config.anywhere
    n_buckets = None if files.config.family in EXACT else config.count("position_buckets")
    reach = config.count("max_relative_positions") or files.config.size("n_positions") or 512
    n_rows = 2 * (n_buckets or whole(reach, f"{files.where}: max_relative_positions"))
    if (
        len(shape) != 2
        or shape[0] != n_rows
        or (n_buckets is not None and not 2 <= n_buckets // 2 < reach - 1)
    ):
        raise RowError(
            f"{files.where}: {name} has shape {shape}, for {n_buckets or 'no'} buckets and {reach}"
            " offsets; expected two rows for each"
        )
    if reach > MOST_OFFSETS:
        raise RowError(
            f"{files.where}: {reach:,} offsets each way; expected at most {MOST_OFFSETS:,}"
        )
    return reach, n_buckets


def _vectors(files: Files, name: str) -> tuple[Floats, tuple[str, ...]]:
    """The vectors (n_rows, d_model) after LayerNorm, if the config has it, and a note on that."""
    rows = files.tensor(name)
    norms = files.config.anywhere.text("norm_rel_ebd") or ""
    is_normed = LAYER_NORM in [word.strip() for word in norms.lower().split("|")]
    if files.config.family in EXACT or not is_normed:
        return rows, ()
    stem = NAME.sub(r"\1LayerNorm.", name)
    parameters = [
        next((each for word in words if (each := f"{stem}{word}") in files.tensors), "")
        for words in (("weight", "gamma"), ("bias", "beta"))
    ]
    if not all(parameters):
        raise RowError(
            f"{files.where}: norm_rel_ebd is {as_json(norms)}, and no tensor is named"
            f" {stem}weight and bias; expected both"
        )
    weight, bias = map(files.tensor, parameters)
    epsilon = files.config.positive("layer_norm_eps", 1e-7)
    spread = np.sqrt(rows.var(axis=1, keepdims=True) + epsilon)
    normed = (rows - rows.mean(axis=1, keepdims=True)) / spread * weight + bias
    return normed, (WORDING("normed"),)


def _notes(files: Files, n_buckets: int | None) -> Iterator[str]:
    if n_buckets:
        yield WORDING("own_vectors", n_nearest=n_buckets // 2)
    config = files.config.anywhere
    kinds = (config.text("pos_att_type") or "").split("|") + list(config.listed("pos_att_type"))
    if used := [kind for kind in ("c2p", "p2c") if kind in kinds]:
        yield WORDING("multiplied", kinds=used)


SCHEME = Scheme(
    key="deberta",
    paper="2006.03654",
    also=(
        "relative position embedding of DeBERTa",
        "content-to-position and position-to-content attention",
    ),
    acts_in="logits",
    after="t5_bias",
    find=find,
)
