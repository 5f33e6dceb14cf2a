"""How much of the position there is in hidden states, from sums that take no more memory for more
texts.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generator.numerics.arrays import Array, Floats
from generator.numerics.linear_probes import PENALTIES

MASSIVE = 5.0  # times the mean norm of all components
LEAST_SHARE = 0.01  # of the variance, below which positions have no shape
ROUNDING = 1e-9  # of the squares of states, below which variance is rounding
BLOCKS = 8  # of sequences, each of which is left out in turn


class Sums:
    """Sums over some states of a layer.

    positions: (n_positions,), of the states of each sequence; kept less their mean
    blocks: (BLOCKS, n_positions, d_model), sums over every eighth sequence of a batch; squares:
        (BLOCKS, d_model), of their components; of_blocks: (BLOCKS,), sums over all their states of
        the squares of the means of their sequences; sizes: (BLOCKS,), how many sequences
    """

    def __init__(self, positions: Floats, d_model: int) -> None:
        self.positions = positions - positions.mean()
        self.blocks = np.zeros((BLOCKS, len(positions), d_model))
        self.squares = np.zeros((BLOCKS, d_model))
        self.of_blocks, self.sizes = np.zeros((2, BLOCKS))
        self.products = np.zeros((d_model, d_model))

    def add(self, states: Floats) -> None:
        """Take in states (n_sequences, n_positions, d_model)."""
        values = states.astype(np.float64)
        rows = values.reshape(-1, values.shape[2])
        self.products += rows.T @ rows
        for block in range(min(BLOCKS, len(values))):
            part = values[block::BLOCKS]
            self.sizes[block] += len(part)
            self.blocks[block] += part.sum(axis=0)
            self.squares[block] += (part**2).sum(axis=(0, 1))
            self.of_blocks[block] += len(self.positions) * (part.mean(axis=1) ** 2).sum()

    @property
    def n_sequences(self) -> int:
        """Sequences in the sums."""
        return int(self.sizes.sum())

    @property
    def by_position(self) -> Floats:
        """Sums over sequences: (n_positions, d_model)."""
        return np.asarray(self.blocks.sum(axis=0))

    @property
    def n_rows(self) -> int:
        """States in the sums."""
        return self.n_sequences * len(self.positions)

    def without_each(self) -> Iterator["Sums"]:
        """These without each block in turn, and without products."""
        for left_out in np.flatnonzero(self.sizes):
            rest = copy(self)
            rest.__dict__.pop("mean", None)
            for name in ("blocks", "squares", "of_blocks", "sizes"):
                values = getattr(self, name).copy()
                values[left_out] = 0.0
                setattr(rest, name, values)
            yield rest

    @cached_property
    def massive(self) -> Array:
        """Components whose norm over all states is over ``MASSIVE`` times the mean of all:
        (d_model,), bool.
        """
        norms = np.sqrt(self.squares.sum(axis=0))
        return np.asarray(norms > MASSIVE * norms.mean())

    @cached_property
    def mean(self) -> Floats:
        """Their mean: (d_model,)."""
        return np.asarray(self.by_position.sum(axis=0) / self.n_rows)

    @cached_property
    def gram(self) -> Floats:
        """Products of their components, less those of the mean: (d_model, d_model)."""
        return np.asarray(self.products - self.n_rows * np.outer(self.mean, self.mean))

    @cached_property
    def with_position(self) -> Floats:
        """Products of components with the position, whose mean is 0: (d_model,)."""
        return np.asarray(self.by_position.T @ self.positions)

    @cached_property
    def of_position(self) -> float:
        """The sum of squares of the positions of all states."""
        return float(self.n_sequences * self.positions @ self.positions)


@dataclass(frozen=True, eq=False)
class Probe:
    """A linear probe of the position. mean, weights: (d_model,); positions: (n_positions,), less
    their mean
    """

    mean: Floats
    weights: Floats
    positions: Floats

    def missed(self, states: Floats) -> Floats:
        """For each sequence of ``states`` (n_sequences, n_positions, d_model), mean squared error
        as a share of the variance of the positions: (n_sequences,).
        """
        missed = (states - self.mean) @ self.weights - self.positions
        return np.asarray((missed**2).mean(axis=1) / (self.positions**2).mean())


def probe(train: Sums) -> Probe:
    """A ridge fitted to ``train``, whose penalty generalised cross-validation on it chooses."""
    values, vectors = np.linalg.eigh(train.gram)
    values = np.maximum(values, 0.0)
    projected = vectors.T @ train.with_position
    scale = float(values.mean()) or 1.0
    penalty = scale * min(
        PENALTIES, key=lambda share: _gcv(values, projected, train, share * scale)
    )
    return Probe(train.mean, vectors @ (projected / (values + penalty)), train.positions)


def _gcv(values: Floats, projected: Floats, train: Sums, penalty: float) -> float:
    """Generalised cross-validation (Golub, Heath and Wahba 1979) from the eigenvalues of the Gram
    matrix and the projections of the target.
    """
    kept = values + penalty
    residual = train.of_position - float(np.sum(projected**2 * (values + 2.0 * penalty) / kept**2))
    freedom = train.n_rows - 1.0 - float(np.sum(values / kept))
    return float(max(residual, 0.0) / max(freedom, 1e-9) ** 2)


def share_of_position(sums: Sums) -> float:
    """Share of the variance of states that belongs to the position, without bias (ε², Kelley 1935,
    with sequences as blocks: what all positions of one have in common is no noise of theirs); 0
    without variance, and for fewer than two sequences.
    """
    n_sequences = sums.n_sequences
    of_mean = sums.n_rows * float(sums.mean @ sums.mean)
    total = float(sums.squares.sum()) - of_mean
    if total <= 0.0 or n_sequences < 2:
        return 0.0
    means = sums.by_position / n_sequences
    of_position = n_sequences * float(((means - sums.mean) ** 2).sum())
    noise = (total - of_position - (sums.of_blocks.sum() - of_mean)) / (n_sequences - 1)
    return float((of_position - noise) / total)


def rank_of_positions(sums: Sums, components: Array | None = None) -> float | None:
    """Stable rank of the mean states of positions, ‖pos‖²_F / ‖pos‖²₂, less the mean of all (Song
    and Zhong 2023, arXiv 2310.04861); None where under ``LEAST_SHARE`` of the variance is theirs.

    What the means of both halves of the sequences have in common, so that what a mean over few
    sequences has of these adds nothing on average: the trace of A Bᵀ over the largest eigenvalue of
    (A Bᵀ + B Aᵀ) / 2.
    components: (d_model,), bool, those that count; all without
    """
    chosen = slice(None) if components is None else components
    halves = [sums.blocks[first::2, :, chosen].sum(axis=0) for first in (0, 1)]
    one, other = (half - half.mean(axis=0) for half in halves)
    n_one, n_other = (sums.sizes[first::2].sum() for first in (0, 1))
    if not n_one or not n_other:
        return None
    common = one @ other.T / (n_one * n_other)
    trace, squares = float(np.trace(common)), sums.squares.sum(axis=0)
    of_all = (squares - sums.n_rows * sums.mean**2)[chosen].sum()
    least = max(LEAST_SHARE * of_all, ROUNDING * squares[chosen].sum()) / sums.n_sequences
    if trace <= least:
        return None
    return trace / float(np.linalg.eigvalsh((common + common.T) / 2.0)[-1])
