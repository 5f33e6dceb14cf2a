"""Which components were trained as pairs of a rotation."""

import numpy as np
import pytest

from generator.numerics.paired_components import SMALLEST, sign_test, votes_for_halves


@pytest.mark.parametrize(
    ("count", "total", "probability"),
    # By hand: of 8 throws of 3 coins, 2 are of one side; of 16 of 4, 10 have 3 or more of one.
    [(3, 3, 1 / 4), (0, 3, 1 / 4), (1, 4, 10 / 16), (2, 4, 1.0), (0, 0, 1.0), (0, 2000, SMALLEST)],
)
def test_a_sign_test_counts_throws_of_coins(count: int, total: int, probability: float) -> None:
    assert sign_test(count, total) == pytest.approx(probability, rel=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.5])
def test_keys_that_are_turned_queries_tell_their_pairs(angle: float) -> None:
    """The block of each pair is a turned and scaled identity where all rows are orthogonal."""
    queries = np.eye(8)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    neighbours = np.kron(np.eye(4), turn) @ queries
    halves = np.kron(turn, np.eye(4)) @ queries
    assert votes_for_halves(queries[None, None], neighbours[None])[0] == 0
    assert votes_for_halves(queries[None, None], halves[None]) == (2, 2) if angle else (0, 0)


def test_exchanging_two_of_four_exchanges_the_readings() -> None:
    """So that either wins with probability 1/2 where the order of components means nothing."""
    random = np.random.default_rng(0)
    queries, keys = random.normal(size=(3, 2, 16, 20)), random.normal(size=(3, 16, 20))
    other = np.arange(16)
    for first in (0, 2, 4, 6):
        other[[first + 1, first + 8]] = other[[first + 8, first + 1]]
    votes, total = votes_for_halves(queries, keys)
    assert total == 12
    assert votes_for_halves(queries[:, :, other], keys[:, other]) == (total - votes, total)


def test_random_weights_tell_no_order() -> None:
    random = np.random.default_rng(0)
    told = [
        sign_test(*votes_for_halves(random.normal(size=(8, 1, 64, 8)), keys))
        for keys in random.normal(size=(300, 8, 64, 8))
    ]
    assert min(told) > 1e-4
    assert np.mean(np.array(told) < 0.05) < 0.08
