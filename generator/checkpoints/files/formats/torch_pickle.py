"""Weights in pytorch_model.bin, loaded only for rows with ``pickle: true``, and without running code in the pickle."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from generator.checkpoints.files.tensors import in_memory
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError

FILE = "pytorch_model.bin"
DTYPES = {
    "torch.float64": "F64",
    "torch.float32": "F32",
    "torch.float16": "F16",
    "torch.bfloat16": "BF16",
    "torch.int64": "I64",
    "torch.int32": "I32",
}


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The tensors that torch loads with ``weights_only=True``; an index and its shards are not read.

    errors: RowError when torch refuses the file, or its content is no state dict
    """
    return {name: _stored(tensor, file.name, f"{file.where}: {name}") for name, tensor in _state(file).items()}


FORMAT = FileFormat(
    key="torch_pickle",
    order=2,
    names=(FILE, "pytorch_model.bin.index.json", "pytorch_model*.bin"),
    suffixes=(".bin",),
    open=open_weights,
    refusal=(
        "only pytorch_model.bin, a pickle, which is not opened; expected model.safetensors "
        "(convert it with safetensors.torch.save_file, or set `pickle: true` on the row if you trust it)"
    ),
)


def _state(file: WeightsFile) -> Mapping[str, Any]:
    import torch

    path = file.storage.path(file.name)
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001  # Invalid pickles raise exceptions of any class.
        cause = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise RowError(f"{file.where}/{file.name}: torch does not load it with weights_only ({cause}); expected tensors alone") from None
    if not isinstance(state, dict):
        raise RowError(f"{file.where}/{file.name}: {type(state).__name__}; expected a state dict of tensors")
    tensors = {name: value for name, value in state.items() if isinstance(name, str) and isinstance(value, torch.Tensor)}
    return {name: tensors[name] for name in sorted(tensors) if tensors[name].layout is torch.strided}


def _stored(tensor: Any, file_name: str, where: str) -> StoredTensor:
    dtype = str(tensor.dtype)

    @cache  # A tensor that is not contiguous is copied once.
    def load() -> memoryview:
        import torch

        if dtype not in DTYPES:
            raise RowError(f"{where}: dtype {dtype}; expected one of {', '.join(DTYPES)}")
        return memoryview(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())

    header = TensorInfo(file_name, DTYPES.get(dtype, dtype), tuple(tensor.shape))
    return in_memory(load, header, tensor.numel() * tensor.element_size(), where)
