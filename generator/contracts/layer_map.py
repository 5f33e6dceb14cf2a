"""The layer map: for every layer of a model, which positions it mixes and which encodings act in
it.
"""

from dataclasses import dataclass
from typing import Literal

from generator.contracts.checkpoints import StackKind

# Attention to all visible positions, to those of a window, to those of the query's chunk; a state
# updated from token to token; a convolution over neighbouring tokens; a Fourier transform over all
# of them; or none of these, as in a layer of experts alone.
Mixer = Literal["full", "sliding", "chunked", "recurrent", "convolution", "fourier", "none"]
ATTENTION: frozenset[Mixer] = frozenset({"full", "sliding", "chunked"})


@dataclass(frozen=True)
class Layer:
    """A layer of a stack.

    part: name of the stack; stack: whether it reads an input or generates an output; index: from 0,
        within the stack
    type: name of its kind in config.json, with spaces; mixers: more than one where they act side by
        side
    before, after: largest distance of a visible position on each side, in positions; None without a
        limit
    encodings: keys of the encodings that act in it; None where they are not known, because no
        weights were read
    """

    part: str
    stack: StackKind
    index: int
    type: str
    mixers: tuple[Mixer, ...]
    before: int | None
    after: int | None
    encodings: tuple[str, ...] | None = ()

    @property
    def attends(self) -> bool:
        """Whether it has attention."""
        return not ATTENTION.isdisjoint(self.mixers)

    @property
    def mixes(self) -> bool:
        """Whether positions meet in it, so that an encoding could act there."""
        return self.mixers != ("none",)
