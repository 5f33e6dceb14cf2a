"""A repository on the Hub at one commit as the storage of a checkpoint; ranges and files are
downloaded once and cached.
"""

import hashlib
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from glob import has_magic
from pathlib import Path

from generator.checkpoints.files.folder import MOST_TEXT_BYTES
from generator.checkpoints.hub import requests
from generator.checkpoints.hub.retries import RetryBudget
from generator.checkpoints.hub.revisions import Listing, blob_cache, downloaded
from generator.errors import NotReachedError, RowError

OPENING = 2**15  # Bytes of the first request for a file; most headers of weights are shorter.
MOST_PART_BYTES = 2**29
MOST_FILE_BYTES = 2**31  # Of a file that is downloaded whole.


class Repository:
    """Files of one commit: from the cache of huggingface_hub if they are there, otherwise
    downloaded, large ones by range.

    errors: RowError, NotReachedError
    """

    def __init__(
        self, place: str, listing: Listing, row: str, offline: bool, budget: RetryBudget
    ) -> None:
        self.place, self.commit, self.names, self.row = (
            place,
            listing.commit,
            frozenset(listing.names),
            row,
        )
        self.offline, self.budget = offline, budget
        self.blobs = blob_cache(place, listing.commit)
        self.snapshot = downloaded(place, listing.commit, row)
        # In place of the cache, where the disk is not writable.
        self.unsaved: dict[str, bytes] = {}
        self._matching: dict[str, list[str]] = {}  # Several formats ask for the same patterns.
        self._versions: dict[str, requests.Version] = {}  # Of each file, as first answered.

    def matching(self, pattern: str) -> list[str]:
        """Names of files that match a shell pattern, sorted; ``*`` matches no slash."""
        if pattern not in self._matching:
            candidates = self.names if has_magic(pattern) else self.names & {pattern}
            self._matching[pattern] = sorted(
                name
                for name in candidates
                if name.count("/") == pattern.count("/") and fnmatchcase(name, pattern)
            )
        return self._matching[pattern]

    def has(self, name: str) -> bool:
        """Whether the commit has such a file."""
        return name in self.names

    def size(self, name: str) -> int:
        """Length of a file in bytes."""
        return self.snapshot.size(name) if self.snapshot.has(name) else self._opening(name).total

    def part(self, name: str, start: int, stop: int) -> bytes:
        """The bytes ``start`` to ``stop`` (exclusive) of a file."""
        if self.snapshot.has(name):
            return self.snapshot.part(name, start, stop)
        if stop - start > MOST_PART_BYTES:
            raise RowError(
                f"{self.row}: {name}: a tensor of {stop - start:,} bytes; expected at most"
                f" {MOST_PART_BYTES:,}"
            )
        opening = self._opening(name)
        if stop <= len(opening.data):
            return opening.data[start:stop]
        return self._cached_blob(
            f"{name}.{key(self._versions[name])}.{start}-{stop}",
            lambda: requests.part(self._question(name), start, stop).data,
        )

    def whole(self, name: str) -> bytes | None:
        """All of a small file; None without such a file."""
        if self.snapshot.has(name):
            return self.snapshot.whole(name)
        if not self.has(name):
            return None
        return self._cached_blob(
            name,
            lambda: requests.whole(self._question(name), MOST_TEXT_BYTES),
        )

    def path(self, name: str) -> Path:
        """The path of a whole file on this disk."""
        if self.snapshot.has(name):
            return self.snapshot.path(name)
        path = self.blobs.path(f"{name}.whole") or self._download(name, f"{name}.whole")
        self._check(name, requests.Version(path.stat().st_size))
        return path

    def _download(self, name: str, blob_name: str) -> Path:
        self._check_online()
        store = partial(self.blobs.put_file, blob_name)
        try:
            return requests.large(self._question(name), MOST_FILE_BYTES, store)
        except OSError as error:
            raise RowError(
                f"{self.row}: {name} cannot be stored in {self.blobs.folder} ({error.strerror});"
                " expected space on that disk"
            ) from None

    def _opening(self, name: str) -> requests.ByteRange:
        """The first bytes of a file and its length, which are cached as one blob: 8 bytes of
        length, 2 of the length of its tag, the tag, then the data.
        """

        def fetch() -> bytes:
            part = requests.part(self._question(name), 0, OPENING)
            tag = (self._versions[name].tag or "").encode()
            return b"".join((part.total.to_bytes(8), len(tag).to_bytes(2), tag, part.data))

        if not self.has(name):
            raise RowError(f"{self.row}: {name}: no such file; expected it beside config.json")
        opening = self._cached_blob(f"{name}.beginning", fetch)
        total, start = int.from_bytes(opening[:8]), 10 + int.from_bytes(opening[8:10])
        self._check(name, requests.Version(total, opening[10:start].decode() or None))
        return requests.ByteRange(opening[start:], total)

    def _check(self, name: str, version: requests.Version) -> None:
        """Check that an answer about a file is about the same as those before, and of the commit.

        errors: RowError
        """
        if version.commit not in (None, self.commit):
            raise RowError(
                f"{self.row}: {name}: the Hub sends a file of commit {version.commit!r:.80};"
                f" expected {self.commit}"
            )
        if version.total is None:
            return
        first = self._versions.setdefault(name, version)
        for what, before, now in (
            ("length", first.total, version.total),
            ("ETag", first.tag, version.tag),
        ):
            if before != now and None not in (before, now):
                raise RowError(
                    f"{self.row}: {name}: its {what} was {before} and is {now}; expected one file"
                    " in all answers of the Hub"
                )

    def _cached_blob(self, name: str, fetch: Callable[[], bytes]) -> bytes:
        blob = self.unsaved.get(name, self.blobs.get(name))
        if blob is not None:
            return blob
        self._check_online()
        data = fetch()
        if not self.blobs.put(name, data):
            self.unsaved[name] = data
        return data

    def _check_online(self) -> None:
        if self.offline:
            raise NotReachedError(f"{self.row}: {requests.UNREACHED}")

    def _question(self, name: str) -> requests.Question:
        from huggingface_hub import hf_hub_url

        url = hf_hub_url(self.place, name, revision=self.commit)
        return requests.Question(
            url, f"{self.row}: {name}", self.budget, partial(self._check, name)
        )


def key(version: requests.Version) -> str:
    """What tells a version of a file from others, for names in the cache."""
    return hashlib.sha256(f"{version.total} {version.tag}".encode()).hexdigest()[:16]
