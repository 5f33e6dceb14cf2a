"""Pairs of encodings that are worth comparing, chosen by the shapes of their kernels."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from generator.contracts import Atlas, Outcome, Reading
from generator.encodings.kernels import are_same, cosines_of
from generator.numerics.similarity import shape_difference
from generator.site.compare.kernel_images import shape_of

MOST = 64  # encodings considered, evenly spread over an atlas that has more
Member = tuple[Outcome, Reading]


@dataclass(frozen=True)
class Preset:
    """Two encodings, the root mean square difference of their shapes, whether they are equal by
    construction, and why to compare them.
    """

    first: Member
    second: Member
    difference: float
    is_same: bool = False
    why: str = ""

    @property
    def checkpoints(self) -> set[str]:
        """Slugs of the one or two checkpoints of both."""
        return {outcome.checkpoint.slug for outcome, _ in (self.first, self.second)}


@dataclass(frozen=True)
class PairChoice:
    """Which pairs are meant, whether the most or the least different one is taken, and what that is
    called.
    """

    why: str
    most: bool
    meant: Callable[[Member, Member], bool]


def presets(atlas: Atlas) -> list[Preset]:
    """One pair by each rule, of encodings whose positions are of one kind: the best one of
    checkpoints that no rule before took, if any.
    """
    by_formula = {scheme.key for scheme in atlas.schemes if scheme.by_formula}
    half_learned = PairChoice(
        "one learned, one by formula", False, partial(_is_half_learned, by_formula)
    )
    left = _pairs(atlas.encodings[:: -(-len(atlas.encodings) // MOST) or 1])
    chosen: list[Preset] = []
    for rule in (*RULES, half_learned):
        meant = [pair for pair in left if not pair.is_same and rule.meant(pair.first, pair.second)]
        taken = {slug for preset in chosen for slug in preset.checkpoints}
        new = [pair for pair in meant if taken.isdisjoint(pair.checkpoints)]
        if meant:
            best = (max if rule.most else min)(new or meant, key=lambda pair: pair.difference)
            left.remove(best)
            similarity = round(100 * (1.0 - best.difference))
            chosen.append(replace(best, why=f"{rule.why}, similarity {similarity} out of 100"))
    return chosen


def _pairs(members: Sequence[Member]) -> list[Preset]:
    """Every two members whose positions are of one kind, with the difference of their shapes, where
    that is defined.
    """
    forms = [(member, member[1].form.load()) for member in members]
    shapes = [(member, shape_of(form), cosines_of(form)) for member, form in forms]
    return [
        Preset(first, second, difference, are_same(waves, others))
        for (first, one, waves), (second, other, others) in combinations(shapes, 2)
        if first[1].encoding.modality == second[1].encoding.modality
        and one is not None
        and other is not None
        and (difference := shape_difference(one, other)) is not None
    ]


def _is_half_learned(by_formula: Container[str], first: Member, second: Member) -> bool:
    """Whether one of two encodings of the same form is learned, and the other follows from a
    formula.
    """
    records = [reading.encoding for _, reading in (first, second)]
    learned = [
        record.scheme not in by_formula and record.provenance.tensor is not None
        for record in records
    ]
    return (
        records[0].form == records[1].form
        and any(learned)
        and any(record.scheme in by_formula for record in records)
    )


def _are_of_two_schemes(first: Member, second: Member) -> bool:
    return first[0] is not second[0] and first[1].encoding.scheme != second[1].encoding.scheme


RULES = (
    PairChoice("different schemes", False, _are_of_two_schemes),
    PairChoice(
        "same scheme",
        True,
        lambda one, other: (
            one[0] is not other[0] and one[1].encoding.scheme == other[1].encoding.scheme
        ),
    ),
    PairChoice("two encodings of one model", True, lambda one, other: one[0] is other[0]),
    PairChoice(
        "one model family",
        True,
        lambda one, other: one[0] is not other[0] and one[0].family == other[0].family != "",
    ),
    PairChoice("different schemes", True, _are_of_two_schemes),
)
