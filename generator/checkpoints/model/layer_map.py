"""The layer map of a model: its layers, and the encodings that act in each."""

import re
from collections.abc import Sequence
from dataclasses import replace

from generator.checkpoints.model.family_formats import FORMATS
from generator.checkpoints.model.layers import layers
from generator.checkpoints.model.resolved import is_known
from generator.checkpoints.model.stacks import Stack, stacks
from generator.contracts import Encoding, Files, Layer, ModelConfig
from generator.encodings import Form

OF_ONE_LAYER = re.compile(r" layer (\d+)$")  # The end of a part with tensors in several layers.
BOTH = "encoder and decoder"


def layer_map(files: Files, encodings: Sequence[Encoding[Form]]) -> tuple[Layer, ...]:
    """Every layer of the stacks for text and audio, with the encodings that act in it; empty for a family that is not known."""
    every_layer = [replace(layer, encodings=acting(encodings, layer)) for stack in mapped_stacks(files.config) for layer in layers(stack)]
    if files.tensors or encodings:
        return tuple(every_layer)
    return tuple(replace(layer, encodings=None) if layer.attends else layer for layer in every_layer)


def mapped_stacks(config: ModelConfig) -> list[Stack]:
    """The stacks that have a layer map, one of each part; nested configs override the outer one."""
    return list({stack.part: stack for stack in stacks(config) if _is_mapped(stack)}.values())


def acting(encodings: Sequence[Encoding[Form]], layer: Layer) -> tuple[str, ...]:
    """Keys of the encodings that act in ``layer``."""
    return tuple(encoding.key for encoding in encodings if _acts(encoding, layer))


def _is_mapped(stack: Stack) -> bool:
    is_of_tokens = "vocab_size" in stack.config or stack.modality == "audio"
    return is_of_tokens and stack.modality != "image" and (is_known(stack.config.family) or stack.config.family in FORMATS)


def _acts(encoding: Encoding[Form], layer: Layer) -> bool:
    """Whether ``encoding`` acts in ``layer``: one of its own layers, or else any with the mechanism that its form takes part in."""
    if encoding.form.acts_in == "input" or not _is_of(encoding.part, layer):
        return False
    if encoding.layers is not None:
        return layer.index in encoding.layers
    if match := OF_ONE_LAYER.search(encoding.part):
        return layer.index == int(match[1])
    return layer.attends if encoding.form.acts_in == "attention" else "recurrent" in layer.mixers


def _is_of(part: str, layer: Layer) -> bool:
    return part == layer.part or part.startswith((f"{layer.part} ", BOTH))
