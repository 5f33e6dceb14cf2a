"""What a place in a graph says of a tensor, and how positions are recognised among the values of a
graph.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from generator.checkpoints.files.formats.onnx.graph import MOVES, Graph
from generator.contracts import StoredTensor

MOST_INDICES = 2**20
INDEX_MOVES = (MOVES - {"DequantizeLinear"}) | {"Tile"}
COUNTS = frozenset({"Range", "CumSum"})
POSITIONS = re.compile(r"(?<![a-z])pos(ition)?(_?ids?)?s?(?![a-z])")
SEGMENTS = re.compile(r"(token_)?types?_|segment")

Meaning = Literal["words", "positions", "other"]


@dataclass(frozen=True)
class TensorPlace:
    """A tensor identified by its place.

    tensor: its name in the graph; name: by which schemes know tensors of this kind, without the
        module; scope: the module, "" if unknown
    role: end of the sentence that says how it was identified
    change: how it is read, where its values stand otherwise in the file than schemes know them
    """

    tensor: str
    name: str
    scope: str
    role: str
    change: Callable[[StoredTensor], StoredTensor] | None = None


def scope_of(name: str) -> str:
    """The module in whose code a value was made, from names such as /model/embeddings/Add_output_0;
    "" where they do not say.
    """
    parts = name.strip("/").split("/")[:-1]
    return (
        ".".join(parts)
        if name.startswith("/") and all(re.fullmatch(r"[\w.]+", part) for part in parts)
        else ""
    )


def meaning(graph: Graph, indices: str) -> Meaning:
    """What the indices of a Gather count: ids of words from an input of the graph, positions, or
    anything else.
    """
    source = graph.source(indices, INDEX_MOVES)
    if source in graph.inputs:
        if POSITIONS.search(source):
            return "positions"
        return "other" if SEGMENTS.search(source) else "words"

    def into(node: Any) -> Iterable[str]:
        if node.op_type in INDEX_MOVES:
            return list(node.input[:1])
        if node.op_type == "Sub":  # The difference of two counts is an offset, not a position.
            return list(node.input[:1]) if graph.source(node.input[1]) in graph.tensors else ()
        first = 1 if node.op_type == "Where" else 0
        return list(node.input[first:]) if node.op_type in ("Add", "Mul", "Where") else ()

    return (
        "positions" if any(_counts(graph, leaf) for leaf in graph.leaves(source, into)) else "other"
    )


def _counts(graph: Graph, leaf: str) -> bool:
    """Whether a value is a range, a running count, an input with positions or a constant like a
    range.
    """
    node = graph.made_by.get(leaf)
    if leaf in graph.inputs:
        return POSITIONS.search(leaf) is not None
    return (node is not None and node.op_type in COUNTS) or (
        leaf in graph.tensors and _are_consecutive(graph, leaf)
    )


def _are_consecutive(graph: Graph, name: str) -> bool:
    header = graph.tensors[name].header
    if (
        header.dtype not in ("I64", "I32")
        or not 2 <= np.prod(header.shape, dtype=float) <= MOST_INDICES
    ):
        return False
    numbers = graph.values(name).reshape(-1)
    return bool(numbers[0] >= 0 and np.all(np.diff(numbers) == 1))
