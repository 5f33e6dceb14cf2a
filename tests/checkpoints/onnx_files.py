"""ONNX files for tests: graphs made by the library's helpers, and exports of tiny models by
torch.
"""

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.numerics.arrays import Array
from tests.support import save_folder

Nodes = Sequence[Any]


def tensors_of(arrays: Mapping[str, Array]) -> list[Any]:
    """Initialisers with these values."""
    return [numpy_helper.from_array(array, name) for name, array in arrays.items()]


def model(
    nodes: Nodes = (), initialisers: Sequence[Any] = (), inputs: Mapping[str, int] | None = None
) -> Any:
    """A ModelProto. inputs: number of TensorProto.DataType by name"""
    given = inputs or {"input_ids": TensorProto.INT64}
    entries = [helper.make_tensor_value_info(name, kind, None) for name, kind in given.items()]
    outputs = [helper.make_tensor_value_info("out", 1, None)]
    graph = helper.make_graph(list(nodes), "graph", entries, outputs, list(initialisers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


def opened(
    folder: Path, content: Any, config: dict[str, Any] | None = None, name: str = "model.onnx"
) -> FolderFiles:
    """A folder with a ModelProto or the bytes of one. config: None for no config.json"""
    folder.mkdir(parents=True, exist_ok=True)
    if config is not None:
        save_folder(folder, config)
    (folder / name).write_bytes(
        content if isinstance(content, bytes) else content.SerializeToString()
    )
    return FolderFiles(folder, "here", Choice(name=name))


class _Alone(torch.nn.Module):
    """A model of transformers with one input. settings: other arguments"""

    def __init__(self, inner: Any, key: str, settings: dict[str, Any]) -> None:
        super().__init__()
        self.model, self.key, self.settings = inner, key, settings

    def forward(self, values: torch.Tensor) -> Any:
        return self.model(**{self.key: values}, **self.settings)[0]


def exported(inner: Any, values: torch.Tensor, **settings: Any) -> Any:
    """The ModelProto that torch exports of a model, with ``model.`` before the names of its
    parameters, for inputs of any length.
    """
    is_image = values.ndim == 4
    file: Any = io.BytesIO()  # The stubs of torch know paths alone.
    key = "pixel_values" if is_image else "input_ids"
    axes = {key: {0: "batch"} if is_image else {0: "batch", 1: "length"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of tracing, and of the exporter's age.
        module = _Alone(inner.eval(), key, settings)
        options: dict[str, Any] = {"input_names": [key], "dynamic_axes": axes, "opset_version": 17}
        torch.onnx.export(module, (values,), file, dynamo=False, **options)
    return onnx.load_model_from_string(file.getvalue())


def renamed(proto: Any, old: str, new: str) -> Any:
    """A ModelProto with another name for one value."""
    for tensor in proto.graph.initializer:
        if tensor.name == old:
            tensor.name = new
    for node in proto.graph.node:
        for names in (node.input, node.output):
            names[:] = [new if name == old else name for name in names]
    return proto
