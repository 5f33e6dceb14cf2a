"""Weights in pytorch_model.bin, opened only where a row says ``pickle: true``, and then without running what is in it."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles, Storage
from generator.contracts import TensorInfo
from generator.errors import RowError
from generator.numerics.arrays import Floats

FILE = "pytorch_model.bin"
DTYPES = {
    "torch.float64": "F64",
    "torch.float32": "F32",
    "torch.float16": "F16",
    "torch.bfloat16": "BF16",
    "torch.int64": "I64",
    "torch.int32": "I32",
}


def open_folder(folder: Path | Storage, where: str, pickle: bool, revision: str | None = None) -> FolderFiles:
    """The checkpoint in ``folder``; its pickle only where the row allows it and there is nothing better."""
    storage = Folder(folder, where) if isinstance(folder, Path) else folder
    better = any(storage.has(name) for name in ("model.safetensors", "model.safetensors.index.json"))
    return (PickledFiles if pickle and not better else FolderFiles)(folder, where, revision)


class PickledFiles(FolderFiles):
    """A folder whose weights torch loads with ``weights_only=True``: tensors and plain containers, no code."""

    @cached_property
    def tensors(self) -> Mapping[str, TensorInfo]:
        return {
            name: TensorInfo(FILE, DTYPES.get(str(tensor.dtype), str(tensor.dtype)), tuple(tensor.shape))
            for name, tensor in self._state.items()
        }

    def tensor(self, name: str) -> Floats:
        return np.asarray(self._numbers(name).double().numpy(), dtype=np.float64)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        self.check_rows(name, indices)
        return np.asarray(self._numbers(name)[list(indices)].double().numpy(), dtype=np.float64)

    def sha256(self, name: str) -> str:
        import torch

        return hashlib.sha256(self._state[name].contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()

    def _numbers(self, name: str) -> Any:
        dtype = str(self._state[name].dtype)
        if dtype not in DTYPES:
            raise RowError(f"{self.where}: {name}: dtype {dtype}; expected one of {', '.join(DTYPES)}")
        return self._state[name]

    @cached_property
    def _state(self) -> Mapping[str, Any]:
        import torch

        path = self.storage.path(FILE)
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # noqa: BLE001  # Bytes that are no pickle can make its reader stumble in any way.
            cause = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
            raise RowError(f"{self.where}/{FILE}: torch does not load it with weights_only ({cause}); expected tensors alone") from None
        if not isinstance(state, dict):
            raise RowError(f"{self.where}/{FILE}: {type(state).__name__}; expected a state dict of tensors")
        held = {name: value for name, value in state.items() if isinstance(name, str) and isinstance(value, torch.Tensor)}
        return {name: held[name] for name in sorted(held) if held[name].layout is torch.strided}
