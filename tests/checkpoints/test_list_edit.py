"""Changes of the list keep all that a person wrote in it."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from filelock import FileLock

from generator.checkpoints import list_edit, list_file
from generator.errors import RefusedError
from generator.reading.plan import all_sources

OLD, NEW = "a" * 40, "b" * 40
LIST = f"""\
# What we watch.
checkpoints:
  - google-bert/bert-base-uncased   # the classic
  - hub: openai-community/gpt2      # still read
    title: GPT-2

  - hub: 'EleutherAI/pythia-70m'
    revision: {OLD}  # pinned in spring
    notes: >-
      Two lines
      of notes.
  - folder: .
"""
PINNED = f"""\
# What we watch.
checkpoints:
  - hub: google-bert/bert-base-uncased   # the classic
    revision: {NEW}
  - hub: openai-community/gpt2      # still read
    revision: {NEW}
    title: GPT-2

  - hub: 'EleutherAI/pythia-70m'
    revision: {NEW}  # pinned in spring
    notes: >-
      Two lines
      of notes.
  - folder: .
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "checkpoints.yml"
    place.write_text(LIST, encoding="utf-8")
    return place


def test_pins_change_one_line_each_and_nothing_else(path: Path) -> None:
    list_edit.pin(path, {})
    assert path.read_text(encoding="utf-8") == LIST
    list_edit.pin(path, {0: NEW, 1: NEW, 2: NEW})
    assert path.read_text(encoding="utf-8") == PINNED


@pytest.mark.parametrize("end", ["", "\n", "\n# The end.\n"])
def test_a_row_is_added_at_the_end(path: Path, end: str) -> None:
    path.write_text(LIST.rstrip("\n") + end, encoding="utf-8")
    list_edit.add(path, "owner/name", NEW)
    rows = {row.id: row.revision for row in list_file.load(path, all_sources())}
    assert rows["owner/name"] == NEW
    assert len(rows) == 5
    assert path.read_text(encoding="utf-8").startswith(LIST.rstrip("\n"))


@pytest.mark.parametrize(
    "text",
    ['{"checkpoints": ["a/b"]}', "checkpoints: [a/b]\n", "checkpoints:\n  - {hub: a/b}\n"],
)
def test_a_list_or_row_within_brackets_is_refused_and_left_alone(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RefusedError, match="expected one line for each value"):
        list_edit.add(path, "owner/name", NEW) if "[" in text else list_edit.pin(path, {0: NEW})
    assert path.read_text(encoding="utf-8") == text


def test_what_changes_a_list_at_once_waits_and_nothing_is_lost(path: Path) -> None:
    link = path.with_name("link.yml")
    link.symlink_to(path.name)
    names, waited, start = [f"owner/name-{n}" for n in range(6)], list[str](), Barrier(6)

    def add(name: str) -> None:
        start.wait()
        place = link if name[-1] in "024" else path
        with list_edit.locked(place, lambda: waited.append(name)):
            list_edit.add(place, name, NEW)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(add, names))
    assert {row.id for row in list_file.load(path, all_sources())} >= {*names}
    assert waited
    assert link.is_symlink()


def test_a_list_keeps_its_permissions_and_is_whole_if_the_disk_is_full(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.chmod(0o640)
    list_edit.pin(path, {0: NEW, 1: NEW, 2: NEW})
    assert path.stat().st_mode & 0o777 == 0o640

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        list_edit.add(path, "owner/name", NEW)
    assert path.read_text(encoding="utf-8") == PINNED
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_what_a_killed_command_left_of_a_list_is_deleted(path: Path) -> None:
    mine, other = (path.with_name(f"{name}.1-2.unfinished") for name in (path.name, "other"))
    for unfinished in (mine, other):
        unfinished.write_bytes(b"half")
    with list_edit.locked(path, pytest.fail):
        assert (mine.exists(), other.exists()) == (False, True)


def test_a_list_that_is_not_there_is_not_locked(path: Path) -> None:
    with (
        pytest.raises(RefusedError, match=r"absent\.yml: cannot be read"),
        list_edit.locked(path.with_name("absent.yml"), pytest.fail),
    ):
        pass
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_list_in_a_folder_that_is_only_read_is_named_and_not_its_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: FileLock, timeout: float | None = None) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), self.lock_file)

    monkeypatch.setattr(FileLock, "acquire", refused)
    said = rf"{path.name}: Read-only file system; expected a list in a folder"
    with pytest.raises(RefusedError, match=said), list_edit.locked(path, pytest.fail):
        pass
