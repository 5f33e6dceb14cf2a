"""Standard errors of quotients of means, from what is left without one sequence at a time."""

from collections.abc import Iterator

import numpy as np

from generator.numerics.arrays import Floats


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
