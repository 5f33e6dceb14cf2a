"""Tensors added to the logits of attention: found from Softmax backwards."""

import math
from collections.abc import Iterator
from typing import Any

from generator.checkpoints.files.formats.onnx.graph import FLOATS, MOVES, Graph
from generator.checkpoints.files.formats.onnx.place import Place, scope_of

LOGIT_MOVES = MOVES | {"Transpose"}
N_BUCKETS = 32  # Of T5 and all its kind that have no other number in config.json (Raffel et al. 2020, section 2.1).
# log(largest distance / distances with a bucket of their own), by which the buckets of T5 widen: of an encoder and of a decoder.
WIDENING = (math.log(128 / 8), math.log(128 / 16))
MOST_STEPS = 16
ROLE = "as the table from which the numbers added before the Softmax are taken by bucket"


def bias_table(graph: Graph) -> Iterator[Place]:
    """The table of T5's buckets, where all that is added to logits by bucket comes from one."""
    found = {}
    for softmax in (node for node in graph.nodes if node.op_type == "Softmax"):
        for addend in logit_addends(graph, softmax.input[0]):
            if (gather := graph.made_by.get(graph.source(addend, LOGIT_MOVES))) is not None and _is_by_bucket(graph, gather):
                found[graph.source(gather.input[0])] = softmax
    if len(found) == 1:
        ((tensor, softmax),) = found.items()
        yield Place(tensor, "relative_attention_bias.weight", scope_of(softmax.output[0]) or "attention", ROLE)


def logit_addends(graph: Graph, value: str, depth: int = 0) -> Iterator[str]:
    """What is added up to logits, masks included."""
    node = graph.made_by.get(value)
    if node is None or depth == MOST_STEPS:
        yield value
    elif node.op_type in ("Add", "Sum"):
        for name in node.input:
            yield from logit_addends(graph, name, depth + 1)
    elif node.op_type == "Where":
        for name in node.input[1:]:
            yield from logit_addends(graph, name, depth + 1)
    elif node.op_type in LOGIT_MOVES:
        yield from logit_addends(graph, node.input[0], depth + 1)
    else:
        yield value


def _is_by_bucket(graph: Graph, node: Any) -> bool:
    """Whether a node takes rows of a table (buckets, heads) by T5's buckets: 32, wider and wider up to a distance of 128."""
    if node.op_type != "Gather":
        return False
    shape = graph.shape(graph.source(node.input[0]))
    if len(shape) != 2 or shape[0] != N_BUCKETS:
        return False
    nodes = list(graph.ancestors(node.input[1]))
    divisors = [name for made in nodes if made.op_type == "Div" for name in made.input[1:2] if graph.shape(name) in ((), (1,))]
    scalars = [float(graph.values(name).reshape(-1)[0]) for name in divisors if graph.dtype(name) in FLOATS]
    return any(made.op_type == "Log" for made in nodes) and any(
        math.isclose(scalar, width, rel_tol=1e-5) for scalar in scalars for width in WIDENING
    )
