"""Which components of queries and keys were trained as pairs of a rotation, by their weights."""

import math

import numpy as np

from generator.numerics.arrays import Floats

SMALLEST = 1e-300  # Of a probability that is told.
Votes = tuple[int, int]


def votes_for_halves(queries: Floats, keys: Floats) -> Votes:
    """In how many fours of components halves explain the weights better than neighbours do, and the
    number of fours that tell.

    queries: (n_key_heads, heads for each, n_rotated, width); keys: (n_key_heads, n_rotated, width)

    A logit is qᵀ R k with a rotation R of each pair (arXiv 2104.09864, equation 16), so training
    treats a pair as a complex number: its block of M = W_q W_kᵀ tends to c·I + s·J, J a quarter
    turn, whose determinant c² + s² is positive. The components 2j, 2j + 1, 2j + h and 2j + 1 + h, h
    half of them, make two pairs in either order, and the larger sum of determinants, over pairs and
    heads, wins. Where the order of components means nothing, as before training or without a
    rotation, exchanging 2j + 1 and 2j + h exchanges the readings: each wins with probability 1/2,
    in every four independently.
    """
    half = keys.shape[1] // 2
    first = np.arange(0, half - 1, 2)
    fours = np.stack([first, first + 1, first + half, first + half + 1], axis=1)
    # (n_key_heads, heads, fours, 4, 4)
    blocks = queries[:, :, fours] @ keys[:, None, fours].swapaxes(-1, -2)

    def block(i: int, j: int) -> Floats:
        return blocks[..., i, i] * blocks[..., j, j] - blocks[..., i, j] * blocks[..., j, i]

    lead = (block(0, 2) + block(1, 3) - block(0, 1) - block(2, 3)).sum(axis=1)
    return int(np.sum(lead > 0.0)), int(np.sum(lead != 0.0))


def sign_test(count: int, total: int) -> float:
    """How probable it is that ``total`` fair coins fall as unevenly as with ``count`` on one side;
    ``SMALLEST`` for less.
    """
    ways = sum(math.comb(total, k) for k in range(max(count, total - count), total + 1))
    probability: float = 2 * ways / 2**total
    return max(min(1.0, probability), SMALLEST)
