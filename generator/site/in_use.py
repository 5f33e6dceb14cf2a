"""What was measured of a trained model, with its figures, as pages show it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Figure, Finding, Metric, Outcome, Result, Use, UseResult

PARTS = ("encoder", "decoder", "vision")  # In their order on pages.


@dataclass(frozen=True)
class Measured:
    """A measure of one part of a model. value_anchor: of each number on its page"""

    use: Use
    part: str
    result: Result
    found: UseResult
    figures: tuple[Figure, ...]

    @property
    def anchor(self) -> str:
        """Anchor of the measure on the page of its checkpoint."""
        return self.found.path

    def second(self, metric: Metric) -> Metric | None:
        """The same number in the second run; None where it has none."""
        value = self.found.second.get(metric.key)
        return None if value is None else Metric(metric.key, metric.title, value, metric.unit)


def path_of(outcome: Outcome) -> str:
    """Path of the page of a checkpoint, without extension."""
    return f"checkpoints/{outcome.checkpoint.slug}/use"


def measured(atlas: Atlas, outcome: Outcome) -> list[Measured]:
    """Every measure of a checkpoint, by part."""
    by_key = {use.key: use for use in atlas.uses}
    return [
        Measured(
            by_key[found.key],
            found.part,
            found.result,
            found,
            tuple(_figures(outcome, by_key[found.key], found)),
        )
        for found in sorted(
            outcome.uses, key=lambda found: (PARTS.index(found.part), by_key[found.key].order)
        )
    ]


def leading(sections: Sequence[Measured]) -> tuple[Measured, Finding] | None:
    """The weightiest finding; None without one."""
    pairs = [(section, finding) for section in sections for finding in section.result.findings]
    return max(pairs, key=lambda pair: pair[1].weight, default=None)


def _figures(outcome: Outcome, use: Use, found: UseResult) -> Iterator[Figure]:
    folder = f"figures/{outcome.checkpoint.slug}/use"
    for spec in use.figures:
        if spec.key in found.drawings:
            yield Figure(
                f"{folder}/{found.path}-{spec.key}",
                spec,
                found.alts[spec.key],
                f"data/{outcome.checkpoint.slug}/use.npz",
            )
