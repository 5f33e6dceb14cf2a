"""How much of the position there is in hidden states."""

from dataclasses import dataclass

import numpy as np

from generator.numerics.arrays import Floats

PENALTIES = 10.0 ** np.arange(-6.0, 3.0, 0.5)  # of a ridge, in units of the mean eigenvalue


@dataclass(frozen=True)
class Found:
    """How well positions are predicted from states that no fit has seen.

    r2: share of their variance, below 0 where the mean would do better; error: root mean square, in
        positions
    """

    r2: float
    error: float


def position_in(states: Floats, positions: Floats) -> Found:
    """Positions of states by a linear probe, trained on half of the sequences and tried on the
    other half, both ways.

    states: (n_sequences, n_positions, d_model); positions: (n_positions,)
    """
    half = len(states) // 2
    parts = (states[:half], states[half : 2 * half])
    squares = [_squared_error(train, other, positions) for train, other in (parts, parts[::-1])]
    variance = float(positions.var())
    mean = float(np.mean(squares))
    return Found(1.0 - mean / variance, float(np.sqrt(mean)))


def _squared_error(train: Floats, other: Floats, positions: Floats) -> float:
    """The mean squared error on ``other`` of a ridge fitted to ``train``, whose penalty generalised
    cross-validation on ``train`` chooses.
    """
    d_model = train.shape[2]
    rows = train.reshape(-1, d_model).astype(np.float64)
    target = np.tile(positions - positions.mean(), len(train))
    mean = rows.mean(axis=0)
    rows -= mean
    gram = rows.T @ rows
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    projected = vectors.T @ (rows.T @ target)
    total = float(target @ target)
    n_rows, scale = len(rows), float(values.mean()) or 1.0
    best = min(
        PENALTIES, key=lambda penalty: _gcv(values, projected, total, n_rows, penalty * scale)
    )
    weights = vectors @ (projected / (values + best * scale))
    unseen = other.reshape(-1, d_model).astype(np.float64) - mean
    predicted = unseen @ weights
    return float(np.mean((predicted - np.tile(positions - positions.mean(), len(other))) ** 2))


def _gcv(values: Floats, projected: Floats, total: float, n_rows: int, penalty: float) -> float:
    """Generalised cross-validation (Golub, Heath and Wahba 1979) from the eigenvalues of the Gram
    matrix and the projections of the target.
    """
    kept = values + penalty
    residual = total - float(np.sum(projected**2 * (values + 2.0 * penalty) / kept**2))
    freedom = n_rows - 1.0 - float(np.sum(values / kept))
    return float(max(residual, 0.0) / max(freedom, 1e-9) ** 2)


def share_of_position(states: Floats) -> float:
    """Share of the variance of states that belongs to the position, without bias (ε², Kelley 1935).

    states: (n_sequences, n_positions, d_model)
    """
    n_sequences, n_positions, _ = states.shape
    values = states.astype(np.float64)
    means = values.mean(axis=0)
    overall = means.mean(axis=0)
    of_position = n_sequences * float(((means - overall) ** 2).sum())
    within = float(((values - means) ** 2).sum())
    total = of_position + within
    if total == 0.0 or n_sequences < 2:
        return 0.0
    mean_within = within / (n_positions * (n_sequences - 1))
    return float((of_position - (n_positions - 1) * mean_within) / total)
