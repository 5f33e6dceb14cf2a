"""How sure a number is: standard errors of quotients of means, from what is left without one
sequence at a time, and counts against chance.
"""

from collections.abc import Iterator

import numpy as np

from generator.numerics.arrays import Array, Floats

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
