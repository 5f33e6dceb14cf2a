"""What a form says of every pair of its positions, and the lines along which distances are counted."""

from dataclasses import dataclass

import numpy as np

from generator.encodings import Convolution, Form, NoEncoding, OffsetBias, PositionTable, RelativeTable, Rotation, WindowBias
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


def numbers_of(form: Form) -> Floats:
    """The numbers that make up ``form``."""
    match form:
        case PositionTable() | RelativeTable():
            return form.vectors
        case OffsetBias() | WindowBias():
            return form.values
        case Rotation():
            return form.frequencies
        case Convolution():
            return form.weights
        case NoEncoding():
            return np.zeros(0)


def kernel_of(form: Form, most: int, side: int, of_patches: bool) -> Kernel:
    """The kernel of the first ``most`` positions, or of the patches in the middle of a grid, ``side`` by ``side`` at most.

    of_patches: whether positions are those of patches along one side of an image: there are as many as the form has room for, and ``side``
    at most
    """
    most = min(side, _extent(form, most)) if of_patches else most
    match form:
        case WindowBias():
            rows, columns = (min(count, side) for count in form.window)
            down, across = (_middle(count, 2 * shown - 1) for count, shown in zip(form.values.shape[1:], (rows, columns), strict=True))
            return _of_grid(WindowBias(form.values[:, down, across]).kernel(rows * columns), rows, columns)
        case PositionTable(grid=(rows, columns)):
            down, across = _middle(rows, side), _middle(columns, side)
            block = form.vectors.reshape(rows, columns, -1)[down, across]
            return _of_grid(PositionTable(block.reshape(-1, block.shape[2])).kernel(block.size), *block.shape[:2])
        case _:
            heads = form.kernel(most)
            return Kernel(heads, offsets_between(heads.shape[1]), (np.arange(heads.shape[1]),))


def _extent(form: Form, unknown: int) -> int:
    """How many patches a line has."""
    match form:
        case Rotation():
            return form.n_positions
        case RelativeTable():
            return int(np.max(np.abs(form.offsets))) + 1
        case _:
            return unknown


def _middle(count: int, most: int) -> slice:
    shown = min(count, most)
    return slice((count - shown) // 2, (count - shown) // 2 + shown)


def _of_grid(heads: Floats, rows: int, columns: int) -> Kernel:
    patches = np.arange(rows * columns).reshape(rows, columns)
    down, across = np.divmod(patches.ravel(), columns)
    offsets = (down[None, :] - down[:, None]) * 2 * columns + across[None, :] - across[:, None]
    return Kernel(heads, offsets, (*patches, *patches.T))
