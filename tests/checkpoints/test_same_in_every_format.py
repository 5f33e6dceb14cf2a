"""That one model gives the same encodings and the same numbers, in whichever format its weights are."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import msgpack
import numpy as np
import pytest
import torch

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.numerics.arrays import Array
from generator.pipeline.evaluate import find
from tests import tiny
from tests.support import save_folder

Arrays = Mapping[str, Array]


def _torch(folder: Path, arrays: Arrays) -> None:
    torch.save({name: torch.from_numpy(array.copy()) for name, array in arrays.items()}, folder / "pytorch_model.bin")


def _npz(folder: Path, arrays: Arrays) -> None:
    np.savez_compressed(folder / "model.npz", **arrays)  # type: ignore[arg-type]  # Its stubs take the names for its options.


def _flax(folder: Path, arrays: Arrays) -> None:
    """Each matrix of an embedding as Flax names it, and each of a dense layer transposed."""
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *modules, own = name.split(".")
        branch = tree
        for module in modules:
            branch = branch.setdefault(module, {})
        is_dense = own == "weight" and array.ndim == 2 and "embed" not in name and "relative_attention_bias" not in name
        own = "kernel" if is_dense else {1: "scale", 2: "embedding"}[array.ndim] if own == "weight" else own
        stored = np.ascontiguousarray(array.T) if is_dense else array
        branch[own] = msgpack.ExtType(1, msgpack.packb((stored.shape, stored.dtype.name, stored.tobytes())))
    (folder / "flax_model.msgpack").write_bytes(msgpack.packb(tree, strict_types=True))


def _keras(folder: Path, arrays: Arrays) -> None:
    """Each tensor under the path that transformers 4 gave it, with "_._" before the number of a layer."""
    with h5py.File(folder / "tf_model.h5", "w") as file:
        for name, array in arrays.items():
            path = "/".join(name.split("."))
            for index in range(12):
                path = path.replace(f"/{index}/", f"_._{index}/")
            file.create_dataset(f"top/tf_model/top/{path}:0", data=array)


FORMATS: dict[str, Callable[[Path, Arrays], None]] = {"torch": _torch, "npz": _npz, "flax": _flax, "keras": _keras}
MODELS = ("bert", "bart", "t5")


@pytest.mark.parametrize("model_type", MODELS)
@pytest.mark.parametrize("save", FORMATS.values(), ids=FORMATS)
def test_encodings_and_numbers_are_those_of_safetensors(tmp_path: Path, model_type: str, save: Callable[[Path, Arrays], None]) -> None:
    model = tiny.build(model_type)
    arrays = {name: array for name, array in tiny.arrays(model).items() if array.dtype == np.float32}
    config = model.config.to_dict()
    theirs = find(FolderFiles(save_folder(tmp_path / "safe", config, arrays), "here"))
    save(save_folder(tmp_path / "other", config), arrays)
    ours = find(FolderFiles(tmp_path / "other", "here", Choice(pickle=True)))
    assert theirs
    assert [(one.part, one.scheme, one.provenance.sha256) for one in ours] == [
        (one.part, one.scheme, one.provenance.sha256) for one in theirs
    ]
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.form.numbers, other.form.numbers)
