"""A local folder in the Hub's layout."""

from pathlib import Path

from generator.contracts import Checkpoint, Files, Source
from generator.files import FolderFiles
from generator.fingerprint import of_folder
from generator.pickled import PickledFiles


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:  # noqa: ARG001 (a folder is never out of reach)
    return (PickledFiles if checkpoint.pickle else FolderFiles)(Path(checkpoint.place), checkpoint.id)


def state(checkpoint: Checkpoint) -> str:
    return of_folder(Path(checkpoint.place))


SOURCE = Source(
    key="folder", describes="A local folder in the Hub's layout, relative to this file.", is_path=True, open=open_files, state=state
)
