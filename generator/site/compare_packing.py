"""Arrays as short text for the compare page, and back."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from generator.numerics.arrays import Array, Floats, min_max_scaled

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
STEPS = 4094  # Two characters tell 4,096 levels apart: 0 to 4,094, and one for what is not defined.
DIGITS = 6  # significant, of numbers written as such


@dataclass(frozen=True)
class Layout:
    """Which entries of a kernel of n positions are written.

    columns: None for the upper triangle of a symmetric one, row by row; otherwise the width of the grid on which positions lie
    row by row (n for a single row), and one entry for each offset (rows, then columns) on it.
    """

    n: int
    columns: int | None

    def entries(self, kernel: Floats) -> Floats:
        """The entries of ``kernel`` (n, n) that tell all of it; NaN for offsets that no pair has."""
        if self.columns is None:
            return np.asarray(kernel[np.triu_indices(self.n)])
        down, across = self._offsets(self.columns)
        entries = np.full((down.max() + 1, across.max() + 1), np.nan)
        entries[down, across] = kernel
        return entries.ravel()

    def _offsets(self, columns: int) -> tuple[Array, Array]:
        place = np.arange(self.n)
        rows, width = ceil(self.n / columns), min(columns, self.n)
        down, across = place // columns, place % columns
        return down[None, :] - down[:, None] + rows - 1, across[None, :] - across[:, None] + width - 1


def pack(values: Floats) -> dict[str, Any]:
    """``values`` (any shape) as levels of their range: low + (high − low) · level / 4,094, wrong by half a step at most.

    Each level is two characters; what is not defined has the last. low and high are None where nothing is defined.
    """
    flat = np.where(np.isfinite(values), values, np.nan).ravel()
    own = min_max_scaled(flat)
    known = ~np.isnan(flat)
    levels = np.full(flat.size, STEPS + 1)
    levels[known] = 0 if own is None else np.rint(own[known] * STEPS)
    letters = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)
    text = np.stack([letters[levels // 64], letters[levels % 64]], axis=1).tobytes().decode()
    low, high = (float(flat[known].min()), float(flat[known].max())) if known.any() else (None, None)
    return {"low": low, "high": low if own is None else high, "levels": text}


def rounded(values: Floats) -> list[float | None]:
    """Numbers to six significant digits; None for what is not defined."""
    return [float(f"{value:.{DIGITS - 1}e}") if np.isfinite(value) else None for value in values.ravel()]
