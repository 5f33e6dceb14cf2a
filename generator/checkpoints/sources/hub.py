"""The Hugging Face Hub: one commit, and only the bytes that the atlas reads."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import check_allowed
from generator.checkpoints.hub import requests, responses
from generator.checkpoints.hub.repository import Repository
from generator.checkpoints.hub.retries import BEFORE_A_RUN, Patience
from generator.checkpoints.hub.revisions import COMMIT, committed, listing, only_cached
from generator.contracts import Checkpoint, Files, Source
from generator.errors import AtlasError, NotReachedError

REACH_SECONDS = 3.0


def reach() -> None:
    """Ask once whether the Hub answers at all.

    errors: NotReachedError, RefusedError
    """
    requests.check_settings()
    from huggingface_hub import constants
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]  # of whichever HTTP library it uses

    try:
        requests.session().head(constants.ENDPOINT, timeout=REACH_SECONDS, follow_redirects=False)
    except OfflineModeIsEnabled:
        raise NotReachedError("HF_HUB_OFFLINE is set, so the Hub was not asked") from None
    except (HTTPError, OSError, UnicodeError) as error:
        raise NotReachedError(f"the Hub did not answer ({type(error).__name__})") from None


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:
    row = f"{checkpoint.place}@{checkpoint.revision or 'main'}"
    patience = Patience()
    listed = listing(checkpoint.place, checkpoint.revision or "main", row, offline, patience)
    repository = Repository(checkpoint.place, listed, row, offline, patience)
    check_allowed(repository, row, checkpoint.pickle)
    return FolderFiles(repository, checkpoint.id, checkpoint.pickle, listed.commit)


def pin(checkpoint: Checkpoint, offline: bool) -> Checkpoint:
    """The row at the commit that its branch or tag stands for now, or did when it last could be asked; as it is where neither is known.

    With it comes the date of that commit, where the Hub gives it.
    """
    requests.check_settings()
    revision, patience = checkpoint.revision or "main", Patience(BEFORE_A_RUN, BEFORE_A_RUN)
    try:
        commit = listing(checkpoint.place, revision, checkpoint.place, offline, patience).commit
    except AtlasError:
        return checkpoint  # Whoever opens it asks again, and says what came of it.
    return replace(checkpoint, revision=commit, committed=committed(checkpoint.place, commit, checkpoint.place, offline))


def state(checkpoint: Checkpoint, digest: Callable[[Path], str]) -> str | None:  # noqa: ARG001 (a commit tells all of them)
    """Its commit; with the files, where only the client's cache says which there are, since the Hub may have more."""
    commit = checkpoint.revision or ""
    return " ".join((commit, *only_cached(checkpoint.place, commit))) if COMMIT.fullmatch(commit) else None


def received() -> int:
    return responses.METER.received


SOURCE = Source(
    key="hub",
    describes="A repository on the Hugging Face Hub, owner/name.",
    is_path=False,
    open=open_files,
    state=state,
    reach=reach,
    pin=pin,
    received=received,
)
