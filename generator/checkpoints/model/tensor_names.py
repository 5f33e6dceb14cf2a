"""Which part of a checkpoint a tensor belongs to, as far as its name says."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from generator.contracts import Modality

# What stands in a name, and what its part is called; an encoder's name need not say so.
STACKS = (("decoder", "decoder"), ("speech", "speech encoder"), ("audio", "audio encoder"), ("semantic", "semantic encoder"))
OF_AUDIO = frozenset({"speech", "audio", "semantic", "acoustics"})  # Words in the names of tensors whose positions are of audio.
LAYER = re.compile(r"(?:^|\.)(\d+)\.(?:(\d+)\.)?")


def stack(name: str) -> str:
    """The encoder, the decoder, or whichever other stack of layers it is in."""
    words = set(re.split(r"[._]", name))
    return next((title for word, title in STACKS if word in words), "encoder")


def modality(name: str) -> Modality:
    """Audio or text, by the words of the tensor's name."""
    return "text" if OF_AUDIO.isdisjoint(re.split(r"[._]", name)) else "audio"


def in_order(names: Iterable[str]) -> list[str]:
    """``names`` with the decoder last, and with layer 2 before layer 10, as text alone would not have it."""

    def place(name: str) -> tuple[bool, list[tuple[int, str]]]:
        return stack(name) == "decoder", [(int(word), "") if word.isdecimal() else (-1, word) for word in name.split(".")]

    return sorted(names, key=place)


def parts(titles: Mapping[str, str]) -> dict[str, str]:
    """A part for each tensor's name: its title, and the layer as well where several have the same title."""
    alike = Counter(titles.values())
    return {name: f"{title} layer {_layer(name)}" if alike[title] > 1 else title for name, title in titles.items()}


def _layer(name: str) -> str:
    """Its number, or two where the layers are in numbered blocks, as in Funnel."""
    match = LAYER.search(name)
    return ".".join(number for number in match.groups() if number) if match else name
