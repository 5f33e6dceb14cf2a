"""Sinks and temperatures, usual and degenerate ones."""

import numpy as np

from generator.encodings import Form, Sinks, Temperature
from generator.numerics.arrays import frozen

draws = np.random.default_rng(3)

EXAMPLES: dict[str, Form] = {
    "sinks": Sinks(frozen(draws.normal(1.0, 2.0, (4, 8))), (0, 2, 4, 6)),
    "one sink": Sinks(frozen([[0.5]]), (3,)),
    "huge sinks": Sinks(frozen([[1e300, -1e300]]), (0,)),
    "sinks with NaN": Sinks(frozen(np.full((2, 3), np.nan)), (0, 1)),
    "temperature in steps": Temperature(0.1, 8192.0, 1, "steps", (3, 7), 1_048_576),
    "smooth temperature": Temperature(0.25, 16.0, 1, "smooth", (), 64),
    "temperature as a power": Temperature(0.1, 2048.0, 1, "power", (5,), 8192),
    "temperature of one position": Temperature(0.1, 8192.0, 0, "steps", (), 1),
    "temperature without growth": Temperature(0.1, 8192.0, 0, "steps", (), 4096),
}
