"""The sinusoid, a table that needs no training, and the layouts in which it is stored."""

from typing import Literal

import numpy as np

from generator.numerics.arrays import Floats, frozen

SinusoidLayout = Literal["interleaved", "halves", "tensor2tensor"]
BASE = 10_000.0  # Vaswani et al. 2017, section 3.5
WHOLE_TURN_EPSILON = 1e-6  # DETR adds it to the number of rows or columns.
FEW = 3  # rows
LAYOUTS: tuple[SinusoidLayout, ...] = ("interleaved", "halves", "tensor2tensor")
TableLayout = SinusoidLayout | Literal["columns first", "rows first", "shifted"]


def sinusoid(n_positions: int, d_model: int, layout: SinusoidLayout = "interleaved", base: float = BASE) -> Floats:
    """The fixed table of Vaswani et al. 2017 (arXiv 1706.03762, section 3.5) in one of the three layouts in use.

    interleaved: sines and cosines alternate, as printed; halves: all sines, then all cosines (Marian, Pegasus);
    tensor2tensor: halves with the exponent k/(d_model/2 − 1) (Whisper, M2M-100, FSMT). Where d_model is odd there is one
    sine more than cosines; in tensor2tensor a last column of zeros instead.
    returns: (n_positions, d_model), dimensionless, within [−1, 1]
    """
    half = d_model // 2
    n_sines = half if layout == "tensor2tensor" else d_model - half
    exponents = np.arange(n_sines) / max(half - 1, 1) if layout == "tensor2tensor" else 2 * np.arange(n_sines) / d_model
    angles = np.arange(n_positions)[:, None] * base**-exponents  # (n_positions, n_sines)
    table = np.zeros((n_positions, d_model))
    sines, cosines = (np.s_[0::2], np.s_[1::2]) if layout == "interleaved" else (np.s_[:n_sines], np.s_[n_sines : n_sines + half])
    np.sin(angles, out=table[:, sines])
    np.cos(angles[:, :half], out=table[:, cosines])
    table.setflags(write=False)
    return table


def grid_sinusoid(grid: tuple[int, int], d_model: int, columns_first: bool = True, base: float = BASE) -> Floats:
    """The sinusoid of a grid of patches, row by row: half of each vector encodes the column, the other half the row.

    Each half is the sinusoid in halves (He et al. 2022, arXiv 2111.06377, as published; there the column comes first).
    If d_model is odd, the last column is 0.
    returns: (rows · columns, d_model), dimensionless, within [−1, 1]
    """
    rows, columns = grid
    across = np.tile(sinusoid(columns, d_model // 2, "halves", base), (rows, 1))
    down = np.repeat(sinusoid(rows, d_model // 2, "halves", base), columns, axis=0)
    halves = [across, down] if columns_first else [down, across]
    return frozen(np.hstack([*halves, np.zeros((rows * columns, d_model % 2))]))


def whole_turn_sinusoid(grid: tuple[int, int], d_model: int) -> Floats:
    """The sinusoid of a grid whose rows and columns are counted from 1 and scaled, so that the last comes to 2π.

    Half of each vector encodes the row, the other half the column, with alternating sines and cosines (Carion et al. 2020,
    arXiv 2005.12872, as published). d_model: a multiple of 4
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


def layout(rows: Floats, first_row: int, grid: tuple[int, int] | None, tolerance: float) -> TableLayout | None:
    """The layout of the sinusoid that ``rows`` hold, counted from 0 or from ``first_row``; None without a match.

    rows: (n_positions, d_model); tolerance: largest absolute difference
    """
    for candidate in LAYOUTS:
        if all(_is_sinusoid(part, first_row, candidate, tolerance) for part in (rows[:FEW], rows)):  # Few rows tell most tables apart.
            return candidate
    return None if grid is None else _grid_layout(grid, rows, tolerance)


def _is_sinusoid(rows: Floats, first_row: int, candidate: SinusoidLayout, tolerance: float) -> bool:
    expected = sinusoid(first_row + rows.shape[0], rows.shape[1], candidate)
    return any(np.allclose(rows, expected[start:][: len(rows)], rtol=0.0, atol=tolerance) for start in {0, first_row})


def shifted_layout(rows: Floats, first_row: int, tolerance: float) -> TableLayout | None:
    """The layout "shifted" when ``rows`` are the interleaved sinusoid up to mean and scale, the way PatchTST stores it; else None.

    rows: (n_positions, d_model); tolerance: largest absolute difference at mean 0 and variance 1
    """
    expected = sinusoid(first_row + rows.shape[0], rows.shape[1])[first_row:]
    return "shifted" if np.allclose(_standard(rows), _standard(expected), rtol=0.0, atol=tolerance) else None


def _standard(values: Floats) -> Floats:
    """``values`` (…,) at mean 0 and variance 1, of the same shape."""
    return np.asarray((values - values.mean()) / (values.std() or 1.0), dtype=np.float64)


def _grid_layout(grid: tuple[int, int], rows: Floats, tolerance: float) -> TableLayout | None:
    if np.allclose(rows, grid_sinusoid(grid, rows.shape[1]), rtol=0.0, atol=tolerance):
        return "columns first"
    by_rows = grid_sinusoid(grid, rows.shape[1], columns_first=False)
    return "rows first" if np.allclose(rows, by_rows, rtol=0.0, atol=tolerance) else None
