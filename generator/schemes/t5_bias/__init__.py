"""Relative position bias of T5: a learned number for each head and bucket of offsets, added to the
attention logit.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from generator.checkpoints.model.tensor_names import (
    in_order,
    misshapen,
    modality,
    parts,
    stack,
    stack_kind,
)
from generator.contracts import (
    Encoding,
    Files,
    Modality,
    ModelConfig,
    Oracle,
    Provenance,
    Recomputed,
    Scheme,
)
from generator.contracts.model_config import whole
from generator.contracts.wording import Wording
from generator.encodings import Form, OffsetBias
from generator.encodings.buckets import buckets, first_distances
from generator.errors import RowError
from generator.numerics.arrays import Array, frozen
from generator.schemes.t5_bias.families import FIXED, KINDS, SCALED, BiasKind

WORDING = Wording("schemes/t5_bias.md.jinja")
# The encoder of UDOP adds up several biases of different sizes, and ignores that of block 0.
SUMMED = re.compile(
    r"(^|\.)encoder\.relative_bias\.biases\.(\d+)\.relative_attention_bias\.weight$"
)
INSTEAD_OF = re.compile(
    r"(^|\.)encoder\.block\.0\.layer\.0\.SelfAttention\.relative_attention_bias\.weight$"
)
# Of x-transformers, with buckets for either one side or both.
OF_SIDE_UNKNOWN = re.compile(r"(^|\.)rel_pos\.relative_attention_bias\.weight$")
DEFAULT_BIASES = ({"type": "1d"}, {"type": "horizontal"}, {"type": "vertical"})
ON_PAGE = {"horizontal": ("across the page", "width"), "vertical": ("down the page", "height")}
MOST_DISTANCE = 100_000
MOST_SHOWN = 200  # distances, more than where the last bucket starts


@dataclass(frozen=True)
class Sizes:
    """Sizes of one table: ``n_buckets`` rows for offsets up to ``max_distance``, all for earlier
    keys if ``causal``.
    """

    n_buckets: int
    max_distance: int
    causal: bool


def find(files: Files) -> list[Encoding[Form]]:
    """One bias for every matching tensor.

    errors: RowError when the shape of a tensor and the config do not match
    """
    kinds = {name: kind for name in in_order(files.tensors) if (kind := _kind(files.config, name))}
    if any((match := SUMMED.search(name)) and match[2] == "0" for name in kinds):
        kinds = {name: kind for name, kind in kinds.items() if not INSTEAD_OF.search(name)}
    part = parts({name: f"{stack(name)} {kind.along}".strip() for name, kind in kinds.items()})
    return [_encoding(files, name, kind, part[name]) for name, kind in kinds.items()]


def _kind(config: ModelConfig, name: str) -> BiasKind | None:
    if not config.settings and OF_SIDE_UNKNOWN.search(name):
        return None
    if match := SUMMED.search(name):
        return _summed(config, int(match[2]))
    return next((kind for kind in KINDS if re.search(kind.ends, name)), None)


def _summed(config: ModelConfig, index: int) -> BiasKind | None:
    """The kind of bias number ``index`` in the encoder of UDOP; None if the config does not list
    it.
    """
    biases = config.anywhere.value("relative_bias_args") or DEFAULT_BIASES
    settings = biases[index] if isinstance(biases, list | tuple) and index < len(biases) else None
    if not isinstance(settings, dict):
        return None
    entry = ModelConfig(settings, config.where)
    along, side = ON_PAGE.get(entry.text("type") or "", ("", ""))
    notes = [WORDING("sum_of_biases")]
    if along:
        parts_of_side = entry.value("scaling_factor", 100)
        notes.insert(0, WORDING("between_centres", parts_of_side=parts_of_side, side=side))
    n_buckets = (FIXED, entry.value("relative_attention_num_buckets", 32))
    distance = (FIXED, entry.value("max_distance", 100 if along else 128))
    modality: Modality = "page" if along else "text"
    return BiasKind("", n_buckets, distance, along, notes=tuple(notes), modality=modality)


def _encoding(files: Files, name: str, kind: BiasKind, part: str) -> Encoding[Form]:
    sizes = _sizes(files, name, kind)
    offsets, bucket = _rows(files, kind, sizes)
    table = files.tensor(name)
    values = (table.T if kind.by_head else table)[bucket].T  # (n_heads, n_offsets)
    notes, rule = [WORDING(kind.note)] if kind.note else [*kind.notes], {}
    if not kind.each_offset:
        rule = {"buckets": sizes.n_buckets, "max_distance": sizes.max_distance}
        if not kind.radius:
            notes = [*_bucket_notes(bucket, offsets, sizes.n_buckets), *notes]
    if files.config.family in SCALED:
        head_dim = files.config.needed("d_model") // files.config.needed("n_heads")
        values = 1 / math.sqrt(max(head_dim, 1)) * values
        notes.append(WORDING("divided", head_dim=head_dim))
    form = OffsetBias(frozen(values), frozen(offsets), sizes.causal, beyond="constant")
    origin, of_audio = Provenance.of(files, name), modality(name) == "audio"
    place = ("audio" if of_audio else kind.modality, stack_kind(name))
    return Encoding(part, SCHEME.key, form, origin, tuple(notes), *place, rule=rule)


def _rows(files: Files, kind: BiasKind, sizes: Sizes) -> tuple[Array, Array]:
    """Offsets and their rows in the table: (n_offsets,) each."""
    if kind.each_offset:
        offsets = np.arange(-sizes.max_distance, sizes.max_distance)
        return offsets, offsets + sizes.max_distance
    reach = sizes.max_distance
    if kind.radius:
        name, default = kind.radius
        reach = min(
            whole(files.config.anywhere.value(name) or default, f"{files.where}: {name}"),
            MOST_DISTANCE,
        )
    offsets = np.arange(-reach, 1 if sizes.causal else reach + 1)
    return offsets, buckets(offsets, sizes.n_buckets, sizes.max_distance, sizes.causal)


def _sizes(files: Files, name: str, kind: BiasKind) -> Sizes:
    """Sizes from config.json.

    errors: RowError when they and the shape of the tensor do not match
    """
    shape = files.tensors[name].shape[:: -1 if kind.by_head else 1]
    causal = stack(name) == "decoder"
    max_distance = _whole(files.config, *kind.max_distance)
    n_buckets = 2 * max_distance if kind.each_offset else _whole(files.config, *kind.n_buckets)
    enough = len(shape) == 2 and (shape[0] == n_buckets or (kind.has_more and shape[0] > n_buckets))
    if not enough or n_buckets < 4:
        axes = (f"{n_buckets} buckets", "heads")[:: -1 if kind.by_head else 1]
        raise misshapen(files, name, f"({', '.join(axes)})")
    exact = n_buckets // (2 if causal else 4)
    if not exact < max_distance <= MOST_DISTANCE:
        distance = kind.max_distance[0] or "the largest distance"
        raise RowError(
            f"{files.where}: {distance} is {max_distance:,}; expected {exact + 1} to"
            f" {MOST_DISTANCE:,}"
        )
    return Sizes(n_buckets, max_distance, causal)


def _whole(config: ModelConfig, name: str | None, default: object) -> int:
    return (
        config.anywhere.whole(name, default)
        if name
        else whole(default, f"{config.where}: relative_bias_args")
    )


def _bucket_notes(bucket: Array, offsets: Array, n_buckets: int) -> Iterator[str]:
    """Notes on offsets that share the last bucket, and on buckets that none has."""
    last = int(np.min(np.abs(offsets[bucket == bucket[0]])))
    yield WORDING("last_bucket", start=last)
    if unused := sorted(set(range(n_buckets)) - set(bucket.tolist())):
        yield WORDING("unused", buckets=unused)


SCHEME = Scheme(
    key="t5_bias",
    paper="1910.10683",
    plural="learned relative biases",
    also=("T5's relative bias", "relative position bias", "relative attention bias", "T5 buckets"),
    acts_in="logits",
    after="sinusoidal",
    find=find,
    claims=re.compile(r"relative|(^|[._])rel_|(^|[._])pos_bias", re.IGNORECASE),
    oracles=(
        Oracle(
            "First distance of each bucket in an encoder, 32 buckets up to 128",
            (*map(str, range(9)), "12", "16", "23", "32", "46", "64", "91"),
            Recomputed("transformers", "T5Attention._relative_position_bucket"),
            first_distances,
            partial(buckets, -np.arange(MOST_SHOWN), 32, 128, causal=False),
        ),
        Oracle(
            "First distance of each bucket in a decoder, 32 buckets up to 128",
            (
                *map(str, range(17)),
                *("19", "21", "24", "27", "31", "35", "40", "46"),
                *("52", "59", "67", "77", "87", "99", "113"),
            ),
            Recomputed("transformers", "T5Attention._relative_position_bucket"),
            first_distances,
            partial(buckets, -np.arange(MOST_SHOWN), 32, 128, causal=True),
        ),
    ),
)
