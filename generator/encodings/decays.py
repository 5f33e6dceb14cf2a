"""Decays: how fast the state of recurrent layers forgets."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from generator.encodings.form import Form
from generator.encodings.offsets import by_offset
from generator.numerics.arrays import Floats, frozen

# Rates of a layer that are stored; of more, as many at evenly spaced ranks, the smallest and the
# largest included.
MOST = 1025


@dataclass(frozen=True, eq=False)
class Decay(Form):
    """Exponential decay of the state in recurrent layers: after δ positions, e^(−rate · δ) of it is
    left.

    rates: (n_layers, n_rates), e-foldings per position; in the order of the model, or sorted where
        a layer has more than ``MOST``
    layers: (n_layers,), indices in the model; unit: what has a rate of its own ("head", "channel"
        …); n_units: number of these in a layer
    at_zero_input: whether the rates depend on the content, and these are the ones without it
    """

    rates: Floats
    layers: tuple[int, ...]
    unit: str
    n_units: int
    at_zero_input: bool
    noun = "a decay of the state"
    acts_in = "state"
    quantity = "mean share of the state that remains"
    grid = extent = make_reference = None
    is_symmetric = False
    depends_on_offset = True

    @classmethod
    def of(cls, rates: Floats, layers: tuple[int, ...], unit: str, at_zero_input: bool) -> "Decay":
        """The decay for all rates (n_layers, n_units) of a model."""
        n_units = rates.shape[1]
        if n_units > MOST:
            ranks = np.round(np.linspace(0, n_units - 1, MOST)).astype(np.int64)
            rates = np.sort(rates, axis=1)[:, ranks]
        return cls(frozen(rates), layers, unit, n_units, at_zero_input)

    @property
    def numbers(self) -> Floats:
        """The rates: (n_layers, n_rates), e-foldings per position."""
        return self.rates

    @property
    def parameters(self) -> Mapping[str, object]:
        """What has a rate of its own, how many of these a layer has, and whether the rates are
        those without input.
        """
        return {"unit": self.unit, "n_units": self.n_units, "at_zero_input": self.at_zero_input}

    def left(self, distances: Floats) -> Floats:
        """Share of the state that is left, as the mean over all rates: (n_distances,), within [0,
        1].

        distances: (n_distances,), in positions
        """
        with np.errstate(over="ignore"):  # Of a rate of 1e308, nothing is left.
            shares = [
                1.0 if distance == 0 else np.mean(np.exp(-self.rates * distance))
                for distance in distances
            ]
        return np.array(shares, dtype=np.float64)

    def kernel(self, n_positions: int) -> Floats:
        """``left`` as a matrix, query by key: (1, n_positions, n_positions); NaN for keys after the
        query.
        """
        offsets = np.arange(1.0 - n_positions, 1.0)
        matrix = by_offset(self.left(-offsets)[None], offsets, n_positions)
        return np.where(np.triu(np.ones((n_positions, n_positions), dtype=bool), 1), np.nan, matrix)
