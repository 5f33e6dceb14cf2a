"""The similarity map, a section of the compare page: what follows from the similarity of every two
encodings, and all of them as clustered matrices, whose cells link to that page.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import combinations

import numpy as np

from generator.cache.fingerprint import of_parts
from generator.contracts import Atlas, Outcome, Reading
from generator.encodings import PositionTable
from generator.encodings.kernels import are_same, cosines_of
from generator.numerics.arrays import Floats
from generator.numerics.similarity import (
    alignment,
    centred_gram,
    clustered,
    most_different,
    shape_difference,
    without_chance,
)
from generator.site.compare.conclusions import Named, conclusions
from generator.site.compare.kernel_images import POSITIONS, shape_of
from generator.site.rankings.peers import repeats

TABLE_POSITIONS = 512  # of tables, at most
MOST_MAPPED = 20  # encodings on a map
FEW = 16  # encodings on the map of an atlas that has more than MOST_MAPPED: the most different ones
MOST_CONCLUDED = 200  # encodings all of whose pairs are compared for conclusions
LEVELS = 10
LISTED = 5  # pairs in each list below a map

Member = tuple[Outcome, Reading]
Measure = Callable[[int, int], float | None]


@dataclass(frozen=True)
class Scale:
    """What a map shows of two members, by index.

    measure, uncorrected: with and without a correction for chance; 1 for equal encodings
    least: the value that has the last colour, as lower ones do
    """

    measure: Measure
    uncorrected: Measure
    least: float


@dataclass(frozen=True)
class MapCell:
    """A cell of the map: two encodings and their similarity.

    value: None where the measure is not defined; uncorrected: the value without a correction for
        chance
    level: colour of the cell, from 0 (alike, or not defined) to 9
    """

    first: Member
    second: Member
    value: float | None
    uncorrected: float | None
    level: int

    @property
    def is_same(self) -> bool:
        """Whether the two are equal by construction."""
        first, second = (cosines_of(member[1].form.load()) for member in (self.first, self.second))
        return are_same(first, second)

    @property
    def hundredths(self) -> int | None:
        """Value in hundredths, as in the cells."""
        return None if self.value is None else round(100 * self.value)


@dataclass(frozen=True)
class Matrix:
    """A clustered map. rows: each encoding with its pairs with the preceding ones; nearest,
    farthest: the most and least similar pairs
    """

    rows: tuple[tuple[Member, tuple[MapCell, ...]], ...]
    nearest: tuple[MapCell, ...]
    farthest: tuple[MapCell, ...]


@dataclass(frozen=True)
class SimilarityMap:
    """The map of all encodings with a shape. count: how many these are; few: how many of them it
    shows, None where all

    positions: of kernels, at most; tables: maps of the vectors of these kinds
    not_mapped: encodings without a shape
    """

    count: int
    conclusions: Sequence[str]
    few: int | None
    positions: int
    kernels: Matrix | None
    tables: Sequence[tuple[str, Matrix | None]]
    not_mapped: Sequence[Member]


@lru_cache(maxsize=1)
def similarity_map(atlas: Atlas) -> SimilarityMap | None:
    """The map of an atlas, which two pages show; None of fewer than two encodings with a shape."""
    encodings = atlas.encodings
    shapes = {
        index: scaled
        for index, (_, reading) in enumerate(encodings)
        if (scaled := shape_of(reading.form.load())) is not None
    }

    if len(shapes) < 2:
        return None

    @cache
    def difference(first: int, second: int) -> float | None:
        return shape_difference(shapes[first], shapes[second])

    chosen = list(shapes)
    concluded = _conclusions(atlas, chosen, difference)
    few = FEW if len(chosen) > MOST_MAPPED else None
    if few:
        chosen = [chosen[index] for index in most_different(list(shapes.values()), few)]
    members = [encodings[index] for index in chosen]

    def similarity(first: int, second: int) -> float | None:
        apart = difference(chosen[first], chosen[second])
        return None if apart is None else 1.0 - apart

    tables = [
        (name, _matrix(atlas, comparable, _of_tables(comparable)))
        for name, comparable in _kinds(members)
    ]
    without = [member for index, member in enumerate(encodings) if index not in shapes]
    return SimilarityMap(
        len(shapes),
        concluded,
        few,
        POSITIONS,
        _matrix(atlas, members, Scale(similarity, similarity, 0.5)),
        tables,
        [] if few else without,
    )


def _conclusions(atlas: Atlas, indices: Sequence[int], difference: Measure) -> tuple[str, ...]:
    """What follows from the shapes of encodings, by their indices, each of a model once, without
    guesses, tables without structure and patches, whose reading order gives them a shape of their
    own; nothing from more than MOST_CONCLUDED.
    """
    titles = {scheme.key: scheme.title for scheme in atlas.schemes}
    readings = [reading for _, reading in atlas.encodings]
    known = [
        index
        for index in indices
        if readings[index].encoding.modality != "image"
        and _is_known(atlas, readings[index])
        and not repeats(*atlas.encodings[index])
    ]
    if len(known) > MOST_CONCLUDED:
        return ()
    differences = np.zeros((len(known), len(known)))
    for first, second in combinations(range(len(known)), 2):
        apart = difference(known[first], known[second])
        differences[first, second] = differences[second, first] = np.nan if apart is None else apart
    named = [
        Named(
            readings[index].label.title,
            titles.get(readings[index].encoding.scheme, readings[index].encoding.scheme),
        )
        for index in known
    ]
    cosines = [cosines_of(readings[index].form.load()) for index in known]
    same = np.array([[are_same(one, other) for other in cosines] for one in cosines])
    return conclusions(named, differences, same)


def _is_known(atlas: Atlas, reading: Reading) -> bool:
    """Whether it is neither a guess, which has no finding at all, nor a table without structure,
    which has none on order but of single rows.
    """
    found = [
        (analysis.about == "order" and not finding.of_single_rows)
        for analysis in atlas.analyses
        for finding in reading.results[analysis.key].findings
    ]
    if reading.encoding.form != PositionTable.__name__ or any(found):
        return bool(found)
    # Order is told of no table with a tail; whether it has any is asked of these few alone.
    tails = (result.find("tail") for result in reading.results.values())
    form = reading.form.load() if any(tail and tail.value for tail in tails) else None
    return bool(found) and isinstance(form, PositionTable) and not form.structure.kind


def _kinds(members: Sequence[Member]) -> list[tuple[str, list[Member]]]:
    """Groups of two or more tables with comparable positions: those of words, of other sequences,
    or of patches on the same grid.
    """
    kinds: dict[str, list[Member]] = {}
    for member in members:
        form = member[1].form.load()
        if isinstance(form, PositionTable) and np.isfinite(form.vectors).all():
            name = f"patches, {form.grid[0]} × {form.grid[1]}" if form.grid else "other sequences"
            if member[1].encoding.is_of_words:
                name = "words"
            kinds.setdefault(name, []).append(member)
    return [(name, tables) for name, tables in sorted(kinds.items()) if len(tables) > 1]


def _inliers_of(first: PositionTable, second: PositionTable) -> tuple[int, ...]:
    """Positions that both tables have, at most ``TABLE_POSITIONS``, without the outliers of
    either.
    """
    shared = range(min(first.extent, second.extent, TABLE_POSITIONS))
    outliers = {int(position) for form in (first, second) for position in form.outliers}
    return tuple(position for position in shared if position not in outliers)


def _of_tables(members: Sequence[Member]) -> Scale:
    tables = [
        form for _, reading in members if isinstance(form := reading.form.load(), PositionTable)
    ]

    @cache
    def grams(index: int, positions: tuple[int, ...]) -> tuple[Floats | None, Floats | None]:
        """Centred Gram matrix of these positions of a table, (n, n), without and with a correction
        for chance.
        """
        gram = centred_gram(tables[index].vectors[list(positions)])
        return gram, None if gram is None else without_chance(gram)

    def aligned(*, corrected: bool) -> Measure:
        def measure(first: int, second: int) -> float | None:
            positions = _inliers_of(tables[first], tables[second])
            gram, other_gram = (
                grams(first, positions)[int(corrected)],
                grams(second, positions)[int(corrected)],
            )
            return None if gram is None or other_gram is None else alignment(gram, other_gram)

        return measure

    return Scale(aligned(corrected=True), aligned(corrected=False), 0.0)


def _matrix(atlas: Atlas, members: Sequence[Member], scale: Scale) -> Matrix | None:
    """The map of ``members``; None of fewer than two."""
    if len(members) < 2:
        return None
    pairs: dict[frozenset[int], MapCell] = {}
    distances = np.zeros((len(members), len(members)))
    for first, second in combinations(range(len(members)), 2):
        value = scale.measure(first, second)
        share = 0.0 if value is None else (1.0 - value) / (1.0 - scale.least)
        level = min(max(int(LEVELS * share), 0), LEVELS - 1)
        pairs[frozenset((first, second))] = MapCell(
            members[first], members[second], value, scale.uncorrected(first, second), level
        )
        distances[first, second] = distances[second, first] = 1.0 if value is None else 1.0 - value
    # Stored, since a build of few rows in which nothing is new needs scipy for nothing else.
    name = f"similarity {of_parts([distances.tolist()])}"
    order = json.loads(atlas.submit(name, partial(_ordered, distances))())
    rows = tuple(
        (members[member], tuple(pairs[frozenset((member, other))] for other in order[:rank]))
        for rank, member in enumerate(order)
    )
    ranked = sorted(
        (pair for pair in pairs.values() if pair.value is not None),
        key=lambda pair: round(1.0 - (pair.value or 0.0), 9),
    )
    return Matrix(rows, tuple(ranked[:LISTED]), tuple(ranked[LISTED:][: -LISTED - 1 : -1]))


def _ordered(distances: Floats) -> bytes:
    return json.dumps(clustered(distances)).encode()
