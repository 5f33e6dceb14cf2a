"""Whether a larger base of rotations lifts their far level."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from generator.numerics.arrays import Array, Floats

# Rotations that it takes, how many times a base is larger, how far apart the distances may be at
# which all are half way, and how often shuffled far levels may pass.
FEWEST_ROTATIONS, TENFOLD, SAME_PEAK, RARE, SHUFFLES = 5, 10.0, 1.25, 0.01, 20_000


@dataclass(frozen=True)
class BasedRotation:
    """What a rotation without scaling has: its base and pairs, and the measures of its mean cosine
    over 128 positions.
    """

    base: float
    n_pairs: int
    half: float
    far: float


def lifts_the_floor(rotations: Collection[BasedRotation]) -> bool:
    """Whether each base at least ten times another has the higher far level, which is not so by
    chance if far levels are shuffled, while all are half way to it at about the same distance.
    """
    if len(rotations) < FEWEST_ROTATIONS:
        return False
    bases, fars, halves = np.array([(one.base, one.far, one.half) for one in rotations]).T
    larger = bases[:, None] >= TENFOLD * bases  # (n, n)
    shuffled = np.random.default_rng(0).permuted(np.tile(fars, (SHUFFLES, 1)), axis=1)
    is_same = halves.max() <= SAME_PEAK * halves.min()
    return bool(_rise(larger, fars) and np.mean(_rise(larger, shuffled)) < RARE and is_same)


def _rise(larger: Array, values: Floats) -> Array:
    """Whether values (…, n) are higher wherever something is ``larger``, (n, n): (…), bool."""
    higher = values[..., :, None] > values[..., None, :]
    return np.asarray(np.all(higher, axis=(-2, -1), where=larger))
