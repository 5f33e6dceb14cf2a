"""A local folder in the Hub's layout."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Checkpoint, Files, Source


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:  # noqa: ARG001 (a folder is never out of reach)
    return FolderFiles(Path(checkpoint.place), checkpoint.id, checkpoint.pickle)


def state(checkpoint: Checkpoint, digest: Callable[[Path], str]) -> str | None:
    folder = Path(checkpoint.place)
    with suppress(OSError):  # Of what may not be read; whoever opens the folder says so, if it is needed.
        files = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
        return ";".join(f"{path.name} {digest(path)}" for path in files)
    return None


SOURCE = Source(
    key="folder", describes="A local folder in the Hub's layout, relative to this file.", is_path=True, open=open_files, state=state
)
