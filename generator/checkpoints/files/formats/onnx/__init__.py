"""ONNX: a graph of operators with its tensors, within the file or in files beside it; the graph is
    read and never run.

Exporters keep parameters as initialisers, under their names in the model, and under made-up names
where they have folded them.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from generator.checkpoints.files.formats.onnx.graph import Graph, constants_of, graph_of, graphs
from generator.checkpoints.files.formats.onnx.modules import (
    as_saved,
    by_ending,
    joined,
    rows_joined,
    weights_of,
)
from generator.checkpoints.files.formats.onnx.places import named_by_place
from generator.checkpoints.files.formats.onnx.proto_tensors import EXTERNAL, external_name
from generator.checkpoints.files.formats.onnx.quantised import with_floats
from generator.checkpoints.files.library_errors import as_row_error
from generator.contracts import FileFormat, Storage, StoredTensor, WeightsFile
from generator.errors import RowError
from generator.libraries import need_site
from generator.numerics.arrays import Floats
from generator.text import short, visible

MOST_FILE_BYTES = 2**31 - 1  # The most that Protocol Buffers allow for a message.
# Files of encoder and decoder of one model, as optimum and others call them; what stands after that
# is the precision.
OF_STACK = re.compile(
    r"(?P<stack>encoder|decoder)(?P<role>_model_merged|_with_past_model|_model|)"
    r"(?P<variant>(_[a-z0-9]+)*)\.onnx"
)
ROLES = ("_model", "_model_merged", "_with_past_model", "")
OTHER = {"encoder": "decoder", "decoder": "encoder"}
# In the order of preference: the whole model, its encoder, and these again in other precisions than
# full.
NAMES = ("model.onnx", "encoder_model.onnx", "encoder.onnx", "decoder_model.onnx",
"decoder_model_merged.onnx", "decoder.onnx",
         "model_O[123].onnx", "*_fp16.onnx", "*.onnx")  # fmt: skip


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The tensors of one graph, or those of encoder and decoder, with the word before names that
    need it.

    errors: RowError for invalid files
    """
    tensors: dict[str, StoredTensor] = {}
    for _, named in _opened(file):
        for its_name, (distinct, tensor) in named.items():
            tensors[distinct] = (
                tensor
                if distinct == its_name
                else replace(tensor, notes=partial(_notes, tensor, its_name))
            )
    return tensors


def of_model(file: WeightsFile, tensors: Mapping[str, Floats], model: Any) -> Mapping[str, Floats]:
    """``tensors`` under the names that ``model``, of transformers, has for them, as far as the
    graph shows what they are; others keep their names.
    """
    expected = as_saved(model)
    plain, parts = dict(tensors), []
    for graph, named in _opened(file):
        for its_name, parameter, is_transposed in weights_of(graph):
            distinct = named[its_name][0] if its_name in named else ""
            if distinct in plain:
                values = plain.pop(distinct)
                plain[parameter] = values.T if is_transposed else values
        for module, sources in joined(graph):
            parts.append((module, [graph.values(source) for source in sources]))
    found = by_ending({name: values.shape for name, values in plain.items()}, expected)
    chosen = set(found.values())
    return {
        **{name: values for name, values in plain.items() if name not in chosen},
        **rows_joined(expected, parts),
        **{wanted: plain[name] for wanted, name in found.items()},
    }


def files(file: WeightsFile) -> set[str]:
    """The files of the graphs and those that hold their tensors; an invalid one, which
    ``open_weights`` reports, names no others.
    """
    names = {file.name}
    for _, name in _graphs(file):
        names.add(name)
        opened = replace(file, name=name)
        with suppress(RowError, OSError), as_row_error(opened.label, "an ONNX model"):
            for _, graph in graphs(_model(opened).graph):
                names |= {
                    external_name(opened, tensor)
                    for tensor in (*graph.initializer, *(value for _, value in constants_of(graph)))
                    if tensor.data_location == EXTERNAL
                }
    return names


FORMAT = FileFormat(
    key="onnx",
    after="gguf",
    names=(*(f"{folder}{name}" for name in NAMES for folder in ("", "onnx/")),),
    suffixes=(".onnx",),
    open=open_weights,
    needs_local_file=True,
    files=files,
    of_model=of_model,
)


def _opened(
    file: WeightsFile,
) -> Iterator[tuple[Graph, dict[str, tuple[str, StoredTensor]]]]:
    """Each graph of a model with its tensors, and the name that tells each from those of the
    other.
    """
    others: set[str] = set()
    for stack, name in _graphs(file):
        opened = replace(file, name=name)
        graph = graph_of(_model(opened), opened)
        named = {}
        for its_name, tensor in named_by_place(graph, with_floats(graph)).items():
            distinct = _with_word(its_name, stack, others)
            others.add(distinct)
            named[its_name] = (distinct, tensor)
        yield graph, named


def _graphs(file: WeightsFile) -> list[tuple[str, str]]:
    """The stack of each graph of a model, "" for the only one, and the name of its file."""
    folder, name = PurePosixPath(file.name).parent, PurePosixPath(file.name).name
    match = OF_STACK.fullmatch(name)
    if match is None:
        return [("", file.name)]
    other = next(_partners(file.storage, folder, match), "")
    both = {match["stack"]: file.name} | ({OTHER[match["stack"]]: other} if other else {})
    return [(stack, both[stack]) for stack in sorted(both, reverse=True)]  # The encoder first.


def _partners(storage: Storage, folder: PurePosixPath, match: re.Match[str]) -> Iterator[str]:
    """Files with the other stack, those in the same precision first."""
    stack = OTHER[match["stack"]]
    for variant in dict.fromkeys((match["variant"], "")):
        for role in dict.fromkeys((match["role"], *ROLES)):
            name = (folder / f"{stack}{role}{variant}.onnx").as_posix()
            if storage.has(name):
                yield name


def _with_word(name: str, stack: str, others: Collection[str]) -> str:
    """``name`` with the word for its stack: where that is a decoder and the name does not say so,
    and where another graph has the name.
    """
    says_so = stack != "decoder" or stack in re.split(r"[._/]", name)
    while not says_so or name in others:
        name, says_so = f"{stack}.{name}", True
    return name


def _notes(tensor: StoredTensor, name: str) -> tuple[str, ...]:
    return (f"The file calls this tensor “{visible(short(name))}”.", *tensor.notes())


def _model(file: WeightsFile) -> Any:
    """The ModelProto of a file, without the data in files beside it.

    errors: RowError, RefusedError
    """
    need_site(f"{file.label}: a file of ONNX", "onnx")
    import onnx

    size = file.storage.size(file.name)
    if size > MOST_FILE_BYTES:
        raise RowError(f"{file.label}: {size:,} bytes; expected at most {MOST_FILE_BYTES:,}")
    with as_row_error(file.label, "an ONNX model"):
        path = file.storage.path(file.name)
        proto = onnx.load(path, format="protobuf", load_external_data=False)
    if not proto.HasField("graph"):
        raise RowError(f"{file.label}: no graph; expected an ONNX model")
    return proto
