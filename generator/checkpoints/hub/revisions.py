"""Revisions of a repository on the Hub: their commits, dates and lists of files."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from generator.cache.blobs import BlobCache
from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.hub import requests
from generator.checkpoints.hub.responses import TransientError
from generator.checkpoints.hub.retries import RetryBudget
from generator.contracts import TIMES
from generator.errors import AtlasError, NotReachedError, RowError
from generator.text import short

COMMIT = re.compile("[0-9a-f]{40}")
MOST_LISTING_BYTES = 2**24
LISTING_SECONDS = 20.0  # That the answer with all names of files may take.
DATE_SECONDS = 5.0  # The same of a date, which is optional.
MOST_NAMES = 100_000
LONGEST_NAME, LONGEST_PART = 1_024, 255  # Characters of a path, and bytes of a part of it.
LISTING, COMMITS = "listing.json", "commits.json"


@dataclass(frozen=True)
class Listing:
    """The commit of a revision, and the names of its files."""

    commit: str
    names: tuple[str, ...]


def listing(place: str, revision: str, row: str, offline: bool, budget: RetryBudget) -> Listing:
    """The commit and files of ``revision`` of the repository ``place``: from the Hub, or from the
    cache without an answer.

    place: the id of the repository; row: its name in messages
    errors: RowError, NotReachedError
    """
    from huggingface_hub.errors import HFValidationError

    # Public by its documentation.
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(place)
    except HFValidationError:
        raise RowError(f"{row}: not a Hub id; expected 'owner/name'") from None
    cached = _parsed(blob_cache(place, revision).get(LISTING))
    if cached is not None and (offline or COMMIT.fullmatch(revision)):
        return cached
    try:
        if offline:
            raise NotReachedError(f"{row}: {requests.UNREACHED}")
        return _fetched(place, revision, row, budget)
    except (NotReachedError, TransientError):
        cached = cached or _cached(place, revision)
        if cached is None:
            raise
        return cached


def committed(place: str, commit: str, row: str, offline: bool) -> int | None:
    """The date of a commit in seconds since 1970, requested once and cached; None without an
    answer.

    ``lastModified`` in a listing is not used: huggingface_hub documents it as the date of the last
    commit to the repository.
    """
    from huggingface_hub import constants

    cache = blob_cache(place, commit)
    date = _date_of(commit, cache.get(COMMITS))
    if date is None and not offline:
        with suppress(AtlasError):  # The date is optional; the next build requests it again.
            url = f"{constants.ENDPOINT}/api/models/{place}/commits/{commit}?limit=1"
            answer = requests.whole(
                requests.Question(url, row, RetryBudget(longest=0.0), seconds=DATE_SECONDS),
                MOST_LISTING_BYTES,
            )
            date = _date_of(commit, answer)
            if date is not None:
                cache.put(COMMITS, answer)
    return date


def only_cached(place: str, commit: str) -> tuple[str, ...]:
    """The files of a commit in the cache of huggingface_hub, where there is no listing; otherwise
    empty.
    """
    with suppress(ValueError):  # An invalid id, which is reported when the row is opened.
        cached = None if _parsed(blob_cache(place, commit).get(LISTING)) else _cached(place, commit)
        return cached.names if cached else ()
    return ()


def blob_cache(place: str, revision: str) -> BlobCache:
    """Our cache for a revision, in the assets folder of huggingface_hub."""
    from huggingface_hub import constants

    return BlobCache(
        Path(constants.HF_ASSETS_CACHE)
        / "position-atlas"
        / place.replace("/", "--")
        / f"@{quote(revision, safe='')}"
    )


def _fetched(place: str, revision: str, row: str, budget: RetryBudget) -> Listing:
    from huggingface_hub import constants

    url = f"{constants.ENDPOINT}/api/models/{place}/revision/{quote(revision, safe='')}"
    answer = requests.whole(
        requests.Question(url, row, budget, seconds=LISTING_SECONDS), MOST_LISTING_BYTES
    )
    fetched = _parsed(answer)
    if fetched is None:
        raise RowError(
            f"{row}: the Hub's answer names no commit; expected its description of a repository"
        )
    _check_names(fetched.names, row)
    if COMMIT.fullmatch(revision) and fetched.commit != revision:
        raise RowError(f"{row}: the Hub describes commit {fetched.commit}; expected {revision}")
    for name in {revision, fetched.commit}:
        blob_cache(place, name).put(LISTING, answer)
    return fetched


def _check_names(names: tuple[str, ...], row: str) -> None:
    """Check that these may be names of files, and not too many.

    errors: RowError
    """
    if len(names) > MOST_NAMES:
        raise RowError(
            f"{row}: the Hub lists {len(names):,} files; expected at most {MOST_NAMES:,}"
        )
    for name in names:
        # Half of a letter, as JSON may have it, becomes three bytes that are no text.
        content = name.encode(errors="surrogatepass")
        if (
            len(name) > LONGEST_NAME
            or b"\0" in content
            or content.decode(errors="replace") != name
            or any(
                len(part) > LONGEST_PART or part in (b"", b".", b"..")
                for part in content.split(b"/")
            )
        ):
            raise RowError(
                f"{row}: the Hub lists a file {short(name)!r}; expected names of files within the"
                f" repository, of at most {LONGEST_NAME:,} letters"
            )


def _parsed(answer: bytes | None) -> Listing | None:
    try:
        document = json.loads(answer or b"")
        commit, names = document["sha"], tuple(entry["rfilename"] for entry in document["siblings"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (
        Listing(commit, names)
        if isinstance(commit, str)
        and COMMIT.fullmatch(commit)
        and all(isinstance(n, str) for n in names)
        else None
    )


def _date_of(commit: str, answer: bytes | None) -> int | None:
    """The date of a commit in a response with a list of commits; None if it is missing, invalid or
    out of range.
    """
    # huggingface_hub parses all dates of the Hub with it.
    from huggingface_hub.utils import parse_datetime  # type: ignore[attr-defined]

    try:
        dates = {entry["id"]: entry["date"] for entry in json.loads(answer or b"")}
        seconds = int(parse_datetime(dates[commit]).timestamp())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return seconds if seconds in TIMES else None


def downloaded(place: str, revision: str, where: str) -> Folder:
    """The files of a revision that huggingface_hub has downloaded; possibly none."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cache = Path(constants.HF_HUB_CACHE)
    folder = cache / repo_folder_name(repo_id=place, repo_type="model")
    # Not a branch or tag in the cache, or one that is not text.
    with suppress(OSError, ValueError):
        reference = (folder / "refs" / revision).read_text(encoding="utf-8")
        revision = reference if COMMIT.fullmatch(reference) else revision
    return Folder(folder / "snapshots" / revision, where, cache)


def _cached(place: str, revision: str) -> Listing | None:
    """The listing of a revision from the cache of huggingface_hub; None unless config.json and all
    weights are in it.
    """
    snapshot = downloaded(place, revision, place)
    if not snapshot.folder.is_dir() or not weights.is_complete(snapshot, place):
        return None
    return Listing(
        snapshot.folder.name,
        tuple(sorted({*snapshot.matching("*"), *weights.files(snapshot, place)})),
    )
