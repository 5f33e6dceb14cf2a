"""The absence of a position encoding."""

from dataclasses import dataclass

import numpy as np

from generator.encodings.form import Form
from generator.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class NoEncoding(Form):
    """No position encoding: order comes from elsewhere, or not at all. ``why`` gives the
    evidence.
    """

    why: str
    noun = "no encoding"
    quantity = "nothing"
    acts_in = ""
    grid = extent = make_reference = None
    is_symmetric = depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        """No numbers: (0,)."""
        return np.zeros(0)

    def kernel(self, n_positions: int) -> Floats:
        """Zeros (1, n_positions, n_positions): all pairs of positions are equal."""
        return np.zeros((1, n_positions, n_positions))
