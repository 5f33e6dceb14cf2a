"""The table of positions in the sum that enters the first layer: words or patches, positions, and
perhaps more.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from generator.checkpoints.files.formats.onnx.graph import MOVES, SUMS, Graph, integers
from generator.checkpoints.files.formats.onnx.place import TensorPlace, scope_of
from generator.contracts.wording import Wording
from generator.errors import RowError
from generator.numerics.arrays import Floats

# What a table passes through on its way into the sum; a resized one is still the table that the
# file holds.
TABLE_MOVES = MOVES | {"Transpose", "Resize"}
WORD_MOVES, PATCH_MOVES = MOVES, MOVES | {"Transpose", "Concat"}
MOST_STEPS = 16
IMAGES = frozenset({"vision", "visual", "image", "img", "video", "pixel"})
NOTES = Wording("wording/notes.jinja")

Read = Callable[[str], Floats]


def position_table(graph: Graph, read: Read) -> Iterator[TensorPlace]:
    """The table of the words' positions and that of the patches' positions, where one tensor can be
    it. A table whose rows a graph selects by position keeps its name in every export.

    read: the values of a tensor
    """
    for stack, starts, moves in (
        ("", _word_nodes(graph), WORD_MOVES),
        ("vision", _patch_nodes(graph), PATCH_MOVES),
    ):
        found = {name for node in starts for name in _in_sum(graph, node, moves)}
        names = [
            name for name in found if name in graph.tensors and _has_different_rows(read, name)
        ]
        if len(names) == 1:
            is_resized = _is_resized(graph, names[0])
            role = NOTES("added", of_patches=bool(stack), is_resized=is_resized)
            yield TensorPlace(names[0], *_named(graph, names[0], stack), role)


def _named(graph: Graph, tensor: str, stack: str) -> tuple[str, str]:
    """The name by which schemes know a table, and its module."""
    scope = next(
        (scope for node in graph.used_by.get(tensor, ()) if (scope := scope_of(node.output[0]))),
        "embeddings",
    )
    is_matrix = len(graph.shape(tensor)) == 2
    if is_matrix and stack and not IMAGES & set(scope.replace(".", "_").split("_")):
        scope = f"{stack}.{scope}"  # The shape alone does not say that its rows are patches.
    return ("position_embeddings.weight" if is_matrix else "position_embeddings"), scope


def _is_resized(graph: Graph, tensor: str) -> bool:
    return any(
        graph.source(node.input[0], TABLE_MOVES) == tensor
        for node in graph.nodes
        if node.op_type == "Resize"
    )


def _word_nodes(graph: Graph) -> Iterator[Any]:
    """The nodes that take rows of a matrix by the ids in an input."""
    for node in graph.nodes:
        if (
            node.op_type == "Gather"
            and len(graph.shape(graph.source(node.input[0]))) == 2
            and graph.source(node.input[1]) in graph.inputs
        ):
            yield node


def _patch_nodes(graph: Graph) -> Iterator[Any]:
    """The convolutions that cut an image into patches: their steps are as large as their kernel."""
    for node in graph.nodes:
        if node.op_type == "Conv":
            weight = graph.shape(graph.source(node.input[1]))
            if len(weight) == 4 and weight[2:] == integers(node, "strides") and min(weight[2:]) > 1:
                yield node


def _in_sum(graph: Graph, made_by: Any, moves: frozenset[str]) -> Iterator[str]:
    """The tensors that may be a table of positions in the sum of which the vectors from a node are
    a part.
    """
    value = made_by.output[0]
    for _ in range(MOST_STEPS):
        users = [node for node in graph.used_by.get(value, ()) if node.op_type != "Shape"]
        if len(users) != 1 or not _passes(graph, users[0], moves):
            break
        value = users[0].output[0]
    else:
        return
    if value != made_by.output[0]:
        width = _width(graph, made_by)
        for addend in _addends(graph, value):
            if (table := _table(graph, addend, width)) is not None:
                yield table


def _passes(graph: Graph, node: Any, moves: frozenset[str]) -> bool:
    """Whether a value goes on through ``node`` as a part of a sum, or times one number (√d)."""
    if node.op_type in ("Mul", "Div"):
        return any(
            math.prod(graph.shape(name)) == 1 and name in graph.tensors
            for name in map(graph.source, node.input)
        )
    return node.op_type in SUMS or node.op_type in moves


def _width(graph: Graph, node: Any) -> int:
    """Components of the vectors from a Gather of rows or from a Conv."""
    return (
        graph.shape(graph.source(node.input[0]))[-1]
        if node.op_type == "Gather"
        else graph.shape(graph.source(node.input[1]))[0]
    )


def _addends(graph: Graph, value: str) -> list[str]:
    """What is added up to a value, before or after [CLS] and patches are joined."""

    def into(node: Any) -> Iterable[str]:
        if node.op_type in WORD_MOVES | {"Transpose"}:
            return list(node.input[:1])
        joined = (
            [graph.made_by.get(graph.source(name)) for name in node.input]
            if node.op_type == "Concat"
            else []
        )
        has_sum = any(made is not None and made.op_type in SUMS for made in joined)
        return list(node.input) if node.op_type in SUMS or has_sum else ()

    return list(graph.leaves(value, into))


def _table(graph: Graph, addend: str, width: int) -> str | None:
    """The tensor that is an addend, if it has several rows of ``width`` components."""
    source = graph.source(addend, TABLE_MOVES)
    node = graph.made_by.get(source)
    # [CLS] has its own row in a tensor of its own.
    if node is not None and node.op_type == "Concat":
        parts = [graph.source(name, TABLE_MOVES) for name in node.input]
        longer = [name for name in parts if math.prod(graph.shape(name)[:-1]) > 1]
        source = (
            longer[0]
            if len(longer) == 1 and all(name in graph.tensors for name in parts)
            else source
        )
    shape = graph.shape(source)
    fits = len(shape) > 1 and shape[-1] == width and math.prod(shape[:-1]) > 1
    return source if fits else None


def _has_different_rows(read: Read, name: str) -> bool:
    """Whether there are rows that differ, unlike those of one type of tokens; a table that cannot
    be read has none.
    """
    try:
        values = read(name)
    except RowError:
        return False
    if values.ndim < 2 or not values.size:
        return False
    rows = values.reshape(-1, values.shape[-1])
    return bool(np.any(rows != rows[0]))
