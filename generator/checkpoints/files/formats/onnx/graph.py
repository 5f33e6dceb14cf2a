"""The nodes and tensors of one ONNX graph, and of the graphs within its nodes; nothing is
computed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from generator.checkpoints.files.formats.onnx.proto_tensors import STRING, stored
from generator.contracts import StoredTensor, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Floats

MOST_STEPS = 10_000  # of one search through the nodes
FLOATS = frozenset({"F32", "F16", "BF16", "F64"})
# Operators that move numbers, and change neither them nor which there are together in a row.
MOVES = frozenset(
    {
        "Identity",
        "Cast",
        "Unsqueeze",
        "Squeeze",
        "Reshape",
        "Expand",
        "Slice",
        "Flatten",
        "DequantizeLinear",
        "Dropout",
    }
)
INT = 2  # AttributeProto.AttributeType
SUMS = frozenset({"Add", "Sum"})


@dataclass(frozen=True)
class Graph:
    """A graph with those within it as one list of nodes.

    tensors: by the name under which nodes use them: initialisers, and the values of Constant nodes
    constants: names of the latter
    made_by: the node of each output; used_by: the nodes of each input; inputs: of the outer graph,
        without its initialisers
    """

    nodes: tuple[Any, ...]
    tensors: Mapping[str, StoredTensor]
    constants: frozenset[str]
    made_by: Mapping[str, Any]
    used_by: Mapping[str, tuple[Any, ...]]
    inputs: frozenset[str]

    def source(self, name: str, through: frozenset[str] = MOVES) -> str:
        """The value that the operators ``through`` have made ``name`` from: the first input of the
        first of them.
        """
        for _ in range(MOST_STEPS):
            node = self.made_by.get(name)
            if node is None or node.op_type not in through:
                return name
            name = node.input[0]
        return name

    def values(self, name: str) -> Floats:
        """The numbers of a tensor.

        errors: RowError for a dtype that is not read
        """
        tensor = self.tensors[name]
        return tensor.decode(tensor.part(0, tensor.n_bytes), tensor.header.shape)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor; empty for a value that is computed."""
        return self.tensors[name].header.shape if name in self.tensors else ()

    def dtype(self, name: str) -> str:
        """The type of a tensor's numbers; "" for a value that is computed."""
        return self.tensors[name].header.dtype if name in self.tensors else ""

    def leaves(self, value: str, into: Callable[[Any], Iterable[str]]) -> Iterator[str]:
        """What a value is made from: ``into`` gives the inputs with which to go on behind a node,
        none to stop before it.
        """
        seen: set[str] = set()
        left = [value]
        while left and len(seen) < MOST_STEPS:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                node = self.made_by.get(name)
                inputs = [] if node is None else list(into(node))
                left += inputs
                if not inputs:
                    yield name


def integer(node: Any, name: str, default: int) -> int:
    """A whole number among the attributes of a node."""
    return next(
        (
            int(attribute.i)
            for attribute in node.attribute
            if attribute.name == name and attribute.type == INT
        ),
        default,
    )


def integers(node: Any, name: str) -> tuple[int, ...]:
    """A list of whole numbers among the attributes of a node; empty without one."""
    return next(
        (tuple(attribute.ints) for attribute in node.attribute if attribute.name == name), ()
    )


def graph_of(proto: Any, file: WeightsFile) -> Graph:
    """The graph of a ModelProto.

    errors: RowError for two tensors of one name, for sparse ones, and those of ``stored``
    """
    nodes: list[Any] = []
    tensors: dict[str, StoredTensor] = {}
    constants: set[str] = set()
    for prefix, inner in graphs(proto.graph):
        own = [tensor.name for tensor in inner.initializer]
        if len(set(own)) < len(own):
            raise RowError(f"{file.label}: initialisers of one name; expected a name for each")
        if inner.sparse_initializer:
            raise RowError(f"{file.label}: sparse initialisers; expected dense ones")
        for tensor in inner.initializer:
            if tensor.data_type != STRING:
                name = f"{prefix}{tensor.name}" if tensor.name in tensors else tensor.name
                tensors[name] = stored(file, tensor)
        for output, value in constants_of(inner):
            if output not in tensors and value.data_type != STRING:
                tensors[output] = stored(file, value)
                constants.add(output)
        nodes += [node for node in inner.node if node.output]
    made_by = {output: node for node in nodes for output in node.output if output}
    used_by: defaultdict[str, list[Any]] = defaultdict(list)
    for node in nodes:
        for name in set(filter(None, node.input)):
            used_by[name].append(node)
    inputs = frozenset(entry.name for entry in proto.graph.input) - tensors.keys()
    return Graph(
        tuple(nodes),
        tensors,
        frozenset(constants),
        made_by,
        {name: tuple(users) for name, users in used_by.items()},
        inputs,
    )


def graphs(graph: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """A graph and those within its nodes, with a prefix for names that occur in several."""
    yield prefix, graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                yield from graphs(inner, f"{prefix}{node.name or node.op_type}.{attribute.name}.")


def constants_of(graph: Any) -> Iterator[tuple[str, Any]]:
    """The tensors of Constant nodes, each with the name of the node's output."""
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            for attribute in node.attribute:
                if attribute.name == "value" and attribute.HasField("t"):
                    yield node.output[0], attribute.t
