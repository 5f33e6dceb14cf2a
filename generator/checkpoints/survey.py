"""Folders of runs looked through by the names in them, for what rows of a list may name."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from generator.checkpoints import series
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.unread_folders import unread_folder
from generator.checkpoints.files.weights import CONFIG, checkpoints_in, files
from generator.checkpoints.list_row import FORBIDDEN
from generator.errors import MOST_DEPTH, MOST_FOLDERS, RowError

MOST_CHECKPOINTS = 5_000
ENVIRONMENT = "pyvenv.cfg"  # In the folder of an environment of Python.
BLOBS = ("blobs", "snapshots")  # In a repository of the Hub's cache, the files and links to them.
LINK = "a link, which is not followed"
ODD_NAME = "its name has control or direction marks, or is not UTF-8"
TOO_DEEP = f"more than {MOST_DEPTH} levels down, which is not looked at"


@dataclass
class Survey:
    """What lies in a folder.

    found: paths of folders and files that a row may name, as parts below ``top``, in order
    left_out: reasons by path below ``top``; is_whole: whether all folders were looked at
    """

    top: Path
    found: list[tuple[str, ...]] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True


@dataclass(frozen=True)
class _Visit:
    """A folder that is to be looked at.

    is_within: whether it lies in that of a model, where only steps of its training are checkpoints
    """

    parts: tuple[str, ...] = ()
    is_within: bool = False

    @property
    def is_step(self) -> bool:
        """Whether it lies in the folder of a step."""
        return series.step_part(self.parts) is not None


def survey(top: Path) -> Survey:
    """What lies in the folder ``top``, at most MOST_DEPTH levels down, or the file ``top``.

    Links are not followed, hidden folders and environments of Python not looked at. No file is
    opened but some of those without a known name, for their first bytes.

    errors: OSError where ``top`` cannot be read
    """
    seen = Survey(top)
    if top.is_file():
        seen.found.append(())
        return seen
    next(top.iterdir(), None)  # An error of the user's own folder is not one of many.
    waiting, n_folders = [_Visit()], 0
    while waiting:
        if n_folders == MOST_FOLDERS or len(seen.found) > MOST_CHECKPOINTS:
            seen.is_whole = False
            break
        n_folders += 1
        waiting += reversed(_look_at(seen, waiting.pop()))
    return seen


def _look_at(seen: Survey, visit: _Visit) -> list[_Visit]:
    """Note what the folder of ``visit`` holds; the folders in it that are to be looked at."""
    folder, written = seen.top.joinpath(*visit.parts), "/".join(visit.parts) or "."
    storage = Folder(folder, written)
    try:
        children = list(_children(seen, visit))
        names = checkpoints_in(storage, written)
        is_layout = unread_folder(storage, written) is not None
        is_model = names == [""] and storage.has(CONFIG) and bool(files(storage, written))
    except OSError as error:
        seen.left_out[written] = f"cannot be read ({error.strerror})"
        return []
    except RowError as error:
        seen.left_out[written] = str(error).removeprefix(f"{written}: ")
        return []
    if not visit.is_within or visit.is_step:
        for name in names:
            parts = (*visit.parts, *filter(None, (name,)))
            if FORBIDDEN.search(name):
                seen.left_out["/".join(parts)] = ODD_NAME
            else:
                seen.found.append(parts)
        if names == [""] and visit.is_step:
            return []
    if is_layout and not any(_is_layout(seen.top.joinpath(*child)) for child in children):
        return []  # They hold its parts.
    return [_Visit(child, visit.is_within or is_model) for child in children]


def _is_layout(folder: Path) -> bool:
    with suppress(OSError, RowError):  # Reported when it is looked at.
        return unread_folder(Folder(folder, folder.name), folder.name) is not None
    return False


def _children(seen: Survey, visit: _Visit) -> Iterator[tuple[str, ...]]:
    """Parts of the folders in that of ``visit`` that are to be looked at, in the order of their
    names.

    errors: OSError
    """
    folder = seen.top.joinpath(*visit.parts)
    entries = sorted(folder.iterdir(), key=lambda path: path.name)
    names = {path.name for path in entries}
    if ENVIRONMENT in names:
        return
    for path in entries:
        parts = (*visit.parts, path.name)
        written = "/".join(parts)
        if path.name.startswith(".") or not path.is_dir():
            continue
        if path.name == BLOBS[0] and BLOBS[1] in names:
            continue
        if path.is_symlink():
            seen.left_out[written] = LINK
        elif FORBIDDEN.search(path.name):
            seen.left_out[written] = ODD_NAME
        elif len(parts) > MOST_DEPTH:
            seen.left_out[written] = TOO_DEEP
        else:
            yield parts
