"""Attention of heads by the offset of the key from the query, on average over queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generator.numerics.arrays import Array, Floats

NEAREST = 2  # Distance from which a fall is fitted; nearer ones are those of heads of a kind.
# Of a power law: the least R², the most of what an exponential misses that it may miss, and the
# most that is left of attention at the farthest distance, as a share of that at the nearest.
LEAST_R2, MISSED, LEFT = 0.8, 0.5, 0.5


@dataclass(frozen=True, eq=False)
class Falls:
    """How attention falls with distance. exponents, r2: of power laws, one for each head; NaN where
    it is none
    """

    exponents: Floats
    r2: Floats


@dataclass(frozen=True, eq=False)
class OffsetProfile:
    """Mean attention of some heads.

    offsets: (n_offsets,), int, of the key from the query; by_offset: (n_heads, n_offsets); first:
        (n_heads,), to the first position
    """

    offsets: Array
    by_offset: Floats
    first: Floats


@dataclass(frozen=True, eq=False)
class Attended:
    """Attention in single sequences.

    offsets: (n_offsets,), int; by_offset: (n_sequences, n_layers, n_heads, n_offsets); first:
        (n_sequences, n_layers, n_heads)
    """

    offsets: Array
    by_offset: Floats
    first: Floats

    def mean(self, weights: Floats | None = None) -> tuple[Array, Floats, Floats]:
        """Offsets, and the mean attention to them and to the first position.

        weights: (n_sequences,), of the sequences; None where all count alike
        """
        by_offset, first = (
            np.average(each, axis=0, weights=weights) for each in (self.by_offset, self.first)
        )
        return self.offsets, by_offset, first


def queries(n: int, is_causal: bool) -> slice:
    """The queries over which is averaged: the second half where they see none after them, else the
    middle half.
    """
    return slice(n // 2, n) if is_causal else slice(n // 4, n - n // 4)


def profile(weights: Floats, is_causal: bool) -> OffsetProfile:
    """Mean attention by offset, without that to the first position, which stands apart.

    weights: (n_heads, n, n), attention of the query in a row to each key, a mean over texts
    """
    n = weights.shape[1]
    chosen = queries(n, is_causal)
    places = np.arange(n)
    offsets = places[None, :] - places[chosen, None]
    # What the first position gets is no matter of offsets.
    kept = (places[None, :] > 0) & (offsets <= (0 if is_causal else n))
    values = np.unique(offsets[kept])
    slots = np.searchsorted(values, offsets[kept])
    counts = np.bincount(slots, minlength=values.size)
    part = weights[:, chosen]
    sums = np.stack([np.bincount(slots, head[kept], minlength=values.size) for head in part])
    return OffsetProfile(values, sums / counts, part[:, :, 0].mean(axis=1))


def of_texts(layers: Sequence[Sequence[OffsetProfile]]) -> Attended:
    """What single sequences have, from the profile of each layer in each of them."""
    return Attended(
        layers[0][0].offsets,
        np.stack([[each.by_offset for each in layer] for layer in layers], axis=1),
        np.stack([[each.first for each in layer] for layer in layers], axis=1),
    )


def falls(offsets: Array, by_offset: Floats, farthest: int) -> Falls:
    """The exponent γ of attention A(δ) ∝ δ^−γ to distances from ``NEAREST`` to ``farthest``, by
    least squares of log A on log δ, where it is a power law: with an R² of at least ``LEAST_R2``,
    which misses at most ``MISSED`` of the variance that an exponential misses, log A on δ, and
    where the fitted fall leaves at most ``LEFT``.

    Both laws have two free numbers. The bias of ALiBi alone is an exponential.
    offsets: (n_offsets,), int, of keys from queries; by_offset: (…, n_offsets), those to both sides
        count as one distance
    """
    distances = np.arange(NEAREST, farthest + 1)
    sides = np.abs(offsets)[:, None] == distances  # (n_offsets, n_distances)
    values = by_offset @ sides / np.maximum(sides.sum(axis=0), 1)
    are_positive = (values > 0.0).all(axis=-1)
    logs = np.log(np.where(are_positive[..., None], values, 1.0))
    slopes, r2 = _line(np.log(distances), logs)
    _, of_exponential = _line(distances.astype(float), logs)
    is_one = are_positive & (r2 >= LEAST_R2) & (1.0 - r2 <= MISSED * (1.0 - of_exponential))
    is_one &= slopes * np.log(farthest / NEAREST) <= np.log(LEFT)
    return Falls(*(np.where(is_one, each, np.nan) for each in (-slopes, r2)))


def _line(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Slope and R² of the lines by least squares through y (…, n) over x (n,): (…,) each; R² is 0
    where y does not vary.
    """
    x, y = x - x.mean(), y - y.mean(axis=-1, keepdims=True)
    slopes = np.asarray(y @ x / (x @ x))
    total = (y**2).sum(axis=-1)
    explained = slopes**2 * (x @ x)
    return slopes, np.divide(explained, total, out=np.zeros_like(total), where=total > 0.0)


def grid_profile(weights: Floats, grid: tuple[int, int], n_first: int) -> tuple[Floats, Floats]:
    """Mean attention by the offset of a patch, and to the token before the patches.

    weights: (n_heads, n, n), whose last places are the patches of ``grid``; n_first: places before
    returns: (n_heads, n_rows, n_columns), offset 0 in the middle, each offset over the same
        queries, those of the middle half; (n_heads,), zeros without a token before
    """
    rows, columns = grid
    reach = (rows // 4, columns // 4)
    window = [range(far, size - far) for far, size in zip(reach, grid, strict=True)]
    pictures = np.zeros((len(weights), 2 * reach[0] + 1, 2 * reach[1] + 1))
    of_first = np.zeros(len(weights))
    for row in window[0]:
        for column in window[1]:
            of_query = weights[:, n_first + row * columns + column]
            patches = of_query[:, n_first:].reshape(len(weights), rows, columns)
            pictures += patches[
                :, row - reach[0] : row + reach[0] + 1, column - reach[1] : column + reach[1] + 1
            ]
            of_first += of_query[:, 0] if n_first else 0.0
    n_queries = len(window[0]) * len(window[1])
    return pictures / n_queries, of_first / n_queries


def at(found: OffsetProfile, offset: int) -> Floats:
    """Mean attention to the key at ``offset``: (n_heads,), 0 for one that is never seen."""
    places = np.flatnonzero(found.offsets == offset)
    return found.by_offset[:, places[0]] if places.size else np.zeros(len(found.by_offset))


def chance(n: int, is_causal: bool) -> float:
    """Attention to any visible key of a head that tells no two apart, on average over the
    queries.
    """
    chosen = np.arange(n)[queries(n, is_causal)]
    return float(np.mean(1.0 / (chosen + 1.0))) if is_causal else 1.0 / n
