"""A conversion with the verdict on it, and the right one."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Comparison

Seen = tuple[str, list[str]]  # A verdict, and the kinds of differences.
EQUAL: Seen = ("equal", [])


@dataclass(frozen=True)
class Judged:
    name: str
    found: Seen
    right: Seen

    @property
    def wrong(self) -> str:
        return "" if self.found == self.right else f"{self.name}: {self.found}, not {self.right}"

    @property
    def is_loss(self) -> bool:
        return not self.wrong and self.right[0] == "different"


def seen(found: Comparison) -> Seen:
    return found.verdict, [one.kind for one in found.differences]


def line(kind: str, judged: Sequence[Judged]) -> str:
    """One line of the table of conversions."""
    n_wrong = sum(bool(one.wrong) for one in judged)
    n_lost = sum(one.is_loss for one in judged)
    n_right = len(judged) - n_wrong
    return f"{kind}: {len(judged)} conversions, {n_right} right ({n_lost} losses), {n_wrong} wrong"
