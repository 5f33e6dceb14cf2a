"""Weights in several files with an index: a JSON object whose ``weight_map`` gives the file of each tensor."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from generator.checkpoints.files.reader import parse_config
from generator.contracts import StoredTensor, WeightsFile
from generator.errors import RowError


def weight_map(index: WeightsFile) -> Mapping[str, str]:
    """The name of the shard of each tensor, in order of the names.

    errors: RowError for an index that is invalid, or that leads out of its folder
    """
    text, where = index.storage.whole(index.name), f"{index.where}/{index.name}"
    names: Any = parse_config(text or b"", where).get("weight_map")
    if not isinstance(names, dict) or not all(isinstance(shard, str) for shard in names.values()):
        raise RowError(f"{where}: no weight_map from names to files; expected one")
    for shard in sorted(set(names.values())):
        if Path(shard).name != shard:
            raise RowError(f"{where}: the shard {shard!r}; expected a file name in the same folder")
    return dict(sorted(names.items()))


def gathered(index: WeightsFile, names: Mapping[str, str], shards: Mapping[str, Mapping[str, StoredTensor]]) -> dict[str, StoredTensor]:
    """The tensors that the index ``names``, from the tensors of each of its shards.

    errors: RowError for a tensor that is not in its shard
    """
    missing = next((name for name, shard in names.items() if name not in shards[shard]), None)
    if missing is not None:
        raise RowError(f"{index.where}/{index.name}: {missing!r} is not in {names[missing]!r}; expected it there")
    return {name: shards[shard][name] for name, shard in names.items()}


def files(file: WeightsFile) -> set[str]:
    """The file and, for an index, its shards; an invalid index, which ``weight_map`` reports, has none."""
    named: Any = ()
    if file.name.endswith(".json"):
        with suppress(RowError, OSError, KeyError, AttributeError):
            named = parse_config(file.storage.whole(file.name) or b"", file.where)["weight_map"].values()
    return {file.name, *(name for name in named if isinstance(name, str))}
