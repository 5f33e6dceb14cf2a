"""One vector for each position, and the sinusoid, which needs no training."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from generator.errors import NotApplicableError
from generator.numerics.arrays import FLAT, Floats, cosine_matrix, frozen

SinusoidLayout = Literal["interleaved", "halves", "tensor2tensor"]
BASE = 10_000.0  # Vaswani et al. 2017, section 3.5
MOST_WORK = 4e10  # 16,384 × 1,024 and 2,048 × 9,216 are within; a larger table would be decomposed for minutes.
LEADING = 3  # components along which positions are kept
WHOLE_TURN_EPSILON = 1e-6  # DETR adds it to the number of places.


def sinusoid(n_positions: int, d_model: int, layout: SinusoidLayout = "interleaved", base: float = BASE) -> Floats:
    """The fixed table of Vaswani et al. 2017 (arXiv 1706.03762, section 3.5) in one of three layouts found in use.

    interleaved: sine and cosine by turns, as printed; halves: all sines, then all cosines (Marian, Pegasus);
    tensor2tensor: halves with the exponent k/(d_model/2 − 1) (Whisper, M2M-100, FSMT). Where d_model is odd there is one
    sine more than cosines; in tensor2tensor a last column of zeros instead.
    returns: (n_positions, d_model), dimensionless, within [−1, 1]
    """
    half = d_model // 2
    n_sines = half if layout == "tensor2tensor" else d_model - half
    exponents = np.arange(n_sines) / max(half - 1, 1) if layout == "tensor2tensor" else 2 * np.arange(n_sines) / d_model
    angles = np.arange(n_positions)[:, None] * base**-exponents  # (n_positions, n_sines)
    table = np.zeros((n_positions, d_model))
    if layout == "interleaved":
        table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles[:, :half])
    else:
        table[:, :n_sines], table[:, n_sines : n_sines + half] = np.sin(angles), np.cos(angles[:, :half])
    return frozen(table)


def grid_sinusoid(grid: tuple[int, int], d_model: int, columns_first: bool = True, base: float = BASE) -> Floats:
    """The sinusoid of a grid of patches, row by row: half of each vector tells the column, the other half the row.

    Each half is the sinusoid in halves (He et al. 2022, arXiv 2111.06377, as published; there the column comes first).
    What an odd d_model leaves over is 0.
    returns: (rows · columns, d_model), dimensionless, within [−1, 1]
    """
    rows, columns = grid
    across = np.tile(sinusoid(columns, d_model // 2, "halves", base), (rows, 1))
    down = np.repeat(sinusoid(rows, d_model // 2, "halves", base), columns, axis=0)
    halves = [across, down] if columns_first else [down, across]
    return frozen(np.hstack([*halves, np.zeros((rows * columns, d_model % 2))]))


def whole_turn_sinusoid(grid: tuple[int, int], d_model: int) -> Floats:
    """The sinusoid of a grid whose rows and columns are counted from 1 and scaled, so that the last comes to 2π.

    Half of each vector tells the row, the other half the column, sines and cosines by turns (Carion et al. 2020, arXiv 2005.12872,
    as published). d_model: a multiple of 4
    returns: (rows · columns, d_model), dimensionless, within [−1, 1]
    """
    half = d_model // 2
    slowing = BASE ** -(2 * np.arange(half // 2) / half)  # (half / 2,)
    sides = []
    for n_places in grid:
        angles = 2 * np.pi * np.arange(1, n_places + 1)[:, None] / (n_places + WHOLE_TURN_EPSILON) * slowing
        sides.append(np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(n_places, half))
    down, across = np.repeat(sides[0], grid[1], axis=0), np.tile(sides[1], (grid[0], 1))
    return frozen(np.hstack([down, across]))


@dataclass(frozen=True, eq=False)
class Components:
    """Of the singular value decomposition of a table less its mean row: table − mean = scores · diag(values) · directions.

    scores: (n_positions, LEADING), the first columns; values: (min(n_positions, d_model),) from the largest
    """

    scores: Floats
    values: Floats


@dataclass(frozen=True, eq=False)
class PositionTable:
    """One vector for each position. Stored rows before the first position and after the last are not part of it.

    vectors: (n_positions, d_model); grid: rows and columns of patches, where positions lie on one, row by row
    """

    vectors: Floats
    first_row: int = 0
    grid: tuple[int, int] | None = None
    noun = "a table of vectors"

    @cached_property
    def reference(self) -> "PositionTable | None":
        """The sinusoid of the same shape, over the same grid, which every other table is shown beside."""
        table = reference(*self.vectors.shape, self.grid)
        return None if np.array_equal(table.vectors, self.vectors) else table

    @cached_property
    def singular_values(self) -> Floats:
        """Of the table as it is, from the largest, in units of its largest value: (min(n_positions, d_model),).

        errors: NotApplicableError where every value is zero, or it is too large
        """
        return frozen(np.linalg.svd(self._in_own_units, compute_uv=False))

    @cached_property
    def components(self) -> Components:
        """The decomposition of the table less its mean row, in units of its largest value.

        errors: NotApplicableError where every value is zero, all rows are the same, or it is too large
        """
        scaled = self._in_own_units
        centred = scaled - scaled.mean(axis=0)
        if np.max(np.abs(centred)) <= FLAT:
            raise NotApplicableError("all positions have the same vector")
        scores, values, _ = np.linalg.svd(centred, full_matrices=False)
        return Components(frozen(scores[:, :LEADING]), frozen(values))

    @property
    def _in_own_units(self) -> Floats:
        if self.vectors.size * min(self.vectors.shape) > MOST_WORK:
            raise NotApplicableError(f"a table of {self.vectors.shape[0]:,} × {self.vectors.shape[1]:,} takes too long to decompose")
        largest = float(np.max(np.abs(self.vectors), initial=0.0))
        if largest == 0.0:
            raise NotApplicableError("every value of the table is zero")
        return np.asarray(self.vectors / largest)

    def kernel(self, n_positions: int) -> Floats:
        """Cosine similarity of the first ``n_positions`` vectors: (1, n, n), n limited to what the table holds."""
        return cosine_matrix(self.vectors[:n_positions])[None]


@lru_cache(maxsize=2)
def reference(n_positions: int, d_model: int, grid: tuple[int, int] | None) -> PositionTable:
    """One and the same for all tables of a shape, so that what is measured of it need not be measured again."""
    return PositionTable(sinusoid(n_positions, d_model) if grid is None else grid_sinusoid(grid, d_model), grid=grid)
