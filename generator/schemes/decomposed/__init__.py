"""Decomposed relative position embeddings (MViTv2, ViTDet, SAM): vectors by row offset and by
column offset, multiplied with the query.
"""

import re
from collections import Counter

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, misshapen
from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, RelativeTable
from generator.numerics.arrays import frozen

WORDING = Wording("schemes/decomposed.md.jinja")
NAME = re.compile(r"(^|\.)rel_pos_([hwt])$")
NUMBER = re.compile(r"(?:^|\.)(\d+)(?=\.)")
ALONG = {"h": "rows", "w": "columns", "t": "frames"}  # Frames of clips (MViT).


def find(files: Files) -> list[Encoding[Form]]:
    """One table for every layer and axis.

    errors: RowError when a tensor is not (2 · n_patches − 1, head_dim)
    """
    parts = {name: _part(name) for name in in_order(files.tensors) if NAME.search(name)}
    counts = Counter(parts.values())
    return [
        _encoding(files, name, part if counts[part] == 1 else f"{part} of {name}")
        for name, part in parts.items()
    ]


def _part(name: str) -> str:
    """Layer and axis; of several numbers in the name, the last one is the layer."""
    layer = "".join(f" layer {number}" for number in NUMBER.findall(name)[-1:])
    return f"vision{layer} {ALONG[name[-1]]}"


def _encoding(files: Files, name: str, part: str) -> Encoding[Form]:
    shape = files.tensors[name].shape
    if len(shape) != 2 or shape[0] % 2 == 0 or shape[1] == 0:
        raise misshapen(files, name, "(2 · patches − 1, width)")
    reach = shape[0] // 2
    form = RelativeTable(frozen(files.tensor(name)[::-1]), frozen(np.arange(-reach, reach + 1)))
    covered = WORDING("covered", n_vectors=shape[0], along=ALONG[name[-1]], n_patches=reach + 1)
    notes = (covered, WORDING("resized"))
    return Encoding(part, SCHEME.key, form, Provenance.of(files, name), notes, "image")


SCHEME = Scheme(
    key="decomposed",
    paper="1904.09925",
    also=("decomposed relative position embedding (MViTv2, SAM)",),
    acts_in="logits",
    after="window_bias",
    find=find,
)
