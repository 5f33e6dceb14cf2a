"""A local folder in the Hub's layout."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Checkpoint, Files, Source
from generator.errors import RowError


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:  # noqa: ARG001 (a folder is never out of reach)
    return FolderFiles(Path(checkpoint.place), checkpoint.id, checkpoint.pickle)


def state(checkpoint: Checkpoint, digest: Callable[[Path], str]) -> str | None:
    storage = Folder(Path(checkpoint.place), checkpoint.id)
    with suppress(OSError, RowError):  # Of what may not be read; whoever opens the folder says so, if it is needed.
        beside = [name for name in storage.matching("*") if (storage.folder / name).is_file()]
        below = [name for name in weights.files(storage, checkpoint.id) if "/" in name and storage.path(name)]
        return ";".join(f"{name} {digest(storage.folder / name)}" for name in sorted([*beside, *below]))
    return None


SOURCE = Source(
    key="folder", describes="A local folder in the Hub's layout, relative to this file.", is_path=True, open=open_files, state=state
)
