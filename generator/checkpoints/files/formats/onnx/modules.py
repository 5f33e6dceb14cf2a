"""Tensors of ONNX graphs as the parameters of a model in torch: exporters name nodes by the modules
that they come from.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from generator.checkpoints.files.formats.onnx.graph import MOVES, Graph, integer
from generator.checkpoints.files.formats.onnx.quantised import SUFFIX
from generator.numerics.arrays import Floats

PRODUCTS = frozenset({"MatMul", "MatMulInteger", "MatMulIntegerToFloat", "Gemm"})
THROUGH = MOVES | {"Transpose", "Resize"}
Shapes = Mapping[str, tuple[int, ...]]


def weights_of(graph: Graph) -> Iterator[tuple[str, str, bool]]:
    """The tensors that a module multiplies its input with: the name of each, that of its parameter,
    and whether it is transposed, as exporters do where they fold.
    """
    for node in graph.nodes:
        if node.op_type in PRODUCTS and (module := _module(node.name)):
            for name in node.input[1:2]:
                source = graph.source(name)
                if source in graph.tensors:
                    is_transposed = not integer(node, "transB", 0)
                    yield source.removesuffix(SUFFIX), f"{module}.weight", is_transposed


def joined(graph: Graph) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Tensors that are laid after each other: the module that does so, and their names."""
    for node in graph.nodes:
        if node.op_type == "Concat" and (module := _module(node.name)):
            sources = tuple(graph.source(name, THROUGH) for name in node.input)
            if len(sources) > 1 and all(name in graph.tensors for name in sources):
                yield module, sources


def _module(node_name: str) -> str:
    """/encoder/layer.0/query/MatMul is of the module encoder.layer.0.query."""
    scope = node_name.rpartition("/")[0]
    return scope.strip("/").replace("/", ".") if scope.startswith("/") else ""


def as_saved(model: Any) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor of a model of transformers, under the names of published files,
    which newer versions of its code may have left.
    """
    state = model.state_dict()
    try:
        from transformers.core_model_loading import revert_weight_conversion
    except ImportError:  # Older versions have no other names.
        pass
    else:
        state = revert_weight_conversion(model, state)
    return {name: tuple(value.shape) for name, value in state.items()}


def by_ending(stored: Shapes, expected: Shapes) -> dict[str, str]:
    """For each expected name that has one, the stored name of the same shape that ends like it.

    The longest common ends come first, since files of encoder and decoder differ in what stands
    before; where two have equal claims, neither is served.
    """
    pairs = list(_pairs(stored, expected))
    found: dict[str, str] = {}
    for length in sorted({size for size, _, _ in pairs}, reverse=True):
        taken = set(found.values())
        free = [
            (name, wanted)
            for size, name, wanted in pairs
            if size == length and name not in taken and wanted not in found
        ]
        claims = [[pair[side] for pair in free] for side in (0, 1)]
        found |= {
            wanted: name
            for name, wanted in free
            if claims[0].count(name) == 1 and claims[1].count(wanted) == 1
        }
    return found


def _pairs(stored: Shapes, expected: Shapes) -> Iterator[tuple[int, str, str]]:
    by_end: defaultdict[str, list[str]] = defaultdict(list)
    for name in stored:
        by_end[_end(name)].append(name)
    for wanted, shape in expected.items():
        for name in by_end[_end(wanted)]:
            if stored[name] == shape:
                yield _common(name.split("."), wanted.split(".")), name, wanted


def _end(name: str) -> str:
    return ".".join(name.split(".")[-2:])


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many words two names have in common at their ends."""
    count = 0
    for one, other in zip(reversed(left), reversed(right), strict=False):
        if one != other:
            break
        count += 1
    return count


def rows_joined(
    expected: Mapping[str, tuple[int, ...]], parts: Iterable[tuple[str, list[Floats]]]
) -> dict[str, Floats]:
    """Expected tensors (1, n, width) that a graph lays together from parts, as a table of patches
    behind the row of its first token.

    parts: the module that does so, and the parts
    """
    made = {}
    for module, arrays in parts:
        if any(array.ndim != 3 or array.shape[::2] != arrays[0].shape[::2] for array in arrays):
            continue
        rows = np.concatenate(arrays, axis=1)
        wanted = [
            name
            for name, shape in expected.items()
            if shape == rows.shape and module.endswith(name.rpartition(".")[0])
        ]
        if len(wanted) == 1:
            made[wanted[0]] = rows
    return made
