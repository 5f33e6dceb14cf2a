"""A local folder in the Hub's layout, or one local file of weights."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import Checkpoint, Files, Source
from generator.errors import RowError

BESIDE_A_FILE = ("*.json", "*.txt")  # Other files of its folder belong to other models.


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:  # noqa: ARG001 (a folder is always reachable)
    """The files of a row.

    errors: RowError
    """
    path, choice = Path(checkpoint.place), Choice(checkpoint.pickle, checkpoint.weights)
    if not path.is_file() or checkpoint.weights:
        return FolderFiles(path, checkpoint.id, choice, config=checkpoint.config)
    storage = Folder(path.parent, checkpoint.id, named=path.name)
    return FolderFiles(storage, checkpoint.id, Choice(checkpoint.pickle, path.name), config=checkpoint.config)


def state(checkpoint: Checkpoint, digest: Callable[[Path], str]) -> str | None:
    """Names and digests of all files of a row; None if one of them is unreadable."""
    path = Path(checkpoint.place)
    with suppress(OSError, RowError):  # An unreadable file, which is reported when the row is opened.
        is_file = path.is_file()
        storage = Folder(path.parent if is_file else path, checkpoint.id, named=path.name if is_file else "")
        name = path.name if is_file else checkpoint.weights
        patterns = BESIDE_A_FILE if is_file else ("*",)
        beside = {name for pattern in patterns for name in storage.matching(pattern) if (storage.folder / name).is_file()}
        of_weights = {name for name in weights.files(storage, checkpoint.id, name) if (is_file or "/" in name) and storage.path(name)}
        return ";".join(f"{name} {digest(storage.folder / name)}" for name in sorted(beside | of_weights))
    return None


SOURCE = Source(
    key="folder",
    describes="A local folder in the Hub's layout, or one file of weights, relative to this file.",
    is_path=True,
    open=open_files,
    state=state,
)
