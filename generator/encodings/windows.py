"""A bias for each two-dimensional offset between the patches of a window."""

from dataclasses import dataclass

import numpy as np

from generator.encodings.form import Form
from generator.numerics.arrays import Floats, centred_slice


@dataclass(frozen=True, eq=False)
class WindowBias(Form):
    """A bias per head and offset (rows, columns), added to the attention logit within a window of
    patches.

    values: (n_heads, 2·rows − 1, 2·columns − 1), logits, key minus query, with the offset (0, 0) in
        the middle
    """

    values: Floats
    noun = "a bias for each offset in a window"
    quantity = "bias, in logits"
    make_reference = None
    is_symmetric = False
    depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        """The bias: (n_heads, 2·rows − 1, 2·columns − 1), logits."""
        return self.values

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the window, in patches."""
        return (self.values.shape[1] + 1) // 2, (self.values.shape[2] + 1) // 2

    @property
    def extent(self) -> int:
        """Patches of the window."""
        return self.grid[0] * self.grid[1]

    def kernel(self, n_positions: int) -> Floats:
        """The bias as a matrix, query by key, patches in reading order, in logits.

        returns: (n_heads, n, n), n limited to the patches of the window
        """
        rows, columns = self.grid
        down, across = np.divmod(np.arange(min(n_positions, self.extent)), columns)
        below = down[None, :] - down[:, None] + rows - 1
        beside = across[None, :] - across[:, None] + columns - 1
        return np.asarray(self.values[:, below, beside])

    def middle(self, rows: int, columns: int) -> "WindowBias":
        """The bias of a smaller window: the offsets between ``rows`` × ``columns`` patches."""
        down, across = (
            centred_slice(count, 2 * shown - 1)
            for count, shown in zip(self.values.shape[1:], (rows, columns), strict=True)
        )
        return WindowBias(self.values[:, down, across])
