"""What depends on the offset between two positions alone: a bias, a vector, or a convolution's weights."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from generator.encodings.form import Form
from generator.numerics.arrays import Floats, cosine_matrix


def by_offset(values: Floats, offsets: Floats, n_positions: int) -> Floats:
    """``values`` (n_heads, n_offsets) as matrices, query by key: (n_heads, n, n); the end values hold beyond the ends."""
    index = np.arange(n_positions)
    column = np.clip(index[None, :] - index[:, None] - int(offsets[0]), 0, offsets.size - 1)
    return np.asarray(values[:, column])


def _farthest(offsets: Floats) -> int:
    return int(np.max(np.abs(offsets)))


@dataclass(frozen=True, eq=False)
class OffsetBias(Form):
    """A number for each head and signed offset (key minus query), added to the attention logit.

    values: (n_heads, n_offsets); offsets: (n_offsets,) consecutive integers
    beyond: what holds past the last offset: "constant" (the last value) or "linear" (it goes on growing)
    """

    values: Floats
    offsets: Floats
    causal: bool
    beyond: Literal["constant", "linear"]
    noun = "a bias"
    quantity = "bias, in logits"
    grid = reference = None
    is_symmetric = False
    depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        return self.values

    @property
    def extent(self) -> int:
        return _farthest(self.offsets) + 1

    def kernel(self, n_positions: int) -> Floats:
        """The bias as a matrix, query by key: (n_heads, n, n); NaN where a causal model cannot look."""
        n = min(n_positions, self.extent)
        matrices = by_offset(self.values, self.offsets, n)
        return np.where(self.causal & np.triu(np.ones((n, n), dtype=bool), 1), np.nan, matrices)  # (n_heads, n, n)


@dataclass(frozen=True, eq=False)
class RelativeTable(Form):
    """A learned vector for each signed offset (key minus query), multiplied with queries or keys inside the attention.

    vectors: (n_offsets, width); offsets: (n_offsets,) consecutive integers, beyond which the end vectors hold
    """

    vectors: Floats
    offsets: Floats
    noun = "a vector for each offset"
    quantity = "cosine with the vector of offset 0"
    grid = reference = None
    is_symmetric = False
    depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        return self.vectors

    @property
    def extent(self) -> int:
        return _farthest(self.offsets) + 1

    @property
    def similarity(self) -> Floats:
        """Cosine of every offset's vector with every other's: (n_offsets, n_offsets)."""
        return cosine_matrix(self.vectors)

    def kernel(self, n_positions: int) -> Floats:
        """Cosine of the vector of each pair's offset with that of offset 0, or of the nearest to it: (1, n, n)."""
        nearest = int(np.argmin(np.abs(self.offsets)))
        return by_offset(self.similarity[None, nearest], self.offsets, n_positions)


@dataclass(frozen=True, eq=False)
class Convolution(Form):
    """Weights of a convolution over the sequence, whose output is added to the input.

    weights: (n_channels, n_channels_of_group, width); offsets: (width,) of the weights, in positions
    """

    weights: Floats
    offsets: Floats
    noun = "a convolution"
    quantity = "norm of the weights"
    grid = extent = reference = None
    is_symmetric = False
    depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        return self.weights

    @property
    def strength(self) -> Floats:
        """Norm of all weights at each offset: (width,)."""
        return np.asarray(np.sqrt(np.sum(self.weights**2, axis=(0, 1))))

    def kernel(self, n_positions: int) -> Floats:
        """Strength by offset as a matrix, 0 beyond the width: (1, n, n)."""
        padded = np.concatenate([[0.0], self.strength, [0.0]])
        around = np.arange(int(self.offsets[0]) - 1, int(self.offsets[-1]) + 2)
        return by_offset(padded[None], np.asarray(around, dtype=np.float64), n_positions)
