"""Tensors added to the logits of attention: found from Softmax backwards."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from generator.checkpoints.files.formats.onnx.graph import FLOATS, MOVES, SUMS, Graph
from generator.checkpoints.files.formats.onnx.place import TensorPlace, scope_of

LOGIT_MOVES = MOVES | {"Transpose"}
# Of T5 and all its kind that have no other number in config.json (Raffel et al. 2020, section 2.1).
N_BUCKETS = 32
# log(largest distance / distances with a bucket of their own), by which the buckets of T5 widen.
WIDENING = {"encoder": math.log(128 / 8), "decoder": math.log(128 / 16)}
ROLE = "as the table of numbers, by bucket, that are added before the Softmax"


def bias_table(graph: Graph) -> Iterator[TensorPlace]:
    """The table of T5's buckets of an encoder and that of a decoder, where all that each adds to
    logits by bucket comes from one.
    """
    found: dict[str, dict[str, str]] = {stack: {} for stack in WIDENING}
    for softmax in (node for node in graph.nodes if node.op_type == "Softmax"):
        for gather in filter(None, map(graph.made_by.get, logit_addends(graph, softmax.input[0]))):
            for stack in _stacks(graph, gather):
                found[stack][graph.source(gather.input[0])] = scope_of(softmax.output[0])
    for stack, tables in found.items():
        if len(tables) == 1:
            ((tensor, scope),) = tables.items()
            named = WIDENING.keys() & set(scope.split("."))
            if named <= {stack}:  # Otherwise the module's name and its buckets disagree.
                module = scope if named else f"{stack}.{scope}".strip(".")
                yield TensorPlace(tensor, "attention.relative_attention_bias.weight", module, ROLE)


def logit_addends(graph: Graph, logits: str) -> list[str]:
    """What is added up to logits, masks included."""

    def into(node: Any) -> Iterable[str]:
        if node.op_type in LOGIT_MOVES:
            return list(node.input[:1])
        first = 1 if node.op_type == "Where" else 0
        return list(node.input[first:]) if node.op_type in SUMS | {"Where"} else ()

    return list(graph.leaves(logits, into))


def _stacks(graph: Graph, node: Any) -> list[str]:
    """The stack whose buckets of T5, 32 up to a distance of 128, a node takes rows of a table by;
    empty for another node.
    """
    shape = graph.shape(graph.source(node.input[0])) if node.op_type == "Gather" else ()
    if len(shape) != 2 or shape[0] != N_BUCKETS or not shape[1]:
        return []
    nodes = graph.ancestors(node.input[1])
    divisors = [name for made in nodes if made.op_type == "Div" for name in made.input[1:2]]
    scalars = [
        float(graph.values(name).reshape(-1)[0])
        for name in divisors
        if graph.dtype(name) in FLOATS and math.prod(graph.shape(name)) == 1
    ]
    is_logarithmic = any(made.op_type == "Log" for made in nodes)
    return [
        stack
        for stack, width in WIDENING.items()
        if is_logarithmic and any(math.isclose(scalar, width, rel_tol=1e-5) for scalar in scalars)
    ]
