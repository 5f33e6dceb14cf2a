"""Kernels of a form over ranges of positions or grids of patches, with the offset of every pair, and by distance over the whole context."""

from dataclasses import dataclass

import numpy as np

from generator.encodings import Form
from generator.encodings.rotations import Rotation
from generator.encodings.tables import PositionTable
from generator.numerics.arrays import Array, Floats, direction_blocks, mean_by_distance, offsets_between
from generator.numerics.shapes import along, far_cosine, far_from, far_level

PER_OCTAVE = 12  # distances of a table, on a logarithmic scale
FINEST = 24  # the same of a rotation, whose kernel ripples
MOST_OFFSETS = 512  # positions of a bias, or of vectors by offset, over which its profile is drawn


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel with the offsets of its pairs.

    heads: (n_heads, n, n), query by key; NaN for keys that a causal mask hides, and for outliers of a table
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
        return along(matrix, self.lines)


@dataclass(frozen=True, eq=False)
class Profile:
    """Kernel of each head by distance, as far as a form goes: the mean over all pairs at a distance, in both directions.

    distances: (n_distances,), in positions, ascending from 0; values: (n_heads, n_distances); far: (n_heads,), mean over far pairs
    """

    distances: Array
    values: Floats
    far: Floats


def kernel_of(form: Form, most: int, side: int, of_patches: bool) -> Kernel:
    """The kernel of the first ``most`` positions, or of the patches in the middle of a grid, ``side`` by ``side`` at most.

    of_patches: whether a sequence is the patches along one side of an image, as many as the form covers, ``side`` at most
    """
    if form.grid is not None:
        rows, columns = (min(count, side) for count in form.grid)
        return _of_grid(form.middle(rows, columns).kernel(rows * columns), columns)
    room = most if form.extent is None else form.extent
    return _of_line(form.kernel(min(side, room) if of_patches else most))


def windows_of(form: Form, most: int, side: int, of_patches: bool) -> list[Kernel]:
    """``kernel_of`` at several places of a table that is longer: its start, middle and end, or, on a grid, the middle and two corners.

    The same everywhere, so a single one, for a form whose kernel depends on the offset alone.
    """
    if not isinstance(form, PositionTable) or form.extent <= (most if form.grid is None else 0):
        return [kernel_of(form, most, side, of_patches)]
    if form.grid is None:
        middle, first, last = form.windows(1, most)
        return [_of_line(window.kernel(most)) for window in (first, middle, last)]
    rows, columns = (min(count, side) for count in form.grid)
    count = 1 if (rows, columns) == form.grid else 3
    return [_of_grid(window.kernel(rows * columns), columns) for window in form.windows(rows, columns)[:count]]


def first_kernel(form: Form, most: int) -> Kernel:
    """The kernel of the first ``most`` positions, on a grid in reading order."""
    heads = form.kernel(most)
    return _of_line(heads) if form.grid is None else _of_grid(heads, form.grid[1])


def _of_line(heads: Floats) -> Kernel:
    return Kernel(heads, offsets_between(heads.shape[1]), (np.arange(heads.shape[1]),))


def _of_grid(heads: Floats, columns: int) -> Kernel:
    patches = np.arange(heads.shape[1])
    down, across = np.divmod(patches, columns)
    offsets = (down[None, :] - down[:, None]) * 2 * columns + across[None, :] - across[:, None]
    return Kernel(heads, offsets, tuple(patches[side == index] for side in (down, across) for index in range(side.max() + 1)))


def profile_of(form: Form, side: int, of_patches: bool) -> Profile:
    """The kernel by distance as far as the form goes; patches along rows and columns, and in the images of rotations up to ``side``."""
    if isinstance(form, PositionTable):
        return _of_table(form)
    if isinstance(form, Rotation) and not of_patches:
        return _of_rotation(form)
    kernel = kernel_of(form, MOST_OFFSETS, side, of_patches)
    values = np.array([mean_by_distance(kernel.along(head)) for head in kernel.heads])
    return Profile(np.arange(kernel.longest), values, np.array([far_level(kernel.along(head)) for head in kernel.heads]))


def log_spaced(last: int, per_octave: int) -> Array:
    """0 and whole numbers from 1 to ``last`` at about equal ratios, ``per_octave`` from each to its double: (n,), int."""
    count = int(np.ceil(np.log2(max(last, 1)) * per_octave)) + 1
    return np.unique(np.rint(np.append(0.0, np.geomspace(1.0, max(last, 1), count))).astype(np.int64))


def _of_rotation(form: Rotation) -> Profile:
    last = max(form.reach - 1, 2)  # A line needs two distances from 1 on.
    distances = log_spaced(last, FINEST)
    values = np.cos(distances[:, None] * form.frequencies).mean(axis=1)
    return Profile(distances, values[None], np.array([far_cosine(form.frequencies, far_from(last + 1), last)]))


def _of_table(form: PositionTable) -> Profile:
    rows, columns = form.grid or (1, form.extent)
    distances, far = log_spaced(max(rows, columns) - 1, PER_OCTAVE), far_from(max(rows, columns))
    totals, defined = np.zeros(len(distances) + 1), np.zeros((rows, columns, 1))
    for units in direction_blocks(form.vectors):  # Cosines are sums over dimensions.
        parts = units.reshape(rows, columns, -1)
        defined = np.asarray(~np.isnan(parts[:, :, :1]), dtype=np.float64)
        totals += _sums(np.nan_to_num(parts), distances, far)
    counts = _sums(defined, distances, far)
    means = totals / np.where(counts == 0.0, np.nan, counts)
    return Profile(distances, means[None, :-1], means[-1:])


def _sums(values: Floats, distances: Array, far: int) -> Floats:
    """Sums of the inner products of all pairs at each of ``distances`` along rows and along columns, and at all from ``far`` on.

    values: (n_rows, n_columns, d)
    returns: (n_distances + 1,)
    """
    sums = np.zeros(len(distances) + 1)
    for lines in (values, values.swapaxes(0, 1)):  # (n_lines, n_line, d)
        behind = np.cumsum(lines[:, ::-1], axis=1)[:, ::-1]  # Sums from each place on.
        for index, (others, distance) in enumerate([*((lines, distance) for distance in distances), (behind, far)]):
            stop = lines.shape[1] - distance
            if stop > 0:
                sums[index] += np.vdot(lines[:, :stop], others[:, distance:])
    return sums
