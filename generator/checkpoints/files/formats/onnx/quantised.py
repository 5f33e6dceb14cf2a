"""Quantised tensors of ONNX graphs: whole numbers with a scale and a zero point, as values (q −
zero point) · scale.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from generator.checkpoints.files.formats.onnx.graph import FLOATS, MOVES, Graph, integer
from generator.checkpoints.files.formats.onnx.proto_tensors import whole_numbers
from generator.contracts import StoredTensor
from generator.contracts.wording import Wording
from generator.errors import RowError
from generator.numerics.arrays import Floats

NOTES = Wording("wording/notes.jinja")
# Of the tool of ONNX Runtime, which adds X_quantized, X_scale and X_zero_point for X.
SUFFIX = "_quantized"
INTEGERS = frozenset({"U8", "I8", "U16", "I16", "I32", "U4", "I4"})
# Where nodes of operators have a tensor, its scale and its zero point among their inputs.
INPUTS: Mapping[str, tuple[tuple[int, int, int], ...]] = {
    "DequantizeLinear": ((0, 1, 2),),
    "QLinearMatMul": ((0, 1, 2), (3, 4, 5)),
    "QLinearConv": ((0, 1, 2), (3, 4, 5)),
    "QLinearAdd": ((0, 1, 2), (3, 4, 5)),
    "QLinearMul": ((0, 1, 2), (3, 4, 5)),
    "MatMulIntegerToFloat": ((0, 2, 4), (1, 3, 5)),
    "DynamicQuantizeMatMul": ((1, 2, 3),),
}
# Of several scales, where a node does not say; the last one elsewhere.
AXES = {"DequantizeLinear": 1, "QLinearConv": 0, "ConvInteger": 0}
THROUGH = frozenset({*MOVES - {"DequantizeLinear"}, "Gather", "Transpose"})


@dataclass(frozen=True)
class Tie:
    """What makes the values of a quantised tensor.

    scale, zero: names of tensors, zero "" for 0; axis, block: of several scales
    """

    scale: str
    zero: str
    axis: int = 0
    block: int = 0


def with_floats(graph: Graph) -> dict[str, StoredTensor]:
    """The tensors of a graph, each quantised one with its scale as the tensor that it stands
    for.
    """
    ties = {name: tie for name, tie in _ties(graph).items() if _fits(graph, name, tie)}
    hidden = {part for tie in ties.values() for part in (tie.scale, tie.zero)}
    tensors = {
        name: tensor
        for name, tensor in graph.tensors.items()
        if name not in ties and name not in hidden
    }
    for name, tie in ties.items():
        plain = name.removesuffix(SUFFIX)
        tensors[name if plain in tensors else plain] = _dequantised(graph, name, tie)
    return tensors


def _ties(graph: Graph) -> dict[str, Tie]:
    """By nodes, else by names; none for a tensor to which nodes give different scales."""
    by_nodes: defaultdict[str, set[Tie]] = defaultdict(set)
    for name, tie in _by_nodes(graph):
        by_nodes[name].add(tie)
    by_name = {name: {tie} for name, tie in _by_name(graph)}
    return {
        name: tie
        for name, ties in {**by_name, **by_nodes}.items()
        for tie in ties
        if len(ties) == 1
    }


def _by_name(graph: Graph) -> Iterator[tuple[str, Tie]]:
    for name in graph.tensors:
        stem = name.removesuffix(SUFFIX)
        if stem != name and f"{stem}_scale" in graph.tensors:
            zero = f"{stem}_zero_point" if f"{stem}_zero_point" in graph.tensors else ""
            users = graph.used_by.get(name, ())
            yield (
                name,
                Tie(
                    f"{stem}_scale",
                    zero,
                    next((AXES[node.op_type] for node in users if node.op_type in AXES), -1),
                ),
            )


def _by_nodes(graph: Graph) -> Iterator[tuple[str, Tie]]:
    for node in graph.nodes:
        for places in INPUTS.get(node.op_type, ()):
            name, scale, zero = (
                node.input[place] if place < len(node.input) else "" for place in places
            )
            source, is_one = graph.source(name, THROUGH), math.prod(graph.shape(scale)) == 1
            along = Tie(
                scale,
                zero,
                integer(node, "axis", AXES.get(node.op_type, -1)),
                integer(node, "block_size", 0),
            )
            if source in graph.tensors and scale in graph.tensors and (source == name or is_one):
                yield source, Tie(scale, zero) if is_one else along


def _fits(graph: Graph, name: str, tie: Tie) -> bool:
    """Whether there is a scale for each of the tensor's numbers, and a zero point for each scale or
    none.
    """
    shape, scales = graph.shape(name), graph.shape(tie.scale)
    known = graph.dtype(tie.scale) in FLOATS
    if not known or graph.dtype(name) not in INTEGERS:
        return False
    if tie.zero and (graph.dtype(tie.zero) not in INTEGERS or graph.shape(tie.zero) != scales):
        return False
    if math.prod(scales) == 1:
        return True
    if not -len(shape) <= tie.axis < len(shape):
        return False
    if tie.block:
        expected = list(shape)
        expected[tie.axis] = -(-shape[tie.axis] // tie.block)
        return list(scales) == expected
    return scales == (shape[tie.axis],)


def _dequantised(graph: Graph, name: str, tie: Tie) -> StoredTensor:
    tensor = graph.tensors[name]
    where = f"{tensor.header.file}: {name!r:.80}"

    @cache
    def scales() -> Floats:
        return graph.values(tie.scale)

    @cache
    def zeros() -> Floats:
        return _whole_numbers(graph, tie.zero) if tie.zero else np.zeros(1)

    def decode(data: bytes | memoryview, shape: tuple[int, ...]) -> Floats:
        whole = whole_numbers(data, tensor.header.dtype, shape)
        zero, scale = (
            _spread(numbers, tie, tensor.header.shape, shape, where)
            for numbers in (zeros(), scales())
        )
        with np.errstate(invalid="ignore", over="ignore"):  # A scale may be infinite.
            return np.asarray((whole.astype(np.float64) - zero) * scale)

    def notes() -> tuple[str, ...]:
        return (_step_note(scales(), tensor.header.dtype),)

    return replace(tensor, decode=decode, notes=notes)


def _whole_numbers(graph: Graph, name: str) -> Floats:
    tensor = graph.tensors[name]
    data = tensor.part(0, tensor.n_bytes)
    return whole_numbers(data, tensor.header.dtype, tensor.header.shape).astype(np.float64)


def _spread(
    numbers: Floats, tie: Tie, whole: tuple[int, ...], shape: tuple[int, ...], where: str
) -> Floats:
    """Scales or zero points so that they broadcast to ``shape``: that of the tensor, ``whole``, or
    of some of its rows.
    """
    if numbers.size == 1:
        return numbers.reshape(())
    axis = tie.axis % len(whole)
    if shape != whole and (axis == 0 or tie.block):
        raise RowError(
            f"{where}: every row has a scale of its own; expected one for all rows, since only some"
            " are read"
        )
    if tie.block:
        return np.take(numbers, np.arange(whole[axis]) // tie.block, axis=axis)
    sides = [1] * len(shape)
    sides[axis] = -1
    return numbers.reshape(sides)


def _step_note(scales: Floats, dtype: str) -> str:
    sizes = np.abs(scales[np.isfinite(scales)])
    middle = float(np.median(sizes)) if sizes.size else 0.0
    largest = float(sizes.max(initial=0.0))
    return NOTES("steps", bits=dtype[1:], count=scales.size, middle=middle, largest=largest)
