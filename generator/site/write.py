"""The only writing of a site: whole folders are made beside the old ones and take their place at the end."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock, Timeout

from generator.contracts import Tree
from generator.errors import RefusedError

MARKER, STORE_MARKER = ".position-atlas", "store/position-atlas"  # The second stays where only what shows, or only the store, is kept.
OLD = ".former-"
SWAPPED = ("docs", "site")
OURS = frozenset({*SWAPPED, "store"})


@contextmanager
def owned(output: Path) -> Iterator[Path]:
    """``output``, made if need be, ours alone until the end.

    errors: RefusedError when it is a place that no build should write to, holds what is not ours, or another run has it
    """
    problem = _unsuitable(output)
    if problem:
        raise RefusedError(f"{output}: {problem}; expected a new or empty folder, or one made by an earlier build")
    try:
        _mark(output)
    except OSError as error:
        raise RefusedError(f"{output}: {error.strerror}; expected a folder that can be written to") from None
    lock = FileLock(output / ".lock")
    try:
        with lock.acquire(timeout=0):
            _recover(output)
            yield output
            _mark(output)  # Somebody may have removed it meanwhile.
    except Timeout:
        raise RefusedError(f"{output}: another run is building there; expected to be alone") from None


def _mark(output: Path) -> None:
    (output / STORE_MARKER).parent.mkdir(parents=True, exist_ok=True)
    for marker in (MARKER, STORE_MARKER):
        (output / marker).write_text("Made by Position Atlas. Everything in the output folder may be replaced.\n", encoding="utf-8")


def write(tree: Tree, folder: Path) -> bool:
    """Put ``tree`` in the place of ``folder``, all at once; whether that changed anything."""
    former = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    changed = former != set(tree)
    with fresh(folder) as new:
        for path in tree:
            content = tree[path]
            changed = changed or (folder / path).read_bytes() != content
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(content)
    return changed


@contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """An empty folder that takes the place of ``folder`` when the block ends well, and vanishes when it does not."""
    new = Path(mkdtemp(prefix=f".new-{folder.name}-", dir=folder.parent))
    new.chmod(0o755)
    former = folder.with_name(OLD + folder.name)
    try:
        yield new
        if folder.exists():
            folder.rename(former)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        if folder.exists():
            shutil.rmtree(former, ignore_errors=True)


def _recover(output: Path) -> None:
    """Clear up after a run that was killed: the former folder returns if its successor never came."""
    for former in output.glob(f"{OLD}*"):
        place = output / former.name.removeprefix(OLD)
        if place.exists():
            shutil.rmtree(former)
        else:
            former.rename(place)
    for unfinished in output.glob(".new-*"):
        shutil.rmtree(unfinished)


def _home() -> tuple[Path, ...]:
    try:
        return (Path.home().resolve(),)
    except RuntimeError:  # A user without a home, as in a container.
        return ()


def _unsuitable(output: Path) -> str | None:
    try:
        place = output.resolve()
    except RuntimeError:
        return "a link that leads to itself"
    if place in (*_home(), Path.cwd().resolve(), *Path.cwd().resolve().parents):
        return "the working folder, one above it, or home"
    if (place / ".git").exists() or (place / "pyproject.toml").exists():
        return "a project of its own"
    if place.exists() and not place.is_dir():
        return "not a folder"
    if any((place / name).is_symlink() for name in SWAPPED):
        return "holds a link where a build puts a folder of its own"
    return None if _is_ours(place) else "holds files that no build of ours made"


def _is_ours(place: Path) -> bool:
    names = {path.name for path in place.iterdir()} if place.is_dir() else set()
    return not names or MARKER in names or (names <= OURS and (place / STORE_MARKER).is_file())


def measured(folder: Path) -> list[int]:
    """How many files a folder holds, and how many bytes they are."""
    sizes = [os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names]  # noqa: PTH118 (a Path for each costs as much again)
    return [len(sizes), sum(sizes)]
