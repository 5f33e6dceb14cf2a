"""Changes of checkpoints.yml that keep its comments, its order and its layout."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent

from filelock import FileLock, Timeout
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from generator.cache import blobs
from generator.checkpoints.list_file import read_rows, read_text
from generator.errors import RefusedError

KEY, REVISION, REVISIONS = "hub", "revision", "revisions"
TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s#,]+")


@contextmanager
def locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """No other command changes the list at ``path`` during the block, which waits for one that
    does. on_wait: called before it waits

    errors: RefusedError without such a list, or where its folder cannot be written to
    """
    read_text(path)
    place = path.resolve()
    lock = FileLock(place.with_name(f".{place.name}.lock"), mode=0o666)  # Whoever may write there.
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_wait()
        lock.acquire()
    except OSError as error:
        found = error.strerror or error
        raise RefusedError(
            f"{path}: {found}; expected a list in a folder that can be written to"
        ) from None
    try:
        blobs.clear(place.parent, place.name)
        yield
    finally:
        lock.release()


def append(path: Path, text: str) -> None:
    """Append rows and comments to the list at ``path``: lines that begin where a row does.

    errors: RefusedError for a list in flow style; OSError
    """
    before, rows = read_text(path), read_rows(path)
    _require_lines(path, rows)
    end = "" if before.endswith("\n") else "\n"
    margin = " " * (rows.lc.item(len(rows) - 1)[1] - 2)
    _write(path, f"{before}{end}{indent(text, margin)}")


def add(path: Path, name: str, commit: str) -> None:
    """Append the Hub repository ``name`` at ``commit`` to the list at ``path``.

    errors: as ``append``
    """
    append(path, f"- {KEY}: {name}\n  {REVISION}: {commit}\n")


def pin(path: Path, commits: Mapping[int, str]) -> None:
    """Give the rows of the list at ``path`` these commits, by index.

    errors: RefusedError for rows in flow style; OSError
    """
    lines, rows = read_text(path).splitlines(keepends=True), read_rows(path)
    _require_lines(path, rows)
    # From the end: lines that come in between do not move those above.
    for index in sorted(commits, reverse=True):
        _pin(path, lines, rows, index, commits[index])
    _write(path, "".join(lines))


def _pin(path: Path, lines: list[str], rows: CommentedSeq, index: int, commit: str) -> None:
    row, (line, column) = rows[index], rows.lc.item(index)
    if not isinstance(row, CommentedMap):
        lines[line] = f"{lines[line][:column]}{KEY}: {lines[line][column:]}"
        lines.insert(line + 1, f"{' ' * column}{REVISION}: {commit}\n")
        return
    _require_lines(path, row)
    if REVISION in row:
        line, column = row.lc.value(REVISION)
        lines[line] = lines[line][:column] + TOKEN.sub(commit, lines[line][column:], count=1)
    else:
        line, column = row.lc.key(KEY)
        lines.insert(line + 1, f"{' ' * column}{REVISION}: {commit}\n")


def _require_lines(path: Path, node: CommentedSeq | CommentedMap) -> None:
    if node.fa.flow_style():
        raise RefusedError(
            f"{path}:{node.lc.line + 1}: found a list or a row within brackets; expected one line"
            " for each value"
        )


def _write(path: Path, text: str) -> None:
    """Replace the file in one step, and no link to it."""
    blobs.write(path.resolve(), [text.encode()])
