"""A repository of the Hub at one commit, as the storage of a checkpoint: what is asked for is fetched once and kept in the Hub's cache."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from generator.checkpoints.files.folder import MOST_TEXT_BYTES
from generator.checkpoints.hub import requests
from generator.checkpoints.hub.retries import Patience
from generator.checkpoints.hub.revisions import Listing, blob_cache, downloaded
from generator.errors import NotReachedError, RowError

OPENING = 2**15  # Fetched from a file's beginning at once: the header of most weights files is shorter.
MOST_PART_BYTES = 2**29
MOST_FILE_BYTES = 2**31  # Such a file is loaded whole.


class Repository:
    """Its files: those that the Hub's cache holds are read there; of the others what is asked for is fetched, by range where it can be long."""

    def __init__(self, place: str, listed: Listing, row: str, offline: bool, patience: Patience) -> None:
        self.place, self.commit, self.names, self.row = place, listed.commit, frozenset(listed.names), row
        self.offline, self.patience = offline, patience
        self.kept = blob_cache(place, listed.commit)
        self.cached = downloaded(place, listed.commit, row)
        self.not_kept: dict[str, bytes] = {}  # What a disk that takes nothing leaves to this object.

    def matching(self, pattern: str) -> list[str]:
        return sorted(name for name in self.names if name.count("/") == pattern.count("/") and fnmatchcase(name, pattern))

    def has(self, name: str) -> bool:
        return name in self.names

    def size(self, name: str) -> int:
        return self.cached.size(name) if self.cached.has(name) else self._opening(name).total

    def part(self, name: str, start: int, stop: int) -> bytes:
        if self.cached.has(name):
            return self.cached.part(name, start, stop)
        if stop - start > MOST_PART_BYTES:
            raise RowError(f"{self.row}: {name}: a tensor of {stop - start:,} bytes; expected at most {MOST_PART_BYTES:,}")
        opening = self._opening(name)
        if stop <= len(opening.data):
            return opening.data[start:stop]
        return self._once(f"{name}.{start}-{stop}", lambda: requests.part(self._url(name), self._at(name), self.patience, start, stop).data)

    def whole(self, name: str) -> bytes | None:
        if self.cached.has(name):
            return self.cached.whole(name)
        if not self.has(name):
            return None
        return self._once(name, lambda: requests.whole(self._url(name), self._at(name), self.patience, MOST_TEXT_BYTES))

    def path(self, name: str) -> Path:
        if self.cached.has(name):
            return self.cached.path(name)
        kept = self.kept.path(f"{name}.whole")
        return kept or self._download(name, f"{name}.whole")

    def _download(self, name: str, kept_as: str) -> Path:
        self._ask()
        url, row, keep = self._url(name), self._at(name), partial(self.kept.put_file, kept_as)
        try:
            return requests.large(url, row, self.patience, MOST_FILE_BYTES, keep)
        except OSError as error:
            raise RowError(f"{row} cannot be kept in {self.kept.folder} ({error.strerror}); expected room on that disk") from None

    def _opening(self, name: str) -> requests.Part:
        """The first bytes of a file, kept after 8 bytes that say how long it is."""

        def fetch() -> bytes:
            part = requests.part(self._url(name), self._at(name), self.patience, 0, OPENING)
            return part.total.to_bytes(8) + part.data

        if not self.has(name):
            raise RowError(f"{self.row}: {name}: no such file; expected it beside config.json")
        opening = self._once(f"{name}.opening", fetch)
        return requests.Part(opening[8:], int.from_bytes(opening[:8]))

    def _once(self, name: str, fetch: Callable[[], bytes]) -> bytes:
        kept = self.not_kept.get(name, self.kept.get(name))
        if kept is not None:
            return kept
        self._ask()
        data = fetch()
        if not self.kept.put(name, data):
            self.not_kept[name] = data
        return data

    def _ask(self) -> None:
        if self.offline:
            raise NotReachedError(f"{self.row}: {requests.UNREACHED}")

    def _at(self, name: str) -> str:
        return f"{self.row}: {name}"

    def _url(self, name: str) -> str:
        from huggingface_hub import hf_hub_url

        return hf_hub_url(self.place, name, revision=self.commit)
