"""Tensors identified by their place in an ONNX graph, where exporters have given them made-up
names.

A tensor is identified only if it alone can be in that place; otherwise it stays under the name that
the file has.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from generator.checkpoints.files.formats.onnx.graph import Graph
from generator.checkpoints.files.formats.onnx.place import TensorPlace
from generator.checkpoints.files.formats.onnx.quantised import SUFFIX
from generator.checkpoints.files.formats.onnx.rotations import rotation_tensors
from generator.checkpoints.files.formats.onnx.sums import position_table
from generator.checkpoints.files.formats.onnx.windows import window_biases
from generator.checkpoints.model.position_tables import NAME
from generator.contracts import StoredTensor
from generator.contracts.wording import Wording
from generator.numerics.arrays import Floats
from generator.text import short, visible

NOTES = Wording("wording/notes.jinja")
# onnx::Add_12, /model/Constant_5_output_0, val_17 and 314, as against encoder.layer.0.bias.
OF_EXPORTERS = re.compile(r"::|/|^[^.]+$")


def named_by_place(graph: Graph, tensors: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
    """``tensors``, those with made-up names that are identified by their place under names that
    schemes know.

    Constants of less than two dimensions are left out: they are numbers of the graph, not
    parameters of the model.
    """
    read = partial(_read, graph, tensors)
    places = {
        _plain(place.tensor, tensors): place
        for find in (position_table, rotation_tensors, window_biases)
        for place in find(graph, read)
    }
    named: dict[str, StoredTensor] = {}
    for name, tensor in tensors.items():
        place = places.get(name)
        is_made_up = OF_EXPORTERS.search(name) is not None and NAME.search(name) is None
        if place is None or not is_made_up or _full(place) in tensors.keys() | named.keys():
            if name not in graph.constants or len(tensor.header.shape) > 1:
                named[name] = tensor
        else:
            read_so = tensor if place.change is None else place.change(tensor)
            named[_full(place)] = replace(read_so, notes=partial(_notes, read_so, place, name))
    return named


def _full(place: TensorPlace) -> str:
    return f"{place.scope}.{place.name}"


def _plain(name: str, tensors: Mapping[str, StoredTensor]) -> str:
    return name if name in tensors else name.removesuffix(SUFFIX)


def _read(graph: Graph, tensors: Mapping[str, StoredTensor], name: str) -> Floats:
    """The values of the tensor that a graph calls ``name``.

    errors: RowError for a dtype that is not read
    """
    tensor = tensors.get(_plain(name, tensors), graph.tensors[name])
    return tensor.decode(tensor.part(0, tensor.n_bytes), tensor.header.shape)


def _notes(tensor: StoredTensor, place: TensorPlace, name: str) -> tuple[str, ...]:
    return NOTES("by_place", role=place.role, name=visible(short(name))), *tensor.notes()
