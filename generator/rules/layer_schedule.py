"""Layers of one stack that encode position differently."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Layer, Origin, Rule
from generator.contracts.layer_map import LIMITED
from generator.contracts.model_config import SIZES
from generator.encodings import Rotation

NUMBERS = frozenset({*SIZES["n_layers"], "block_count"})


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Layers without the rotation of the others, and layers with windows or chunks beside others
    without.
    """
    rotations = {one.key: one for one in examined.encodings if isinstance(one.form, Rotation)}
    for part in dict.fromkeys(layer.part for layer in examined.layers):
        own = [layer for layer in examined.layers if layer.part == part and layer.attends]
        sized = {"part": part, "n_layers": len(own)}
        rotated = [layer for layer in own if not rotations.keys().isdisjoint(layer.encodings or ())]
        bare = [
            layer.index for layer in own if layer.encodings is not None and layer not in rotated
        ]
        if rotated and bare and not examined.is_open:
            acting = [rotations[key] for key in rotated[0].encodings or () if key in rotations]
            origins = [one.origins["layers"] for one in acting if "layers" in one.origins]
            has_key = not origins or any(map(_says_which, origins))
            source = "" if has_key else examined.files.config.source
            yield "unrotated", {**sized, "layers": bare, "without_key": source}
        yield from _limited(own, sized)


def _says_which(origin: Origin) -> bool:
    """Whether a key says more of layers than their number."""
    return any(key.split(".")[-1] not in NUMBERS for key in origin.keys)


def _limited(own: list[Layer], sized: Json) -> Iterator[tuple[str, Json]]:
    limited = [layer for layer in own if not LIMITED.isdisjoint(layer.mixers)]
    if limited and len(limited) < len(own):
        widths = sorted({layer.before + 1 for layer in limited if layer.before is not None})
        chunks = all("chunked" in layer.mixers for layer in limited)
        layers = [layer.index for layer in limited]
        yield "limited", {**sized, "layers": layers, "widths": widths, "are_chunks": chunks}


RULE = Rule(key="layer-schedule", levels={"unrotated": "note", "limited": "note"}, find=find)
