"""The numbers of a training run, kept from an earlier evaluation of its checkpoints."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from typing_extensions import override

from generator.contracts import Call, Checkpoint, Digest, Files, Run, Source
from generator.errors import RowError


class RunSource(Source):
    """Files of training runs, which hold numbers and no checkpoint."""

    key = "run"
    after = "hub"
    describes = (
        "A file with the numbers of a training run, as an atlas publishes it in data/runs/,"
        " relative to this file."
    )
    example = "path/to/run.json"
    is_path = True
    has_runs = True

    @override
    def open(self, checkpoint: Checkpoint, offline: bool) -> Files:
        """Nothing: the file holds numbers and no checkpoint.

        errors: RowError, always
        """
        raise RowError(f"{checkpoint.id}: numbers of a training run; expected a checkpoint")

    @override
    def state(self, checkpoint: Checkpoint, digest: Digest, calls: Sequence[Call]) -> str | None:
        """Digest of the file; None if it is unreadable."""
        with suppress(OSError):  # Reported when the row is opened.
            return digest(Path(checkpoint.place))
        return None

    @override
    def run(self, checkpoint: Checkpoint) -> Run:
        """The run that the file has.

        errors: RowError
        """
        # It needs pydantic, whose import takes longer than that of all sources.
        from generator.checkpoints import run_file

        return run_file.read(Path(checkpoint.place), checkpoint.id)


SOURCE = RunSource()
