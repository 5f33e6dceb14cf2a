"""KERPLE, logarithmic: a learned bias that falls with the logarithm of the distance (Chi et al.
2022, arXiv 2205.09921).
"""

import numpy as np

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, OffsetBias
from generator.numerics.arrays import Floats, frozen

WORDING = Wording("schemes/kerple.md.jinja")
SIZE, STEEPNESS = "kerple.r1", "kerple.r2"
CONTEXT = 1024  # positions, if config.json does not say how many


def find(files: Files) -> list[Encoding[Form]]:
    """The bias over the context; none without both tensors."""
    if not {SIZE, STEEPNESS} <= set(files.tensors):
        return []
    offsets = np.arange(1.0 - (files.config.size("n_positions") or CONTEXT), 1.0)
    values = bias(files.tensor(SIZE), files.tensor(STEEPNESS), -offsets)
    form = OffsetBias(frozen(values), frozen(offsets), causal=True, beyond="constant")
    notes = (WORDING("made_from", names=[SIZE, STEEPNESS]),)
    return [
        Encoding("decoder", SCHEME.key, form, Provenance.of(files, SIZE), notes, stack="decoder")
    ]


def bias(size: Floats, steepness: Floats, distances: Floats) -> Floats:
    """The bias of each head: (n_heads, n_distances), logits.

    size, steepness: (n_heads,); distances: (n_distances,), positions
    """
    return np.asarray(-size[:, None] * np.log1p(steepness[:, None] * distances))


SCHEME = Scheme(
    key="kerple",
    paper="2205.09921",
    also=("kernelized relative positional embedding",),
    acts_in="logits",
    after="alibi",
    find=find,
)
