"""The map of all: how alike every two encodings are, as clustered matrices that lead to the pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from generator.contracts import Atlas, Outcome, Page, PageKind, Reading
from generator.encodings import PositionTable
from generator.numerics.arrays import Floats
from generator.numerics.similarity import alignment, centred_gram, clustered, most_different, shape, shape_difference, without_chance

POSITIONS = 128  # of kernels, as everywhere that schemes are compared
ROWS = 512  # of tables
MOST_BYTES = 30_000  # of all cells of a map, most of them addresses
CELL_BYTES = 57  # of a cell, without the names of its pair
FEW = 16  # where cells of all encodings would take more, the most different are shown
LEVELS = 10
LISTED = 5  # pairs beneath a map
NAMED = 20  # of those that are not on it

Member = tuple[Outcome, Reading]
Measure = Callable[[int, int], float | None]


@dataclass(frozen=True)
class Pair:
    """Two encodings and what was measured of them; ``level`` is the colour, from 0 for what is alike to 9."""

    first: Member
    second: Member
    value: float | None
    further: float | None
    level: int

    @property
    def hundredths(self) -> int | None:
        return None if self.value is None else round(100 * self.value)


@dataclass(frozen=True)
class Matrix:
    """A clustered map: each member with its pairs with those before it, and the most and least alike pairs."""

    rows: tuple[tuple[Member, tuple[Pair, ...]], ...]
    nearest: tuple[Pair, ...]
    farthest: tuple[Pair, ...]


def pages(atlas: Atlas) -> list[Page]:
    every = [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings]
    shapes = [(member, own) for member in every if (own := shape(member[1].form.load().kernel(POSITIONS))) is not None]
    cut = _cell_bytes([member for member, _ in shapes]) > MOST_BYTES
    if cut:
        shapes = [shapes[index] for index in most_different([own for _, own in shapes], FEW)]
    members = [member for member, _ in shapes]
    tables = [(name, _of_tables(alike)) for name, alike in _kinds(members)]
    context = {
        "count": len(every),
        "cut": cut,
        "limits": {"few": FEW, "named": NAMED, "positions": POSITIONS, "rows": ROWS},
        "kernels": _of_kernels(shapes),
        "tables": tables,
        "without": [] if cut else [member for member in every if not any(member[1] is other[1] for other in members)],
    }
    further = [Page("map/tables.md", "map_tables.md.jinja", context)] if tables else []
    return [Page("map.md", "map.md.jinja", context), *further]


def _cell_bytes(members: Sequence[Member]) -> int:
    """Of a map of ``members``: each stands in a cell with each other."""
    names = sum(len(outcome.place(reading)) for outcome, reading in members)
    return (len(members) - 1) * (CELL_BYTES * len(members) // 2 + names)


def _of_kernels(shapes: Sequence[tuple[Member, Floats]]) -> Matrix | None:
    def difference(one: int, other: int) -> float | None:
        return shape_difference(shapes[one][1], shapes[other][1])

    return _matrix([member for member, _ in shapes], difference, difference, lambda value: value, lambda value: value / 0.5)


def _kinds(members: Sequence[Member]) -> list[tuple[str, list[Member]]]:
    """Tables whose positions mean the same: of words, of sounds, or of the patches of one grid; only where there are two."""
    kinds: dict[str, list[Member]] = {}
    for member in members:
        form = member[1].form.load()
        if isinstance(form, PositionTable) and np.isfinite(form.vectors).all():
            grid = form.grid
            name = "words" if member[1].encoding.is_of_words else f"patches, {grid[0]} × {grid[1]}" if grid else "other sequences"
            kinds.setdefault(name, []).append(member)
    return [(name, found) for name, found in sorted(kinds.items()) if len(found) > 1]


def _of_tables(members: Sequence[Member]) -> Matrix | None:
    tables = [form.vectors for _, reading in members if isinstance(form := reading.form.load(), PositionTable)]

    @cache
    def grams(index: int, n: int) -> tuple[Floats | None, Floats | None]:
        gram = centred_gram(tables[index][:n])
        return gram, None if gram is None else without_chance(gram)

    def aligned(which: int) -> Measure:
        def measure(one: int, other: int) -> float | None:
            n = min(len(tables[one]), len(tables[other]), ROWS)
            first, second = grams(one, n)[which], grams(other, n)[which]
            return None if first is None or second is None else alignment(first, second)

        return measure

    return _matrix(members, aligned(1), aligned(0), lambda value: 1.0 - value, lambda value: 1.0 - value)


def _matrix(
    members: Sequence[Member], measure: Measure, further: Measure, distance: Callable[[float], float], colour: Callable[[float], float]
) -> Matrix | None:
    """The map of ``members`` by ``measure``; None of fewer than two. distance: from 0 for the same; colour: from 0 to 1 or more."""
    if len(members) < 2:
        return None
    found: dict[frozenset[int], Pair] = {}
    distances = np.zeros((len(members), len(members)))
    for one, other in combinations(range(len(members)), 2):
        value = measure(one, other)
        level = 0 if value is None else min(max(int(LEVELS * colour(value)), 0), LEVELS - 1)
        found[frozenset((one, other))] = Pair(members[one], members[other], value, further(one, other), level)
        distances[one, other] = distances[other, one] = 1.0 if value is None else distance(value)
    order = clustered(distances)
    rows = tuple((members[one], tuple(found[frozenset((one, other))] for other in order[:place])) for place, one in enumerate(order))
    ranked = sorted((pair for pair in found.values() if pair.value is not None), key=lambda pair: round(distance(pair.value or 0.0), 9))
    return Matrix(rows, tuple(ranked[:LISTED]), tuple(ranked[LISTED:][: -LISTED - 1 : -1]))


PAGE = PageKind("map", pages)
