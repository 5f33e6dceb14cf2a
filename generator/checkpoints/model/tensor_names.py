"""The part and modality of a tensor, by the words of its name."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from generator.contracts import Files, Modality, StackKind
from generator.errors import RowError

OF_UNKNOWN_FAMILY = "model"  # part of what is in no stack that a name or a config tells
# Part by a word of the name.
STACKS = (
    ("decoder", "decoder"),
    ("dec", "decoder"),
    ("speech", "speech encoder"),
    ("audio", "audio encoder"),
    ("semantic", "semantic encoder"),
    ("encoder", "encoder"),
)
OF_AUDIO = frozenset({"speech", "audio", "semantic", "acoustics"})  # Words of tensor names.
LLAMA_CPP = {"a": "audio", "v": "vision"}  # First words of tensor names in files of llama.cpp.
LAYER = re.compile(r"(?:^|\.)(\d+)\.(?:(\d+)\.)?")


def stack(name: str, default: str = "encoder") -> str:
    """The stack of layers of a tensor: "decoder", "speech encoder" …"""
    words = set(re.split(r"[._]", name))
    return next((title for word, title in STACKS if word in words), default)


def stack_kind(name: str) -> StackKind:
    """Encoder or decoder, by the words of the tensor's name."""
    return "decoder" if stack(name) == "decoder" else "encoder"


def modality(name: str) -> Modality:
    """Audio or text, by the words of the tensor's name."""
    return "text" if OF_AUDIO.isdisjoint(words(name)) else "audio"


def words(name: str) -> list[str]:
    """The words of a tensor's name, the first as a word where llama.cpp has a letter."""
    first, dot, rest = name.partition(".")
    return re.split(r"[._]", f"{LLAMA_CPP.get(first, first)}{dot}{rest}")


def in_order(names: Iterable[str]) -> list[str]:
    """``names`` with the decoder last, and in numerical order: layer 2 before layer 10."""

    def sort_key(name: str) -> tuple[bool, list[tuple[int, str]]]:
        return stack(name) == "decoder", [
            (int(word), "") if word.isdecimal() else (-1, word) for word in name.split(".")
        ]

    return sorted(names, key=sort_key)


def parts(titles: Mapping[str, str]) -> dict[str, str]:
    """A distinct part for each tensor: its title, with the layer if several tensors have the same
    title, or with the name if they have the same layer too.
    """
    counts = Counter(titles.values())
    layers = {
        name: f"{title} layer {_layer(name)}" if counts[title] > 1 else title
        for name, title in titles.items()
    }
    again = Counter(layers.values())
    return {
        name: f"{titles[name]} {name}" if again[part] > 1 else part for name, part in layers.items()
    }


def misshapen(files: Files, name: str, expected: str) -> RowError:
    """The error for a tensor of another shape than ``expected``, in words."""
    return RowError(
        f"{files.where}: {name} has shape {files.tensors[name].shape}; expected {expected}"
    )


def _layer(name: str) -> str:
    """The number of the layer, or "block.layer" for numbered blocks, as in Funnel; the whole name
    without a number.
    """
    match = LAYER.search(name)
    return ".".join(number for number in match.groups() if number) if match else name
