"""Files of any content: what is read of them is within them and within memory, or the row fails
with a reason.
"""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.errors import RowError
from tests.checkpoints import onnx_files
from tests.synthetic import TABLE, write_folder

ARRAYS = {
    "wpe.weight": np.eye(16, 4, dtype=np.float32),
    "wte.weight": np.ones((5, 4), dtype=np.float32),
}
SHARD = "model-00001-of-00001.safetensors"
LARGEST = 2**24  # bytes of memory, for files of some kB


def _torch(path: Path) -> None:
    torch.save({name: torch.from_numpy(array) for name, array in ARRAYS.items()}, path)


def _index(path: Path) -> None:
    path.with_name(SHARD).write_bytes(save(ARRAYS))
    path.write_text(json.dumps({"weight_map": dict.fromkeys(ARRAYS, SHARD)}), encoding="utf-8")


FILES: dict[str, Callable[[Path], Any]] = {
    "model.safetensors": lambda path: path.write_bytes(save(ARRAYS)),
    "model.safetensors.index.json": _index,
    "pytorch_model.bin": _torch,
    # Its stubs take the names for its options.
    "model.npz": lambda path: np.savez(path, **ARRAYS),  # type: ignore[arg-type]
    # As above.
    "weights.npz": lambda path: np.savez_compressed(path, **ARRAYS),  # type: ignore[arg-type]
    "model.onnx": lambda path: path.write_bytes(
        onnx_files.model(initialisers=onnx_files.tensors_of(ARRAYS)).SerializeToString()
    ),
}


def changed(content: bytes, data: st.DataObject) -> bytes:
    """``content`` with up to four ranges replaced, and perhaps cut short."""
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(content)))
        new = data.draw(
            st.binary(max_size=8)
            | st.just(b"\xff" * 8)
            | st.sampled_from([b"9" * 12, b"-1", b"null", b"[]"])
        )
        content = (
            content[:start]
            + new
            + content[start + data.draw(st.sampled_from([len(new), 0, 1, 8])) :]
        )
    return content[: data.draw(st.just(len(content)) | st.integers(0, len(content)))]


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
def test_a_changed_file_is_a_row_error_or_has_tensors_within_it(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = write_folder(tmp_path_factory.mktemp("changed"), {"config.json": TABLE["config.json"]})
    FILES[name](folder / name)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(changed(content, data))
    tracemalloc.start()
    try:
        files = FolderFiles(folder, "here", Choice(pickle=True, name=name))
        n_values = sum(files.tensor(tensor).size for tensor in files.tensors)
    except RowError:
        n_values = 0
    _, largest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_values <= 10 * len(content)
    assert largest < LARGEST
