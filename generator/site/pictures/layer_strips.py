"""The layer map on a page: one strip for each stack, with a cell for each layer, and a table of its
groups of layers that are alike.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from generator.checkpoints.model.origins import rotation_in_words
from generator.contracts import EncodingRecord, Json, Layer, Mixer, Scheme
from generator.contracts.wording import Wording
from generator.figures.style import REFERENCE, SERIES
from generator.text import pattern

WORDING = Wording("wording/layers.jinja")
NOTHING, UNKNOWN = "none here", "unknown"
# Other ways of mixing than attention to all positions alone.
OTHERS = frozenset({"sliding", "chunked", "sparse", "compressed", "recurrent"})
# The colour of a layer on every page, by what its first way of mixing is.
KINDS: Mapping[Mixer, str] = {
    "full": "full",
    "sliding": "window",
    "chunked": "chunk",
    "sparse": "sparse",
    "compressed": "sparse",
    "recurrent": "recurrent",
    "convolution": "other",
    "fourier": "other",
    "none": "none",
}
COLOURS: Mapping[str, str] = {
    "full": SERIES[0],
    "window": SERIES[1],
    "chunk": SERIES[2],
    "recurrent": SERIES[3],
    "sparse": SERIES[4],
    "other": SERIES[6],
    "none": REFERENCE,
}


@dataclass(frozen=True)
class LayerGroup:
    """Layers of a stack that mix positions alike and have the same encodings.

    kind: a key of COLOURS; is_bare: whether they have attention in which nothing tells position
    does: what one of them does, as a predicate; layers: their indices as text; mixing, before,
        after: in words
    encodings: what tells position in them, in words; None where it is unknown
    """

    kind: str
    is_bare: bool
    does: str
    count: int
    layers: str
    mixing: str
    before: str
    after: str
    encodings: tuple[str, ...] | None


@dataclass(frozen=True)
class LayerStrip:
    """A stack of layers.

    kinds: the index of the group of each layer; groups: in order of their first layers; finding: a
        sentence on these, or ""
    """

    part: str
    kinds: tuple[int, ...]
    groups: tuple[LayerGroup, ...]
    finding: str

    @property
    def cells(self) -> tuple[LayerGroup, ...]:
        """The group of each layer."""
        return tuple(self.groups[kind] for kind in self.kinds)

    @property
    def strokes(self) -> tuple[tuple[LayerGroup, str], ...]:
        """Each group with its layers as the data of an SVG path."""
        return tuple(zip(self.groups, strokes(self.kinds), strict=True))


def strokes(kinds: Sequence[int]) -> list[str]:
    """The layers of each kind as the data of an SVG path: a line from the left end of each run to
    its right end, in layers, half a unit from the top. kinds: of each layer, from 0
    """
    lines = [""] * (max(kinds, default=-1) + 1)
    first = 0
    for kind, run in groupby(kinds):
        length = len(list(run))
        lines[kind] += f"M{first} .5h{length}"
        first += length
    return lines


def layer_strips(
    layer_map: Sequence[Layer], records: Sequence[EncodingRecord], schemes: Iterable[Scheme]
) -> tuple[LayerStrip, ...]:
    """One strip for each stack of a layer map. records: of all encodings of the checkpoint"""
    known = {scheme.key: scheme for scheme in schemes}
    texts = {
        record.key: described(known[record.scheme].title, record.parameters) for record in records
    }
    return tuple(
        _strip(part, list(layers), texts)
        for part, layers in groupby(layer_map, key=lambda layer: layer.part)
    )


def described(title: str, parameters: Json) -> str:
    """An encoding in words, by the title of its scheme and what defines its rotation."""
    return f"{title}: {rotation_in_words(parameters)}" if "base" in parameters else title


def _strip(part: str, layers: Sequence[Layer], texts: Mapping[str, str]) -> LayerStrip:
    kinds = {
        layer: (layer.type, layer.mixers, layer.before, layer.after, _described(layer, texts))
        for layer in layers
    }
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds.values()))}
    groups = (
        _group([layer for layer in layers if numbers[kinds[layer]] == number], texts)
        for number in range(len(numbers))
    )
    return LayerStrip(
        part, tuple(numbers[kinds[layer]] for layer in layers), tuple(groups), _finding(layers)
    )


def _group(layers: Sequence[Layer], texts: Mapping[str, str]) -> LayerGroup:
    first = layers[0]
    acting = _described(first, texts)
    nothing = WORDING("at_input") if first.at_input else NOTHING
    encodings = None if acting is None else acting or (nothing,)
    before, after = (
        "" if first.mixers == ("none",) else _reach(distance)
        for distance in (first.before, first.after)
    )
    if first.is_of_unknown_width:
        before, after = UNKNOWN, after if first.after == 0 else UNKNOWN
    is_bare = first.attends and acting == () and not first.at_input
    return LayerGroup(
        KINDS[first.mixers[0]],
        is_bare,
        _does(first, is_one=True, is_bare=is_bare),
        len(layers),
        pattern([layer.index for layer in layers]),
        WORDING("mixing", layer=first),
        before,
        after,
        encodings,
    )


def _described(layer: Layer, texts: Mapping[str, str]) -> tuple[str, ...] | None:
    """What tells position in a layer, in words; several layers may have encodings of their own that
    read alike.
    """
    if layer.encodings is None:
        return None
    counts = Counter(texts[key] for key in layer.encodings if key in texts)
    return tuple(text if count == 1 else f"{count} × {text}" for text, count in counts.items())


def _reach(distance: int | None) -> str:
    if distance is None:
        return "all"
    return f"{distance:,}" if distance else "none"


def _finding(layers: Sequence[Layer]) -> str:
    """A sentence on how far the layers of a stack see and which have no encoding; "" where all
    attend to all positions alike.
    """
    unencoded = sum(layer.attends and layer.encodings == () for layer in layers)
    n_bare = unencoded if unencoded < sum(layer.attends for layer in layers) else 0
    if not n_bare and all(layer.attends and OTHERS.isdisjoint(layer.mixers) for layer in layers):
        return ""
    counts = Counter(_does(layer) for layer in layers).most_common()
    alone = {_does(layer): _does(layer, is_one=True) for layer in layers}
    kinds = [(count, alone[does] if count == 1 else does) for does, count in counts]
    return WORDING("finding", n_layers=len(layers), kinds=kinds, n_bare=n_bare)


def _does(layer: Layer, *, is_one: bool = False, is_bare: bool = False) -> str:
    """What layers do, or one of them does, as the predicate of a sentence."""
    return WORDING("does", layer=layer, limit=layer.width, is_one=is_one, is_bare=is_bare)
