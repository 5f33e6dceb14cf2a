"""What a revision of a repository on the Hub stands for, and which files there are."""

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
from generator.checkpoints.hub.responses import PassingError
from generator.checkpoints.hub.retries import Patience
from generator.contracts import TIMES
from generator.errors import AtlasError, NotReachedError, RowError

COMMIT = re.compile("[0-9a-f]{40}")
MOST_LISTING_BYTES = 2**24
LISTING, COMMITS = "listing.json", "commits.json"


@dataclass(frozen=True)
class Listing:
    """The commit that a revision stands for, and the files that there are."""

    commit: str
    names: tuple[str, ...]


def listing(place: str, revision: str, row: str, offline: bool, patience: Patience) -> Listing:
    """What ``revision`` of the repository ``place`` stands for: asked now, or as it was kept where no answer comes.

    errors: RowError, NotReachedError
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # Public by its documentation.

    try:
        validate_repo_id(place)
    except HFValidationError:
        raise RowError(f"{row}: not a Hub id; expected 'owner/name'") from None
    known = _parsed(blob_cache(place, revision).get(LISTING))
    if known is not None and (offline or COMMIT.fullmatch(revision)):
        return known
    try:
        if offline:
            raise NotReachedError(f"{row}: {requests.UNREACHED}")
        return _fetched(place, revision, row, patience)
    except (NotReachedError, PassingError):
        known = known or _cached(place, revision)
        if known is None:
            raise
        return known


def committed(place: str, commit: str, row: str, offline: bool) -> int | None:
    """When a commit was made, in seconds since 1970; asked once for each commit, and None where neither the Hub nor its cache tells.

    ``lastModified`` in a listing is not used: its client documents it as the date of the last commit to the repository.
    """
    from huggingface_hub import constants

    cache = blob_cache(place, commit)
    found = _date_of(commit, cache.get(COMMITS))
    if found is None and not offline:
        with suppress(AtlasError):  # No row waits for its date; the next build asks again.
            url = f"{constants.ENDPOINT}/api/models/{place}/commits/{commit}?limit=1"
            answer = requests.whole(url, row, Patience(longest=0.0), MOST_LISTING_BYTES)
            found = _date_of(commit, answer)
            if found is not None:
                cache.put(COMMITS, answer)
    return found


def only_cached(place: str, commit: str) -> tuple[str, ...]:
    """The names that the client's own cache holds of a commit, where nothing else tells what there is."""
    with suppress(ValueError):  # Of what is no id; whoever opens it says so.
        known = None if _parsed(blob_cache(place, commit).get(LISTING)) else _cached(place, commit)
        return known.names if known else ()
    return ()


def blob_cache(place: str, revision: str) -> BlobCache:
    """Beside the Hub's own cache, where its client puts what other libraries keep."""
    from huggingface_hub import constants

    return BlobCache(Path(constants.HF_ASSETS_CACHE) / "position-atlas" / place.replace("/", "--") / f"@{quote(revision, safe='')}")


def _fetched(place: str, revision: str, row: str, patience: Patience) -> Listing:
    from huggingface_hub import constants

    url = f"{constants.ENDPOINT}/api/models/{place}/revision/{quote(revision, safe='')}"
    answer = requests.whole(url, row, patience, MOST_LISTING_BYTES)
    found = _parsed(answer)
    if found is None:
        raise RowError(f"{row}: the Hub's answer names no commit; expected what it says of a repository")
    for name in {revision, found.commit}:
        blob_cache(place, name).put(LISTING, answer)
    return found


def _parsed(answer: bytes | None) -> Listing | None:
    try:
        found = json.loads(answer or b"")
        commit, names = found["sha"], tuple(entry["rfilename"] for entry in found["siblings"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (
        Listing(commit, names) if isinstance(commit, str) and COMMIT.fullmatch(commit) and all(isinstance(n, str) for n in names) else None
    )


def _date_of(commit: str, answer: bytes | None) -> int | None:
    """The date that a list of commits gives for one of them; None for what is no date, or one that no build can have."""
    from huggingface_hub.utils import parse_datetime  # type: ignore[attr-defined]  # The client reads all dates of the Hub with it.

    try:
        dates = {entry["id"]: entry["date"] for entry in json.loads(answer or b"")}
        seconds = int(parse_datetime(dates[commit]).timestamp())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return seconds if seconds in TIMES else None


def downloaded(place: str, revision: str, where: str) -> Folder:
    """What the Hub's own client has downloaded of a revision, be it nothing."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    cache = Path(constants.HF_HUB_CACHE)
    own = cache / repo_folder_name(repo_id=place, repo_type="model")
    reference = own / "refs" / revision
    return Folder(own / "snapshots" / (reference.read_text(encoding="utf-8") if reference.is_file() else revision), where, cache)


def _cached(place: str, revision: str) -> Listing | None:
    """What the client's own cache holds of a revision; None where that lacks config.json or some of the weights, which may lie at the Hub."""
    found = downloaded(place, revision, place)
    if not found.folder.is_dir() or not weights.is_complete(found, place):
        return None
    return Listing(found.folder.name, tuple(sorted({*found.matching("*"), *weights.files(found, place)})))
