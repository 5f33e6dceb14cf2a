"""TensorFlow's tf_model.h5 as transformers 4 wrote it, and *.weights.h5 by Keras 3: HDF5, a dataset
for each variable; what is stored plainly is read by range.

Links and datasets that lead to other files are refused, and so are filters that libraries beside
HDF5 would have to undo.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from generator.checkpoints.files import torch_layout
from generator.checkpoints.files.library_errors import as_row_error, optional
from generator.checkpoints.files.tensors import READABLE, by_range, dtype_name, of_array
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Array

MOST_ENTRIES = 50_000
MOST_DEPTH = 32
MOST_BYTES = 2**31  # Of one array that is not read by range.
FILTERS = {1, 2, 3}  # deflate, shuffle, fletcher32
NUMBERS = "fiubc"  # Kinds of dtypes.
NUMBERED = "vars"  # The group in which Keras 3 stores the variables of a layer.
OPTIMIZER = "optimizer"


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The variables by the names that they have in PyTorch; kernels are transposed.

    errors: RowError for an invalid file, or without h5py
    """
    where = file.label
    h5py = optional("h5py", where)
    path = file.storage.path(file.name)
    with as_row_error(where, "h5py cannot read it", "an HDF5 file"), h5py.File(path, "r") as opened:
        found = dict(_datasets(h5py, opened, where))
        names = _names(opened, found)
        tensors = {
            name: _stored(h5py, file, path, found[variable], name)
            for variable, name in names.items()
        }
    if len(tensors) < len(names):
        raise RowError(
            f"{where}: {len(names):,} variables with {len(tensors):,} names; expected a name for"
            " each"
        )
    return tensors


FORMAT = FileFormat(
    key="keras_h5",
    order=7,
    names=("tf_model.h5",),
    suffixes=(".h5",),
    begins=re.compile(rb"\x89HDF\r\n\x1a\n"),
    open=open_weights,
    whole=True,
)


def _datasets(h5py: Any, root: Any, where: str) -> Iterator[tuple[str, Any]]:
    """The datasets of numbers in a file, with their paths."""
    groups, n_entries = [("", root)], 0
    while groups:
        path, group = groups.pop(0)
        for word in group:
            name, n_entries = f"{path}/{word}".lstrip("/"), n_entries + 1
            if n_entries > MOST_ENTRIES or name.count("/") > MOST_DEPTH:
                raise RowError(
                    f"{where}: more than {MOST_ENTRIES:,} entries, or nested deeper than"
                    f" {MOST_DEPTH}; expected fewer"
                )
            if not isinstance(group.get(word, getlink=True), h5py.HardLink):
                raise RowError(
                    f"{where}: {name!r:.80} is a link; expected an array within the file"
                )
            entry = group[word]
            if isinstance(entry, h5py.Group):
                groups.append((name, entry))
            elif isinstance(entry, h5py.Dataset) and entry.dtype.kind in NUMBERS:
                yield name, _checked(entry, f"{where}: {name!r:.80}")


def _checked(dataset: Any, where: str) -> Any:
    """A dataset whose values are all within the file.

    errors: RowError for another
    """
    if dataset.is_virtual or dataset.external:
        raise RowError(f"{where} is stored in other files; expected an array within this one")
    plan = dataset.id.get_create_plist()
    others = {plan.get_filter(index)[0] for index in range(plan.get_nfilters())} - FILTERS
    if others or dataset.shape is None:
        raise RowError(
            f"{where} is empty or compressed by filter {sorted(others)}; expected deflate or none"
        )
    return dataset


def _words(path: str) -> list[str]:
    """The path of a variable in its model: without the group, which repeats the layer's name, and
    the name of the model.
    """
    words = re.sub(r":\d+$", "", path).replace("_._", "/").split("/")
    start = next((index for index in (2, 1) if words[index : index + 1] == words[:1]), 0)
    return [word.rpartition("___")[2] for word in words[start:]]


def _names(root: Any, found: Collection[str]) -> dict[str, str]:
    """The names of the variables at the paths ``found``, without those of an optimizer.

    Keras 3 numbers the variables of a layer, and notes the name of the layer. The only one is
    called weight, as of an embedding.
    """
    groups = Counter(path.rpartition("/")[0] for path in found)
    names = {}
    for path in found:
        group, _, number = path.rpartition("/")
        words = [word for word in group.split("/") if word not in ("layers", NUMBERED)]
        if group.rpartition("/")[2] != NUMBERED:
            names[path] = torch_layout.name(_words(path))
        elif words[:1] != [OPTIMIZER]:
            own = root[group].attrs.get("name")
            layers = [*words[:-1], own] if words and isinstance(own, str) and own else words
            names[path] = ".".join([*layers, "weight" if groups[group] == 1 else number])
    return names


def _stored(h5py: Any, file: WeightsFile, path: Path, dataset: Any, name: str) -> StoredTensor:
    stored_name, stored_shape = dataset.name, dataset.shape
    axes = torch_layout.axes(_words(stored_name), len(stored_shape))
    shape = stored_shape if axes is None else tuple(stored_shape[axis] for axis in axes)
    n_bytes, start, where = (
        math.prod(shape) * dataset.dtype.itemsize,
        dataset.id.get_offset(),
        f"{file.where}: {name}",
    )
    header = TensorInfo(file.name, dtype_name(dataset.dtype), shape)

    def load() -> Array:
        if n_bytes > MOST_BYTES:
            raise RowError(f"{where}: {n_bytes:,} bytes; expected at most {MOST_BYTES:,}")
        with as_row_error(where, "h5py cannot read it", "an array"), h5py.File(path, "r") as opened:
            values: Array = opened[stored_name][()]
            return values if axes is None else values.transpose(axes)

    is_plain = axes is None and start is not None and dataset.id.get_storage_size() == n_bytes
    is_numpys = dataset.dtype == READABLE.get(
        header.dtype
    ) and dataset.id.get_type() == h5py.h5t.py_create(dataset.dtype)
    tensor = (
        by_range(file.storage, header, start, start + n_bytes, where)
        if is_plain and is_numpys
        else of_array(load, header, where)
    )
    return replace(
        tensor, notes=lambda: (f"{file.name} calls this tensor {stored_name.lstrip('/')}.",)
    )
