"""The layer map on a page: one strip for each stack, with a cell for each layer, and a table of its groups of layers that are alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from generator.contracts import EncodingRecord, Layer, Mixer, Outcome
from generator.figures.style import SERIES

WORDS: Mapping[Mixer, str] = {
    "full": "attention to all",
    "sliding": "attention in a window",
    "chunked": "attention in chunks",
    "recurrent": "recurrent state",
    "convolution": "convolution",
    "none": "no mixing of positions",
}
MOST_RANGES = 6


@dataclass(frozen=True)
class LayerGroup:
    """Layers of a stack that mix positions alike and have the same encodings.

    number: from 1, its colour; layers: their indices as text; mixing, before, after: in words
    encodings: None where they are unknown
    """

    number: int
    count: int
    layers: str
    mixing: str
    before: str
    after: str
    encodings: tuple[EncodingRecord, ...] | None


@dataclass(frozen=True)
class LayerStrip:
    """A stack: the number of the group of each layer, and its groups in order of their first layers."""

    part: str
    cells: tuple[int, ...]
    groups: tuple[LayerGroup, ...]


def layer_strips(outcome: Outcome) -> tuple[LayerStrip, ...]:
    """One strip for each stack of the layer map of a checkpoint."""
    records = {reading.encoding.key: reading.encoding for reading in outcome.readings}
    stacks = groupby(outcome.layers, key=lambda layer: layer.part)
    return tuple(_strip(part, list(layers), records) for part, layers in stacks)


def _strip(part: str, layers: Sequence[Layer], records: Mapping[str, EncodingRecord]) -> LayerStrip:
    kinds = {layer: (layer.mixers, layer.before, layer.after, layer.encodings) for layer in layers}
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds.values()))}
    groups = (_group(number, [layer for layer in layers if numbers[kinds[layer]] == number], records) for number in range(len(numbers)))
    return LayerStrip(part, tuple(numbers[kinds[layer]] % len(SERIES) + 1 for layer in layers), tuple(groups))


def _group(number: int, layers: Sequence[Layer], records: Mapping[str, EncodingRecord]) -> LayerGroup:
    first = layers[0]
    encodings = None if first.encodings is None else tuple(records[key] for key in first.encodings if key in records)
    mixing = " and ".join(WORDS[mixer] for mixer in first.mixers)
    before, after = ("" if first.mixers == ("none",) else _reach(distance) for distance in (first.before, first.after))
    return LayerGroup(number % len(SERIES) + 1, len(layers), ranges([layer.index for layer in layers]), mixing, before, after, encodings)


def _reach(distance: int | None) -> str:
    return "all" if distance is None else "none" if distance == 0 else f"{distance:,}"


def ranges(indices: Sequence[int]) -> str:
    """Ascending numbers as text, with runs as ranges and the middle of a long text left out."""
    steps = {second - first for first, second in pairwise(indices)}
    if len(indices) > 3 and len(steps) == 1 and steps != {1}:
        return f"{indices[0]}, {indices[1]}, … {indices[-1]} (one in {steps.pop()})"
    texts = [f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in _runs(indices)]
    return ", ".join(texts if len(texts) <= MOST_RANGES else [*texts[:3], f"… {texts[-1]}"])


def _runs(indices: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for index in indices:
        if run and index != run[-1] + 1:
            yield run
            run = []
        run.append(index)
    if run:
        yield run
