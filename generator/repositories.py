"""A repository of the Hub at one commit, as the storage of a checkpoint: what is asked for is fetched once and kept in the Hub's cache."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from generator import hub_requests
from generator.errors import NotReachedError, RowError
from generator.folders import MOST_TEXT_BYTES, Folder
from generator.kept import Kept

COMMIT = re.compile("[0-9a-f]{40}")
OPENING = 2**15  # Fetched from a file's beginning at once: the header of most weights files is shorter.
MOST_PART_BYTES = 2**29
MOST_LISTING_BYTES = 2**24
LISTING = "listing.json"


@dataclass(frozen=True)
class Listing:
    """The commit that a revision stands for, and the files that there are."""

    commit: str
    names: tuple[str, ...]


def listing(place: str, revision: str, row: str, offline: bool, tries: int = len(hub_requests.WAITS) + 1) -> Listing:
    """What ``revision`` of the repository ``place`` stands for: asked now, or as it was kept where nobody answers.

    errors: RowError, NotReachedError
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # Public by its documentation.

    try:
        validate_repo_id(place)
    except HFValidationError:
        raise RowError(f"{row}: not a Hub id; expected 'owner/name'") from None
    known = _parsed(_kept(place, revision).get(LISTING))
    if known is not None and (offline or COMMIT.fullmatch(revision)):
        return known
    try:
        if offline:
            raise NotReachedError(f"{row}: {hub_requests.UNREACHED}")
        return _asked(place, revision, row, tries)
    except NotReachedError:
        known = known or _cached(place, revision)
        if known is None:
            raise
        return known


class Repository:
    """Its files: those that the Hub's cache holds are read there; of the others what is asked for is fetched, by range where it can be long."""

    def __init__(self, place: str, listed: Listing, row: str, offline: bool) -> None:
        self.place, self.commit, self.names, self.row, self.offline = place, listed.commit, frozenset(listed.names), row, offline
        self.kept = _kept(place, listed.commit)
        cache, snapshot = _snapshot(place, listed.commit)
        self.cached = Folder(snapshot, row, cache)

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
        return self._once(f"{name}.{start}-{stop}", lambda: hub_requests.part(self._url(name), self._at(name), start, stop).data)

    def whole(self, name: str) -> bytes | None:
        if self.cached.has(name):
            return self.cached.whole(name)
        if not self.has(name):
            return None
        return self._once(name, lambda: hub_requests.whole(self._url(name), self._at(name), MOST_TEXT_BYTES))

    def path(self, name: str) -> Path:
        if self.cached.has(name):
            return self.cached.path(name)
        path = self.kept.folder / f"{name}.whole"
        if not path.exists():
            self._ask()
            try:
                hub_requests.download(self._url(name), self._at(name), path)
            except OSError as error:
                raise RowError(f"{self._at(name)} cannot be kept in {path.parent} ({error.strerror}); expected room on that disk") from None
        return path

    def _opening(self, name: str) -> hub_requests.Part:
        """The first bytes of a file, kept after 8 bytes that say how long it is."""

        def fetch() -> bytes:
            part = hub_requests.part(self._url(name), self._at(name), 0, OPENING)
            return part.total.to_bytes(8) + part.data

        if not self.has(name):
            raise RowError(f"{self.row}: {name}: no such file; expected it beside config.json")
        opening = self._once(f"{name}.opening", fetch)
        return hub_requests.Part(opening[8:], int.from_bytes(opening[:8]))

    def _once(self, name: str, fetch: Callable[[], bytes]) -> bytes:
        kept = self.kept.get(name)
        if kept is not None:
            return kept
        self._ask()
        data = fetch()
        self.kept.put(name, data)
        return data

    def _ask(self) -> None:
        if self.offline:
            raise NotReachedError(f"{self.row}: {hub_requests.UNREACHED}")

    def _at(self, name: str) -> str:
        return f"{self.row}: {name}"

    def _url(self, name: str) -> str:
        from huggingface_hub import hf_hub_url

        return hf_hub_url(self.place, name, revision=self.commit)


def _asked(place: str, revision: str, row: str, tries: int) -> Listing:
    from huggingface_hub import constants

    url = f"{constants.ENDPOINT}/api/models/{place}/revision/{quote(revision, safe='')}"
    answer = hub_requests.whole(url, row, MOST_LISTING_BYTES, tries)
    found = _parsed(answer)
    if found is None:
        raise RowError(f"{row}: the Hub's answer names no commit; expected what it says of a repository")
    for name in {revision, found.commit}:
        _kept(place, name).put(LISTING, answer)
    return found


def _kept(place: str, revision: str) -> Kept:
    """Beside the Hub's own cache, where its client puts what other libraries keep."""
    from huggingface_hub import constants

    return Kept(Path(constants.HF_ASSETS_CACHE) / "position-atlas" / place.replace("/", "--") / f"@{quote(revision, safe='')}")


def _parsed(answer: bytes | None) -> Listing | None:
    try:
        found = json.loads(answer or b"")
        commit, names = found["sha"], tuple(entry["rfilename"] for entry in found["siblings"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (
        Listing(commit, names) if isinstance(commit, str) and COMMIT.fullmatch(commit) and all(isinstance(n, str) for n in names) else None
    )


def _cached(place: str, revision: str) -> Listing | None:
    """What the Hub's own client has downloaded of a revision; None where it lacks config.json."""
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(place, "config.json", revision=revision)
    if not isinstance(config, str):
        return None
    snapshot = Path(config).parent
    return Listing(snapshot.name, tuple(path.name for path in snapshot.iterdir()))


def _snapshot(place: str, commit: str) -> tuple[Path, Path]:
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cache = Path(constants.HF_HUB_CACHE)
    return cache, cache / repo_folder_name(repo_id=place, repo_type="model") / "snapshots" / commit
