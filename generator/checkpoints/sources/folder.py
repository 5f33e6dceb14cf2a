"""A local folder in the Hub's layout, or one local file of weights; with * in its path, the folders
of training runs.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from typing_extensions import override

from generator.checkpoints import series
from generator.checkpoints.files import pipelines
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles, existing
from generator.checkpoints.files.recorded_folder import RecordedFolder, current_digests, digest_of
from generator.checkpoints.files.weights import (
    Choice,
    Weights,
    allowed,
    refused,
    suffixes,
)
from generator.contracts import Call, Checkpoint, Digest, Files, Source
from generator.errors import RowError
from generator.text import slugify


def refused_weights(checkpoint: Checkpoint) -> Weights | None:
    """The weights of a row that has them only in formats that it does not allow; None for any
    other. Opens none.

    errors: RowError
    """
    return refused(_storage(checkpoint), checkpoint.id, _choice(checkpoint))


def identities(checkpoint: Checkpoint) -> frozenset[str]:
    """Paths, without links in them, of what a row names and of its file of weights: two rows that
    share one name the same, by whatever paths.
    """
    path = Path(checkpoint.place)
    names = {os.path.realpath(path)}
    with suppress(RowError, OSError):  # Reported when it is opened.
        storage, choice = _storage(checkpoint), _choice(checkpoint)
        weights = allowed(storage, checkpoint.id, choice) or refused(storage, checkpoint.id, choice)
        if weights is not None:
            folder = os.path.realpath(path.parent if _is_of_a_file(checkpoint) else path)
            names.add(f"{folder}/{weights.file.name}")
    return frozenset(names)


def _choice(checkpoint: Checkpoint) -> Choice:
    name = Path(checkpoint.place).name if _is_of_a_file(checkpoint) else checkpoint.weights
    return Choice(checkpoint.pickle, name, ("folder", checkpoint.id))


def _storage(checkpoint: Checkpoint) -> Folder:
    """errors: RowError without such a folder"""
    path = Path(checkpoint.place)
    return (
        Folder(path.parent, checkpoint.id, named=path.name)
        if _is_of_a_file(checkpoint)
        else existing(path, checkpoint.id)
    )


def _is_of_a_file(checkpoint: Checkpoint) -> bool:
    return Path(checkpoint.place).is_file() and not checkpoint.weights


class FolderSource(Source):
    """Folders and files on this machine, which are always reachable."""

    key = "folder"
    describes = (
        "A local folder in the Hub's layout, or one weights file, relative to this file. With *,"
        " the checkpoints of training runs."
    )
    example = "path/to/a/checkpoint"
    is_path = True

    @override
    def open(self, checkpoint: Checkpoint, offline: bool) -> Files:
        """The files of a row.

        errors: RowError
        """
        return FolderFiles(
            RecordedFolder(_storage(checkpoint)),
            checkpoint.id,
            _choice(checkpoint),
            config=checkpoint.config,
        )

    @override
    def state(self, checkpoint: Checkpoint, digest: Digest, calls: Sequence[Call]) -> str | None:
        """Digest of what the files of a row answer to ``calls``; None without any, and if a file is
        unreadable.
        """
        with suppress(OSError, RowError):  # Reported when the row is opened.
            return (
                digest_of(current_digests(_storage(checkpoint), calls, digest)) if calls else None
            )
        return None

    @override
    def seen(self, files: Files) -> tuple[str, tuple[Call, ...]]:
        """``state`` as an evaluation that has read ``files`` found it, and its calls."""
        digests = cast("RecordedFolder", cast("FolderFiles", files).storage).digests
        return digest_of(digests), tuple(sorted(digests, key=repr))

    @override
    def text(self, checkpoint: Checkpoint, name: str, offline: bool) -> bytes | None:
        """All of a small file; None without such a file. errors: RowError"""
        return _storage(checkpoint).read(name)

    @override
    def members(self, checkpoint: Checkpoint, offline: bool) -> Sequence[Checkpoint]:
        """The folders that a pattern matches, or files of weights where it matches no folder, run
        by run: a run is all that differs in the last part of the pattern with a *.

        errors: RowError where none matches, or their names do not give the steps
        """
        pattern = Path(checkpoint.place)
        if series.ANY not in checkpoint.id or pattern.exists():
            return (checkpoint,)
        marked = [index for index, part in enumerate(pattern.parts) if series.ANY in part]
        root, below = Path(*pattern.parts[: marked[0]]), "/".join(pattern.parts[marked[0] :])
        runs: dict[tuple[str, ...], dict[str, Path]] = {}
        matched = sorted(root.glob(below))
        folders = [path for path in matched if path.is_dir()]
        for found in folders or [path for path in matched if path.name.endswith(suffixes())]:
            parts = found.relative_to(root).parts
            last = len(parts) - (len(pattern.parts) - marked[-1])
            runs.setdefault(parts[:last], {})["/".join(parts[last:])] = found
        if not runs:
            raise RowError(
                f"{checkpoint.id}: no folder matches; expected the folders of checkpoints, such as"
                " runs/*/checkpoint-*"
            )
        start, rows, slugs = (
            checkpoint.id.split(series.ANY)[0].rpartition("/")[0],
            list[Checkpoint](),
            list[str](),
        )
        for names, places in runs.items():
            single, name = len(runs) == 1, "/".join(names)
            slugs.append(
                series.distinct(
                    checkpoint.slug if single else f"{checkpoint.slug}--{slugify(name)}", slugs
                )
            )  # No slug of a row has two hyphens.
            title = checkpoint.title if single else f"{checkpoint.title} · {name}"
            named = {
                step: {"place": str(path), "id": "/".join(filter(None, (start, *names, step)))}
                for step, path in places.items()
            }
            rows += series.members(
                checkpoint, (slugs[-1], title), named, "/".join(filter(None, (start, *names)))
            )
        return rows

    @override
    def parts(self, checkpoint: Checkpoint, offline: bool) -> Sequence[Checkpoint]:
        """The models that a pipeline of diffusers names; else the row itself. errors: RowError"""
        try:
            if Path(checkpoint.place).is_dir():
                return pipelines.parts(checkpoint, _storage(checkpoint))
        except OSError:
            pass  # Reported when the row is opened.
        return (checkpoint,)


SOURCE = FolderSource()
