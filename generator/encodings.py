"""The forms that a position encoding takes, and what each says about a pair of positions.

A form is a type: analyses state which ones they understand. How a checkpoint came by it (its scheme) is data elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from generator.numerics import Floats, cosine_matrix, frozen

SinusoidLayout = Literal["interleaved", "halves", "tensor2tensor"]
BASE = 10_000.0  # Vaswani et al. 2017, section 3.5


def sinusoid(n_positions: int, d_model: int, layout: SinusoidLayout = "interleaved") -> Floats:
    """The fixed table of Vaswani et al. 2017 (arXiv 1706.03762, section 3.5) in one of three layouts found in use.

    interleaved: sine and cosine by turns, as printed; halves: all sines, then all cosines (Marian, Pegasus);
    tensor2tensor: halves with the exponent k/(d_model/2 − 1) (Whisper, M2M-100, FSMT). Where d_model is odd there is one
    sine more than cosines; in tensor2tensor a last column of zeros instead.
    returns: (n_positions, d_model), dimensionless, within [−1, 1]
    """
    half = d_model // 2
    n_sines = half if layout == "tensor2tensor" else d_model - half
    exponents = np.arange(n_sines) / max(half - 1, 1) if layout == "tensor2tensor" else 2 * np.arange(n_sines) / d_model
    angles = np.arange(n_positions)[:, None] * BASE**-exponents  # (n_positions, n_sines)
    table = np.zeros((n_positions, d_model))
    if layout == "interleaved":
        table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles[:, :half])
    else:
        table[:, :n_sines], table[:, n_sines : n_sines + half] = np.sin(angles), np.cos(angles[:, :half])
    return frozen(table)


@dataclass(frozen=True, eq=False)
class PositionTable:
    """One vector for each position. Stored rows before the first position and after the last are not part of it.

    vectors: (n_positions, d_model)
    """

    vectors: Floats
    first_row: int = 0
    noun = "vectors"

    @property
    def reference(self) -> "PositionTable | None":
        """The sinusoid of the same shape, which every other table is shown beside."""
        table = sinusoid(self.vectors.shape[0], self.vectors.shape[1])
        return None if np.array_equal(table, self.vectors) else PositionTable(table)

    def kernel(self, n_positions: int) -> Floats:
        """Cosine similarity of the first ``n_positions`` vectors: (1, n, n), n limited to what the table holds."""
        return cosine_matrix(self.vectors[:n_positions])[None]


@dataclass(frozen=True, eq=False)
class OffsetBias:
    """A number for each head and signed offset (key minus query), added to the attention logit.

    values: (n_heads, n_offsets); offsets: (n_offsets,) consecutive integers
    beyond: what holds past the last offset: "constant" (the last value) or "linear" (it goes on growing)
    """

    values: Floats
    offsets: Floats
    causal: bool
    beyond: Literal["constant", "linear"]
    noun = "a bias"
    reference = None

    def kernel(self, n_positions: int) -> Floats:
        """The bias as a matrix, query by key: (n_heads, n, n); NaN where a causal model cannot look."""
        n = min(n_positions, int(np.max(np.abs(self.offsets))) + 1)
        offset = np.arange(n)[None, :] - np.arange(n)[:, None]
        column = np.clip(offset - int(self.offsets[0]), 0, self.offsets.size - 1)
        return np.where(self.causal & (offset > 0), np.nan, self.values[:, column])  # (n_heads, n, n)


@dataclass(frozen=True, eq=False)
class Rotation:
    """Pairs of query and key components turned by an angle that grows with position (Su et al. 2021, arXiv 2104.09864).

    rotary_dim of the head_dim components of each head are turned; scaling holds the checkpoint's own parameters.
    """

    base: float
    rotary_dim: int
    head_dim: int
    n_positions: int
    scaling: Mapping[str, object] = field(default_factory=dict)
    noun = "a rotation"
    reference = None

    @cached_property
    def unscaled_frequencies(self) -> Floats:
        """base^(−2j/rotary_dim): (n_pairs,), radians per position."""
        return frozen(self.base ** (-2.0 * np.arange(self.rotary_dim // 2) / self.rotary_dim))

    @property
    def rope_type(self) -> str:
        """The name of the rule that rescales the frequencies; "default" where none does."""
        return str(self.scaling.get("rope_type", self.scaling.get("type", "default")))

    @cached_property
    def frequencies(self) -> Floats:
        """What the checkpoint turns by, after scaling: (n_pairs,), radians per position."""
        return self.unscaled_frequencies if self.rope_type == "default" else self._rescaled[0]

    @cached_property
    def attention_factor(self) -> float:
        """The factor on sine and cosine that some scalings bring along; 1 without one."""
        return 1.0 if self.rope_type == "default" else self._rescaled[1]

    @cached_property
    def _rescaled(self) -> tuple[Floats, float]:
        from transformers import PreTrainedConfig
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

        rope = {
            **self.scaling,
            "rope_type": self.rope_type,
            "rope_theta": self.base,
            "partial_rotary_factor": self.rotary_dim / self.head_dim,
        }
        # One head as wide as the model: some of the initialisers ask for these two even where the width of a head is given.
        heads = {"hidden_size": self.head_dim, "num_attention_heads": 1, "head_dim": self.head_dim}
        config = PreTrainedConfig(rope_parameters=rope, max_position_embeddings=self.n_positions, **heads)
        frequencies, attention_factor = ROPE_INIT_FUNCTIONS[self.rope_type](config, "cpu")
        turning = frequencies.double().numpy()
        return frozen(turning[turning != 0.0]), float(attention_factor)  # A pair that does not turn is not rotated.

    def by_offset(self, n_offsets: int) -> Floats:
        """mean_j cos(offset · frequency_j) for offsets 0 … n_offsets − 1: (n_offsets,), 1 at offset 0."""
        return np.asarray(np.cos(np.arange(n_offsets)[:, None] * self.frequencies).mean(axis=1))

    def kernel(self, n_positions: int) -> Floats:
        """The same as a matrix, query by key: (1, n_positions, n_positions)."""
        index = np.arange(n_positions)
        return np.asarray(self.by_offset(n_positions)[np.abs(index[:, None] - index)][None])


Form = PositionTable | OffsetBias | Rotation
