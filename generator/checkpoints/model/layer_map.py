"""The layer map of a model: its layers, and the encodings that act in each."""

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import groupby

from generator.checkpoints.model.family_formats import FORMATS
from generator.checkpoints.model.layers import layers
from generator.checkpoints.model.resolved import is_known
from generator.checkpoints.model.stacks import Stack, stacks
from generator.contracts import Encoding, Files, Layer
from generator.encodings import Form

OF_ONE_LAYER = re.compile(r" layer (\d+)$")  # The end of a part with tensors in several layers.
BOTH = "encoder and decoder"


def layer_map(files: Files, encodings: Sequence[Encoding[Form]]) -> tuple[Layer, ...]:
    """Every layer of the stacks for text and audio, with the encodings that act in it; empty for a family that is not known."""
    by_part: dict[str, tuple[Layer, ...]] = {}
    for stack in filter(_is_mapped, stacks(files.config)):  # Nested configs override the outer one.
        by_part |= {part: tuple(group) for part, group in groupby(layers(stack), key=lambda layer: layer.part)}
    all_layers = [layer for part in by_part for layer in by_part[part]]
    parts = {layer.part for layer in all_layers}
    every_layer = [
        replace(layer, encodings=tuple(encoding.key for encoding in encodings if _acts(encoding, layer, parts))) for layer in all_layers
    ]
    if files.tensors or encodings:
        return tuple(every_layer)
    return tuple(replace(layer, encodings=None) if layer.attends else layer for layer in every_layer)


def _is_mapped(stack: Stack) -> bool:
    is_of_tokens = "vocab_size" in stack.config or stack.modality == "audio"
    return is_of_tokens and stack.modality != "image" and (is_known(stack.config.family) or stack.config.family in FORMATS)


def _acts(encoding: Encoding[Form], layer: Layer, parts: Set[str]) -> bool:
    """Whether ``encoding`` acts in ``layer``: one of its own layers, or else any with the mechanism that its form takes part in."""
    if encoding.form.acts_in in ("input", "beside") or not _is_of(encoding, layer, parts):
        return False
    if encoding.layers is not None:
        return layer.index in encoding.layers
    if match := OF_ONE_LAYER.search(encoding.part):
        return layer.index == int(match[1])
    return layer.attends if encoding.form.acts_in == "attention" else "recurrent" in layer.mixers


def _is_of(encoding: Encoding[Form], layer: Layer, parts: Set[str]) -> bool:
    """Whether the part of an encoding names the stack of ``layer``; one that names none of ``parts`` is of all stacks of its kind."""
    if encoding.part.startswith(BOTH):
        return True
    named = next((part for part in sorted(parts, key=len, reverse=True) if f"{encoding.part} ".startswith(f"{part} ")), None)
    return layer.stack == encoding.stack if named is None else layer.part == named
