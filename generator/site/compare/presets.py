"""Pairs of encodings that are worth comparing, chosen by the shapes of their kernels."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from generator.contracts import Atlas, Outcome, Reading
from generator.numerics.similarity import shape_difference
from generator.site.compare.kernels import shape_of

MOST = 64  # encodings considered, evenly spread over an atlas that has more
Member = tuple[Outcome, Reading]


@dataclass(frozen=True)
class Preset:
    """Two encodings, the root mean square difference of their shapes, and why to compare them."""

    first: Member
    second: Member
    difference: float
    why: str = ""

    def is_same(self, other: "Preset") -> bool:
        """Whether both are of the same encodings."""
        return self.first[1] is other.first[1] and self.second[1] is other.second[1]

    def shares_checkpoint(self, other: "Preset") -> bool:
        """Whether a checkpoint is in both."""
        return any(
            one[0] is another[0]
            for one in (self.first, self.second)
            for another in (other.first, other.second)
        )


@dataclass(frozen=True)
class Rule:
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
    pairs = _pairs(atlas.encodings[:: -(-len(atlas.encodings) // MOST) or 1])
    chosen: list[Preset] = []
    for rule in (
        *RULES,
        Rule("one learned, one by formula", False, partial(_is_half_learned, by_formula)),
    ):
        meant = [
            pair
            for pair in pairs
            if rule.meant(pair.first, pair.second)
            and not any(pair.is_same(preset) for preset in chosen)
        ]
        new = [
            pair for pair in meant if not any(pair.shares_checkpoint(preset) for preset in chosen)
        ]
        if meant:
            best = (max if rule.most else min)(new or meant, key=lambda pair: pair.difference)
            chosen.append(
                replace(
                    best,
                    why=f"{rule.why}, similarity {round(100 * (1.0 - best.difference))} of 100",
                )
            )
    return chosen


def _pairs(members: Sequence[Member]) -> list[Preset]:
    """Every two members whose positions are of one kind, with the difference of their shapes, where
    that is defined.
    """
    shapes = [(member, shape_of(member[1].form.load())) for member in members]
    return [
        Preset(first, second, difference)
        for (first, one), (second, other) in combinations(shapes, 2)
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


def _is_of_one_model(first: Member, second: Member) -> bool:
    return first[0] is second[0]


def _is_of_one_family(first: Member, second: Member) -> bool:
    return first[0] is not second[0] and first[0].family == second[0].family != ""


def _is_of_one_scheme(first: Member, second: Member) -> bool:
    return first[0] is not second[0] and first[1].encoding.scheme == second[1].encoding.scheme


def _is_of_two_schemes(first: Member, second: Member) -> bool:
    return first[0] is not second[0] and first[1].encoding.scheme != second[1].encoding.scheme


RULES = (
    Rule("different schemes", False, _is_of_two_schemes),
    Rule("same scheme", True, _is_of_one_scheme),
    Rule("two encodings of one model", True, _is_of_one_model),
    Rule("one model family", True, _is_of_one_family),
    Rule("different schemes", True, _is_of_two_schemes),
)
