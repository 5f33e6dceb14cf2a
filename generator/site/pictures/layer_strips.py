"""The layer map on a page: one strip for each stack, with a cell for each layer, and a table of its
groups of layers that are alike.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from generator.checkpoints.model.layer_map import BOTH, named_stack
from generator.contracts import EncodingRecord, Json, Layer, Mixer, Scheme
from generator.encodings import NoEncoding
from generator.figures.style import SERIES
from generator.text import pattern, significant

ALL = "see all positions"
AT_INPUT = "none here; position enters at the input"
WORDS: Mapping[Mixer, str] = {
    "full": "attention to all positions",
    "sliding": "sliding-window attention",
    "chunked": "chunked attention",
    "recurrent": "recurrent state",
    "convolution": "convolution",
    "fourier": "Fourier transform",
    "none": "no mixing of positions",
}
WITHOUT_ATTENTION: Mapping[Mixer, str] = {
    "recurrent": "keep a recurrent state",
    "convolution": "mix by a convolution",
    "fourier": "mix by a Fourier transform",
    "none": "mix no positions",
}


@dataclass(frozen=True)
class LayerGroup:
    """Layers of a stack that mix positions alike and have the same encodings.

    number: from 1, its colour; layers: their indices as text; mixing, before, after: in words
    encodings: what tells position in them, in words; None where it is unknown
    """

    number: int
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
    def cells(self) -> tuple[int, ...]:
        """The number of the group of each layer, its colour."""
        return tuple(self.groups[kind].number for kind in self.kinds)


def layer_strips(
    layer_map: Sequence[Layer], records: Sequence[EncodingRecord], schemes: Iterable[Scheme]
) -> tuple[LayerStrip, ...]:
    """One strip for each stack of a layer map. records: of all encodings of the checkpoint"""
    known = {scheme.key: scheme for scheme in schemes}
    texts = {
        record.key: described(known[record.scheme].title, record.parameters) for record in records
    }
    acting = {key for layer in layer_map for key in layer.encodings or ()}
    before = [
        record
        for record in records
        if record.key not in acting and known[record.scheme].tells_position
    ]
    parts = {layer.part for layer in layer_map}
    added = [record.part for record in before if record.form != NoEncoding.__name__]
    at_input = {
        part
        for part in parts
        for added_to in added
        if added_to.startswith(BOTH) or named_stack(added_to, parts) == part
    }
    return tuple(
        _strip(part, list(layers), texts, AT_INPUT if part in at_input else "none here")
        for part, layers in groupby(layer_map, key=lambda layer: layer.part)
    )


def described(title: str, parameters: Json) -> str:
    """An encoding in words, by the title of its scheme and what defines its rotation."""
    if "base" not in parameters:
        return title
    scaling: Any = parameters["scaling"]
    rule = "" if scaling is None else f", {scaling['rope_type']} scaling"
    factor = (
        ""
        if parameters["attention_factor"] == 1.0
        else f", factor {significant(parameters['attention_factor'], 4)}"
    )
    components = f"{parameters['rotary_dim']} of {parameters['head_dim']} components"
    return f"{title}: base {significant(parameters['base'], 4)}, {components}{rule}{factor}"


def _strip(
    part: str, layers: Sequence[Layer], texts: Mapping[str, str], nothing: str
) -> LayerStrip:
    kinds = {
        layer: (layer.type, layer.mixers, layer.before, layer.after, _described(layer, texts))
        for layer in layers
    }
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds.values()))}
    groups = (
        _group(
            number, [layer for layer in layers if numbers[kinds[layer]] == number], texts, nothing
        )
        for number in range(len(numbers))
    )
    return LayerStrip(
        part, tuple(numbers[kinds[layer]] for layer in layers), tuple(groups), _finding(layers)
    )


def _group(
    number: int, layers: Sequence[Layer], texts: Mapping[str, str], nothing: str
) -> LayerGroup:
    first = layers[0]
    acting = _described(first, texts)
    encodings = None if acting is None else acting or (nothing,)
    words = " and ".join(WORDS[mixer] for mixer in first.mixers)
    mixing = (
        f"{words} ({first.type})"
        if "compressed" in first.type or "indexed" in first.type or "sparse" in first.type
        else words
    )
    before, after = (
        "" if first.mixers == ("none",) else _reach(distance)
        for distance in (first.before, first.after)
    )
    return LayerGroup(
        number % len(SERIES) + 1,
        len(layers),
        pattern([layer.index for layer in layers]),
        mixing,
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
    counts = Counter(_does(layer) for layer in layers)
    unencoded = sum(layer.attends and layer.encodings == () for layer in layers)
    is_mixed = 0 < unencoded < sum(layer.attends for layer in layers)
    if set(counts) == {ALL} and not is_mixed:
        return ""
    n_layers = f"{len(layers):,} layers"
    lists = " and ".join(
        f"{count} {_singular(what) if count == 1 else what}" for what, count in counts.most_common()
    )
    rest = (
        f"; {unencoded} {'has' if unencoded == 1 else 'have'} attention without rotation or bias"
        if is_mixed
        else ""
    )
    return (
        f"Of {n_layers}, {lists}{rest}."
        if len(counts) > 1
        else f"All {n_layers} {lists.partition(' ')[2]}{rest}."
    )


def _singular(predicate: str) -> str:
    verb, _, rest = predicate.partition(" ")
    return f"{verb}{'es' if verb == 'mix' else 's'} {rest}"


def _does(layer: Layer) -> str:
    """What a layer does, as the predicate of a sentence in the plural."""
    if not layer.attends:
        return WITHOUT_ATTENTION[layer.mixers[0]]
    limits = {
        "sliding": "see a window of {:,} positions",
        "chunked": "see chunks of {:,} positions",
    }
    mixer = next((mixer for mixer in layer.mixers if mixer in limits), None)
    ahead = 0 if mixer == "chunked" else layer.after or 0
    size = None if layer.before is None else layer.before + 1 + ahead
    seen = ALL if mixer is None or size is None else limits[mixer].format(size)
    return f"{seen} alongside a recurrent state" if "recurrent" in layer.mixers else seen
