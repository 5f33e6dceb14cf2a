"""Recognition of sinusoids in stored tables, in each of their layouts."""

from typing import Literal

import numpy as np

from generator.encodings import SinusoidLayout, grid_sinusoid, sinusoid
from generator.numerics.arrays import Floats

LAYOUTS: tuple[SinusoidLayout, ...] = ("interleaved", "halves", "tensor2tensor")
TableLayout = SinusoidLayout | Literal["columns first", "rows first", "shifted"]


def layout(rows: Floats, first_row: int, grid: tuple[int, int] | None, tolerance: float) -> TableLayout | None:
    """The layout of the sinusoid that ``rows`` hold, counted from 0 or from ``first_row``; None without a match.

    rows: (n_positions, d_model); tolerance: largest absolute difference
    """
    for candidate in LAYOUTS:
        expected = sinusoid(first_row + rows.shape[0], rows.shape[1], candidate)
        starts = {0, first_row}
        if any(np.allclose(rows, expected[start:][: len(rows)], rtol=0.0, atol=tolerance) for start in starts):
            return candidate
    return None if grid is None else _grid_layout(grid, rows, tolerance)


def shifted_layout(rows: Floats, first_row: int, tolerance: float) -> TableLayout | None:
    """ "shifted" when ``rows`` are the interleaved sinusoid up to mean and scale, the way PatchTST stores it; else None.

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
