"""A checkpoint in the Hub's layout, wherever it is stored: config.json, safetensors (one file or shards), tokenizer files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.safetensors import BITS, Span, decode, header_size, spans
from generator.contracts import Json, ModelConfig, TensorInfo
from generator.errors import RowError
from generator.numerics.arrays import Floats

ONLY_PICKLED = (
    "only pytorch_model.bin, a pickle, which is not opened; expected model.safetensors "
    "(convert it with safetensors.torch.save_file, or set `pickle: true` on the row if you trust it)"
)
AT_ONCE = 8  # Requests under way together, where the storage is not on this machine.


class Storage(Protocol):
    """Where the files of one checkpoint lie. Errors: RowError for what cannot be read, NotReachedError where nobody answers."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def size(self, name: str) -> int:
        """Its length in bytes."""

    def part(self, name: str, start: int, stop: int) -> bytes:
        """Its bytes from ``start`` up to, not including, ``stop``."""

    def whole(self, name: str) -> bytes | None:
        """All of a small file; None when there is none."""

    def path(self, name: str) -> Path:
        """All of a large file, on this disk."""


def parse_config(text: bytes, where: str) -> Json:
    """config.json as data.

    errors: RowError when it is not a JSON object
    """
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{where}: not JSON ({error}); expected a JSON object") from None
    if not isinstance(config, dict):
        raise RowError(f"{where}: {type(config).__name__}; expected a JSON object")
    return config


class FolderFiles:
    """Files of one folder, or of another storage.

    errors: RowError when there is no such folder, or no config.json in it that holds a JSON object
    """

    def __init__(self, folder: Path | Storage, where: str, revision: str | None = None) -> None:
        self.where, self.revision = where, revision
        if isinstance(folder, Path) and not folder.is_dir():
            found = "not a folder" if folder.exists() else "no such folder"
            raise RowError(f"{where}: {found}; expected a folder with config.json")
        self.storage: Storage = Folder(folder, where) if isinstance(folder, Path) else folder
        text = self.read("config.json")
        if text is None:
            raise RowError(f"{where}: no config.json; expected one beside the weights")
        self.config = ModelConfig(parse_config(text, f"{where}/config.json"), where)

    @cached_property
    def tensors(self) -> Mapping[str, TensorInfo]:
        return {name: TensorInfo(file, span.dtype, span.shape) for name, (file, span) in self._spans.items()}

    def tensor(self, name: str) -> Floats:
        file, span = self._spans[name]
        return decode(self.storage.part(file, span.start, span.stop), span.dtype, span.shape, f"{self.where}: {name}")

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        file, span = self._spans[name]
        self.check_rows(name, indices)
        width = span.shape[1] * BITS[span.dtype] // 8
        starts = {index: span.start + index * width for index in indices}  # Each once, however often it is asked for.
        with ThreadPoolExecutor(AT_ONCE) as threads:
            read = dict(zip(starts, threads.map(lambda start: self.storage.part(file, start, start + width), starts.values()), strict=True))
        data = b"".join(read[index] for index in indices)
        return decode(data, span.dtype, (len(indices), span.shape[1]), f"{self.where}: {name}")

    def check_rows(self, name: str, indices: Sequence[int]) -> None:
        """errors: RowError when the matrix does not have one of these rows"""
        shape = self.tensors[name].shape
        if len(shape) != 2:
            raise RowError(f"{self.where}: {name} has shape {shape}; expected a matrix")
        wrong = [index for index in indices if not 0 <= index < shape[0]]
        if wrong:
            raise RowError(f"{self.where}: {name} of shape {shape} has no row {wrong[0]}; expected 0 to {shape[0] - 1}")

    def sha256(self, name: str) -> str:
        file, span = self._spans[name]
        return hashlib.sha256(self.storage.part(file, span.start, span.stop)).hexdigest()

    def read(self, name: str) -> bytes | None:
        return self.storage.whole(name)

    @cached_property
    def _spans(self) -> Mapping[str, tuple[str, Span]]:
        index = self.read("model.safetensors.index.json")
        if index is not None:
            return self._shards(index)
        if self.storage.has("model.safetensors"):
            return {name: ("model.safetensors", span) for name, span in self._file_spans("model.safetensors").items()}
        if any(map(self.storage.has, ("pytorch_model.bin", "pytorch_model.bin.index.json"))):
            raise RowError(f"{self.where}: {ONLY_PICKLED}")
        return {}

    def _shards(self, index: bytes) -> Mapping[str, tuple[str, Span]]:
        where = f"{self.where}/model.safetensors.index.json"
        weight_map: Any = parse_config(index, where).get("weight_map")
        if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
            raise RowError(f"{where}: no weight_map from names to files; expected one")
        for file in sorted(set(weight_map.values())):
            if Path(file).name != file:
                raise RowError(f"{where}: the shard {file!r}; expected a file name in the same folder")
        shards = sorted(set(weight_map.values()))
        with ThreadPoolExecutor(AT_ONCE) as threads:
            held = dict(zip(shards, threads.map(self._file_spans, shards), strict=True))
        missing = sorted(name for name, file in weight_map.items() if name not in held[file])
        if missing:
            raise RowError(f"{where}: {missing[0]!r} is not in {weight_map[missing[0]]!r}; expected it there")
        return {name: (file, held[file][name]) for name, file in sorted(weight_map.items())}

    def _file_spans(self, file: str) -> dict[str, Span]:
        where = f"{self.where}/{file}"
        size = self.storage.size(file)
        length = header_size(self.storage.part(file, 0, min(8, size)), size, where)
        return spans(self.storage.part(file, 8, 8 + length), size, where)
