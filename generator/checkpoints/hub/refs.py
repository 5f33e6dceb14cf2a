"""The branches and tags of a repository on the Hub, with their commits."""

import json
from collections.abc import Mapping

from generator.checkpoints.hub import requests
from generator.checkpoints.hub.responses import TransientError
from generator.checkpoints.hub.retries import RetryBudget
from generator.checkpoints.hub.revisions import COMMIT, LISTING_SECONDS, blob_cache
from generator.errors import NotReachedError, RowError

REFERENCES = "references.json"
MOST_BYTES = 2**24


def commits_by_name(place: str, offline: bool) -> Mapping[str, str]:
    """The commit of every branch and tag of the repository ``place``, by name: from the Hub, or
    from the cache without an answer.

    The answer is that which huggingface_hub parses in ``HfApi.list_repo_refs``.
    errors: RowError, NotReachedError
    """
    from huggingface_hub import constants

    cache = blob_cache(place, "main")
    try:
        if offline:
            raise NotReachedError(f"{place}: {requests.UNREACHED}")
        answer = requests.whole(
            requests.Question(
                f"{constants.ENDPOINT}/api/models/{place}/refs",
                place,
                RetryBudget(LISTING_SECONDS, LISTING_SECONDS),
                seconds=LISTING_SECONDS,
            ),
            MOST_BYTES,
        )
    except (NotReachedError, TransientError):
        stored = _parsed(cache.get(REFERENCES))
        if not stored:
            raise
        return stored
    found = _parsed(answer)
    if not found:
        raise RowError(
            f"{place}: the Hub's answer names no branch or tag; expected its list of both"
        )
    cache.put(REFERENCES, answer)
    return found


def _parsed(answer: bytes | None) -> Mapping[str, str]:
    """Commits by name, those of branches before those of tags of the same name; empty for anything
    else.
    """
    try:
        document = json.loads(answer or b"")
        entries = [entry for kind in ("tags", "branches") for entry in document[kind]]
        commits = {entry["name"]: entry["targetCommit"] for entry in entries}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return {
        name: commit
        for name, commit in commits.items()
        if isinstance(name, str) and COMMIT.fullmatch(str(commit))
    }
