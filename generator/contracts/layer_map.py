"""The layer map: for every layer of a model, which positions it mixes and which encodings act in
it.
"""

from dataclasses import dataclass
from typing import Literal

from generator.contracts.model_config import StackKind

# Attention to all visible positions, to those of a window, to those of the query's chunk, to keys
# that the query chooses, to keys each of which stands for several positions; a state
# updated from token to token; a convolution over neighbouring tokens; a Fourier transform over all
# of them; or none of these, as in a layer of experts alone.
Mixer = Literal[
    "full",
    "sliding",
    "chunked",
    "sparse",
    "compressed",
    "recurrent",
    "convolution",
    "fourier",
    "none",
]
LIMITED: frozenset[Mixer] = frozenset({"sliding", "chunked"})
ATTENTION: frozenset[Mixer] = frozenset({"full", "sliding", "chunked", "sparse", "compressed"})


@dataclass(frozen=True)
class Layer:
    """A layer of a stack.

    part: name of the stack; stack: whether it reads an input or generates an output; index: from 0,
        within the stack
    type: name of its kind in config.json, with spaces; mixers: more than one where they act side by
        side
    before, after: largest distance of a visible position on each side, in positions; None without a
        limit, or where no setting gives that of a window
    encodings: keys of the encodings that act in it; None where they are not known, because no
        weights were read
    at_input: keys of the encodings that enter before the first layer of its stack
    chosen: most keys that a query chooses; positions_per_key: of compressed ones; None where there
        is none, or where no setting gives it
    """

    part: str
    stack: StackKind
    index: int
    type: str
    mixers: tuple[Mixer, ...]
    before: int | None
    after: int | None
    encodings: tuple[str, ...] | None = ()
    at_input: tuple[str, ...] = ()
    chosen: int | None = None
    positions_per_key: int | None = None

    @property
    def attends(self) -> bool:
        """Whether it has attention."""
        return not ATTENTION.isdisjoint(self.mixers)

    @property
    def is_of_unknown_width(self) -> bool:
        """Whether it has a window or chunks, and no setting says of which width."""
        return self.before is None and not LIMITED.isdisjoint(self.mixers)

    @property
    def width(self) -> int | None:
        """Positions of its window on both sides together, or of its chunk, the query's included;
        None without a limit, or where no setting gives it.
        """
        if self.before is None:
            return None
        # A chunk is as long to both sides as to one.
        return self.before + 1 + (0 if "chunked" in self.mixers else self.after or 0)

    @property
    def mixes(self) -> bool:
        """Whether positions meet in it, so that an encoding could act there."""
        return self.mixers != ("none",)
