"""What a form says of every pair of its positions, and the lines along which distances are counted."""

from dataclasses import dataclass

import numpy as np

from generator.encodings import Form
from generator.numerics.arrays import Array, Floats, offsets_between


@dataclass(frozen=True, eq=False)
class Kernel:
    """Every pair of positions, with what tells their distance.

    heads: (n_heads, n, n), query by key; NaN where a causal model cannot look
    offsets: (n, n) whole numbers, the same for pairs with the same offset
    lines: indices of positions that follow each other: all of them, or those of each row and each column of a grid
    """

    heads: Floats
    offsets: Array
    lines: tuple[Array, ...]

    @property
    def longest(self) -> int:
        """How many positions the longest line has."""
        return max(line.size for line in self.lines)

    def along(self, matrix: Floats) -> list[Floats]:
        """The parts of ``matrix`` (n, n) that lie within a line each."""
        return [matrix[np.ix_(line, line)] for line in self.lines]


def kernel_of(form: Form, most: int, side: int, of_patches: bool) -> Kernel:
    """The kernel of the first ``most`` positions, or of the patches in the middle of a grid, ``side`` by ``side`` at most.

    of_patches: whether positions in a line are those of patches along one side of an image: there are as many as the form has room for,
    and ``side`` at most
    """
    if form.grid is not None:
        rows, columns = (min(count, side) for count in form.grid)
        return _of_grid(form.middle(rows, columns).kernel(rows * columns), rows, columns)
    room = most if form.extent is None else form.extent
    heads = form.kernel(min(side, room) if of_patches else most)
    return Kernel(heads, offsets_between(heads.shape[1]), (np.arange(heads.shape[1]),))


def _of_grid(heads: Floats, rows: int, columns: int) -> Kernel:
    patches = np.arange(rows * columns).reshape(rows, columns)
    down, across = np.divmod(patches.ravel(), columns)
    offsets = (down[None, :] - down[:, None]) * 2 * columns + across[None, :] - across[:, None]
    return Kernel(heads, offsets, (*patches, *patches.T))
