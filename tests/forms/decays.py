"""Decays, usual and degenerate ones."""

from typing import Any

import numpy as np

from generator.encodings import Decay, Form

draws = np.random.default_rng(2)


def decay(rates: Any, at_zero_input: bool = True) -> Decay:
    """Rates (n_layers, n_units) of as many layers, every other one of a model."""
    array = np.asarray(rates, dtype=np.float64)
    return Decay.of(array, tuple(range(0, 2 * len(array), 2)), "head", at_zero_input)


EXAMPLES: dict[str, Form] = {
    "decays": decay(draws.lognormal(-3.0, 2.0, (6, 8))),
    "decays of many channels": decay(draws.lognormal(-3.0, 2.0, (3, 3000)), at_zero_input=False),
    "decay of one head": decay([[0.125]]),
    "decays of zero": decay(np.zeros((2, 3))),
    "decays, some zero": decay([[0.0, 0.5, 1.0], [0.25, 0.0, 2.0]]),
    "huge decays": decay([[1e300, 1e308], [1e-300, 1.0]]),
    "decays with NaN": decay(np.full((2, 3), np.nan)),
    "decays with infinity": decay([[np.inf, 1.0]]),
}
