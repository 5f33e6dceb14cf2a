"""One vector for each position, and the sinusoid, which needs no training."""

from dataclasses import dataclass
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


def grid_sinusoid(grid: tuple[int, int], d_model: int, columns_first: bool = True) -> Floats:
    """The sinusoid of a grid of patches, row by row: half of each vector tells the column, the other half the row.

    Each half is the sinusoid in halves (He et al. 2022, arXiv 2111.06377, as published; there the column comes first).
    What an odd d_model leaves over is 0.
    returns: (rows · columns, d_model), dimensionless, within [−1, 1]
    """
    rows, columns = grid
    across = np.tile(sinusoid(columns, d_model // 2, "halves"), (rows, 1))
    down = np.repeat(sinusoid(rows, d_model // 2, "halves"), columns, axis=0)
    halves = [across, down] if columns_first else [down, across]
    return frozen(np.hstack([*halves, np.zeros((rows * columns, d_model % 2))]))


@dataclass(frozen=True, eq=False)
class PositionTable:
    """One vector for each position. Stored rows before the first position and after the last are not part of it.

    vectors: (n_positions, d_model); grid: rows and columns of patches, where positions lie on one, row by row
    """

    vectors: Floats
    first_row: int = 0
    grid: tuple[int, int] | None = None
    noun = "a table of vectors"

    @property
    def reference(self) -> "PositionTable | None":
        """The sinusoid of the same shape, over the same grid, which every other table is shown beside."""
        n_positions, d_model = self.vectors.shape
        table = sinusoid(n_positions, d_model) if self.grid is None else grid_sinusoid(self.grid, d_model)
        return None if np.array_equal(table, self.vectors) else PositionTable(table, grid=self.grid)

    def kernel(self, n_positions: int) -> Floats:
        """Cosine similarity of the first ``n_positions`` vectors: (1, n, n), n limited to what the table holds."""
        return cosine_matrix(self.vectors[:n_positions])[None]
