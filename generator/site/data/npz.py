"""Arrays for download as .npz, without pickles or dates, small enough for hosts that limit the size
of a file.
"""

import io
import zipfile
import zlib
from typing import Literal

import numpy as np

from generator.contracts import Numbers
from generator.numerics.arrays import Array, narrowest

# of the arrays in a file, before compression: files then stay below 25 MB, which common hosts take.
MOST_BYTES = 24_000_000
MOST_OF_ARRAY = 2**24
STRETCHES, STRETCH = 5, 2**15  # of rows, and values in one
FAST = 1  # Level of compression where only sizes are compared.
# Values from which on half precision is worth another type, and the better order is looked for.
MANY = 4096
EVERY = "_every"


def archive(
    arrays: Numbers, following: frozenset[str] = frozenset(), exact: frozenset[str] = frozenset()
) -> bytes:
    """``arrays`` as .npz, without those that are ``following`` from others. Of one that is too
    large, every k-th row, with k beside it under its name and ``EVERY``; then nothing is left out,
    since nothing follows from a part.

    Each array is stored by rows or by columns, whichever takes fewer bytes in a few stretches of
    it. Float64 becomes float32 where its range suffices and it is not ``exact``; many values that
    float16 holds exactly, as it does those that were read in it, become float16.
    """
    written = _limited(
        {name: array if name in exact else _shortened(array) for name, array in arrays.items()}
    )
    if not any(name.endswith(EVERY) for name in written):
        written = {name: array for name, array in written.items() if name not in following}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in written.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _member(array), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _member(array: Array) -> bytes:
    """``array`` as .npy."""
    member = io.BytesIO()
    np.lib.format.write_array(member, np.asarray(array, order=_order(array)), allow_pickle=False)
    return member.getvalue()


def _order(array: Array) -> Literal["C", "F"]:
    """By rows or by columns, by what takes fewer bytes in a few stretches of rows."""
    if array.ndim < 2 or array.size < MANY:
        return "C"
    count = max(STRETCH * len(array) // array.size, 1)
    stretches = [
        array[start : start + count]
        for start in np.linspace(0, max(len(array) - count, 0), STRETCHES).astype(int)
    ]
    by_rows, by_columns = (
        sum(len(zlib.compress(rows.tobytes(order), FAST)) for rows in stretches)
        for order in ("C", "F")
    )
    return "F" if by_columns < by_rows else "C"


def _shortened(array: Array) -> Array:
    exact = narrowest(array)
    if exact.dtype == np.float16 and exact.size < MANY:
        return exact.astype(np.float32)
    if exact.dtype != np.float64:
        return exact
    largest = np.max(np.abs(exact), initial=0.0, where=np.isfinite(exact))
    return exact if largest > np.finfo(np.float32).max else exact.astype(np.float32)


def _limited(arrays: Numbers) -> Numbers:
    """``arrays``, of which those above the largest of MOST_OF_ARRAY, its half, its quarter … that
    suffices have every k-th row.
    """
    most = MOST_OF_ARRAY
    while (
        most > 1
        and sum(
            array[:: _step(array, most)].nbytes if array.ndim else array.nbytes
            for array in arrays.values()
        )
        > MOST_BYTES
    ):
        most //= 2
    limited: dict[str, Array] = {}
    for name, array in arrays.items():
        step = _step(array, most)
        limited |= (
            {name: array} if step == 1 else {name: array[::step], f"{name}{EVERY}": np.array(step)}
        )
    return limited


def _step(array: Array, most: int) -> int:
    """The least k with which every k-th row of ``array`` takes at most ``most`` bytes, or one row
    is left.
    """
    if array.ndim == 0 or array.nbytes <= most:
        return 1
    n_rows = max(most // (array.nbytes // len(array)), 1)
    return -(-len(array) // n_rows)
