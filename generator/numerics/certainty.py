"""How sure a number is: standard errors from what is left without one sequence at a time, or from
samples of sequences, and counts against chance.
"""

from collections.abc import Iterator

import numpy as np

from generator.numerics.arrays import Array, Floats

SAMPLES, SEED = 200, 0  # Samples of a bootstrap, and the seed by which they are drawn.
ALARM = 0.01  # Share of cases without structure in which a count may be taken for one.


def jackknife(without: Floats) -> Floats:
    """Standard error of an estimate (Tukey 1958, Annals of Mathematical Statistics 29, p. 614); of
    a mean, that of the mean.

    without: (n_sequences, …), the estimate without each sequence
    """
    return np.asarray(np.sqrt((len(without) - 1.0) * without.var(axis=0)))


def without_each(by_sequence: Floats) -> Iterator[Floats]:
    """``by_sequence`` (n_sequences, …) without each sequence in turn."""
    return (np.delete(by_sequence, number, axis=0) for number in range(len(by_sequence)))


def mean_error(values: Floats) -> float:
    """Standard error of the mean of those of ``values`` (n,) that are not NaN; NaN below two."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) / np.sqrt(known.size) if known.size > 1 else np.nan


def resamples(n_sequences: int) -> Floats:
    """How much each sequence counts in each sample of a bootstrap (Efron 1979, Annals of Statistics
    7, p. 1): (``SAMPLES``, n_sequences), each row's sum 1. Of counts beyond a limit, it knows the
    error that a jackknife without one sequence at a time does not.
    """
    even = np.full(n_sequences, 1.0 / n_sequences)
    counts = np.random.default_rng(SEED).multinomial(n_sequences, even, SAMPLES)
    return np.asarray(counts / n_sequences)


def quotient_error(above: Floats, below: Floats) -> float:
    """Standard error of the mean of ``above`` over that of ``below``, (n_sequences,) each, of the
    same sequences, whose numbers may go together.
    """
    return float(jackknife((above.sum() - above) / (below.sum() - below)))


def groups_of(values: Floats) -> Array:
    """The number of the group of each offset, whose offsets have the same bias in every head:
    (n_offsets,), int.

    values: (n_heads, n_offsets)
    """
    return np.asarray(np.unique(values, axis=1, return_inverse=True)[1].reshape(-1))


def share_of_groups(groups: Array, which: Array) -> float:
    """The share of groups that have one of the offsets ``which``, (n_offsets,), bool."""
    return np.unique(groups[which]).size / (int(groups.max()) + 1)


def is_beyond_chance(count: int, total: int, chance: float) -> bool:
    """Whether so many, or so few, of ``total`` come about in at most ``ALARM`` of cases where each
    does with the probability ``chance``; never of what is sure.
    """
    if not 0.0 < chance < 1.0:
        return False
    # scipy's distributions take a twentieth of a weekly build to import.
    steps = np.log(np.arange(total, 0, -1) / np.arange(1, total + 1) * chance / (1.0 - chance))
    of_count = np.exp(np.cumsum([total * np.log1p(-chance), *steps]))
    return bool(2.0 * min(of_count[count:].sum(), of_count[: count + 1].sum()) <= ALARM)
