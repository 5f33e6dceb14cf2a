"""Rotations among the tensors: the frequencies, or the cosines and sines of every position."""

import math
import re
from dataclasses import dataclass

import numpy as np

from generator.checkpoints.model.tensor_names import OF_UNKNOWN_FAMILY, stack, stack_kind
from generator.contracts import Encoding, Files, Provenance
from generator.encodings import Rotation
from generator.numerics.arrays import Floats
from generator.words import Words

WORDS = Words("schemes/rotary.md.jinja")
MODULE = r"(?:^|\.)rotary(?:_pos)?_emb\."
# The latter two by rotary-embedding-torch, and by Meta for the first Llama.
FREQUENCIES = re.compile(rf"{MODULE}inv_freq$|(?:^|\.)(?:rotary_emb|rope)\.freqs$")
COSINES = re.compile(rf"{MODULE}cos_cached$")
# Words in names of other parts than the text model.
OTHER_MODELS = frozenset({"vision", "visual", "image", "audio", "speech"})
UNKNOWN_LENGTH = 2048  # positions shown, as for a config that gives none
# Relative rounding of frequencies; the smallest ones in half precision are rounded by an absolute
# amount.
ROUNDING = {"F16": 1e-3, "BF16": 8e-3}
FLOAT32_ROUNDING, SUBNORMAL = 1e-5, 1e-7
FROM_SINES = {"F16": 1e-3, "BF16": 8e-3}  # Rounding of a cosine or a sine.
LARGEST_LOGARITHM = 60.0  # of a base; the largest in use is below 10^12
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
    return None


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
    if cosines.shape != sines.shape:
        return None
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


def compared(stored: Stored, form: Rotation) -> str:
    """How a stored rotation relates to ``form``, which follows from config.json, as the beginning
    of a sentence.
    """
    if stored.equals(form.frequencies):
        return WORDS("same_stored", tensor=stored.name)
    first, last = stored.frequencies[[0, -1]].tolist()
    return WORDS("others_stored", tensor=stored.name, first=first, last=last)


def alone(files: Files, scheme: str) -> list[Encoding[Rotation]]:
    """The stored rotation of a checkpoint without config.json, where its frequencies are powers of
    one base.
    """
    stored = stored_rotation(files)
    base = None if stored is None else _base(stored)
    if stored is None or base is None:
        return []
    n_pairs = len(stored.frequencies)
    form = Rotation(base, 2 * n_pairs, 2 * n_pairs, stored.n_positions or UNKNOWN_LENGTH)
    note = WORDS(
        "stored_alone",
        n_pairs=n_pairs,
        has_cosines=bool(stored.n_positions),
        n_shown=UNKNOWN_LENGTH,
    )
    origin, kind = Provenance.of(files, stored.name), stack_kind(stored.name)
    part, unknown = stack(stored.name, OF_UNKNOWN_FAMILY), {"head_dim": None}
    return [Encoding(part, scheme, form, origin, (note,), stack=kind, rule=unknown)]


def _base(stored: Stored) -> float | None:
    """The base whose powers base^(−j / n_pairs) the frequencies are, with as few digits as their
    rounding allows; None without one.
    """
    frequencies = stored.frequencies
    exponents = np.arange(frequencies.size) / frequencies.size
    is_in_range = (frequencies > 0.0) & (frequencies <= 1.0 + stored.tolerance)
    if frequencies.size < 2 or not is_in_range.all():
        return None
    logarithm = -float(exponents @ np.log(frequencies)) / float(exponents @ exponents)
    if not 0.0 < logarithm < LARGEST_LOGARITHM:
        return None
    fitted = math.exp(logarithm)
    candidates = (
        *(round(fitted, n_digits - 1 - math.floor(math.log10(fitted))) for n_digits in range(1, 6)),
        fitted,
    )
    return next(
        (base for base in candidates if base > 1.0 and stored.equals(base**-exponents)), None
    )
