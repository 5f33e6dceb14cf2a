"""A local folder in the Hub's layout."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Checkpoint, Files, Source
from generator.errors import RowError


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:  # noqa: ARG001 (a folder is always reachable)
    """The files of a row.

    errors: RowError
    """
    return FolderFiles(Path(checkpoint.place), checkpoint.id, checkpoint.pickle)


def state(checkpoint: Checkpoint, digest: Callable[[Path], str]) -> str | None:
    """Names and digests of all files of a row; None if one of them is unreadable."""
    storage = Folder(Path(checkpoint.place), checkpoint.id)
    with suppress(OSError, RowError):  # An unreadable file, which is reported when the row is opened.
        beside = [name for name in storage.matching("*") if (storage.folder / name).is_file()]
        below = [name for name in weights.files(storage, checkpoint.id) if "/" in name and storage.path(name)]
        return ";".join(f"{name} {digest(storage.folder / name)}" for name in sorted([*beside, *below]))
    return None


SOURCE = Source(
    key="folder", describes="A local folder in the Hub's layout, relative to this file.", is_path=True, open=open_files, state=state
)
