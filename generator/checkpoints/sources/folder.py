"""A local folder in the Hub's layout, or one local file of weights; with * in its path, the folders of training runs."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from generator.checkpoints import series
from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.slugs import slugify
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


def members(checkpoint: Checkpoint, offline: bool) -> Sequence[Checkpoint]:  # noqa: ARG001 (a folder is always reachable)
    """The folders that a pattern matches, run by run: a run is all that differs in the last part of the pattern with a *.

    errors: RowError where none matches, or their names do not give the steps
    """
    pattern = Path(checkpoint.place)
    if series.ANY not in checkpoint.id or pattern.exists():
        return (checkpoint,)
    marked = [index for index, part in enumerate(pattern.parts) if series.ANY in part]
    root, below = Path(*pattern.parts[: marked[0]]), "/".join(pattern.parts[marked[0] :])
    runs: dict[tuple[str, ...], dict[str, Path]] = {}
    for found in sorted(path for path in root.glob(below) if path.is_dir()):
        parts = found.relative_to(root).parts
        last = len(parts) - (len(pattern.parts) - marked[-1])
        runs.setdefault(parts[:last], {})["/".join(parts[last:])] = found
    if not runs:
        raise RowError(f"{checkpoint.id}: no folder matches; expected the folders of checkpoints, such as runs/*/checkpoint-*")
    start, rows, slugs = checkpoint.id.split(series.ANY)[0].rpartition("/")[0], list[Checkpoint](), list[str]()
    for names, folders in runs.items():
        single, name = len(runs) == 1, "/".join(names)
        slugs.append(
            series.distinct(checkpoint.slug if single else f"{checkpoint.slug}--{slugify(name)}", slugs)
        )  # No slug of a row has two hyphens.
        title = checkpoint.title if single else f"{checkpoint.title} · {name}"
        named = {step: {"place": str(path), "id": "/".join(filter(None, (start, *names, step)))} for step, path in folders.items()}
        rows += series.members(checkpoint, (slugs[-1], title), named, "/".join(filter(None, (start, *names))))
    return rows


SOURCE = Source(
    key="folder",
    describes="A local folder in the Hub's layout, or one file of weights, relative to this file; with *, the checkpoints of training runs.",
    example="path/to/a/checkpoint",
    is_path=True,
    open=open_files,
    state=state,
    members=members,
)
