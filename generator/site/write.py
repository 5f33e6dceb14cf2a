"""The output folder: its lock and marker, and the replacement of whole folders in it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock, Timeout

from generator.cache import blobs
from generator.contracts import Tree
from generator.errors import RefusedError

# The second survives a copy without hidden files, or of the store alone.
MARKER, STORE_MARKER = ".position-atlas", "store/position-atlas"
MARKED = "Made by Position Atlas. Everything in the output folder may be replaced.\n"
OLD, LOCK = ".former-", ".lock"
SWAPPED = ("docs", "site")
OUTPUT_NAMES = frozenset({*SWAPPED, "store", "history"})


@contextmanager
def owned(output: Path) -> Iterator[Path]:
    """``output``, created if it is missing, and locked for the block.

    errors: RefusedError for a path that no build may write to or that cannot be written to, a
        folder with foreign files, or one that another build has locked
    """
    problem = _unsuitable(output)
    if problem:
        raise RefusedError(
            f"{output}: {problem}; expected a new or empty folder, or one made by an earlier build"
        )
    try:
        _mark(output)
    except OSError as error:
        raise RefusedError(
            f"{output}: {error.strerror}; expected a folder that can be written to"
        ) from None
    lock = FileLock(output / LOCK)
    try:
        with lock.acquire(timeout=0):
            _recover(output)
            yield output
            _mark(output)  # Another program, or the limit of the store, may have removed a marker.
    except Timeout:
        raise RefusedError(f"{output}: another build is running there; expected none") from None


def wait_until_free(output: Path) -> None:
    """Wait for the end of a build in ``output``, where one is running."""
    with suppress(OSError):  # The next build says what is wrong.
        if (output / LOCK).exists():
            with FileLock(output / LOCK):
                pass


def _mark(output: Path) -> None:
    # The first before the folder of the second: what is killed in between stays ours.
    for marker in (MARKER, STORE_MARKER):
        (output / marker).parent.mkdir(parents=True, exist_ok=True)
        (output / marker).write_text(MARKED, encoding="utf-8")


def write(tree: Tree, folder: Path) -> bool:
    """Replace ``folder`` by ``tree`` in one step; returns whether any file changed."""
    previous = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    changed = previous != set(tree)
    with fresh(folder) as new:
        for path in tree:
            content = tree[path]
            changed = changed or (folder / path).read_bytes() != content
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(content)
    return changed


@contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """An empty folder, which replaces ``folder`` at the end of the block. Between two renames there
    is neither; what ends the program there, the next build mends.

    If that fails or the block raises, ``folder`` stays as it was.
    """
    new = Path(mkdtemp(prefix=f".new-{folder.name}-", dir=folder.parent))
    new.chmod(0o755)
    try:
        yield new
        if folder.exists():
            folder.rename(folder.with_name(OLD + folder.name))
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        _settle(folder)


def _settle(folder: Path) -> None:
    """End a replacement of ``folder``: delete what it held before, or restore that where nothing
    has replaced it.
    """
    previous = folder.with_name(OLD + folder.name)
    if folder.exists():
        shutil.rmtree(previous, ignore_errors=True)
    elif previous.exists():
        previous.rename(folder)


def _recover(output: Path) -> None:
    """Clean up after a build that was killed: end its replacements, and delete what it has not
    finished.
    """
    for name in SWAPPED:
        _settle(output / name)
    for unfinished in output.glob(".new-*"):
        shutil.rmtree(unfinished)
    for folder in (output, *output.glob("history/*")):
        blobs.clear(folder)


def _home() -> tuple[Path, ...]:
    try:
        return (Path.home().resolve(),)
    except RuntimeError:  # A user without a home, as in a container.
        return ()


def _unsuitable(output: Path) -> str | None:
    """Why no build may write to ``output``; None where it may."""
    try:
        path = output.resolve()
    except RuntimeError:
        return "a link that leads to itself"
    if path in (*_home(), Path.cwd().resolve(), *Path.cwd().resolve().parents):
        return "the working folder, one above it, or home"
    if (path / ".git").exists() or (path / "pyproject.toml").exists():
        return "another project"
    if path.exists() and not path.is_dir():
        return "not a folder"
    if any((path / name).is_symlink() for name in SWAPPED):
        return "has a link where a build puts a folder"
    return None if _is_output(path) else "has files that no build made"


def _is_output(folder: Path) -> bool:
    """Whether ``folder`` is missing, empty, or the output of an earlier build."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    return (
        not names
        or MARKER in names
        or (names <= OUTPUT_NAMES and (folder / STORE_MARKER).is_file())
    )


def files(folder: Path) -> Iterator[str]:
    """The path of every file below ``folder``."""
    join = os.path.join  # Path objects would double the time.
    return (join(at, name) for at, _, names in os.walk(folder) for name in names)
