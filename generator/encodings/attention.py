"""What acts in attention beside an encoding of position: learned sinks, and logits that grow with
the position of the query.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from generator.encodings.form import Form
from generator.numerics.arrays import Floats


def sink_share(logits: Floats, n_keys: Floats) -> Floats:
    """Weight that goes to sinks beside ``n_keys`` keys whose logits are all 0: e^s / (e^s + n),
    within [0, 1].

    logits, n_keys: of shapes that can be broadcast
    """
    return np.asarray(np.exp(-np.logaddexp(0.0, np.log(n_keys) - logits)))


@dataclass(frozen=True, eq=False)
class Sinks(Form):
    """A learned logit per head that joins those of the keys in softmax, and whose weight goes to no
    key.

    logits: (n_layers, n_heads); layers: (n_layers,), indices in the model
    """

    logits: Floats
    layers: tuple[int, ...]
    noun = "a sink for each head"
    tells_position = False
    quantity = "nothing: a sink ignores position"
    grid = extent = make_reference = None
    is_symmetric = depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        """The logits: (n_layers, n_heads)."""
        return self.logits

    def kernel(self, n_positions: int) -> Floats:
        """Zeros (1, n_positions, n_positions): all pairs of positions are equal."""
        return np.zeros((1, n_positions, n_positions))


@dataclass(frozen=True, eq=False)
class Temperature(Form):
    """A factor on the logits of attention that grows with the position of the query.

    At position p, with r = (p + shift) / start: 1 + strength · log(1 + ⌊r⌋) if it grows in "steps",
    1 + strength · log(max(r, 1)) if it is "smooth", (1 + r)^strength if it is a "power".
    layers: (n_layers,), indices of the layers that have it; empty for all; n_positions: of the
        configured context
    """

    strength: float
    start: float
    shift: int
    growth: Literal["steps", "smooth", "power"]
    layers: tuple[int, ...]
    n_positions: int
    noun = "a factor on the logits"
    tells_position = False
    quantity = "factor on the logits, at the later of two positions"
    grid = make_reference = None
    is_symmetric = True
    depends_on_offset = False

    @property
    def numbers(self) -> Floats:
        """The factor at the first and at the last position of the context: (2,)."""
        return self.factor(np.array([0.0, self.n_positions - 1.0]))

    @property
    def extent(self) -> int:
        """Positions of the configured context."""
        return self.n_positions

    def factor(self, positions: Floats) -> Floats:
        """The factor at positions (n,): (n,), dimensionless."""
        ratio = (positions + self.shift) / self.start
        if self.growth == "power":
            return np.asarray((1.0 + ratio) ** self.strength)
        grown = np.floor(ratio) + 1.0 if self.growth == "steps" else np.maximum(ratio, 1.0)
        return np.asarray(1.0 + self.strength * np.log(grown))

    def kernel(self, n_positions: int) -> Floats:
        """The factor at the later of two positions, the query's under a causal mask: (1, n, n), n
        limited to the context.
        """
        index = np.arange(min(n_positions, self.n_positions), dtype=np.float64)
        return self.factor(np.maximum(index[:, None], index))[None]
