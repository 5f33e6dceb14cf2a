"""Weights in several files with an index: a JSON object whose ``weight_map`` gives the file of each
tensor.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from generator.cache.lazy import LazyMapping
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.files.library_errors import as_row_error
from generator.contracts import StoredTensor, WeightsFile
from generator.contracts.file_formats import file_label
from generator.errors import RowError


def weight_map(index: WeightsFile) -> Mapping[str, str]:
    """The name of the shard of each tensor, in order of the names.

    errors: RowError for an index that is invalid, or that leads out of its folder
    """
    text, where = index.storage.read(index.name), index.label
    names: Any = parse_config(text or b"", where).get("weight_map")
    if not isinstance(names, dict) or not all(isinstance(shard, str) for shard in names.values()):
        raise RowError(f"{where}: no weight_map from names to files; expected one")
    for shard in sorted(set(names.values())):
        if Path(shard).name != shard:
            raise RowError(f"{where}: the shard {shard!r}; expected a file name in the same folder")
    return dict(sorted(names.items()))


class Sharded(LazyMapping[StoredTensor]):
    """The tensors that an index names, in order of their names. A shard is opened when one of its
    tensors is asked for.

    open_shard: returns the tensors of a shard by name
    errors: RowError, on access, for a tensor that is not in its shard, and those of ``open_shard``
    """

    def __init__(
        self, index: WeightsFile, open_shard: Callable[[str], Mapping[str, StoredTensor]]
    ) -> None:
        self._index, self._names, self._open = index, weight_map(index), open_shard
        self._shards: dict[str, Mapping[str, StoredTensor]] = {}
        super().__init__({name: partial(self._tensor, name) for name in self._names})

    @property
    def shards(self) -> list[str]:
        """Names of the shards, in order."""
        return sorted(set(self._names.values()))

    def open(self, shard: str) -> Mapping[str, StoredTensor]:
        """The tensors of a shard, which is opened once."""
        if shard not in self._shards:
            label = file_label(self._index.where, shard)
            with as_row_error(label, "a complete file of weights"):
                self._shards[shard] = self._open(shard)
        return self._shards[shard]

    def is_open(self, name: str) -> bool:
        """Whether the shard of a tensor was opened."""
        return self._names[name] in self._shards

    def _tensor(self, name: str) -> StoredTensor:
        shard = self._names[name]
        if name not in self.open(shard):
            raise RowError(f"{self._index.label}: {name!r} is not in {shard!r}; expected it there")
        return self.open(shard)[name]


def files(file: WeightsFile) -> set[str]:
    """The file and, for an index, its shards; an invalid index, which ``weight_map`` reports, has
    none.
    """
    with suppress(RowError, OSError):
        return {file.name, *(weight_map(file) if file.name.endswith(".json") else {}).values()}
    return {file.name}
