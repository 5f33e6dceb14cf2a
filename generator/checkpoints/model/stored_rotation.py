"""A rotation among the tensors: the frequencies, or the cosines and sines of every position."""

import re
from dataclasses import dataclass

import numpy as np

from generator.contracts import Files
from generator.numerics.arrays import Floats

MODULE = r"(?:^|\.)rotary(?:_pos)?_emb\."
# The latter two by rotary-embedding-torch, and by Meta for the first Llama.
FREQUENCIES = re.compile(rf"{MODULE}inv_freq$|(?:^|\.)(?:rotary_emb|rope)\.freqs$")
COSINES = re.compile(rf"{MODULE}cos_cached$")
# Cosine and sine of each pair at each position, as complex numbers in Google's Gemma
# (precompute_freqs_cis in gemma/model.py of gemma_pytorch).
COMPLEX = re.compile(r"(?:^|\.)freqs_cis$")
# Words in names of other parts than the text model.
OTHER_MODELS = frozenset({"vision", "visual", "image", "audio", "speech"})
# Relative rounding of frequencies; the smallest ones in half precision are rounded by an absolute
# amount.
ROUNDING = {"F16": 1e-3, "BF16": 8e-3}
FLOAT32_ROUNDING, SUBNORMAL = 1e-5, 1e-7
FROM_SINES = {"F16": 1e-3, "BF16": 8e-3}  # Rounding of a cosine or a sine.
TURNS = 2e-7  # Rounding of an angle in float32, relative to it.


@dataclass(frozen=True, eq=False)
class Stored:
    """Frequencies of a rotation: (n_pairs,), radians per position.

    name: of the tensor; n_positions: of which it has cosines, else None
    """

    name: str
    frequencies: Floats
    tolerance: float
    n_positions: int | None = None

    def equals(self, frequencies: Floats) -> bool:
        """Whether ``frequencies`` (n_pairs,) are those of the tensor, up to its rounding."""
        return frequencies.shape == self.frequencies.shape and np.allclose(
            self.frequencies, frequencies, rtol=self.tolerance, atol=SUBNORMAL
        )


def stored_rotation(files: Files) -> Stored | None:
    """The first rotation of a text model among the tensors; None without one."""
    for name in files.tensors:
        if OTHER_MODELS.isdisjoint(re.split(r"[._]", name)):
            if FREQUENCIES.search(name):
                frequencies = files.tensor(name).reshape(-1)
                tolerance = ROUNDING.get(files.tensors[name].dtype, FLOAT32_ROUNDING)
                return Stored(name, frequencies, tolerance) if frequencies.size else None
            if COSINES.search(name) and (cached := _from_cosines(files, name)) is not None:
                return cached
            if COMPLEX.search(name) and (cached := _from_complex(files, name)) is not None:
                return cached
    return None


def _from_complex(files: Files, name: str) -> Stored | None:
    """As ``_from_cosines``, from a table with a last axis of cosine and sine."""
    shape = files.tensors[name].shape
    if len(shape) != 3 or shape[-1] != 2 or shape[0] < 2 or shape[1] < 1:
        return None
    cosines, sines = np.moveaxis(files.tensor(name), -1, 0)
    return _from_angles(files, name, cosines, sines)


def _from_cosines(files: Files, name: str) -> Stored | None:
    """Frequencies by the angles at position 1, if all positions are turned by multiples of these;
    None otherwise.
    """
    sine = name.removesuffix("cos_cached") + "sin_cached"
    shapes = [
        [size for size in files.tensors[each].shape if size != 1]
        for each in (name, sine)
        if each in files.tensors
    ]
    if len(shapes) != 2 or shapes[0] != shapes[1] or len(shapes[0]) != 2 or 0 in shapes[0]:
        return None
    cosines, sines = (_pairs(files.tensor(each).reshape(shapes[0])) for each in (name, sine))
    return _from_angles(files, name, cosines, sines) if cosines.shape == sines.shape else None


def _from_angles(files: Files, name: str, cosines: Floats, sines: Floats) -> Stored | None:
    """cosines, sines: (n_positions, n_pairs)"""
    frequencies = np.arctan2(sines[1], cosines[1])
    positions = np.arange(len(cosines))[:, None]
    rounding = FROM_SINES.get(files.tensors[name].dtype, FLOAT32_ROUNDING)
    # A frequency is as exact as the sine at position 1.
    largest = 4.0 * rounding * (1.0 + positions) + TURNS * positions
    angles = positions * frequencies
    if not np.all(
        (np.abs(np.cos(angles) - cosines) <= largest) & (np.abs(np.sin(angles) - sines) <= largest)
    ):
        return None
    return Stored(name, frequencies, 4.0 * rounding, len(cosines))


def _pairs(table: Floats) -> Floats:
    """One column for each pair of components, from tables that have both, side by side or in two
    halves: (n_positions, n_pairs).
    """
    half = table.shape[1] // 2
    if table.shape[1] == 2 * half:
        if np.array_equal(table[:, :half], table[:, half:]):
            return table[:, :half]
        if np.array_equal(table[:, ::2], table[:, 1::2]):
            return table[:, ::2]
    return table
