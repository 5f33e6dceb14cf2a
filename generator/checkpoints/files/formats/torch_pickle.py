"""Files of torch, which are pickles: loaded only for rows with ``pickle: true``, and without
running code in the pickle.

A file in torch's zip format is mapped into memory, so that it takes memory only for the tensors
that are read.
"""

import json
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from generator.checkpoints.files.library_errors import as_row_error
from generator.checkpoints.files.shards import Sharded, files
from generator.checkpoints.files.tensors import in_memory
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.errors import RowError

INDEX = "pytorch_model.bin.index.json"
PARTS = "consolidated.*.pth"  # Of models by Meta: with several, each holds slices of every tensor.
# Where training programs put the state dict.
NESTED = ("model_state_dict", "state_dict", "model", "module")
MOST_CHECKED_BYTES = 2**31  # Of a file that is read whole for its checksums.
PIECE = 2**20
DTYPES = {
    "torch.float64": "F64",
    "torch.float32": "F32",
    "torch.float16": "F16",
    "torch.bfloat16": "BF16",
    "torch.int64": "I64",
    "torch.int32": "I32",
}
# Names of sizes in OpenAI's files of Whisper, and in its config on the Hub.
WHISPER = {
    "n_mels": "num_mel_bins",
    "n_vocab": "vocab_size",
    "n_audio_ctx": "max_source_positions",
    "n_audio_state": "d_model",
    "n_audio_head": "encoder_attention_heads",
    "n_audio_layer": "encoder_layers",
    "n_text_ctx": "max_target_positions",
    "n_text_head": "decoder_attention_heads",
    "n_text_layer": "decoder_layers",
}


def open_weights(file: WeightsFile) -> Mapping[str, StoredTensor]:
    """The tensors that torch loads with ``weights_only=True`` from a file, or from all shards of an
    index.

    errors: RowError when torch refuses a file, its content is no state dict, or the index is
        invalid
    """
    if file.name.endswith(".json"):
        return dict(Sharded(file, partial(_tensors, file)))
    slices = file.storage.matching(PARTS)
    if file.name in slices and len(slices) > 1:
        raise RowError(
            f"{file.where}/{file.name}: one of {len(slices)} files with slices of every tensor;"
            " expected whole tensors"
        )
    return _tensors(file, file.name)


def texts(file: WeightsFile) -> Mapping[str, bytes]:
    """A config.json for a file of Whisper by OpenAI, which has sizes beside its state dict; nothing
    for another or an invalid file.
    """
    sizes: Any = None
    with suppress(RowError):
        if file.name.endswith(".pt"):
            sizes = _loaded(file, file.name).get("dims")
    if not isinstance(sizes, dict) or not all(type(sizes.get(name)) is int for name in WHISPER):
        return {}
    return {
        "config.json": (
            json.dumps(
                {"model_type": "whisper", **{key: sizes[name] for name, key in WHISPER.items()}}
            ).encode()
        )
    }


FORMAT = FileFormat(
    key="torch_pickle",
    order=2,
    names=(
        "pytorch_model.bin",
        INDEX,
        "pytorch_model*.bin",
        "model.pt",
        "model.pth",
        "model.ckpt",
        PARTS,
    ),
    suffixes=(".bin", ".pt", ".pth", ".ckpt", ".bin.index.json"),
    open=open_weights,
    whole=True,
    refusal=(
        "only a pickle (pytorch_model.bin or another torch file), which is not opened; expected"
        " model.safetensors (convert it with safetensors.torch.save_file, or set `pickle: true` on"
        " the row if you trust it)"
    ),
    files=files,
    texts=texts,
)


def _loaded(file: WeightsFile, name: str) -> Mapping[Any, Any]:
    """What a file holds.

    errors: RowError
    """
    import torch

    path, where = file.storage.path(name), f"{file.where}/{name}"
    with path.open("rb") as stream:
        is_zip = stream.read(4) == b"PK\x03\x04"
    with (
        as_row_error(where, "torch cannot load it with weights_only", "tensors alone"),
        warnings.catch_warnings(action="ignore"),
    ):
        if is_zip:
            _check_archive(path, where)
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=is_zip)
    if not isinstance(state, dict):
        raise RowError(f"{where}: {type(state).__name__}; expected a state dict of tensors")
    return state


def _check_archive(path: Path, where: str) -> None:
    """Check that a zip file is not compressed, and has the checksums that it states; torch, which
    may be told to write 0 in their place, does not compare them.

    errors: RowError, BadZipFile
    """
    with ZipFile(path) as archive:
        if any(member.compress_type for member in archive.infolist()):
            raise RowError(
                f"{where}: a compressed zip file; expected one by torch.save, which does not"
                " compress"
            )
        is_checked = path.stat().st_size <= MOST_CHECKED_BYTES
        for member in archive.infolist() if is_checked else ():
            with archive.open(member) as stream:
                while member.CRC and stream.read(PIECE):
                    pass


def _tensors(file: WeightsFile, name: str) -> dict[str, StoredTensor]:
    """The tensors of one file, by name."""
    whole = _loaded(file, name)
    states = [_plain(nested) for key in NESTED if isinstance(nested := whole.get(key), dict)]
    state = next(filter(None, states), None) or _plain(whole)
    return {
        tensor: _stored(state[tensor], name, f"{file.where}: {tensor}") for tensor in sorted(state)
    }


def _plain(state: Mapping[Any, Any]) -> dict[str, Any]:
    import torch

    return {
        name: value
        for name, value in state.items()
        if isinstance(name, str)
        and isinstance(value, torch.Tensor)
        and value.layout is torch.strided
        and not value.is_nested
    }


def _stored(tensor: Any, file_name: str, where: str) -> StoredTensor:
    dtype, n_bytes = str(tensor.dtype), tensor.numel() * tensor.element_size()

    @cache  # A tensor that is not contiguous is copied once.
    def load() -> memoryview:
        import torch

        if dtype not in DTYPES:
            raise RowError(f"{where}: dtype {dtype}; expected one of {', '.join(DTYPES)}")
        if tensor.is_meta:
            raise RowError(
                f"{where}: on the meta device of torch, where tensors have no values; expected"
                " values in the file"
            )
        if n_bytes > tensor.untyped_storage().nbytes():
            raise RowError(
                f"{where}: its {n_bytes:,} bytes repeat {tensor.untyped_storage().nbytes():,};"
                " expected a value for each element"
            )
        with as_row_error(where, "torch has no values of it", "values in the file"):
            return memoryview(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())

    return in_memory(
        load, TensorInfo(file_name, DTYPES.get(dtype, dtype), tuple(tensor.shape)), n_bytes, where
    )
