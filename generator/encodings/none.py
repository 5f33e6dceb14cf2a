"""The finding that a model is told nothing of position."""

from dataclasses import dataclass

import numpy as np

from generator.encodings.form import Form
from generator.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class NoEncoding(Form):
    """No position encoding at all: order comes from elsewhere, or not. ``why`` says how that is known."""

    why: str
    noun = "no encoding at all"
    quantity = "nothing"
    grid = extent = reference = None
    is_symmetric = depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        return np.zeros(0)

    def kernel(self, n_positions: int) -> Floats:
        """All pairs alike: zeros (1, n, n)."""
        return np.zeros((1, n_positions, n_positions))
