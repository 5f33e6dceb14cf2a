"""The ways to encode position: schemes with the checkpoints that use them, as cards show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from generator.contracts import Outcome, Reading, Scheme
from generator.encodings import ActsIn, NoEncoding
from generator.site.pictures import scheme_cards

NONE = NoEncoding.__name__


class Place(NamedTuple):
    """Where a scheme acts, in words. place: in a table; heading: of schemes; verb: with what they
    do there
    """

    place: str
    heading: str
    verb: str


# The list of schemes has its headings in this order.
PLACES: Mapping[ActsIn, Place] = {
    "input": Place("input", "In the input", "added to the input"),
    "logits": Place("attention", "In attention logits", "added to attention logits"),
    "queries and keys": Place("attention", "In queries and keys", "rotates queries and keys"),
    "state": Place("recurrent state", "In a recurrent state", "makes past tokens decay"),
    "": Place("–", "Nothing added", "nothing is added"),
}


@dataclass(frozen=True)
class Way:
    """A scheme, checkpoints with encodings of it, and the first two of these encodings whose
    numbers were read.

    total: number of checkpoints, of which ``members`` are the first, those with numbers before
        others
    unread: number of checkpoints with an encoding of the scheme whose numbers were not read
    partly: of the scheme that is none, number of checkpoints with such layers beside others
    """

    scheme: Scheme
    members: tuple[tuple[Outcome, tuple[Reading, ...]], ...]
    total: int
    unread: int
    partly: int = 0

    @property
    def card(self) -> str:
        """Path of the picture that stands for the scheme."""
        return scheme_cards.path(self.scheme)

    @property
    def acting(self) -> str:
        """What the scheme does, in words."""
        return PLACES[self.scheme.acts_in].verb

    @property
    def measured(self) -> list[tuple[Outcome, tuple[Reading, ...]]]:
        """The members with numbers, which have pictures."""
        return [member for member in self.members if member[1]]

    @property
    def numbers(self) -> str:
        """Where the numbers of its members come from, in words; "" without members, or where the
        scheme adds nothing.
        """
        if not self.scheme.acts_in or not self.members:
            return ""
        read = {
            bool(reading.encoding.provenance.tensor)
            for _, readings in self.members
            for reading in readings
        }
        trained = read | {True} if any(not readings for _, readings in self.members) else read
        if self.scheme.by_formula:
            return "by formula"
        if trained == {False}:
            return "by formula here"  # Other models may train theirs.
        return "trained" if trained == {True} else "trained or by formula"


def way(scheme: Scheme, outcomes: Sequence[Outcome], most: int, schemes: Sequence[Scheme]) -> Way:
    """``scheme``, one of ``schemes``, with at most ``most`` of the ``outcomes`` that use it."""
    members = [
        (outcome, readings_of(scheme, outcome)[:2]) for outcome in outcomes if uses(scheme, outcome)
    ]
    members.sort(key=lambda member: not member[1])
    unread = sum(is_unread(scheme, outcome) for outcome in outcomes)
    partly = len(partly_bare(scheme, outcomes, schemes))
    return Way(scheme, tuple(members[:most]), len(members), unread, partly)


def partly_bare(
    scheme: Scheme, outcomes: Sequence[Outcome], schemes: Sequence[Scheme]
) -> list[Outcome]:
    """Of the scheme that is none, the outcomes that have such layers beside others."""
    telling = frozenset(scheme.key for scheme in schemes if scheme.tells_position)
    return [
        outcome for outcome in outcomes if not scheme.acts_in and _is_partly_bare(outcome, telling)
    ]


def _is_partly_bare(outcome: Outcome, telling: frozenset[str]) -> bool:
    """Whether some layers with attention have no encoding of ``telling`` schemes, neither their own
    nor at the input, where others have one.
    """
    records = (*(reading.encoding for reading in outcome.readings), *outcome.unmeasured)
    keys = {record.key for record in records if record.scheme in telling and record.form != NONE}
    attending = [layer for layer in outcome.layers if layer.attends]
    bare = [
        layer
        for layer in attending
        if layer.encodings is not None and not layer.at_input and keys.isdisjoint(layer.encodings)
    ]
    return 0 < len(bare) < len(attending)


def uses(scheme: Scheme, outcome: Outcome) -> bool:
    """Whether ``outcome`` has an encoding of ``scheme``, with or without numbers."""
    return bool(readings_of(scheme, outcome)) or is_unread(scheme, outcome)


def is_unread(scheme: Scheme, outcome: Outcome) -> bool:
    """Whether ``outcome`` has an encoding of ``scheme`` whose numbers were not read."""
    return any(record.scheme == scheme.key for record in outcome.unmeasured)


def readings_of(scheme: Scheme, outcome: Outcome) -> tuple[Reading, ...]:
    """Encodings of ``scheme`` whose numbers were read."""
    return tuple(reading for reading in outcome.readings if reading.encoding.scheme == scheme.key)
