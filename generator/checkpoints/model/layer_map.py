"""The layer map of a model: its layers, and the encodings that act in each."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from generator.checkpoints.model.families import NOT_MAPPED, OF_PATCHES
from generator.checkpoints.model.layers import FULL, assumed, counts_tokens, is_read
from generator.contracts import Encoding, Files, Layer, Modality, Stack
from generator.encodings import Form, NoEncoding

OF_ONE_LAYER = re.compile(r" layer (\d+)\b")  # In a part with tensors in several layers.
BOTH = "encoder and decoder"


def layer_map(
    files: Files, encodings: Sequence[Encoding[Form]], *, is_complete: bool = False
) -> tuple[Layer, ...]:
    """Every layer of the stacks, with the encodings that act in it; empty for a family that is not
    known.

    is_complete: whether ``encodings`` are all that the code of the family has, so that what acts in
        no layer is not unknown there
    """
    stacks = files.resolved.stacks
    by_part: dict[str, list[Layer]] = {}
    modalities: dict[str, Modality | None] = dict.fromkeys(stack.part for stack in stacks)
    for stack in filter(_is_mapped, stacks):  # Nested configs override the outer one.
        for part in dict.fromkeys(layer.part for layer in stack.layers):
            by_part[part] = [layer for layer in stack.layers if layer.part == part]
            modalities[part] = stack.modality
    every_layer = [
        replace(
            layer,
            encodings=tuple(one.key for one in encodings if _acts(one, layer, modalities)),
            at_input=tuple(
                one.key
                for one in encodings
                if one.form.acts_in == "input" and _is_of(one, layer, modalities)
            ),
        )
        for of_part in by_part.values()
        for layer in of_part
    ]
    if files.tensors or (encodings and is_complete):
        return tuple(every_layer)
    settled = {layer.part for layer in every_layer if layer.encodings}
    settled |= {encoding.part for encoding in encodings if isinstance(encoding.form, NoEncoding)}
    return tuple(
        layer if layer.part in settled or not layer.mixes else replace(layer, encodings=None)
        for layer in every_layer
    )


def _named_stack(part: str, stack_parts: Iterable[str]) -> str | None:
    """The longest of ``stack_parts`` with which the part of an encoding begins, or else ends
    (“text encoder”); None where it names none of them.
    """
    by_length = sorted(stack_parts, key=len, reverse=True)
    beginning = (name for name in by_length if f"{part} ".startswith(f"{name} "))
    ending = (name for name in by_length if f" {part}".endswith(f" {name}"))
    return next(beginning, None) or next(ending, None)


def _is_mapped(stack: Stack) -> bool:
    """Whether the layers of a stack are known.

    Of images, those of a model by itself, of which settings say all: code limits attention to
    windows in many ways, and joins stacks in many others.
    """
    config = stack.config
    is_sayable = NOT_MAPPED.isdisjoint((*stack.within, config.family))
    if not is_sayable or not (stack.has_code or assumed(config)):
        return False
    if stack.modality == "image":
        return not stack.within and all(
            layer.type == FULL and is_read(config, layer) for layer in stack.layers
        )
    return stack.modality == "audio" or counts_tokens(config) or config.family in OF_PATCHES


def _acts(encoding: Encoding[Form], layer: Layer, parts: Mapping[str, Modality | None]) -> bool:
    """Whether ``encoding`` acts in ``layer``: one of its own layers, or else any with the mechanism
    that its form takes part in.

    parts: of all stacks of the model, with the modality of their positions, None without a layer
        map
    """
    of_images = parts[layer.part] == "image"
    if (
        encoding.form.acts_in in ("input", "")
        or not encoding.form.tells_position
        or (encoding.modality == "image") != of_images
        or not _is_of(encoding, layer, parts)
    ):
        return False
    if encoding.layers is not None:
        return layer.index in encoding.layers
    if match := OF_ONE_LAYER.search(encoding.part):
        return layer.index == int(match[1])
    return "recurrent" in layer.mixers if encoding.form.acts_in == "state" else layer.attends


def _is_of(encoding: Encoding[Form], layer: Layer, parts: Mapping[str, Modality | None]) -> bool:
    """Whether the part of an encoding names the stack of ``layer``; one that names none is of the
    only stack of its modality, or of those of its kind.
    """
    if encoding.part.startswith(BOTH):
        return True
    named = _named_stack(encoding.part, parts)
    if named is not None:
        return layer.part == named
    n_mapped = sum(modality is not None for modality in parts.values())
    return parts[layer.part] == encoding.modality and (
        n_mapped == 1 or layer.stack == encoding.stack
    )
