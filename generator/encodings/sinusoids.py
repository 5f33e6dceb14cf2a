"""The sinusoid, a table that needs no training, and the arrangements in which it is stored."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from generator.numerics.arrays import Array, Floats, blocks

Arrangement = Literal["interleaved", "halves", "tensor2tensor"]
BASE = 10_000.0  # Vaswani et al. 2017, section 3.5
WHOLE_TURN_EPSILON = 1e-6  # DETR adds it to the number of rows or columns.
FEW = 3  # rows
ARRANGEMENTS: tuple[Arrangement, ...] = ("interleaved", "halves", "tensor2tensor")
GridArrangement = Literal["columns first", "rows first"]
GRID_ARRANGEMENTS: tuple[GridArrangement, ...] = ("columns first", "rows first")
TableArrangement = Arrangement | GridArrangement | Literal["shifted"]


@dataclass(frozen=True, eq=False)
class SinusoidFormula:
    """What a table of sines and cosines follows from: scale · sin(places · frequencies), or the
    cosine.

    places: (n_positions, n_axes), a number along each axis; frequencies: (n_axes, d_model), radians
        for each step along an axis
    is_cosine: (d_model,), bool
    """

    places: Floats
    frequencies: Floats
    is_cosine: Array
    scale: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of positions, and d_model."""
        return len(self.places), self.frequencies.shape[1]

    @property
    def table(self) -> Floats:
        """The table: (n_positions, d_model), dimensionless, within [−scale, scale].

        Computed anew each time, a few rows at once.
        """
        table = np.empty(self.shape)
        for columns, wave in ((~self.is_cosine, np.sin), (self.is_cosine, np.cos)):
            for rows in blocks(*self.shape):
                table[rows, columns] = wave(self.places[rows] @ self.frequencies[:, columns])
        table *= self.scale
        table.setflags(write=False)
        return table


def sinusoid_formula(
    n_positions: int,
    d_model: int,
    arrangement: Arrangement = "interleaved",
    base: float = BASE,
    first: int = 0,
) -> SinusoidFormula:
    """The fixed table of Vaswani et al. 2017 (arXiv 1706.03762, section 3.5) in one of the three
    arrangements in use, from number ``first`` on.

    interleaved: sines and cosines alternate, as printed; halves: all sines, then all cosines
        (Marian, Pegasus);
    tensor2tensor: halves with the exponent k/(d_model/2 − 1) (Whisper, M2M-100, FSMT). Where
        d_model is odd there is one sine more than cosines; in tensor2tensor a last column of zeros
        instead.
    """
    half = d_model // 2
    n_sines, exponents = d_model - half, 2 * np.arange(d_model - half) / d_model
    if arrangement == "tensor2tensor":
        n_sines, exponents = half, np.arange(half) / max(half - 1, 1)
    sines, cosines = slice(n_sines), slice(n_sines, n_sines + half)
    if arrangement == "interleaved":
        sines, cosines = slice(0, None, 2), slice(1, None, 2)
    frequencies, is_cosine = np.zeros((1, d_model)), np.zeros(d_model, dtype=bool)
    frequencies[0, sines], frequencies[0, cosines] = base**-exponents, base ** -exponents[:half]
    is_cosine[cosines] = True
    return SinusoidFormula(
        np.arange(first, first + n_positions, dtype=float)[:, None], frequencies, is_cosine
    )


def sinusoid(
    n_positions: int, d_model: int, arrangement: Arrangement = "interleaved", base: float = BASE
) -> Floats:
    """The table of ``sinusoid_formula``: (n_positions, d_model), dimensionless, within [−1, 1]."""
    return sinusoid_formula(n_positions, d_model, arrangement, base).table


def sinusoid_at(places: Array, d_model: int, arrangement: Arrangement) -> Floats:
    """The sinusoid at any ``places`` (n,), in positions: (n, d_model), dimensionless."""
    return replace(sinusoid_formula(0, d_model, arrangement), places=places[:, None]).table


