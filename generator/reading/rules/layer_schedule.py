"""Layers of one stack that encode position differently."""

import re
from collections.abc import Iterator

from generator.checkpoints.model.keys import leaves
from generator.checkpoints.model.resolved import WINDOW, defaults
from generator.contracts import Encoding, Examined, Json, Layer, ModelConfig, Rule
from generator.contracts.layer_map import LIMITED
from generator.contracts.model_config import SIZES
from generator.encodings import Form, Rotation
from generator.reading.taken import is_read

NUMBERS = frozenset({*SIZES["n_layers"], "block_count"})
WIDTHS = frozenset({"sliding_window", "local_attention", "window_size", "attention_chunk_size"})
SIZE = re.compile(r"window(_size)?$|^window|local_attention$|chunk_size$")
OF_ROTATION = re.compile(r"rope|nope|rotary|position")
FLAGS = "no_rope_layers"  # 1 for a layer with rotation.


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Layers without the rotation of the others, layers with windows or chunks beside others
    without, windows whose size no key gives, and rotations of which one is scaled, or a share.
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
            says = [key for one in origins for key in one.keys if OF_ROTATION.search(key)]
            source = "" if says or not origins else examined.files.config.source
            kind = _kind_of_bare(examined.files.config, bool(source), len(bare) > len(rotated))
            paths = says or [FLAGS if kind == "unrotated_by_empty" else "model_type"]
            yield kind, {**sized, "layers": bare, "source": source, "paths": paths}
        yield from _limited(own, sized, _unsaid(examined))
    yield from _by_default(examined)
    yield from _rescaled(examined)


def _rescaled(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Scaling, or a share of each head, of one of two rotations."""
    for one in examined.encodings:
        form = one.form
        if (
            isinstance(form, Rotation)
            and form.is_rescaled
            and any(_is_beside(one, other) for other in examined.encodings)
        ):
            layers = {"kind": form.rope_type, "layers": list(one.layers or ())}
            width = _width(examined, one)
            if form.is_scaled and width is not None:
                yield "scaled_windows", {**layers, "width": width}
            elif form.is_scaled:
                yield "scaled_alone", layers
            else:
                n_pairs = len(form.frequencies)
                yield "share_alone", {**layers, "n_pairs": n_pairs, "of": form.head_dim // 2}


def _kind_of_bare(config: ModelConfig, by_name: bool, are_most: bool) -> str:
    """are_most: whether more layers are without the rotation than have it"""
    lists = [one.value(FLAGS) for one in config.nested() if FLAGS in one]
    if by_name:
        return "unrotated_by_empty" if [] in lists else "unrotated_by_name"
    return "unrotated_by_inverse" if any(lists) and are_most else "unrotated"


def _unsaid(examined: Examined) -> str:
    """The file, where none of its keys says which layers have windows; "" where one does."""
    config = examined.files.config
    says = {key.split(".")[-1] for key in examined.of_layers} - NUMBERS - WIDTHS
    return "" if says or config.keys_of_file is not None else config.source


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


def _width(examined: Examined, scaled: Encoding[Form]) -> int | None:
    """The largest window of the layers that a rotation acts in, where all of these have one, and no
    other layer of its stack with attention.
    """
    own = [layer for layer in examined.layers if layer.stack == scaled.stack and layer.attends]
    inside = [layer for layer in own if scaled.key in (layer.encodings or ())]
    widths = [layer.width for layer in inside if layer.width is not None]
    is_local = bool(inside) and len(widths) == len(inside)
    beside = [layer for layer in own if layer not in inside]
    return max(widths) if is_local and beside and all(x.width is None for x in beside) else None


def _by_default(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Windows of a config.json that has no key for their size, which the config class gives."""
    if not is_read(examined.files.config):
        return
    for stack in examined.files.resolved.stacks:
        usual = defaults(stack.config.family).get(WINDOW)
        is_said = any(SIZE.search(path[-1]) for path, _ in leaves(examined.files.config.settings))
        own = [x for x in examined.layers if "sliding" in x.mixers and x.width == usual]
        if usual and own and not is_said:
            sizes = {"width": usual, "layers": [layer.index for layer in own]}
            yield "width_by_default", {**sizes, "family": stack.config.family}


def _limited(own: list[Layer], sized: Json, unsaid: str) -> Iterator[tuple[str, Json]]:
    limited = [layer for layer in own if not LIMITED.isdisjoint(layer.mixers)]
    if limited and len(limited) < len(own):
        widths = sorted({layer.width for layer in limited if layer.width is not None})
        chunks = all("chunked" in layer.mixers for layer in limited)
        layers = [layer.index for layer in limited]
        values = {**sized, "layers": layers, "widths": widths, "are_chunks": chunks}
        kind = "limited_by_name" if unsaid and not chunks else "limited"
        yield kind, {**values, "source": unsaid}


RULE = Rule(
    key="layer-schedule",
    levels={"scaled_windows": "warning",
            **dict.fromkeys(("unrotated_by_empty", "unrotated_by_inverse", "width_by_default"),
                            "note"),
            **dict.fromkeys(("unrotated", "unrotated_by_name", "limited", "limited_by_name",
                             "scaled_alone", "share_alone"), "fact")},
    find=find,
    about=("layer_types", "sliding_window", "local_attention", "num_hidden_layers"),
)  # fmt: skip
