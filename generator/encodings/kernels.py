"""Kernels of a form over ranges of positions or grids of patches, with the offset of every pair,
and by distance over the whole context.
"""

from dataclasses import dataclass, replace

import numpy as np

from generator.encodings import Form
from generator.encodings.rotations import Rotation
from generator.encodings.tables import PositionTable
from generator.numerics.arrays import (
    FLAT,
    Array,
    Floats,
    direction_blocks,
    mean_by_distance,
    offsets_between,
)
from generator.numerics.shapes import (
    along,
    decay_scaled,
    falls_below,
    far_cosine,
    far_from,
    far_level,
    half_distance,
)

PER_OCTAVE = 12  # distances at which the profile of a table is drawn, on a logarithmic scale
FINEST = 24  # the same of a rotation, whose kernel ripples
AT_ONCE = 4096  # distances among which the half-distance of a rotation is looked for
MOST_OFFSETS = 512  # positions of a bias, or of vectors by offset, over which its profile is drawn


EVENLY, SAME = 64, 0.2  # frequencies that are compared, and by how much their logarithms may differ


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel with the offsets of its pairs.

    heads: (n_heads, n, n), query by key; NaN for keys that a causal mask hides, and for outliers of
        a table
    offsets: (n, n) integers, equal for pairs with the same offset (on a grid: the same rows and
        columns)
    lines: index arrays of consecutive positions: the whole sequence, or each row and each column of
        a grid
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
    """Kernel of each head by distance, as far as a form goes: the mean over all pairs at a
    distance, in both directions.

    distances: (n_distances,), in positions, ascending from 0; values: (n_heads, n_distances); far:
        (n_heads,), mean over far pairs
    halves: (n_heads,), half-distances, in positions, found among all distances; NaN for a head that
        does not fall
    """

    distances: Array
    values: Floats
    far: Floats
    halves: Floats


def cosines_of(form: Form) -> Floats | None:
    """Logarithms of the frequencies whose mean cosine the kernel is, at ``EVENLY`` even shares of
    them: (EVENLY,); None where it is no such mean.
    """
    frequencies = None
    if isinstance(form, Rotation):
        frequencies = form.frequencies
    elif isinstance(form, PositionTable) and form.formula and len(form.formula.frequencies) == 1:
        frequencies = form.formula.frequencies[0, form.formula.is_cosine]
    if frequencies is None or not np.all(frequencies > 0.0):
        return None
    shares = (np.arange(EVENLY) + 0.5) / EVENLY
    return np.quantile(np.log(frequencies), shares, method="hazen")


def are_same(first: Floats | None, second: Floats | None) -> bool:
    """Whether two kernels are equal by construction: means over the same range of frequencies, in
    more or fewer steps. first, second: as ``cosines_of`` returns
    """
    if first is None or second is None:
        return False
    return bool(np.max(np.abs(first - second)) <= SAME)


def kernel_of(form: Form, most: int, side: int, of_patches: bool) -> Kernel:
    """The kernel of the first ``most`` positions, or of the patches in the middle of a grid,
    ``side`` by ``side`` at most.

    of_patches: whether a sequence is the patches along one side of an image, as many as the form
        covers, ``side`` at most
    """
    if form.grid is not None:
        rows, columns = (min(count, side) for count in form.grid)
        return _of_grid(form.middle(rows, columns).kernel(rows * columns), columns)
    room = most if form.extent is None else form.extent
    return _of_line(form.kernel(min(side, room) if of_patches else most))


def windows_of(form: Form, most: int, side: int, of_patches: bool) -> list[Kernel]:
    """``kernel_of`` at several places of a table that is longer: its start, middle and end, or, on
    a grid, the middle and two corners.

    A single one, as of ``kernel_of``, for any other form.
    """
    if not isinstance(form, PositionTable) or form.extent <= (most if form.grid is None else 0):
        return [kernel_of(form, most, side, of_patches)]
    if form.grid is None:
        middle, first, last = form.windows(1, most)
        return [_of_line(window.kernel(most)) for window in (first, middle, last)]
    rows, columns = (min(count, side) for count in form.grid)
    count = 1 if (rows, columns) == form.grid else 3
    return [
        _of_grid(window.kernel(rows * columns), columns)
        for window in form.windows(rows, columns)[:count]
    ]


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
    lines = [patches[side == index] for side in (down, across) for index in range(side.max() + 1)]
    return Kernel(heads, offsets, tuple(lines))


