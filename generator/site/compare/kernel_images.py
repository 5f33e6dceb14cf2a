"""Kernels as the compare page draws them: of the first positions one by one, and of longer windows
as means of blocks.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from generator.encodings import Form
from generator.encodings.kernels import Kernel, first_kernel
from generator.figures.short_text import PackedEntries, pack, rounded
from generator.numerics.arrays import Array, Floats, offsets_between
from generator.numerics.shapes import far_level, scaled_heads
from generator.numerics.similarity import shape

POSITIONS = 128
WINDOWS = (512, 1024)  # positions, drawn as means of blocks
BLOCKS = 64  # on a side of the picture of a window
LONGER = 1.25  # times the window before; a form that is hardly longer has no further window
MOST_ENTRIES = 2**23  # of the kernels of all heads in a window; more would take too much memory
Json = dict[str, Any]


def kernels(form: Form) -> Json:
    """Kernel of the first positions in the form's unit, mean of heads, and its shape; outliers of a
    table have no shape.
    """
    return _drawn(form, form.kernel(POSITIONS), 1)


def windows(form: Form) -> Mapping[str, Json]:
    """Kernels of longer windows by their number of positions, as far as the form goes; none on a
    grid, or of a form with too many heads.
    """
    drawn: dict[str, Json] = {}
    shown = POSITIONS
    for n_positions in WINDOWS:
        if form.grid is not None or (form.extent is not None and form.extent < LONGER * shown):
            break
        n_heads = len(form.kernel(1))
        if n_heads * n_positions**2 > MOST_ENTRIES:
            break
        heads = form.kernel(n_positions)
        block = -(-heads.shape[1] // BLOCKS)
        whole = heads.shape[1] // block * block
        drawn[str(n_positions)] = _drawn(form, heads[:, :whole, :whole], block)
        shown = n_positions
    return drawn


def shape_of(form: Form) -> Floats | None:
    """Shape of the first ``POSITIONS`` positions (n, n), without outliers; None where there is
    none, or where no far pair has a value.
    """
    kernel = first_kernel(form.inliers, POSITIONS)
    scaled = shape(kernel.heads, kernel.lines)
    return None if scaled is None or np.isnan(far_level(kernel.along(scaled))) else scaled


def _drawn(form: Form, heads: Floats, block: int) -> Json:
    """Mean and shape of heads (n_heads, n, n), both with a profile, as means of blocks of ``block``
    × ``block`` pairs.
    """
    n = heads.shape[1]
    entries = PackedEntries(n // block, _columns(form, n // block))
    inliers = first_kernel(form.inliers, n)
    scaled = shape(inliers.heads, inliers.lines)
    # Means of huge numbers may overflow to values that are packed as NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        mean = heads.mean(axis=0)
        return {
            "n": entries.n,
            "block": block,
            "columns": entries.columns,
            "heads": len(heads),
            "quantity": form.quantity,
            "stored": {**_packed(entries, mean, block), "profile": _profile(inliers, mean, block)},
            "shape": (
                None
                if scaled is None
                else {
                    **_shape(entries, inliers, mean, scaled, block),
                    "profile": _profile(inliers, scaled, block),
                }
            ),
        }


def _packed(entries: PackedEntries, matrix: Floats, block: int) -> Json:
    return pack(entries.of(_block_means(np.where(np.isfinite(matrix), matrix, np.nan), block)))


def _block_means(matrix: Floats, block: int) -> Floats:
    """Means of the defined entries of each block of ``matrix`` (n, n): (n // block, n // block)."""
    if block == 1:
        return matrix
    side = len(matrix) // block
    blocks = matrix.reshape(side, block, side, block)
    counts = np.count_nonzero(~np.isnan(blocks), axis=(1, 3))
    return np.asarray(np.nansum(blocks, axis=(1, 3)) / np.where(counts == 0, np.nan, counts))


def _shape(
    entries: PackedEntries, inliers: Kernel, mean: Floats, scaled: Floats, block: int
) -> Json:
    """A shape; of a single head, whose shape is its kernel moved and scaled, the limits to which
    the levels of that are mapped, before they are cut to [0, 1], and the outliers, which have no
    shape.
    """
    if block > 1 or len(inliers.heads) > 1 or np.isinf(mean).any():
        return _packed(entries, scaled, block)
    first, defined = inliers.heads[0], ~np.isnan(inliers.heads[0])
    (straight,) = scaled_heads(inliers.heads, inliers.lines)
    lowest, highest = (
        int(find(np.where(defined, first, fill)))
        for find, fill in ((np.argmin, np.inf), (np.argmax, -np.inf))
    )
    slope = (straight.flat[highest] - straight.flat[lowest]) / (
        first.flat[highest] - first.flat[lowest]
    )
    stored = _packed(entries, mean, block)
    ends = [
        float(straight.flat[lowest] + slope * (end - first.flat[lowest]))
        for end in (stored["low"], stored["high"])
    ]
    out = np.flatnonzero(~defined.any(axis=1) & ~np.isnan(mean).all(axis=1))
    return {"low": ends[0], "high": ends[1], "levels": None, "out": out.tolist()}


def _profile(kernel: Kernel, matrix: Floats, block: int) -> list[float | None]:
    """Mean of ``matrix`` (n, n) at every ``block``-th offset, of the past and the future."""
    by_offset = _by_offset(kernel, np.where(np.isfinite(matrix), matrix, np.nan))
    return rounded(by_offset[(len(matrix) - 1) % block :: block])


def _by_offset(kernel: Kernel, matrix: Floats) -> Floats:
    """Mean of ``matrix`` (n, n) at each offset from 1 − n to n − 1, on a grid along rows and
    columns: (2n − 1,); NaN where none is defined.
    """
    n = len(matrix)
    sums, counts = np.zeros(2 * n - 1), np.zeros(2 * n - 1)
    for line in kernel.along(matrix):
        defined = ~np.isnan(line)
        offsets: Array = (offsets_between(len(line)) + n - 1)[defined]
        counts += np.bincount(offsets, minlength=2 * n - 1)
        sums += np.bincount(offsets, line[defined], 2 * n - 1)
    return np.asarray(sums / np.where(counts == 0, np.nan, counts))


def _columns(form: Form, n: int) -> int | None:
    """``PackedEntries.columns`` for a picture of n × n pairs or blocks of a form."""
    if not form.depends_on_offset:
        return None
    return n if form.grid is None else form.grid[1]
