"""The Hugging Face Hub, through its own client: one commit, and only the files that the atlas reads."""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from generator.contracts import Checkpoint, Files, Source
from generator.errors import NotReachedError, RowError
from generator.files import ONLY_PICKLED
from generator.pickled import open_folder

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError

WANTED = (
    "config.json",
    "tokenizer.json",
    "vocab.txt",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-*.safetensors",
)
COMMIT = re.compile("[0-9a-f]{40}")
REACH_SECONDS = 3.0


def reach() -> None:
    """Ask once whether the Hub answers at all.

    errors: NotReachedError
    """
    from huggingface_hub import constants, get_session
    from huggingface_hub.errors import HTTPError, OfflineModeIsEnabled  # type: ignore[attr-defined]  # of whichever HTTP library it uses

    try:
        get_session().head(constants.ENDPOINT, timeout=REACH_SECONDS)
    except OfflineModeIsEnabled:
        raise NotReachedError("HF_HUB_OFFLINE is set, so the Hub was not asked") from None
    except (HTTPError, OSError) as error:
        raise NotReachedError(f"the Hub did not answer ({type(error).__name__})") from None


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:
    row = f"{checkpoint.place}@{checkpoint.revision or 'main'}"
    folder = _download(checkpoint, row, offline)
    if not checkpoint.pickle and _left_pickled(checkpoint, folder):
        raise RowError(f"{row}: {ONLY_PICKLED}")
    return open_folder(folder, checkpoint.id, checkpoint.pickle, revision=folder.name)


def _download(checkpoint: Checkpoint, row: str, offline: bool) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (  # type: ignore[attr-defined]  # HTTPError, of whichever HTTP library it uses
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        HTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    patterns = [*WANTED, "pytorch_model.bin"] if checkpoint.pickle else list(WANTED)
    try:
        return Path(snapshot_download(checkpoint.place, revision=checkpoint.revision, allow_patterns=patterns, local_files_only=offline))
    except LocalEntryNotFoundError as error:
        if isinstance(error.__cause__, HfHubHTTPError):
            raise RowError(_answered(row, error.__cause__)) from None
        raise NotReachedError(f"{row}: the Hub could not be asked and the cache does not hold it") from None
    except GatedRepoError:
        raise RowError(f"{row}: gated; expected access (accept its terms on the Hub and set HF_TOKEN)") from None
    except RevisionNotFoundError:
        raise RowError(f"{row}: no such revision; expected a branch, tag or full commit of this repository") from None
    except RepositoryNotFoundError:
        raise RowError(f"{row}: no such repository; expected a public one, or HF_TOKEN for a private one") from None
    except HFValidationError:
        raise RowError(f"{row}: not a Hub id; expected 'owner/name'") from None
    except HfHubHTTPError as error:
        raise RowError(_answered(row, error)) from None
    except (HTTPError, OSError, ValueError) as error:
        raise RowError(f"{row}: the download broke off ({type(error).__name__}); expected whole files") from None


def _answered(row: str, error: "HfHubHTTPError") -> str:
    status = error.response.status_code
    hint = " (if HF_TOKEN is set, check that it is valid and may read this)" if status in (401, 403) else ""
    return f"{row}: the Hub answered {status}; expected the repository{hint}"


def _left_pickled(checkpoint: Checkpoint, folder: Path) -> bool:
    """Whether there are weights on the Hub, but only as pickles, which were therefore not downloaded."""
    from huggingface_hub import get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    try:
        listed = get_cached_repo_tree(checkpoint.place, revision=folder.name)
    except CachedRepoTreeNotFoundError:
        return False
    return not any(folder.glob("*.safetensors")) and any(fnmatch(file.path, "pytorch_model*.bin") for file in listed)


def state(checkpoint: Checkpoint) -> str | None:
    return checkpoint.revision if checkpoint.revision and COMMIT.fullmatch(checkpoint.revision) else None


SOURCE = Source(
    key="hub", describes="A repository on the Hugging Face Hub, owner/name.", is_path=False, open=open_files, state=state, reach=reach
)
