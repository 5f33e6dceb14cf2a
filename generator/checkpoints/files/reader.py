"""A checkpoint in any storage: config.json, weights in any file format, and tokenizer files."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

from generator.cache.lazy import LazyMapping
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.files.library_errors import as_row_error
from generator.checkpoints.files.mlx_quantised import with_floats
from generator.checkpoints.files.other_configs import other_settings
from generator.checkpoints.files.shards import Sharded
from generator.checkpoints.files.weights import (
    ANY,
    CONFIG,
    Choice,
    Weights,
    allowed,
    check_allowed,
    check_none_unread,
)
from generator.checkpoints.model import keys
from generator.checkpoints.model.halves import as_loaded
from generator.checkpoints.model.stacks import resolved
from generator.contracts import Json, ModelConfig, Resolved, Storage, StoredTensor, TensorInfo
from generator.contracts.file_formats import file_label
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.text import enumerated, short

MODULES = "modules.json"  # Of sentence-transformers: the folder of each module, the model first.
MOST_FOLDERS = 9  # That a message names.
MOST_NAME = 500  # Characters of a tensor's name; longer ones would take minutes to look through.
MOST_TENSORS = 50_000
AT_ONCE = 8  # Concurrent requests, where the storage is remote.


def existing(folder: Path, where: str) -> Folder:
    """A folder as a storage.

    errors: RowError when there is none
    """
    if not folder.is_dir():
        problem = "not a folder" if folder.exists() else "no such folder"
        raise RowError(f"{where}: {problem}; expected a folder with config.json")
    return Folder(folder, where)


class FolderFiles:
    """``Files`` of one folder, or of another storage.

    where: the name of the checkpoint in messages; choice: what the row says of its weights
    config: text of the settings, in place of a config.json within or beside the weights
    errors: RowError without such a folder, without a config.json unless one file of weights was
        chosen, or for one that is no JSON object
    """

    def __init__(
        self,
        folder: Path | Storage,
        where: str,
        choice: Choice = ANY,
        revision: str | None = None,
        config: str = "",
    ) -> None:
        self.where, self.choice, self.revision = where, choice, revision
        self._digests: dict[str, str] = {}
        self.storage: Storage = existing(folder, where) if isinstance(folder, Path) else folder
        self.config = self._config(*self._settings(config.encode()))

    def _config(self, given: Json, file: str) -> ModelConfig:
        settings = {key: value for key, value in given.items() if key not in keys.OF_FILE}
        traces = {key: given[key] for key in keys.OF_FILE if key in given}
        return as_loaded(ModelConfig(settings, self.where, file, **traces))

    def with_settings(self, changed: Json) -> Self | None:
        """These files with another config.json, or, where weights hold the settings, with these of
        them ``changed``; None where no tool changes settings in files of that format.
        """
        other, source, weights = copy(self), self.config.source, self._weights
        vars(other).pop("resolved", None)
        if source != CONFIG:
            if weights is None or weights.format.with_settings is None:
                return None
            texts = weights.format.with_settings(weights.file, changed)
            changed = parse_config(texts[CONFIG], file_label(self.where, CONFIG))
        other.config = other._config(changed, source)
        return other

    def _settings(self, given: bytes) -> tuple[Json, str]:
        """The settings, none for weights without any, and the name of their file."""
        weights, inner = self._weights, None if given else self._texts.get(CONFIG)
        if weights is not None and inner is not None:
            return parse_config(inner, file_label(self.where, CONFIG)), weights.file.name
        text = given or self.storage.read(CONFIG)
        if text is not None:
            return parse_config(text, file_label(self.where, CONFIG)), CONFIG
        if (others := other_settings(self.storage, self.where)) is not None:
            return others
        if not self.choice.name:
            self._check_alone()
        return {}, CONFIG

    def _check_alone(self) -> None:
        """Check that there are weights without a config.json, and that the row allows them.

        errors: RowError
        """
        check_allowed(self.storage, self.where, self.choice)
        if self._weights is None or not self.storage.has(self._weights.file.name):
            self.check_none_unread()
            raise RowError(
                f"{self.where}: no config.json; expected one beside the weights{self._elsewhere()}"
            )

    def _elsewhere(self) -> str:
        """Which subfolders have a config.json, as the end of a sentence, the model of
        sentence-transformers first; "" without one.
        """
        folders = [name.rpartition("/")[0] for name in self.storage.matching(f"*/{CONFIG}")]
        with suppress(ValueError, LookupError, TypeError):  # Where it has another form.
            first = json.loads(self.storage.read(MODULES) or b"")[0]["path"]
            folders = [name for name in folders if name == first] or folders
        return f", as in {enumerated(folders[:MOST_FOLDERS])}: name that folder" if folders else ""

    @cached_property
    def resolved(self) -> Resolved:
        """The settings as the code of the family understands them."""
        return resolved(self.config)

    @cached_property
    def tensors(self) -> Mapping[str, TensorInfo]:
        """The header of every tensor, by name; empty without weights.

        errors: RowError for weights that are invalid or not allowed
        """
        return LazyMapping({name: partial(self._header, name) for name in self._stored})

    @property
    def unopened(self) -> Set[str]:
        """Names of the tensors in shards that nothing has asked for."""
        stored = self._stored
        return (
            {name for name in stored if not stored.is_open(name)}
            if isinstance(stored, Sharded)
            else frozenset()
        )

    def _header(self, name: str) -> TensorInfo:
        header = self._stored[name].header
        if not all(type(size) is int and size >= 0 for size in header.shape):
            raise RowError(
                f"{self.where}: {name} has shape {header.shape!r:.80}; expected whole numbers from"
                " 0"
            )
        return header

    def tensor(self, name: str) -> Floats:
        """A whole tensor in its stored shape, exactly, as float64.

        errors: RowError for a dtype that is not read, or more bytes than there is memory
        """
        stored = self._stored[name]
        with self._reading(name):
            return stored.decode(self._hashed(name), stored.header.shape)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """The rows ``indices`` of a matrix, in that order: (len(indices), n_columns).

        errors: RowError when the tensor is no matrix, or an index is out of range
        """
        stored = self._stored[name]
        self._check_rows(name, indices)
        n_rows, n_columns = stored.header.shape
        width = stored.n_bytes // max(n_rows, 1)
        distinct = sorted(set(indices))

        def row(index: int) -> bytes | memoryview:
            return stored.part(index * width, (index + 1) * width)

        with self._reading(name), ThreadPoolExecutor(AT_ONCE) as threads:
            read = dict(zip(distinct, threads.map(row, distinct), strict=True))
            content = b"".join(read[index] for index in indices)
            return stored.decode(content, (len(indices), n_columns))

    def _check_rows(self, name: str, indices: Sequence[int]) -> None:
        """Check that a tensor is a matrix with the rows ``indices``.

        errors: RowError
        """
        shape = self.tensors[name].shape
        if len(shape) != 2:
            raise RowError(f"{self.where}: {name} has shape {shape}; expected a matrix")
        wrong = [index for index in indices if not 0 <= index < shape[0]]
        if wrong:
            raise RowError(
                f"{self.where}: {name} of shape {shape} has no row {wrong[0]}; expected 0 to"
                f" {shape[0] - 1}"
            )

    def sha256(self, name: str) -> str:
        """Hex digest of the stored bytes of a tensor; reads them only if ``tensor`` has not."""
        if name not in self._digests:
            self._hashed(name)
        return self._digests[name]

    def notes(self, name: str) -> tuple[str, ...]:
        """Sentences on how a tensor is stored."""
        with self._reading(name):
            return self._stored[name].notes()

    def _hashed(self, name: str) -> bytes | memoryview:
        """The bytes of a tensor; their digest is stored for ``sha256``, which then reads
        nothing.
        """
        stored = self._stored[name]
        with self._reading(name):
            data = stored.part(0, stored.n_bytes)
        self._digests[name] = hashlib.sha256(data).hexdigest()
        return data

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """errors: RowError that names the tensor, for whatever its bytes or its decoder raise"""
        stored, where = self._stored[name], f"{self.where}: {name}"
        try:
            with as_row_error(where, "the numbers that its header describes"):
                yield
        except MemoryError:
            asked = (
                f"{stored.header.dtype} of shape {stored.header.shape}, {stored.n_bytes:,} bytes"
            )
            raise RowError(
                f"{where}: its header asks for {asked}; expected a tensor that fits into the"
                " memory of an entry"
            ) from None

    def n_bytes(self, name: str) -> int:
        """The size of a tensor in its file."""
        return self._stored[name].n_bytes

    def local_files(self) -> dict[str, int]:
        """Size in bytes of each file that has to be on this disk as a whole, by name; empty where
        tensors are read by range.
        """
        if self._weights is None or not self._weights.format.needs_local_file:
            return {}
        return {
            name: self.storage.size(name) for name in self._weights.format.files(self._weights.file)
        }

    def check_none_unread(self) -> None:
        """Check that there are no weights besides those that are found by their names.

        errors: RowError
        """
        check_none_unread(self.storage, self.where, self.choice)

    def read(self, name: str) -> bytes | None:
        """A small file of the storage or within the weights; None without one.

        errors: RowError for a file that is too long
        """
        text = self.storage.read(name)
        return self._texts.get(name) if text is None else text

    def of_model(self, tensors: Mapping[str, Floats], model: Any) -> Mapping[str, Floats]:
        """``tensors`` under the names, and in the order of rows, that a model of transformers has.

        errors: RowError where that is not known
        """
        weights = self._weights
        return tensors if weights is None else weights.format.of_model(weights.file, tensors, model)

    def tokenizer(self) -> bytes | None:
        """tokenizer.json, or what the weights have in its place; None without either.

        errors: RowError for a file that is too long
        """
        found = self.read("tokenizer.json")
        if found is not None or self._weights is None:
            return found
        return self._weights.format.tokenizer(self._weights.file)

    @cached_property
    def _stored(self) -> Mapping[str, StoredTensor]:
        check_allowed(self.storage, self.where, self.choice)
        opened = {} if self._weights is None else self._weights.open()
        stored = with_floats(opened, self.config.settings, self.where)
        with as_row_error(self.where, "names of tensors that can be written"):
            "".join(stored).encode()
        if len(stored) > MOST_TENSORS:
            raise RowError(
                f"{self.where}: {len(stored):,} tensors; expected at most {MOST_TENSORS:,}"
            )
        longest = max(stored, key=len, default="")
        if len(longest) > MOST_NAME:
            raise RowError(
                f"{self.where}: the name of a tensor has {len(longest):,} characters"
                f" ({short(longest)}); expected at most {MOST_NAME}"
            )
        return stored

    @cached_property
    def _texts(self) -> Mapping[str, bytes]:
        return {} if self._weights is None else self._weights.texts()

    @cached_property
    def _weights(self) -> Weights | None:
        return allowed(self.storage, self.where, self.choice)
