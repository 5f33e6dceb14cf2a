"""Files of torch, which are pickles: loaded only for rows with ``pickle: true``, and without
running code in the pickle.

A file in torch's zip format is mapped into memory, so that it takes memory only for the tensors
that are read.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from mmap import PAGESIZE
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import ZipFile

from generator.checkpoints.files.library_errors import as_row_error
from generator.checkpoints.files.shards import Sharded, files
from generator.checkpoints.files.tensors import in_memory
from generator.contracts import FileFormat, StoredTensor, TensorInfo, WeightsFile
from generator.contracts.file_formats import file_label
from generator.errors import RowError
from generator.libraries import need_site
from generator.text import short

INDEX = "pytorch_model.bin.index.json"
PARTS = "consolidated.*.pth"  # Of models by Meta: with several, each holds slices of every tensor.
# Where training programs put the state dict.
NESTED = (
    "model_state_dict",
    "state_dict",
    "model",
    "module",
    "net",
    "params",
)
CODE = re.compile(r"[^/]+/(constants\.pkl|code/.*)")  # Members that only TorchScript has.
ALONE = "`torch.save(model.state_dict(), 'weights.pt')`"
MOST_DEPTH = 8  # of dicts in a state dict
UNLOADED = "torch cannot load it with weights_only"
# In torch's messages.
CODE_NAMED = re.compile(r"GLOBAL (\S+) (?:was not an allowed global|whose module)")
CAUSE = re.compile(r"WeightsUnpickler error:\s*([^\n]+)")
# Names of sizes in files of nanoGPT, and of settings.
NANOGPT = {
    "n_layer": "n_layer",
    "n_head": "n_head",
    "n_embd": "n_embd",
    "block_size": "n_positions",
    "vocab_size": "vocab_size",
}
MOST_CHECKED_BYTES = 2**31  # Of a file that is read whole for its checksums.
CHUNK = 2**20
LENGTHS_AT = 26  # in the header of a zip file's member: those of its name and of what follows
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
            f"{file.label}: one of {len(slices)} files with slices of every tensor;"
            " expected whole tensors"
        )
    return _tensors(file, file.name)


def texts(file: WeightsFile) -> Mapping[str, bytes]:
    """A config.json for a file of Whisper by OpenAI or of nanoGPT, which have sizes beside their
    state dict; nothing for another or an invalid file.

    Forks of nanoGPT keep its names of sizes, so that these tell no family.
    """
    content: Mapping[Any, Any] = {}
    with suppress(RowError):
        if file.name.endswith(".pt"):
            content = _loaded(file, file.name)[0]
    for key, names, family in (
        ("dims", WHISPER, {"model_type": "whisper"}),
        ("model_args", NANOGPT, {}),
    ):
        sizes = content.get(key)
        if isinstance(sizes, dict) and all(type(sizes.get(name)) is int for name in names):
            settings = {**family, **{known: sizes[name] for name, known in names.items()}}
            return {"config.json": json.dumps(settings).encode()}
    return {}


FORMAT = FileFormat(
    key="torch_pickle",
    after="safetensors",
    names=(
        "pytorch_model.bin",
        INDEX,
        "pytorch_model*.bin",
        "model.pt",
        "model.pth",
        "model.ckpt",
        PARTS,
    ),
    suffixes=(".bin", ".pt", ".pth", ".ckpt", ".bin.index.json", ".pth.tar"),
    # torch's zip format, and the number by which its former one begins.
    begins=re.compile(
        rb"PK\x03\x04.{26}[^\0]{1,200}?/data\.pkl|\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19\.",
        re.DOTALL,
    ),
    open=open_weights,
    needs_local_file=True,
    refusal=(
        "only a pickle (pytorch_model.bin or another torch file), which is not opened; expected"
        " model.safetensors (convert it with safetensors.torch.save_file, or, if you trust it, give"
        " --pickle to inspect or compare, or set `pickle: true` on the row: {row})"
    ),
    files=files,
    texts=texts,
)


def _loaded(file: WeightsFile, name: str) -> tuple[Mapping[Any, Any], list[Any]]:
    """What a file holds, and the storages that were read of it. A pickle may also make tensors
    whose memory nobody has written.

    errors: RowError, RefusedError
    """
    need_site(f"{file.label}: a pickle of torch", "torch")
    import torch

    storages: list[Any] = []

    def read(storage: Any, _: str) -> Any:
        storages.append(storage)
        return storage

    path, where = file.storage.path(name), file_label(file.where, name)
    with path.open("rb") as stream:
        is_zip = stream.read(4) == b"PK\x03\x04"
    expected = f"tensors alone, as {ALONE} writes them in the program that made it"
    with as_row_error(where, expected, UNLOADED):
        if is_zip:
            _check_archive(path, where)
        try:
            state = torch.load(path, map_location=read, weights_only=True, mmap=is_zip)
        except UnpicklingError as error:
            # Before the cause, torch advises to run the code.
            cause = CODE_NAMED.search(str(error)) or CAUSE.search(str(error))
            raise ValueError(short(cause[1], 80) if cause else "no pickle of torch") from None
    if not isinstance(state, dict):
        raise RowError(f"{where}: {type(state).__name__}; expected a state dict of tensors")
    if is_zip and not _are_records(storages, _records(path)):
        raise RowError(f"{where}: a tensor is not as long as its record; expected the whole file")
    return state, storages


def _records(path: Path) -> set[tuple[int, int]]:
    """Offset and size of every member of a zip file that is not compressed."""
    with ZipFile(path) as archive, path.open("rb") as stream:
        found = set()
        for member in archive.infolist():
            stream.seek(member.header_offset + LENGTHS_AT)
            lengths = stream.read(4)
            name, extra = (
                int.from_bytes(lengths[:2], "little"),
                int.from_bytes(lengths[2:], "little"),
            )
            found.add((member.header_offset + LENGTHS_AT + 4 + name + extra, member.file_size))
    return found


def _are_records(storages: list[Any], records: set[tuple[int, int]]) -> bool:
    """Whether storages of a mapped file, which begins at some page of memory, are its records."""
    at = [(storage.data_ptr(), storage.nbytes()) for storage in storages if storage.nbytes()]
    starts = {at[0][0] - offset for offset, _ in records} if at else {0}
    return any(
        start % PAGESIZE == 0 and all((place - start, size) in records for place, size in at)
        for start in starts
    )


def _check_archive(path: Path, where: str) -> None:
    """Check that a zip file is not compressed, and has the checksums that it states; torch, which
    may be told to write 0 in their place, does not compare them.

    errors: RowError, BadZipFile
    """
    with ZipFile(path) as archive:
        if any(CODE.fullmatch(name) for name in archive.namelist()):
            raise RowError(
                f"{where}: TorchScript, a program with its weights, which is never run; expected"
                " tensors alone, as `torch.save(torch.jit.load('model.pt').state_dict(),"
                " 'weights.pt')` writes them"
            )
        if any(member.compress_type for member in archive.infolist()):
            raise RowError(
                f"{where}: a compressed zip file; expected one by torch.save, which does not"
                " compress"
            )
        is_checked = path.stat().st_size <= MOST_CHECKED_BYTES
        for member in archive.infolist() if is_checked else ():
            with archive.open(member) as stream:
                while member.CRC and stream.read(CHUNK):
                    pass


def _tensors(file: WeightsFile, name: str) -> dict[str, StoredTensor]:
    """The tensors of one file, by name."""
    content, storages = _loaded(file, name)
    states = [nested for key in NESTED if isinstance(nested := content.get(key), dict)]
    found = next(filter(None, map(_plain, states)), None) or _plain(content)
    state = found or next(filter(None, map(_flat, states)), {})
    places = {storage.data_ptr() for storage in storages}
    for tensor, value in state.items():
        if value.numel() and value.untyped_storage().data_ptr() not in places:
            raise RowError(
                f"{file.where}: {tensor}: made by the pickle, and no record of the file; expected"
                " tensors that were saved"
            )
    return {
        tensor: _stored(state[tensor], name, f"{file.where}: {tensor}") for tensor in sorted(state)
    }


def _flat(state: Mapping[Any, Any], before: str = "", depth: int = MOST_DEPTH) -> dict[str, Any]:
    """The tensors of dicts in dicts, whose keys are the words of their names, as in Megatron."""
    tensors = {f"{before}{name}": tensor for name, tensor in _plain(state).items()}
    for word, inner in state.items() if depth else ():
        if isinstance(inner, dict) and isinstance(word, str):
            tensors |= _flat(inner, f"{before}{word}.", depth - 1)
    return tensors


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
    """Complex numbers have a last axis of their real and imaginary parts."""
    import torch

    tensor = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    dtype, n_bytes = str(tensor.dtype), tensor.numel() * tensor.element_size()

    @cache  # A tensor that is not contiguous is copied once.
    def load() -> memoryview:
        if n_bytes > tensor.untyped_storage().nbytes():
            raise RowError(
                f"{where}: its {n_bytes:,} bytes repeat {tensor.untyped_storage().nbytes():,};"
                " expected a value for each element"
            )
        return memoryview(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())

    return in_memory(
        load, TensorInfo(file_name, DTYPES.get(dtype, dtype), tuple(tensor.shape)), n_bytes, where
    )
