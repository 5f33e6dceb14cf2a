"""What the map of all kernels concludes: which two of different schemes are closest, which one
stands apart, and whether schemes form groups.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from generator.contracts.wording import Wording
from generator.numerics.arrays import Array, Floats

WORDING = Wording("wording/compare.jinja")
SHUFFLES = 2000  # of the schemes among the encodings, to see what chance gives
RARE = 0.01  # share of the shuffles with as many neighbours of one scheme that is no chance
EQUAL = 1e-9  # difference up to which two are equally near
MOST_SHOWN = 3  # that share the first place
LEAST = 4  # encodings of which a conclusion speaks
LEAST_GROUPED = 6  # encodings with another of their scheme, to ask whether schemes form groups


@dataclass(frozen=True)
class Named:
    """An encoding on the map. scheme: its title"""

    title: str
    scheme: str


@dataclass(frozen=True)
class Neighbours:
    """How many encodings have one of their own scheme among their nearest.

    total: encodings whose scheme has others; by_chance: the mean over shuffles; rarity: share of
        shuffles with as many or more
    """

    own: int
    total: int
    by_chance: float
    rarity: float


def conclusions(
    members: Sequence[Named], differences: Floats, same: Array | None = None
) -> tuple[str, ...]:
    """Sentences on ``members``; none of fewer than LEAST.

    differences: (n_members, n_members), from 0 to 1, NaN where they are not defined; same:
        (n_members, n_members), bool, of those that are equal by construction; None for none
    """
    if len(members) < LEAST:
        return ()
    schemes = np.array([member.scheme for member in members])
    return (
        *_on_groups(neighbours(schemes, differences)),
        *_on_closest(members, differences, np.zeros_like(differences) if same is None else same),
        *_on_apart(members, differences),
    )


def neighbours(schemes: Array, differences: Floats) -> Neighbours:
    """Nearest neighbours with the same scheme, in fact and by chance.

    schemes: (n_members,), names; differences: (n_members, n_members), NaN where not defined
    """
    away = np.where(np.isnan(differences), np.inf, differences)
    np.fill_diagonal(away, np.inf)
    nearest = (away <= away.min(axis=1, keepdims=True) + EQUAL) & np.isfinite(away)
    counts = Counter(schemes.tolist())
    draws = np.random.default_rng(0)
    own = _own(schemes, nearest)
    shuffled = [_own(draws.permutation(schemes), nearest) for _ in range(SHUFFLES)]
    return Neighbours(
        own,
        sum(count for count in counts.values() if count > 1),
        float(np.mean(shuffled)),
        float(np.mean([count >= own for count in shuffled])),
    )


def _own(schemes: Array, nearest: Array) -> int:
    """How many have one of their own scheme among their nearest. nearest: (n, n), bool"""
    return int(np.count_nonzero((nearest & (schemes[:, None] == schemes[None, :])).any(axis=1)))


def _on_groups(found: Neighbours) -> Iterator[str]:
    if found.total < LEAST_GROUPED:
        return
    yield WORDING("groups", found=found, is_rare=found.rarity < RARE)


def _on_closest(members: Sequence[Named], differences: Floats, same: Array) -> Iterator[str]:
    """The closest two of different schemes: of those that are equal by construction, and of the
    others.
    """
    pairs = [
        (float(differences[first, second]), members[first], members[second], same[first, second])
        for first, second in combinations(range(len(members)), 2)
        if members[first].scheme != members[second].scheme
        and not np.isnan(differences[first, second])
    ]
    equal = sorted((pair for pair in pairs if pair[3]), key=lambda pair: pair[0])
    for difference, first, second, _ in equal[:1]:
        yield WORDING("same", first=first, second=second, similarity=_of_100(difference))
    found = [(_of_100(pair[0]), pair[1:3]) for pair in pairs if not pair[3]]
    if found:
        similarity = max(similarity for similarity, _ in found)
        alike = [pair for one, pair in found if one == similarity]
        shown = alike if len(alike) <= MOST_SHOWN else alike[: MOST_SHOWN - 1]
        more = len(alike) - len(shown)
        yield WORDING("closest", pairs=shown, more=more, similarity=similarity, others=bool(equal))


def _on_apart(members: Sequence[Named], differences: Floats) -> Iterator[str]:
    """The one whose nearest neighbour is farthest, or those that share this place."""
    away = np.where(np.isnan(differences), np.inf, differences)
    np.fill_diagonal(away, np.inf)
    least = np.where(np.isfinite(away.min(axis=1)), away.min(axis=1), -1.0)
    similarity = _of_100(float(least.max()))
    farthest = [index for index, one in enumerate(least) if _of_100(float(one)) == similarity]
    if len(farthest) > MOST_SHOWN:
        return
    nearest = members[int(away[farthest[0]].argmin())].title
    titles = [members[index].title for index in farthest]
    yield WORDING("apart", titles=titles, nearest=nearest, similarity=similarity)


def _of_100(difference: float) -> int:
    return round(100 * (1.0 - difference))
