"""Biases of windows of patches, which exporters unfold from a table by offset to every pair of
patches.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import isqrt
from typing import Any

import numpy as np

from generator.checkpoints.files.formats.onnx.graph import FLOATS, MOVES, SUMS, Graph
from generator.checkpoints.files.formats.onnx.place import TensorPlace, scope_of
from generator.contracts import StoredTensor
from generator.contracts.wording import Wording
from generator.numerics.arrays import Array, Floats

LOGIT_MOVES = MOVES | {"Transpose"}
LARGEST = 64  # Patches per side.
NOTES = Wording("wording/notes.jinja")

Read = Callable[[str], Floats]


def window_biases(graph: Graph, read: Read) -> Iterator[TensorPlace]:
    """The bias of every layer with one for all pairs of patches of a window: (1, n_heads,
    n_patches, n_patches).

    read: the values of a tensor
    """
    scopes: defaultdict[str, set[str]] = defaultdict(set)
    for softmax in (node for node in graph.nodes if node.op_type == "Softmax"):
        names = {
            name
            for name in map(graph.source, _logit_addends(graph, softmax.input[0]))
            if _side(graph, name)
        }
        found = [name for name in names if _is_by_offset(read(name), _side(graph, name))]
        if len(found) == 1:
            scopes[found[0]].add(scope_of(softmax.output[0]))
    for name, modules in scopes.items():
        if len(modules) == 1 and modules != {""}:  # The bias of one layer, whose name is known.
            role = NOTES("bias_of_window")
            yield TensorPlace(name, "relative_position_bias_table", min(modules), role, as_table)


def as_table(tensor: StoredTensor) -> StoredTensor:
    """The tensor of all pairs of patches as the table by offset, query minus key, row by row:
    (n_offsets, n_heads).
    """
    n_heads, n_patches, _ = tensor.header.shape[-3:]
    side = isqrt(n_patches)

    def decode(data: bytes | memoryview, shape: tuple[int, ...]) -> Floats:
        pairs = tensor.decode(data, tensor.header.shape)
        return np.asarray(
            _first_of_offset(pairs.reshape(n_heads, n_patches, n_patches), side).reshape(shape)
        )

    header = replace(tensor.header, shape=((2 * side - 1) ** 2, n_heads))
    return replace(
        tensor,
        header=header,
        decode=decode,
        notes=lambda: (NOTES("unfolded", pairs=n_patches**2), *tensor.notes()),
    )


def _logit_addends(graph: Graph, logits: str) -> list[str]:
    """What is added up to logits, masks included."""

    def into(node: Any) -> Iterable[str]:
        if node.op_type in LOGIT_MOVES:
            return list(node.input[:1])
        first = 1 if node.op_type == "Where" else 0
        return list(node.input[first:]) if node.op_type in SUMS | {"Where"} else ()

    return list(graph.leaves(logits, into))


def _side(graph: Graph, name: str) -> int:
    """Patches per side of a window by the shape of a tensor; 0 for another one."""
    shape = graph.shape(name)
    if (
        len(shape) not in (3, 4)
        or shape[:-3] not in ((), (1,))
        or shape[-1] != shape[-2]
        or shape[-3] < 2
    ):
        return 0
    side = isqrt(shape[-1])
    is_square = side * side == shape[-1] and 2 <= side <= LARGEST
    return side if is_square and graph.dtype(name) in FLOATS else 0


def _offsets(side: int) -> Array:
    """Index of the offset of each pair, query by key, counted as in Swin: (side², side²)."""
    patch = np.arange(side * side)
    down, across = (
        part[:, None] - part[None, :] + side - 1 for part in (patch // side, patch % side)
    )
    return np.asarray(down * (2 * side - 1) + across)


def _first_of_offset(pairs: Floats, side: int) -> Floats:
    """The value of the first pair of each offset: (n_offsets, n_heads); pairs: (n_heads, side²,
    side²).
    """
    _, first = np.unique(_offsets(side), return_index=True)
    return np.asarray(pairs.reshape(len(pairs), -1)[:, first].T)


def _is_by_offset(values: Floats, side: int) -> bool:
    """Whether all pairs of one offset have exactly the same values, and not so in a line in place
    of a square.
    """
    pairs = values.reshape(-1, side * side, side * side)
    is_of_line = np.array_equal(pairs[:, 1:, 1:], pairs[:, :-1, :-1])
    return not is_of_line and np.array_equal(
        _first_of_offset(pairs, side)[_offsets(side)], np.moveaxis(pairs, 0, -1)
    )
