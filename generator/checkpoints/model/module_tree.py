"""The modules of a model, from the names of its tensors."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from generator.contracts import TensorInfo, TensorRow

NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")


@dataclass(frozen=True)
class Module:
    """Tensors of one module.

    tensors: last component of the name, "" for a name without dots, and shape; None and dtype ""
        where no header was read
    count: number of modules of this pattern
    """

    name: str
    tensors: tuple[tuple[str, tuple[int, ...] | None], ...]
    dtype: str
    count: int


def tensor_rows(tensors: Mapping[str, TensorInfo], unopened: Set[str]) -> tuple[TensorRow, ...]:
    """Tensors grouped by name with # for layer numbers, shape and dtype: ``h.#.attn.weight`` for
    all layers.

    unopened: names of tensors whose headers are not read
    """
    counts: defaultdict[tuple[str, tuple[int, ...] | None, str], int] = defaultdict(int)
    for name in sorted(tensors, key=_by_depth):
        header = None if name in unopened else tensors[name]
        counts[
            (NUMBER.sub("#", name), *((header.shape, header.dtype) if header else (None, "")))
        ] += 1
    return tuple(
        TensorRow(pattern, shape, dtype, count) for (pattern, shape, dtype), count in counts.items()
    )


def modules(rows: Sequence[TensorRow]) -> tuple[Module, ...]:
    """Neighbouring rows grouped by module, dtype and count: ``h.#.attn`` with its weight and its
    bias.
    """
    groups = groupby(rows, key=lambda row: (_names(row)[0], row.dtype, row.count))
    return tuple(
        Module(name, tuple((_names(row)[1], row.shape) for row in group), dtype, count)
        for (name, dtype, count), group in groups
    )


def _names(row: TensorRow) -> tuple[str, str]:
    module, _, tensor = row.pattern.rpartition(".")
    return (module, tensor) if module else (tensor, "")


def _by_depth(name: str) -> tuple[bool, list[tuple[int, str]]]:
    """Sort key: tensors outside of layers first, then layers by number."""
    words = name.split(".")
    return any(word.isdigit() for word in words), [
        (int(word) if word.isdigit() else -1, word) for word in words
    ]
