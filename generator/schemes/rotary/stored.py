"""What a rotation among the tensors says beside that of the settings, or alone."""

import math

import numpy as np

from generator.checkpoints.model.stored_rotation import Stored, stored_rotation
from generator.checkpoints.model.tensor_names import OF_UNKNOWN_FAMILY, stack, stack_kind
from generator.contracts import Encoding, Files, Provenance
from generator.contracts.wording import Wording
from generator.encodings import Rotation

WORDING = Wording("schemes/rotary.md.jinja")
UNKNOWN_LENGTH = 2048  # positions shown, as for a config that gives none
LARGEST_LOGARITHM = 60.0  # of a base; the largest in use is below 10^12


def compared(stored: Stored, form: Rotation) -> str:
    """How a stored rotation relates to ``form``, which follows from config.json, as the beginning
    of a sentence.
    """
    if stored.equals(form.frequencies):
        return WORDING("same_stored", tensor=stored.name)
    first, last = stored.frequencies[[0, -1]].tolist()
    return WORDING("others_stored", tensor=stored.name, first=first, last=last)


def alone(files: Files, scheme: str) -> list[Encoding[Rotation]]:
    """The stored rotation of a checkpoint without config.json, where its frequencies are powers of
    one base.
    """
    stored = stored_rotation(files)
    base = None if stored is None else _base(stored)
    if stored is None or base is None:
        return []
    n_pairs = len(stored.frequencies)
    length, size = stored.n_positions, 2 * n_pairs
    form = Rotation(base, size, size, length or UNKNOWN_LENGTH, is_length_known=length is not None)
    note = WORDING(
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
