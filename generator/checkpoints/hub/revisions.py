"""Revisions of a repository on the Hub: their commits, dates and lists of files."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from generator.cache.blobs import BlobCache
from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.hub import client
from generator.checkpoints.hub.client import TransientError
from generator.contracts import TIMES
from generator.errors import AtlasError, NotReachedError, RowError

COMMIT = re.compile("[0-9a-f]{40}")
LISTING_SECONDS = 20.0  # That the answer with all names of files may take.
DATE_SECONDS = 5.0  # The same of a date, which is optional.
MOST_NAMES = 100_000  # of files, as many as the Hub advises for a repository (its docs, "Storage")
LISTING, DATE, REFS = "listing", "date", "refs"
T = TypeVar("T")


@dataclass(frozen=True)
class Listing:
    """The commit of a revision, and the names of its files, or of those in one folder of it.

    folder: which one, "" for all files
    """

    commit: str
    names: Sequence[str]
    folder: str = ""

    def within(self, folder: str) -> "Listing":
        """That of the files in a folder, by their names there."""
        start = f"{folder}/" if folder else ""
        names = [name.removeprefix(start) for name in self.names if name.startswith(start)]
        return Listing(self.commit, names, folder)


def listing(place: str, revision: str, row: str, offline: bool, deadline: float) -> Listing:
    """The commit and files of ``revision`` of the repository ``place``: from the Hub, or from the
    cache without an answer.

    place: the id of the repository; row: its name in messages; deadline: by ``time.monotonic``
    errors: RowError, NotReachedError
    """
    _check_id(place, row)
    cached = _cached(place, revision)
    if cached is not None and (offline or COMMIT.fullmatch(revision)):
        return cached
    return _current(
        lambda: _requested(place, revision, row),
        lambda: cached or _downloaded(place, revision),
        row,
        offline,
        deadline,
    )


def current(place: str, row: str, deadline: float) -> Listing:
    """As ``listing``, of the main branch, from the Hub alone. errors: RowError, NotReachedError"""
    _check_id(place, row)
    return client.retried(lambda: _requested(place, "main", row), row, deadline, LISTING_SECONDS)


def _check_id(place: str, row: str) -> None:
    from huggingface_hub.errors import HFValidationError

    # Public by its documentation.
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(place)
    except HFValidationError:
        raise RowError(f"{row}: {client.REFUSALS['HFValidationError']}") from None


def commits_by_name(place: str, offline: bool) -> Mapping[str, str]:
    """The commit of every branch and tag of the repository ``place``, by name: from the Hub, or
    from the cache without an answer.

    errors: RowError, NotReachedError
    """
    cache = blob_cache(place, "main")

    def requested() -> Mapping[str, str]:
        refs = client.answer(f"models/{place}/refs", place)
        found = {ref["name"]: ref["targetCommit"] for ref in (*refs["tags"], *refs["branches"])}
        cache.put(REFS, json.dumps(found).encode())
        return found

    def cached() -> Mapping[str, str] | None:
        stored = cache.get(REFS)
        return None if stored is None else dict(json.loads(stored))

    return _current(requested, cached, place, offline, time.monotonic() + LISTING_SECONDS)


def committed(place: str, commit: str, row: str, offline: bool) -> int | None:
    """The date of a commit in seconds since 1970, requested once and cached; None without an
    answer.

    The client documents ``last_modified`` of a listing as the date of the last commit to the
    repository, and requests all commits for that of one.
    """
    from huggingface_hub.utils import parse_datetime  # type: ignore[attr-defined]

    cache = blob_cache(place, commit)
    if (stored := cache.get(DATE)) or offline:
        return int(stored) if stored else None
    # The date is optional; the next build requests it again.
    with suppress(AtlasError, KeyError, TypeError, ValueError, AttributeError):
        entries = client.retried(
            lambda: client.answer(f"models/{place}/commits/{commit}?limit=1", row),
            row,
            time.monotonic() + DATE_SECONDS,
        )
        dates = {entry["id"]: entry["date"] for entry in entries}
        seconds = int(parse_datetime(dates[commit]).timestamp())
        if seconds in TIMES:
            cache.put(DATE, str(seconds).encode())
            return seconds
    return None


def only_cached(place: str, commit: str) -> Sequence[str]:
    """The files of a commit in the cache of huggingface_hub, where there is no listing; otherwise
    empty.
    """
    found = None if _cached(place, commit) else _downloaded(place, commit)
    return found.names if found else ()


def blob_cache(place: str, revision: str) -> BlobCache:
    """Our cache for a revision, in the assets folder of huggingface_hub."""
    from huggingface_hub import constants

    folder = Path(constants.HF_ASSETS_CACHE) / "position-atlas" / place.replace("/", "--")
    return BlobCache(folder / f"@{quote(revision, safe='')}")


def downloaded(place: str, revision: str, where: str, within: str = "") -> Folder:
    """The files of a revision that huggingface_hub has downloaded; possibly none.

    within: the folder of the repository whose files they are; "" for all
    """
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cache = Path(constants.HF_HUB_CACHE)
    folder = cache / repo_folder_name(repo_id=place, repo_type="model")
    # Not a branch or tag in the cache, or one that is not text.
    with suppress(OSError, ValueError):
        commit = (folder / "refs" / revision).read_text(encoding="utf-8")
        revision = commit if COMMIT.fullmatch(commit) else revision
    return Folder(folder / "snapshots" / revision / within, where, cache)


def _current(
    ask: Callable[[], T], cached: Callable[[], T | None], row: str, offline: bool, deadline: float
) -> T:
    """What the Hub answers to ``ask``, or what is ``cached`` without an answer."""
    try:
        if offline:
            raise NotReachedError(f"{row}: {client.UNREACHED}")
        return client.retried(ask, row, deadline, LISTING_SECONDS)
    except (NotReachedError, TransientError):
        if (former := cached()) is None:
            raise
        return former


def _requested(place: str, revision: str, row: str) -> Listing:
    """What the Hub lists, which is cached; no name leads out of a folder."""
    # Without the card, which is written by whoever owns the repository.
    asked = f"models/{place}/revision/{quote(revision, safe='')}?expand=sha&expand=siblings"
    answer = client.answer(asked, row)
    names = [file["rfilename"] for file in answer.get("siblings") or ()]
    if len(names) > MOST_NAMES:
        raise RowError(
            f"{row}: the Hub lists {len(names):,} files; expected at most {MOST_NAMES:,}"
        )
    found = Listing(
        str(answer.get("sha")), [name for name in names if not {"", ".", ".."} & {*name.split("/")}]
    )
    expected = revision if COMMIT.fullmatch(revision) else found.commit
    if not COMMIT.fullmatch(found.commit) or found.commit != expected:
        raise RowError(f"{row}: the Hub describes commit {found.commit:.80}; expected {revision}")
    for name in {revision, found.commit}:
        content = json.dumps([found.commit, found.names]).encode()
        blob_cache(place, name).put(LISTING, content)
    return found


def _cached(place: str, revision: str) -> Listing | None:
    stored = blob_cache(place, revision).get(LISTING)
    return None if stored is None else Listing(*json.loads(stored))


def _downloaded(place: str, revision: str) -> Listing | None:
    """The listing of a revision from the cache of huggingface_hub; None unless config.json and all
    weights are in it.
    """
    snapshot = downloaded(place, revision, place)
    if not snapshot.folder.is_dir() or not weights.is_complete(snapshot, place):
        return None
    return Listing(
        snapshot.folder.name,
        sorted({*snapshot.matching("*"), *weights.files(snapshot, place)}),
    )
