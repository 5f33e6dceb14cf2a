"""A repository on the Hub at one commit as the storage of a checkpoint; ranges and files are
downloaded once and cached.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from generator.checkpoints.files.named_paths import MOST_TEXT_BYTES
from generator.checkpoints.hub import client
from generator.checkpoints.hub.revisions import Listing, blob_cache, downloaded
from generator.errors import NotReachedError, RowError

if TYPE_CHECKING:
    import httpx2

OPENING = 2**15  # Bytes of the first request for a file; most headers of weights are shorter.
MOST_PART_BYTES = 2**29
MOST_FILE_BYTES = 2**31  # Of a file that is downloaded as a whole.
CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")
SHA256 = re.compile("[0-9a-f]{64}")
LENGTH, TAG = "length", "ETag"
T = TypeVar("T")


class Repository:
    """Files of one commit: from the cache of huggingface_hub if they are there, otherwise
    downloaded, those of weights by range where their format allows it.

    deadline: of all requests, by ``time.monotonic``
    errors: RowError, NotReachedError
    """

    def __init__(
        self, place: str, listing: Listing, row: str, offline: bool, deadline: float
    ) -> None:
        self.place, self.commit, self.row = place, listing.commit, row
        self.names = frozenset(listing.names)
        self.within = f"{listing.folder}/" if listing.folder else ""
        self.offline, self.deadline = offline, deadline
        self.blobs = blob_cache(place, listing.commit)
        self.snapshot = downloaded(place, listing.commit, row, listing.folder)
        # In place of the cache, where the disk is not writable.
        self.unsaved: dict[str, bytes] = {}
        self._matching: dict[str, list[str]] = {}  # Several formats ask for the same patterns.
        # Length and ETag of each file, as first answered.
        self._versions: dict[str, dict[str, str]] = {}

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
        if self.snapshot.has(name):
            return self.snapshot.size(name)
        self._opening(name)
        return int(self._versions[name][LENGTH])

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
        if stop <= len(opening):
            return opening[start:stop]
        version = json.dumps(self._versions[name], sort_keys=True).encode()
        return self._cached(
            f"{name}.{hashlib.sha256(version).hexdigest()[:16]}.{start}-{stop}",
            lambda: self._range(name, start, stop),
        )

    def read(self, name: str) -> bytes | None:
        """All of a small file; None without such a file."""
        if self.snapshot.has(name):
            return self.snapshot.read(name)
        if not self.has(name):
            return None
        row = f"{self.row}: {name}"
        return self._cached(
            name,
            lambda: self._request(
                name, lambda response: b"".join(client.chunks(response, row, MOST_TEXT_BYTES)), {}
            ),
        )

    def path(self, name: str) -> Path:
        """The path of a copy of a file on this disk."""
        if self.snapshot.has(name):
            return self.snapshot.path(name)
        if path := self.blobs.path(f"{self.within}{name}.file"):
            return path
        self._check_online()
        try:
            path = self._request(name, partial(self._stored, name), {})
            self._check_version(name, {LENGTH: str(path.stat().st_size)})
            return path
        except OSError as error:
            raise RowError(
                f"{self.row}: {name} cannot be stored in {self.blobs.folder} ({error.strerror});"
                " expected space on that disk"
            ) from None

    def _stored(self, name: str, response: "httpx2.Response") -> Path:
        """The copy of a file that is the body of ``response``.

        errors: RowError for one that is too large, or of another SHA-256 than the Hub states
        """
        row, stated = f"{self.row}: {name}", _first(response, "X-Linked-ETag")
        if (length := int(response.headers.get("Content-Length", 0))) > MOST_FILE_BYTES:
            raise RowError(f"{row}: {length:,} bytes; expected at most {MOST_FILE_BYTES:,}")

        def checked() -> Iterator[bytes]:
            digest = hashlib.sha256()
            for chunk in client.chunks(response, row, MOST_FILE_BYTES):
                digest.update(chunk)
                yield chunk
            if SHA256.fullmatch(stated) and digest.hexdigest() != stated:
                raise RowError(
                    f"{row}: its bytes have the SHA-256 {digest.hexdigest()}; expected {stated},"
                    " which the Hub states"
                )

        return self.blobs.put_file(f"{self.within}{name}.file", checked())

    def _opening(self, name: str) -> bytes:
        """The first bytes of a file; they are cached with its version, as a line of JSON."""

        def fetch() -> bytes:
            data = self._range(name, 0, OPENING)
            return json.dumps(self._versions[name]).encode() + b"\n" + data

        if not self.has(name):
            raise RowError(f"{self.row}: {name}: no such file; expected it beside config.json")
        version, _, data = self._cached(f"{name}.opening", fetch).partition(b"\n")
        self._check_version(name, json.loads(version))
        return data

    def _range(self, name: str, start: int, stop: int) -> bytes:
        """The bytes ``start`` to ``stop`` (exclusive) of a file, or to its end, from the Hub.

        errors: RowError also for an answer with other bytes
        """
        row = f"{self.row}: {name}"

        def receive(response: "httpx2.Response") -> bytes:
            if "Content-Encoding" in response.headers:
                raise RowError(
                    f"{row}: the Hub compressed its answer to a range; expected bytes of the file"
                )
            stated = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if response.status_code != 206 or stated is None:
                raise RowError(
                    f"{row}: the Hub answered {response.status_code} to a range of"
                    f" {stop - start:,} bytes; expected 206 and that range"
                )
            first, last, total = map(int, stated.groups())
            data = b"".join(client.chunks(response, row, stop - start))
            if (first, last + 1, len(data)) != (start, min(stop, total), last + 1 - first):
                raise RowError(
                    f"{row}: the Hub sent {len(data):,} bytes as {stated[0]!r}; expected bytes"
                    f" {start:,} to {stop - 1:,}"
                )
            return data

        return self._request(name, receive, {"Range": f"bytes={start}-{stop - 1}"})

    def _request(
        self,
        name: str,
        receive: Callable[["httpx2.Response"], T],
        headers: Mapping[str, str],
    ) -> T:
        """The result of ``receive`` for the Hub's answer about a file."""
        from huggingface_hub import hf_hub_url

        def checked(response: "httpx2.Response") -> T:
            self._check(name, response)
            return receive(response)

        url = hf_hub_url(self.place, f"{self.within}{name}", revision=self.commit)
        return client.read(url, f"{self.row}: {name}", self.deadline, checked, headers)

    def _check(self, name: str, response: "httpx2.Response") -> None:
        """Check that an answer about a file is of the commit, and about the same as those before.

        errors: RowError
        """
        if (commit := _first(response, "X-Repo-Commit")) not in ("", self.commit):
            raise RowError(
                f"{self.row}: {name}: the Hub sends a file of commit {commit!r:.80}; expected"
                f" {self.commit}"
            )
        if "Content-Encoding" in response.headers:  # Its length and tag are those of what was sent.
            return
        stated = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        length = stated[3] if stated else response.headers.get("Content-Length", "")
        tag = _first(response, "X-Linked-ETag") or _plain(response.headers.get("ETag", ""))
        self._check_version(name, {LENGTH: length, TAG: tag})

    def _check_version(self, name: str, version: Mapping[str, str]) -> None:
        known = self._versions.setdefault(name, {})
        for what, now in version.items():
            if now and known.setdefault(what, now) != now:
                raise RowError(
                    f"{self.row}: {name}: its {what} was {known[what]:.80} and is {now:.80};"
                    " expected one file in all answers of the Hub"
                )

    def _cached(self, name: str, fetch: Callable[[], bytes]) -> bytes:
        stored = f"{self.within}{name}"
        blob = self.unsaved.get(stored, self.blobs.get(stored))
        if blob is None:
            self._check_online()
            blob = fetch()
            if not self.blobs.put(stored, blob):
                self.unsaved[stored] = blob
        return blob

    def _check_online(self) -> None:
        if self.offline:
            raise NotReachedError(f"{self.row}: {client.UNREACHED}")


def _first(response: "httpx2.Response", header: str) -> str:
    """What a response, or a redirect to it, states; the Hub's own answers come first."""
    answers = (*response.history, response)
    return _plain(next((each.headers[header] for each in answers if header in each.headers), ""))


def _plain(tag: str) -> str:
    return tag.removeprefix("W/").strip('"')
