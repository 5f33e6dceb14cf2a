"""Arrays as short text, for scripts of the site."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from generator.numerics.arrays import Array, Floats, min_max_scaled

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
STEPS = 4094  # Two characters have 4,096 values: levels 0 to 4,094, and one for NaN.
EXACT_WHOLE = 2**53  # Above, a whole number of JavaScript may be another one.
DIGITS = 6  # significant digits of numbers that are not packed


@dataclass(frozen=True)
class PackedEntries:
    """The entries of a kernel of n positions that are stored.

    columns: None for a symmetric kernel, of which the upper triangle is stored, row by row;
        otherwise the width of the grid that the positions fill row by row (n for a sequence), and
        one entry is stored for each offset on that grid
    """

    n: int
    columns: int | None

    def of(self, kernel: Floats) -> Floats:
        """The stored entries of ``kernel`` (n, n): (n_entries,); NaN for offsets that no pair of
        positions has.
        """
        if self.columns is None:
            return np.asarray(kernel[np.triu_indices(self.n)])
        down, across = self._offsets(self.columns)
        entries = np.full((down.max() + 1, across.max() + 1), np.nan)
        entries[down, across] = kernel
        return entries.ravel()

    def _offsets(self, columns: int) -> tuple[Array, Array]:
        """Offset of each pair in grid rows and grid columns, (n, n) each, shifted so that the
        smallest is 0.
        """
        position = np.arange(self.n)
        n_rows, n_columns = ceil(self.n / columns), min(columns, self.n)
        row, column = position // columns, position % columns
        return (
            row[None, :] - row[:, None] + n_rows - 1,
            column[None, :] - column[:, None] + n_columns - 1,
        )


def pack(values: Floats) -> dict[str, Any]:
    """``values`` (any shape) as levels: value = low + (high − low) · level / 4,094, with an error
    of half a step at most.

    levels: two characters for each value, level 4,095 for NaN and infinity; low, high: None where
        no value is finite
    """
    flat = np.where(np.isfinite(values), values, np.nan).ravel()
    scaled = min_max_scaled(flat)
    finite = ~np.isnan(flat)
    levels = np.full(flat.size, STEPS + 1)
    levels[finite] = 0 if scaled is None else np.rint(scaled[finite] * STEPS)
    letters = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)
    text = np.stack([letters[levels // 64], letters[levels % 64]], axis=1).tobytes().decode()
    low, high = (
        (float(flat[finite].min()), float(flat[finite].max())) if finite.any() else (None, None)
    )
    return {"low": low, "high": low if scaled is None else high, "levels": text}


def rounded(values: Floats, digits: int = DIGITS) -> list[float | None]:
    """``values`` to so many significant digits, whole ones without a point; None for NaN and
    infinity.
    """
    return [_short(f"{value:.{digits - 1}e}") for value in values.ravel()]


def _short(text: str) -> float | None:
    value = float(text)
    if not np.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < EXACT_WHOLE else value
