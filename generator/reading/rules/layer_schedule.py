"""Layers of one stack that encode position differently."""

from collections.abc import Iterator

from generator.contracts import Encoding, Examined, Json, Layer, Origin, Rule
from generator.contracts.layer_map import LIMITED
from generator.contracts.model_config import SIZES
from generator.encodings import Form, Rotation

NUMBERS = frozenset({*SIZES["n_layers"], "block_count"})


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Layers without the rotation of the others, layers with windows or chunks beside others
    without, and scaling of one of two rotations.
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
            kind = "unrotated_by_name" if source else "unrotated"
            yield kind, {**sized, "layers": bare, "source": source}
        yield from _limited(own, sized)
    for one in examined.encodings:
        form = one.form
        if (
            isinstance(form, Rotation)
            and form.is_rescaled
            and any(_is_beside(one, other) for other in examined.encodings)
        ):
            yield "scaled_alone", {"kind": form.rope_type, "layers": list(one.layers or ())}


def _is_beside(scaled: Encoding[Form], other: Encoding[Form]) -> bool:
    """Whether ``other`` is a rotation without scaling in other layers of the same stack."""
    return (
        isinstance(other.form, Rotation)
        and not other.form.is_rescaled
        and other.stack == scaled.stack
        and other.modality == scaled.modality
        and bool(scaled.layers)
        and bool(other.layers)
    )


def _says_which(origin: Origin) -> bool:
    """Whether a key says more of layers than their number."""
    return any(key.split(".")[-1] not in NUMBERS for key in origin.keys)


def _limited(own: list[Layer], sized: Json) -> Iterator[tuple[str, Json]]:
    limited = [layer for layer in own if not LIMITED.isdisjoint(layer.mixers)]
    if limited and len(limited) < len(own):
        widths = sorted({layer.width for layer in limited if layer.width is not None})
        chunks = all("chunked" in layer.mixers for layer in limited)
        layers = [layer.index for layer in limited]
        yield "limited", {**sized, "layers": layers, "widths": widths, "are_chunks": chunks}


RULE = Rule(
    key="layer-schedule",
    levels={"unrotated_by_name": "note",
            **dict.fromkeys(("unrotated", "limited", "scaled_alone"), "fact")},
    find=find,
    about=("layer_types", "no_rope_layers", "sliding_window", "num_hidden_layers"),
)  # fmt: skip
