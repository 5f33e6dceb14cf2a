"""A checkpoint in the Hub's layout, wherever it is stored: config.json, weights in any of the file formats, tokenizer files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.weights import allowed, check_allowed
from generator.contracts import Json, ModelConfig, Storage, StoredTensor, TensorInfo
from generator.errors import RowError
from generator.numerics.arrays import Floats

AT_ONCE = 8  # Requests under way together, where the storage is not on this machine.


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

    def __init__(self, folder: Path | Storage, where: str, pickle: bool = False, revision: str | None = None) -> None:
        self.where, self.pickle, self.revision = where, pickle, revision
        self._digests: dict[str, str] = {}
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
        return {name: stored.header for name, stored in self._stored.items()}

    def tensor(self, name: str) -> Floats:
        stored = self._stored[name]
        return stored.decode(self._hashed(name), stored.header.shape)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        stored = self._stored[name]
        self.check_rows(name, indices)
        n_rows, n_columns = stored.header.shape
        width = stored.n_bytes // max(n_rows, 1)
        each = sorted(set(indices))  # Once, however often it is asked for.
        with ThreadPoolExecutor(AT_ONCE) as threads:
            read = dict(zip(each, threads.map(lambda index: stored.part(index * width, (index + 1) * width), each), strict=True))
        return stored.decode(b"".join(read[index] for index in indices), (len(indices), n_columns))

    def check_rows(self, name: str, indices: Sequence[int]) -> None:
        """errors: RowError when the matrix does not have one of these rows"""
        shape = self.tensors[name].shape
        if len(shape) != 2:
            raise RowError(f"{self.where}: {name} has shape {shape}; expected a matrix")
        wrong = [index for index in indices if not 0 <= index < shape[0]]
        if wrong:
            raise RowError(f"{self.where}: {name} of shape {shape} has no row {wrong[0]}; expected 0 to {shape[0] - 1}")

    def sha256(self, name: str) -> str:
        if name not in self._digests:
            self._hashed(name)
        return self._digests[name]

    def _hashed(self, name: str) -> bytes | memoryview:
        """The bytes of a tensor; their digest is stored for ``sha256``, which then reads nothing."""
        stored = self._stored[name]
        data = stored.part(0, stored.n_bytes)
        self._digests[name] = hashlib.sha256(data).hexdigest()
        return data

    def read(self, name: str) -> bytes | None:
        text = self.storage.whole(name)
        return self._texts.get(name) if text is None else text

    @cached_property
    def _stored(self) -> Mapping[str, StoredTensor]:
        check_allowed(self.storage, self.where, self.pickle)
        weights = allowed(self.storage, self.where, self.pickle)
        return {} if weights is None else weights.open()

    @cached_property
    def _texts(self) -> Mapping[str, bytes]:
        weights = allowed(self.storage, self.where, self.pickle)
        return {} if weights is None else weights.texts()