def grid_formula(
    grid: tuple[int, int], d_model: int, columns_first: bool = True, base: float = BASE
) -> SinusoidFormula:
    """The sinusoid of a grid of patches, row by row: half of each vector encodes the column, the
    other half the row.

    Each half is the sinusoid in halves (He et al. 2022, arXiv 2111.06377, as published; there the
    column comes first). If d_model is odd, the last column is 0. Axes are rows and columns.
    """
    return _of_grid(
        np.indices(grid, dtype=float),
        d_model,
        sinusoid_formula(0, d_model // 2, "halves", base),
        columns_first,
    )


def grid_sinusoid(
    grid: tuple[int, int], d_model: int, columns_first: bool = True, base: float = BASE
) -> Floats:
    """The table of ``grid_formula``: (rows · columns, d_model), dimensionless, within [−1, 1]."""
    return grid_formula(grid, d_model, columns_first, base).table


def whole_turn_formula(grid: tuple[int, int], d_model: int) -> SinusoidFormula:
    """The sinusoid of a grid whose rows and columns are counted from 1 and scaled, so that the last
    comes to 2π.

    Half of each vector encodes the row, the other half the column, with alternating sines and
    cosines (Carion et al. 2020, arXiv 2005.12872, as published). d_model: a multiple of 4
    """
    counts = np.array(grid)[:, None, None]
    turns = 2 * np.pi * (np.indices(grid) + 1) / (counts + WHOLE_TURN_EPSILON)
    return _of_grid(turns, d_model, sinusoid_formula(0, d_model // 2), columns_first=False)


def _of_grid(
    places: Floats, d_model: int, of_axis: SinusoidFormula, columns_first: bool
) -> SinusoidFormula:
    """Half of each vector from the place along one axis, half from that along the other, both as in
    ``of_axis``.

    places: (2, rows, columns), along the rows and along the columns
    """
    half = d_model // 2
    parts = np.s_[:half], np.s_[half : 2 * half]
    frequencies, is_cosine = np.zeros((2, d_model)), np.zeros(d_model, dtype=bool)
    for axis, part in enumerate(parts[::-1] if columns_first else parts):
        frequencies[axis, part], is_cosine[part] = of_axis.frequencies[0], of_axis.is_cosine
    return SinusoidFormula(places.reshape(2, -1).T, frequencies, is_cosine)


def arrangement_of(
    rows: Floats, first_row: int, grid: tuple[int, int] | None, tolerance: float
) -> TableArrangement | None:
    """That of the sinusoid that ``rows`` hold, counted from 0 or from ``first_row``; None without
    a match.

    rows: (n_positions, d_model); tolerance: largest absolute difference
    """
    for candidate in ARRANGEMENTS:
        # Few rows tell most tables apart.
        if all(_is_sinusoid(part, first_row, candidate, tolerance) for part in (rows[:FEW], rows)):
            return candidate
    if grid is None:
        return None
    for name in GRID_ARRANGEMENTS:
        whole = grid_formula(grid, rows.shape[1], name == "columns first")
        parts = (rows[:FEW], replace(whole, places=whole.places[:FEW])), (rows, whole)
        if all(np.allclose(part, one.table, rtol=0.0, atol=tolerance) for part, one in parts):
            return name
    return None


def _is_sinusoid(rows: Floats, first_row: int, candidate: Arrangement, tolerance: float) -> bool:
    expected = sinusoid(first_row + rows.shape[0], rows.shape[1], candidate)
    return any(
        np.allclose(rows, expected[start:][: len(rows)], rtol=0.0, atol=tolerance)
        for start in {0, first_row}
    )


def shifted_arrangement(rows: Floats, first_row: int, tolerance: float) -> TableArrangement | None:
    """ "shifted" when ``rows`` are the interleaved sinusoid up to mean and scale, the way
    PatchTST stores it; else None.

    rows: (n_positions, d_model); tolerance: largest absolute difference at mean 0 and variance 1
    """
    expected = sinusoid(first_row + rows.shape[0], rows.shape[1])[first_row:]
    is_equal = np.allclose(_standard(rows), _standard(expected), rtol=0.0, atol=tolerance)
    return "shifted" if is_equal else None


def _standard(values: Floats) -> Floats:
    """``values`` (…,) at mean 0 and variance 1, of the same shape."""
    return np.asarray((values - values.mean()) / (values.std() or 1.0), dtype=np.float64)
