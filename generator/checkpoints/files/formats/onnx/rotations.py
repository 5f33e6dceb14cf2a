"""Tensors of a rotation: the cosines and sines by which queries and keys are multiplied, or the
frequencies that these are made from.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from generator.checkpoints.files.formats.onnx.graph import FLOATS, MOVES, Graph
from generator.checkpoints.files.formats.onnx.place import TensorPlace, scope_of
from generator.contracts.wording import Wording
from generator.numerics.arrays import Floats

GROUPED = "GroupQueryAttention"
TURN_MOVES = MOVES | {"Gather", "Transpose", "Concat"}
MOST_NUMBERS = 2**24  # Of a table of cosines; 131,072 positions of 64 pairs have 8 million.
TOLERANCE = 2e-3  # cos² + sin² = 1, rounded to half precision.
MOST_STEPS = 8
NOTES = Wording("wording/notes.jinja")
COSINE, SINE, FREQUENCIES = "cos_cached", "sin_cached", "inv_freq"

Read = Callable[[str], Floats]


def rotation_tensors(graph: Graph, read: Read) -> Iterator[TensorPlace]:
    """The cosines and sines, or the frequencies, where one pair or one vector can be it."""
    tables = {name for name in _tables(graph) if _is_table(graph, name)}
    cosines = {
        name: values
        for name in tables
        if np.all(np.abs((values := _rows(read(name)))[0] - 1.0) < TOLERANCE)
    }
    sines = {
        name: values
        for name in tables
        if np.all(np.abs((values := _rows(read(name)))[0]) < TOLERANCE)
    }
    if len(cosines) == len(sines) == 1:
        (cosine, by_cosine), (sine, by_sine) = *cosines.items(), *sines.items()
        if by_cosine.shape == by_sine.shape and np.all(
            np.abs(by_cosine**2 + by_sine**2 - 1.0) < TOLERANCE
        ):
            yield _place(graph, cosine, COSINE)
            yield _place(graph, sine, SINE)
    frequencies = set(_frequencies(graph))
    if len(frequencies) == 1:
        yield _place(graph, frequencies.pop(), FREQUENCIES)


def _place(graph: Graph, tensor: str, name: str) -> TensorPlace:
    users = graph.used_by.get(tensor, ())
    scope = next((scope for node in users if (scope := scope_of(node.output[0]))), "")
    module = scope if scope.endswith("rotary_emb") else f"{scope}.rotary_emb".strip(".")
    # Its attention is causal by definition (ONNX Runtime's contributed operators).
    grouped = [node for node in users if node.op_type == GROUPED]
    if grouped and not {"encoder", "decoder"} & set(module.split(".")):
        module = f"decoder.{module}"
    widths = _windows(grouped)
    role = NOTES(
        f"as_{name}", widths=sorted(set(widths)), n_limited=len(widths), n_layers=len(grouped)
    )
    return TensorPlace(tensor, name, module, role)


def _windows(nodes: Sequence[Any]) -> list[int]:
    """The windows that attention nodes have."""
    return [
        attribute.i
        for node in nodes
        for attribute in node.attribute
        if attribute.name == "local_window_size" and attribute.i > 0
    ]


def _tables(graph: Graph) -> Iterator[str]:
    """The tensors that something computed is multiplied by, and those that nodes for rotations
    take.
    """
    for node in graph.nodes:
        if node.op_type == "RotaryEmbedding":
            yield from (node.input[2:4] if node.domain == "com.microsoft" else node.input[1:3])
        elif node.op_type == GROUPED:
            yield from (name for name in node.input[7:9] if name)
        elif node.op_type == "Mul":
            sources = [graph.source(name, TURN_MOVES) for name in node.input]
            if sum(source in graph.tensors for source in sources) == 1:
                yield from (source for source in sources if source in graph.tensors)


def _is_table(graph: Graph, name: str) -> bool:
    shape = graph.shape(name)
    sizes = [size for size in shape if size != 1]
    return graph.dtype(name) in FLOATS and len(sizes) == 2 and 0 < math.prod(sizes) <= MOST_NUMBERS


def _rows(values: Floats) -> Floats:
    """By position: (n_positions, n_components)."""
    return values.reshape([size for size in values.shape if size != 1])


def _frequencies(graph: Graph) -> Iterator[str]:
    """Vectors that are multiplied with something computed, and then are in the cosine of one factor
    and in the sine of another.
    """
    turned: dict[str, set[str]] = {}
    for node in graph.nodes:
        if node.op_type in ("Cos", "Sin") and _is_factor(graph, node.output[0]):
            made = graph.made_by.get(graph.source(node.input[0], TURN_MOVES))
            for name in (
                _vectors(graph, made)
                if made is not None and made.op_type in ("Mul", "MatMul", "Einsum")
                else ()
            ):
                turned.setdefault(name, set()).add(node.op_type)
    yield from (name for name, kinds in turned.items() if kinds == {"Cos", "Sin"})


def _vectors(graph: Graph, node: Any) -> Iterator[str]:
    for name in (graph.source(name) for name in node.input):
        if (
            name in graph.tensors
            and graph.dtype(name) in FLOATS
            and 2 <= max(graph.shape(name), default=0) == math.prod(graph.shape(name))
        ):
            yield name


def _is_factor(graph: Graph, value: str) -> bool:
    """Whether a value is multiplied with something computed, after a scaling at most."""
    for _ in range(MOST_STEPS):
        users = [node for node in graph.used_by.get(value, ()) if node.op_type != "Shape"]
        factors = [node for node in users if node.op_type == "Mul"]
        if any(
            graph.source(name) not in graph.tensors
            for node in factors
            for name in node.input
            if name != value
        ):
            return True
        moved = [node for node in users if node.op_type in TURN_MOVES or node in factors]
        if not moved:
            return False
        value = moved[0].output[0]
    return False
