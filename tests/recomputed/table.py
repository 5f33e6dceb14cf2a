"""A table of position vectors, its neighbours and its outliers.

Outliers are those of “Decay with distance”, unusual norms those of “Vector norms”.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tests.recomputed.published import Array, Encoding

NONE = np.array([], dtype=int)
MOST = 2048  # positions whose cosines count


@dataclass(frozen=True)
class Table:
    """Vectors of positions on a grid, which has one row where they are in a line."""

    vectors: Array
    grid: tuple[int, int]
    encoding: Encoding

    @property
    def is_line(self) -> bool:
        return self.grid[0] == 1

    @cached_property
    def units(self) -> Array:
        return units(self.vectors)

    @cached_property
    def outliers(self) -> Array:
        """Positions of unusual norm, or unlike their neighbours."""
        by_norm = unusual(np.linalg.norm(self.vectors, axis=1))
        return np.union1d(NONE if by_norm is None else by_norm, self._unlike_neighbours())

    @cached_property
    def is_inlier(self) -> Array:
        return ~np.isin(np.arange(len(self.vectors)), self.outliers)

    @cached_property
    def inliers(self) -> Array:
        return self.vectors[self.is_inlier]

    @cached_property
    def cosines(self) -> Array:
        """Of every two of the first positions."""
        return self.units[:MOST] @ self.units[:MOST].T

    @cached_property
    def cosines_within(self) -> Array:
        """The same, NaN for outliers."""
        without = np.where(self.is_inlier[:, None], self.units, np.nan)[:MOST]
        return np.asarray(without @ without.T)

    @property
    def neighbours(self) -> Array:
        """Pairs side by side, and pairs above each other."""
        numbers = np.arange(len(self.vectors)).reshape(self.grid)
        beside = np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], axis=1)
        above = np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], axis=1)
        return np.concatenate([beside, above])

    def _unlike_neighbours(self) -> Array:
        best = np.full(len(self.vectors), -np.inf)
        for first, second in self.neighbours:
            cosine = self.units[first] @ self.units[second]
            if not np.isnan(cosine):
                best[[first, second]] = np.maximum(best[[first, second]], cosine)
        best[np.isinf(best)] = np.nan
        odd = [place for place in range(len(best)) if _is_unlike(best, place)]
        return np.array(odd, dtype=int) if len(odd) <= 0.1 * len(best) else NONE


def _is_unlike(best: Array, place: int) -> bool:
    around = best[max(place - 32, 0) : place + 33]
    around = around[~np.isnan(around)]
    if np.isnan(best[place]):
        return False
    below = np.median(around) - best[place]
    return bool(below > 0.2 and 0.6745 * below > 3.5 * deviation(around))


def deviation(values: Array) -> float:
    """The median absolute deviation."""
    return float(np.median(np.abs(values - np.median(values))))


def unusual(values: Array) -> Array | None:
    """Places of unusual values; None where more than a tenth would be."""
    away = np.abs(values - np.median(values))
    is_far = 0.6745 * away > 3.5 * deviation(values)
    places = np.flatnonzero(is_far & (away > 0.2 * np.median(values)))
    return places if len(places) <= 0.1 * len(values) else None


def units(vectors: Array) -> Array:
    """Vectors of length 1, NaN for those of zeros."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms > 0, norms, np.nan)


def table_of(encoding: Encoding) -> Table:
    """The published table, or that of the published formula."""
    arrays = encoding.arrays
    if "whole_table.vectors" in arrays:
        assert "whole_table.vectors_every" not in arrays, "The file has every k-th vector alone"
        vectors = encoding.array("whole_table.vectors")
    else:
        angles = arrays["whole_table.places"] @ arrays["whole_table.frequencies"]
        waves = np.where(arrays["whole_table.is_cosine"], np.cos(angles), np.sin(angles))
        vectors = arrays["whole_table.scale"] * waves
    rows, columns = encoding.parameters["grid"] or (1, len(vectors))
    return Table(vectors, (rows, columns), encoding)
