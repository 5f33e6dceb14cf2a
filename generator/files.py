"""A checkpoint in a local folder in the Hub's layout: config.json, safetensors (one file or shards), tokenizer files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from generator.contracts import Json, TensorInfo
from generator.errors import RowError
from generator.numerics import Floats
from generator.safetensors_header import BITS, Span, decode, header_size, spans

ONLY_PICKLED = (
    "only pytorch_model.bin, a pickle, which is not opened; expected model.safetensors "
    "(convert it with safetensors.torch.save_file, or set `pickle: true` on the row if you trust it)"
)
MOST_TEXT_BYTES = 64 * 2**20  # The largest tokenizer.json in use is about 35 MB.


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
    """Files of one folder; links that lead out of it are not followed, except into a Hub cache's own blobs.

    errors: RowError when there is no such folder, or no config.json in it that holds a JSON object
    """

    def __init__(self, folder: Path, where: str, revision: str | None = None) -> None:
        self.folder, self.where, self.revision = folder, where, revision
        if not folder.is_dir():
            found = "not a folder" if folder.exists() else "no such folder"
            raise RowError(f"{where}: {found}; expected a folder with config.json")
        text = self.read("config.json")
        if text is None:
            raise RowError(f"{where}: no config.json; expected one beside the weights")
        self.config = parse_config(text, f"{where}/config.json")

    @cached_property
    def tensors(self) -> Mapping[str, TensorInfo]:
        return {name: TensorInfo(file, span.dtype, span.shape) for name, (file, span) in self._spans.items()}

    def tensor(self, name: str) -> Floats:
        file, span = self._spans[name]
        return decode(self._bytes(file, span.start, span.stop), span.dtype, span.shape, f"{self.where}: {name}")

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        file, span = self._spans[name]
        self.check_rows(name, indices)
        width = span.shape[1] * BITS[span.dtype] // 8
        data = b"".join(self._bytes(file, span.start + i * width, span.start + (i + 1) * width) for i in indices)
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
        return hashlib.sha256(self._bytes(file, span.start, span.stop)).hexdigest()

    def read(self, name: str) -> bytes | None:
        path = self.folder / name
        if not path.exists():
            return None
        size = self._regular(name).stat().st_size
        if size > MOST_TEXT_BYTES:
            raise RowError(f"{self.where}/{name}: {size:,} bytes; expected at most {MOST_TEXT_BYTES:,}")
        return path.read_bytes()

    @cached_property
    def _spans(self) -> Mapping[str, tuple[str, Span]]:
        index = self.read("model.safetensors.index.json")
        if index is not None:
            return self._shards(index)
        if (self.folder / "model.safetensors").exists():
            return {name: ("model.safetensors", span) for name, span in self._file_spans("model.safetensors").items()}
        if (self.folder / "pytorch_model.bin").exists():
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
        held = {file: self._file_spans(file) for file in sorted(set(weight_map.values()))}
        missing = sorted(name for name, file in weight_map.items() if name not in held[file])
        if missing:
            raise RowError(f"{where}: {missing[0]!r} is not in {weight_map[missing[0]]!r}; expected it there")
        return {name: (file, held[file][name]) for name, file in sorted(weight_map.items())}

    def _file_spans(self, file: str) -> dict[str, Span]:
        where = f"{self.where}/{file}"
        size = self._regular(file).stat().st_size
        length = header_size(self._bytes(file, 0, min(8, size)), size, where)
        return spans(self._bytes(file, 8, 8 + length), size, where)

    def _bytes(self, file: str, start: int, stop: int) -> bytes:
        with self._regular(file).open("rb") as stream:
            stream.seek(start)
            data = stream.read(stop - start)
        if len(data) != stop - start:
            raise RowError(f"{self.where}/{file}: ends at byte {start + len(data):,}; expected {stop:,}")
        return data

    def _regular(self, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            raise RowError(f"{self.where}/{name}: no such file; expected it beside config.json")
        if not path.is_file():
            raise RowError(f"{self.where}/{name}: not a regular file; expected one")
        target = path.resolve()
        homes = (self.folder.resolve(), self.folder.resolve().parent.parent / "blobs")
        if not any(target.is_relative_to(home) for home in homes):
            raise RowError(f"{self.where}/{name}: a link that leads out of the folder; expected a file within it")
        return path
