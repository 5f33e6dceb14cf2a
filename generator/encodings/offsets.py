"""Forms that depend on the offset between two positions alone: a bias, a vector, or the weights of
a convolution.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from generator.encodings.form import Form
from generator.numerics.arrays import Floats, cosine_matrix, offsets_between


def by_offset(values: Floats, offsets: Floats, n_positions: int) -> Floats:
    """Values by offset as matrices, query by key; the first and last value extend beyond the ends.

    values: (n_heads, n_offsets); offsets: (n_offsets,) consecutive integers, in positions
    returns: (n_heads, n_positions, n_positions)
    """
    column = np.clip(offsets_between(n_positions) - int(offsets[0]), 0, offsets.size - 1)
    return np.asarray(values[:, column])


class _ByOffset(Form):
    """What has a value for each of consecutive ``offsets``."""

    offsets: Floats
    grid = make_reference = None
    is_symmetric = False
    depends_on_offset = True

    @property
    def extent(self) -> int:
        """One more than the largest distance."""
        return int(np.max(np.abs(self.offsets))) + 1


@dataclass(frozen=True, eq=False)
class OffsetBias(_ByOffset):
    """A bias per head and signed offset (key minus query), added to the attention logit.

    values: (n_heads, n_offsets), logits; offsets: (n_offsets,) consecutive integers, in positions
    beyond: extrapolation past the last offset: "constant" (the last value) or "linear" (the last
        slope)
    """

    values: Floats
    offsets: Floats
    causal: bool
    beyond: Literal["constant", "linear"]
    noun = "a bias"
    quantity = "bias, in logits"

    @property
    def numbers(self) -> Floats:
        """The bias: (n_heads, n_offsets), logits."""
        return self.values

    @property
    def parameters(self) -> Mapping[str, object]:
        """Number of heads, whether later keys are hidden, and for a linear bias the slope of every
        head, in logits per position.
        """
        given: dict[str, object] = {"heads": len(self.values), "causal": self.causal}
        if self.beyond == "linear" and len(self.offsets) > 1:
            given["slopes"] = (self.values[:, 1] - self.values[:, 0]).tolist()
        return given

    def kernel(self, n_positions: int) -> Floats:
        """The bias as a matrix, query by key, in logits; NaN for keys that a causal mask hides.

        returns: (n_heads, n, n), n limited to the distances in ``offsets``
        """
        n = min(n_positions, self.extent)
        matrices = by_offset(self.values, self.offsets, n)
        # (n_heads, n, n)
        return np.where(self.causal & np.triu(np.ones((n, n), dtype=bool), 1), np.nan, matrices)


@dataclass(frozen=True, eq=False)
class RelativeTable(_ByOffset):
    """A learned vector per signed offset (key minus query), multiplied with queries or keys inside
    attention.

    vectors: (n_offsets, width); offsets: (n_offsets,) consecutive integers, in positions; the end
        vectors extend beyond them
    """

    vectors: Floats
    offsets: Floats
    noun = "a vector for each offset"
    quantity = "cosine with the vector of offset 0"

    @property
    def numbers(self) -> Floats:
        """The vectors: (n_offsets, width)."""
        return self.vectors

    @property
    def similarity(self) -> Floats:
        """Cosine similarity between the vectors of all pairs of offsets: (n_offsets, n_offsets),
        dimensionless.
        """
        return cosine_matrix(self.vectors)

    def kernel(self, n_positions: int) -> Floats:
        """Cosine of the vector at each pair's offset with that at offset 0 or, without one, at the
        nearest offset.

        returns: (1, n_positions, n_positions), query by key, dimensionless
        """
        nearest = int(np.argmin(np.abs(self.offsets)))
        return by_offset(self.similarity[None, nearest], self.offsets, n_positions)


@dataclass(frozen=True, eq=False)
class Convolution(Form):
    """Weights of a convolution over the sequence, whose output is added to the input.

    weights: (n_channels, n_channels_per_group, width); offsets: (width,), input minus output, in
        positions
    """

    weights: Floats
    offsets: Floats
    noun = "a convolution"
    quantity = "norm of the weights"
    acts_in = "input"
    grid = extent = make_reference = None
    is_symmetric = False
    depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        """The weights: (n_channels, n_channels_per_group, width)."""
        return self.weights

    @property
    def strength(self) -> Floats:
        """Norm of all weights at each offset: (width,)."""
        return np.asarray(np.sqrt(np.sum(self.weights**2, axis=(0, 1))))

    def kernel(self, n_positions: int) -> Floats:
        """Strength by offset as a matrix, query by key, 0 beyond the width: (1, n_positions,
        n_positions).
        """
        padded = np.concatenate([[0.0], self.strength, [0.0]])
        around = np.arange(int(self.offsets[0]) - 1, int(self.offsets[-1]) + 2)
        return by_offset(padded[None], np.asarray(around, dtype=np.float64), n_positions)
