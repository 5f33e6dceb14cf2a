"""How far a model sees, as bars on a logarithmic axis of positions: its context, the length before
scaling, its windows and chunks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from generator.contracts import EncodingRecord, Layer, Outcome
from generator.contracts.layer_map import LIMITED

MOST = 10_000_000  # positions, the right end of the axis; its left end is 1
TICKS = {1: "1", 100: "100", 10_000: "10,000", MOST: "10 million"}
CONTEXT_TITLE, TRAINED_TITLE = "Configured context", "Declared original length"
CONTEXT = "Configured context"  # The fact that has the context, where config.json gives one.


@dataclass(frozen=True)
class ReachBar:
    """A length on the axis.

    kind: "context", "trained", or a key of ``layer_strips.COLOURS``; share: of the width of the
        axis, in percent
    """

    title: str
    kind: str
    positions: int

    @property
    def share(self) -> float:
        """Where its end is, in percent of the axis."""
        return along(self.positions)

    @property
    def text(self) -> str:
        """Its title with its positions."""
        return f"{self.title}: {self.positions:,}"

    @property
    def css(self) -> str:
        """Its class, which has its colour."""
        room = "reach" if self.kind in ("context", "trained") else "layer"
        return f"pa-{room}-{self.kind}"


def along(positions: int) -> float:
    """Place of a number of positions on the axis, in percent, with one decimal."""
    return round(100 * min(log10(positions) / log10(MOST), 1.0), 1)


def ticks() -> list[tuple[float, str]]:
    """Places and texts of the marks on the axis."""
    return [(along(positions), text) for positions, text in TICKS.items()]


def context_of(outcome: Outcome) -> int | None:
    """Positions of the configured context; None where config.json gives none."""
    value = next((fact.value for fact in outcome.facts if fact.name == CONTEXT), None)
    return value if isinstance(value, int) and value > 0 else None


def reach_bars(outcome: Outcome) -> tuple[ReachBar, ...]:
    """The context, the length before scaling where the scaling names one, and each window and chunk
    of the layers that read text; none without a context.
    """
    context = context_of(outcome)
    if context is None:
        return ()
    records = [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]
    trained = _trained(records)
    return (
        ReachBar(CONTEXT_TITLE, "context", context),
        *(ReachBar(TRAINED_TITLE, "trained", length) for length in trained),
        *_limits(outcome.layers, {record.key for record in records if not record.is_of_words}),
    )


def _trained(records: Iterable[EncodingRecord]) -> list[int]:
    """Lengths that the scalings of rotations name as those before scaling, without repetition."""
    lengths: dict[int, None] = {}
    for record in records:
        scaling: Any = record.parameters.get("scaling") if record.is_of_words else None
        if isinstance(scaling, Mapping):
            length = scaling.get("original_max_position_embeddings")
            if isinstance(length, int) and length > 0:
                lengths[length] = None
    return list(lengths)


def _limits(layers: Sequence[Layer], others: set[str]) -> Iterator[ReachBar]:
    """Windows and chunks by part and width. others: keys of encodings of what is no text"""
    parts = {layer.part for layer in layers}
    unread = {layer.part for layer in layers if others.intersection(layer.encodings or ())}
    sizes = Counter(layer.part for layer in layers)
    limits = Counter(
        (layer.part, "chunk" if "chunked" in layer.mixers else "window", layer.width)
        for layer in layers
        if layer.part not in unread and not LIMITED.isdisjoint(layer.mixers)
    )
    for (part, kind, width), count in limits.items():
        if width is not None:
            where = f"{count} of {sizes[part]} layers{f' of the {part}' * (len(parts) > 1)}"
            yield ReachBar(f"{kind.capitalize()}, in {where}", kind, width)
