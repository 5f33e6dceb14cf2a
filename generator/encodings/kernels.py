"""Kernels of a form over a range of positions or a grid of patches, with the offset of every pair."""

from dataclasses import dataclass

import numpy as np

from generator.encodings import Form
from generator.numerics.arrays import Array, Floats, offsets_between


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel with the offsets of its pairs.

    heads: (n_heads, n, n), query by key; NaN for keys that a causal mask hides
    offsets: (n, n) integers, equal for pairs with the same offset (on a grid: the same rows and columns)
    lines: index arrays of consecutive positions: the whole sequence, or each row and each column of a grid
    """

    heads: Floats
    offsets: Array
    lines: tuple[Array, ...]

    @property
    def longest(self) -> int:
        """Positions in the longest line."""
        return max(line.size for line in self.lines)

    def along(self, matrix: Floats) -> list[Floats]:
        """The submatrix of ``matrix`` (n, n) for each line: a list of (n_line, n_line)."""
        return [matrix[np.ix_(line, line)] for line in self.lines]


def kernel_of(form: Form, most: int, side: int, of_patches: bool) -> Kernel:
    """The kernel of the first ``most`` positions, or of the patches in the middle of a grid, ``side`` by ``side`` at most.

    of_patches: whether a sequence is the patches along one side of an image, as many as the form covers, ``side`` at most
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