def profile_of(form: Form, side: int, of_patches: bool) -> Profile:
    """The kernel by distance as far as the form goes; patches along rows and columns, and in the
    images of rotations up to ``side``.
    """
    if isinstance(form, PositionTable):
        return _of_table(form)
    if isinstance(form, Rotation) and not of_patches:
        return _of_rotation(form)
    kernel = kernel_of(form, MOST_OFFSETS, side, of_patches)
    lines = [kernel.along(head) for head in kernel.heads]
    values = np.array([mean_by_distance(each) for each in lines])
    return _of_every_distance(values, np.array([far_level(each) for each in lines]))


def log_spaced(last: int, per_octave: int) -> Array:
    """0 and whole numbers from 1 to ``last`` at about equal ratios, ``per_octave`` from each to its
    double: (n,), int.
    """
    if last < 1:
        return np.zeros(1, np.int64)
    count = int(np.ceil(np.log2(last) * per_octave)) + 1
    return np.unique(np.rint(np.append(0.0, np.geomspace(1.0, last, count))).astype(np.int64))


def _of_rotation(form: Rotation) -> Profile:
    last = max(form.reach - 1, 2)  # A line needs two distances from 1 on.
    distances, far = log_spaced(last, FINEST), far_cosine(form.frequencies, last + 1)
    values = _mean_cosines(form.frequencies, distances)
    half = _half_of_rotation(form.frequencies, far, last)
    return Profile(distances, values[None], np.array([far]), np.array([half]))


def _mean_cosines(frequencies: Floats, distances: Array) -> Floats:
    """Mean of cos(distance · frequency) over ``frequencies`` (n_pairs,), in radians per position:
    (n_distances,).
    """
    return np.asarray(np.cos(distances[:, None] * frequencies).mean(axis=1))


def _half_of_rotation(frequencies: Floats, far: float, last: int) -> float:
    """Distance at which the mean cosine first falls below the middle of 1 and ``far``; NaN where it
    is never higher than that.
    """
    for start in range(0, last, AT_ONCE) if 1.0 - far > FLAT else ():
        # The first is the last of those before.
        distances = np.arange(start, min(start + AT_ONCE, last) + 1)
        half = falls_below((1.0 + far) / 2.0, distances, _mean_cosines(frequencies, distances))
        if half is not None:
            return half
    return float("nan")


def _of_table(form: PositionTable) -> Profile:
    rows, columns = form.grid or (1, form.extent)
    sums, defined = np.zeros(max(rows, columns)), np.zeros((rows, columns, 1))
    for units in direction_blocks(form.vectors):  # Cosines are sums over dimensions.
        parts = units.reshape(rows, columns, -1)
        defined = np.asarray(~np.isnan(parts[:, :, :1]), dtype=np.float64)
        sums += _sums(np.nan_to_num(parts))
    counts, start = np.rint(_sums(defined)), far_from(sums.size)
    means = sums / np.where(counts == 0.0, np.nan, counts)
    n_far = counts[start:].sum()
    far = sums[start:].sum() / n_far if n_far else np.nan
    every = _of_every_distance(means[None], np.array([far]))
    distances = log_spaced(sums.size - 1, PER_OCTAVE)
    return replace(every, distances=distances, values=every.values[:, distances])


def _of_every_distance(values: Floats, far: Floats) -> Profile:
    """values: (n_heads, n_distances), at 0, 1, 2 …; far: (n_heads,)"""
    distances = np.arange(values.shape[1])
    decays = [decay_scaled(head, level) for head, level in zip(values, far, strict=True)]
    halves = [None if decay is None else half_distance(distances, decay) for decay in decays]
    return Profile(distances, values, far, np.array(halves, dtype=np.float64))


def _sums(values: Floats) -> Floats:
    """Sums of the inner products of all pairs at each distance along rows and along columns:
    autocorrelations, by Fourier transform.

    values: (n_rows, n_columns, d)
    returns: (n_distances,), index = distance, as many as the longer side has places
    """
    sums = np.zeros(max(values.shape[:2]))
    for lines in (values, values.swapaxes(0, 1)):  # (n_lines, n_line, d)
        n = lines.shape[1]
        # Twice as long, so that no pair goes around the end.
        spectrum = np.fft.rfft(lines, 2 * n, axis=1)
        power = np.sum(spectrum.real**2 + spectrum.imag**2, axis=(0, 2))
        sums[:n] += np.fft.irfft(power, 2 * n)[:n]
    return sums
