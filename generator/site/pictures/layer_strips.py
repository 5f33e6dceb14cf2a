"""The layer map on a page: one strip for each stack, with a cell for each layer, and a table of its
groups of layers that are alike.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from generator.checkpoints.model.origins import rotation_in_words
from generator.contracts import EncodingRecord, Json, Layer, Mixer, Scheme
from generator.contracts.words import Words
from generator.figures.style import REFERENCE, SERIES
from generator.text import enumerated, pattern, plural

WORDS = Words("words/layers.jinja")
ALL = "see all positions"
NOTHING, UNKNOWN = "none here", "unknown"
MIXERS: Mapping[Mixer, str] = {
    "full": "attention to all positions",
    "sliding": "sliding-window attention",
    "chunked": "chunked attention",
    "sparse": "attention to selected positions",
    "compressed": "attention to compressed positions",
    "recurrent": "recurrent state",
    "convolution": "convolution",
    "fourier": "Fourier transform",
    "none": "no mixing of positions",
}
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
BARE = "without rotation or bias"
WITHOUT_ATTENTION: Mapping[Mixer, str] = {
    "recurrent": "keep a recurrent state",
    "convolution": "mix by a convolution",
    "fourier": "mix by a Fourier transform",
    "none": "mix no positions",
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
    nothing = WORDS("at_input") if first.at_input else NOTHING
    encodings = None if acting is None else acting or (nothing,)
    words = " and ".join(MIXERS[mixer] for mixer in first.mixers)
    mixing = f"{words} ({_details(first)})" if _details(first) else words
    before, after = (
        "" if first.mixers == ("none",) else _reach(distance)
        for distance in (first.before, first.after)
    )
    if first.is_of_unknown_width:
        before, after = UNKNOWN, after if first.after == 0 else UNKNOWN
    is_bare = first.attends and acting == () and not first.at_input
    does = _singular(_does(first))
    return LayerGroup(
        KINDS[first.mixers[0]],
        is_bare,
        f"{does}, {BARE}" if is_bare else does,
        len(layers),
        pattern([layer.index for layer in layers]),
        mixing,
        before,
        after,
        encodings,
    )


def _details(layer: Layer) -> str:
    """The kind of a layer that chooses or compresses keys, with how many; "" for any other."""
    if not {"sparse", "compressed"}.intersection(layer.mixers):
        return ""
    each = f" of {layer.positions_per_key:,} positions each" if layer.positions_per_key else ""
    chosen = f"up to {layer.chosen:,} keys{each}" if layer.chosen else f"keys{each}" * bool(each)
    return ", ".join(text for text in (layer.type, chosen) if text)


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
    counts = Counter(_does(layer) for layer in layers)
    unencoded = sum(layer.attends and layer.encodings == () for layer in layers)
    is_mixed = 0 < unencoded < sum(layer.attends for layer in layers)
    if set(counts) == {ALL} and not is_mixed:
        return ""
    n_layers = plural(len(layers), "layer")
    lists = enumerated(
        [
            f"{count} {_singular(what) if count == 1 else what}"
            for what, count in counts.most_common()
        ]
    )
    rest = (
        f"; {unencoded} {'has' if unencoded == 1 else 'have'} attention {BARE}" if is_mixed else ""
    )
    return (
        f"Of {n_layers}, {lists}{rest}."
        if len(counts) > 1
        else f"{'All' if len(layers) > 1 else 'Its'} {n_layers} {lists.partition(' ')[2]}{rest}."
    )


def _singular(predicate: str) -> str:
    verb, _, rest = predicate.replace("their", "its").partition(" ")
    return f"{verb}{'es' if verb == 'mix' else 's'} {rest}"


def _does(layer: Layer) -> str:
    """What a layer does, as the predicate of a sentence in the plural."""
    if not layer.attends:
        return WITHOUT_ATTENTION[layer.mixers[0]]
    if "sparse" in layer.mixers:
        return f"select up to {layer.chosen:,} keys" if layer.chosen else "select their keys"
    if "compressed" in layer.mixers:
        return WORDS("compressed_keys")
    limits = {
        "sliding": "see a window of {:,} positions",
        "chunked": "see chunks of {:,} positions",
    }
    mixer = next((mixer for mixer in layer.mixers if mixer in limits), None)
    ahead = 0 if mixer == "chunked" else layer.after or 0
    if layer.is_of_unknown_width:
        return WORDS("unknown_window")
    size = None if layer.before is None else layer.before + 1 + ahead
    seen = ALL if mixer is None or size is None else limits[mixer].format(size)
    return f"{seen} alongside a recurrent state" if "recurrent" in layer.mixers else seen
