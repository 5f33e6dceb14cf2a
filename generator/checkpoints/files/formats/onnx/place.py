"""What a place in a graph says of a tensor, and how positions are recognised among the values of a graph."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from generator.checkpoints.files.formats.onnx.graph import Graph
from generator.contracts import StoredTensor

MOST_INDICES = 2**20
INDEX_MOVES = frozenset({"Identity", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Slice", "Flatten", "Tile"})
COUNTS = frozenset({"Range", "CumSum"})
POSITIONS = re.compile(r"(?<![a-z])pos(ition)?(_?ids?)?s?(?![a-z])")
SEGMENTS = re.compile(r"(token_)?types?_|segment")
DEEPEST = 16

Meaning = Literal["words", "positions", "other"]


@dataclass(frozen=True)
class Place:
    """A tensor identified by its place.

    tensor: its name in the graph; name: by which schemes know tensors of this kind, without the module; scope: the module, "" if unknown
    role: end of the sentence that says how it was identified
    change: how it is read, where its values stand otherwise in the file than schemes know them
    """

    tensor: str
    name: str
    scope: str
    role: str
    change: Callable[[StoredTensor], StoredTensor] | None = None


def scope_of(name: str) -> str:
    """The module in whose code a value was made, from names such as /model/embeddings/Add_output_0; "" where they do not say."""
    parts = name.strip("/").split("/")[:-1]
    return ".".join(parts) if name.startswith("/") and all(re.fullmatch(r"[\w.]+", part) for part in parts) else ""


def meaning(graph: Graph, name: str, depth: int = 0) -> Meaning:
    """What the indices ``name`` of a Gather count: ids of words from an input of the graph, positions, or anything else."""
    source = graph.source(name, INDEX_MOVES)
    if source in graph.inputs:
        return "positions" if POSITIONS.search(source) else "other" if SEGMENTS.search(source) else "words"
    if source in graph.tensors:
        return "positions" if _are_consecutive(graph, source) else "other"
    node = graph.made_by.get(source)
    if node is None or depth == DEEPEST:
        return "other"
    if node.op_type in COUNTS:
        return "positions"
    operands = node.input[1:] if node.op_type == "Where" else node.input
    if node.op_type in ("Add", "Mul", "Where") or (node.op_type == "Sub" and graph.source(node.input[1]) in graph.tensors):
        return "positions" if "positions" in {meaning(graph, operand, depth + 1) for operand in operands} else "other"
    return "other"


def _are_consecutive(graph: Graph, name: str) -> bool:
    header = graph.tensors[name].header
    if header.dtype not in ("I64", "I32") or not 2 <= np.prod(header.shape, dtype=float) <= MOST_INDICES:
        return False
    numbers = graph.values(name).reshape(-1)
    return bool(numbers[0] >= 0 and np.all(np.diff(numbers) == 1))
