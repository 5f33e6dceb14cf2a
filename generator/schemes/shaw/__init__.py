"""Relative position representations (Shaw et al. 2018): a learned vector for each clipped offset,
multiplied with queries.
"""

import re

import numpy as np

from generator.checkpoints.model.tensor_names import (
    in_order,
    misshapen,
    modality,
    parts,
    stack,
    stack_kind,
)
from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, RelativeTable
from generator.numerics.arrays import frozen
from generator.schemes.shaw.families import (
    BY_BUCKET,
    COLUMNS,
    KINDS,
    MOST_OFFSETS,
    SPEECH_INPUT,
    SPEECHT5,
    configured,
)

WORDING = Wording("schemes/shaw.md.jinja")


def find(files: Files) -> list[Encoding[Form]]:
    """One table for every matching tensor.

    errors: RowError when the shape of a tensor and the config do not match
    """
    kinds = {
        name: pattern
        for name in in_order(files.tensors)
        for pattern in KINDS
        if re.search(pattern, name)
    }
    titles = {}
    for name, pattern in kinds.items():
        # Inkling has a decoder alone.
        title = "decoder" if pattern == COLUMNS else stack(name)
        titles[name] = f"{title} {KINDS[pattern].role}".strip()
    part = parts(titles)
    return [_encoding(files, name, pattern, part[name]) for name, pattern in kinds.items()]


def _encoding(files: Files, name: str, pattern: str, part: str) -> Encoding[Form]:
    shape, kind = _stacked(files, name), KINDS[pattern]
    is_table = len(shape) == 2 and 2 < shape[0] <= MOST_OFFSETS
    rows = kind.rows(files.config.anywhere, shape[0]) if is_table else None
    if rows is None:
        raise misshapen(files, name, "as many rows as config.json has offsets")
    table = files.tensor(name)
    table = table.T if pattern == COLUMNS else table.reshape(shape)
    vectors = np.where(rows.rows[:, None] >= 0, table[rows.rows], 0.0)
    form, origin = RelativeTable(frozen(vectors), frozen(rows.offsets)), Provenance.of(files, name)
    # SpeechT5 reads sound if its encoder has a convolution for it, otherwise text.
    of_sound = pattern == SPEECHT5 and any(SPEECH_INPUT.search(other) for other in files.tensors)
    of_audio = of_sound or modality(name) == "audio"
    place = (
        "audio" if of_audio else kind.modality,
        "decoder" if pattern == COLUMNS else stack_kind(name),
    )
    return Encoding(part, SCHEME.key, form, origin, (rows.note,), *place)


def _stacked(files: Files, name: str) -> tuple[int, ...]:
    """The shape (n_rows, width), with a row for each offset or bucket, unless the tensor has
    another one.
    """
    shape = files.tensors[name].shape
    if len(shape) == 3 and shape[0] == 1:
        return shape[1:]
    if re.search(COLUMNS, name):  # One column for each offset.
        return shape[::-1]
    n_buckets = configured(files.config.anywhere, "num_buckets", 32)
    if re.search(BY_BUCKET, name) and len(shape) == 2 and shape[0] % n_buckets == 0:
        return n_buckets, shape[0] // n_buckets * shape[1]
    return shape


SCHEME = Scheme(
    key="shaw",
    paper="1803.02155",
    also=(
        "relative position representations",
        "relative position embedding (relative_key in BERT)",
    ),
    acts_in="logits",
    after="deberta",
    find=find,
    asked_by=("relative_key", "relative_key_query"),
)
