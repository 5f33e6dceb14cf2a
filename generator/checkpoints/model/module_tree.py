"""The layout of a model's modules, read off the names of its tensors."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from generator.contracts import LayoutRow, TensorInfo

NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")


@dataclass(frozen=True)
class Module:
    """Tensors that differ in the last word of their names alone. tensors: that word, empty where it is all of the name, and the shape"""

    name: str
    tensors: tuple[tuple[str, tuple[int, ...]], ...]
    dtype: str
    count: int


def layout(tensors: Mapping[str, TensorInfo]) -> tuple[LayoutRow, ...]:
    """One row for each tensor, layers that repeat folded into one: ``h.#.attn.weight`` stands for all layers.

    Tensors of one pattern but different shapes keep rows of their own.
    """
    counts: defaultdict[tuple[str, tuple[int, ...], str], int] = defaultdict(int)
    for name, tensor in sorted(tensors.items(), key=_by_depth):
        counts[NUMBER.sub("#", name), tensor.shape, tensor.dtype] += 1
    return tuple(LayoutRow(pattern, shape, dtype, count) for (pattern, shape, dtype), count in counts.items())


def modules(rows: Sequence[LayoutRow]) -> tuple[Module, ...]:
    """Neighbouring rows of one module that are alike in type and number, together: ``h.#.attn`` with its weight and its bias."""
    alike = groupby(rows, key=lambda row: (_names(row)[0], row.dtype, row.count))
    return tuple(Module(name, tuple((_names(row)[1], row.shape) for row in found), dtype, count) for (name, dtype, count), found in alike)


def _names(row: LayoutRow) -> tuple[str, str]:
    module, _, tensor = row.pattern.rpartition(".")
    return (module, tensor) if module else (tensor, "")


def _by_depth(item: tuple[str, TensorInfo]) -> tuple[bool, list[tuple[int, str]]]:
    """What comes before the layers first, then the layers in the order of their numbers."""
    words = item[0].split(".")
    return any(word.isdigit() for word in words), [(int(word) if word.isdigit() else -1, word) for word in words]
