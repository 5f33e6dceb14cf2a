"""A local folder in the Hub's layout."""

from pathlib import Path

from generator.contracts import Checkpoint, Files, Source
from generator.fingerprint import of_folder
from generator.pickled import open_folder


def open_files(checkpoint: Checkpoint, offline: bool) -> Files:  # noqa: ARG001 (a folder is never out of reach)
    return open_folder(Path(checkpoint.place), checkpoint.id, checkpoint.pickle)


def state(checkpoint: Checkpoint) -> str:
    return of_folder(Path(checkpoint.place))


SOURCE = Source(
    key="folder", describes="A local folder in the Hub's layout, relative to this file.", is_path=True, open=open_files, state=state
)
