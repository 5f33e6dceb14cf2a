"""Suitable output folders, and the replacement of the previous site by a complete new one."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from generator.errors import RefusedError
from generator.site.write import MARKER, fresh, owned, wait_until_free, write
from tests.built import contents

FIRST = {"index.md": b"first", "data/a.json": b"{}"}
SECOND = {"index.md": b"second", "figures/x/y.svg": b"<svg/>"}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """An output folder with a site."""
    with owned(tmp_path / "out") as folder:
        write(FIRST, folder / "site")
    return tmp_path / "out"


def folders(output: Path) -> list[str]:
    return sorted(path.name for path in output.iterdir() if path.is_dir())


def fail_halfway(folder: Path) -> None:
    with fresh(folder) as new:
        (new / "index.md").write_bytes(b"half")
        raise RuntimeError("halfway")


def test_a_new_tree_replaces_the_previous_one(output: Path) -> None:
    assert contents(output / "site") == FIRST
    assert write(SECOND, output / "site")
    assert contents(output / "site") == SECOND
    assert folders(output) == ["site", "store"]
    assert (output / "site").stat().st_mode & 0o777 == 0o755  # A web server may read it.


def test_a_change_is_written_and_reported(output: Path) -> None:
    """Of nothing, of bytes, and by another file."""
    for change, is_one in (({}, False), ({"index.md": b"First"}, True), ({"more.md": b""}, True)):
        write(FIRST, output / "site")
        assert write({**FIRST, **change}, output / "site") == is_one
        assert contents(output / "site") == {**FIRST, **change}


def test_a_failure_leaves_the_previous_site_unchanged(output: Path) -> None:
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(output / "site")
    with pytest.raises(FileExistsError):
        write({"a": b"", "a/b": b""}, output / "site")
    assert contents(output / "site") == FIRST
    assert folders(output) == ["site", "store"]


def test_who_waits_for_a_build_goes_on_at_its_end(output: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        with owned(output):
            waiting = threads.submit(wait_until_free, output)
            with pytest.raises(TimeoutError):
                waiting.result(0.2)
        waiting.result()
    wait_until_free(output / "nothing")
    assert not (output / "nothing").exists()


# Ends its process where the new site would take the place of the former one.
KILLED = """
import os, sys
from pathlib import Path
from generator.site import write
rename = Path.rename
Path.rename = lambda path, to: os._exit(9) if path.name.startswith(".new-") else rename(path, to)
with write.owned(Path(sys.argv[1])) as folder:
    write.write({"index.md": b"second"}, folder / "site")
"""


def test_a_site_is_restored_if_its_build_was_killed_before_the_swap(output: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(output)], check=False, timeout=60)
    assert (done.returncode, (output / "site").exists()) == (9, False)
    with owned(output):
        assert folders(output) == ["site", "store"]
    assert contents(output / "site") == FIRST


def test_what_a_killed_build_has_not_finished_is_deleted(output: Path) -> None:
    for name in (".last-build.1-2.unfinished", "history/2023-11-14/release.json.1-2.unfinished"):
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_bytes(b"half")
    (output / "history/2023-11-14/release.json").write_bytes(b"{}")
    with owned(output):
        assert [path.name for path in output.rglob("*.unfinished")] == []
    assert (output / "history/2023-11-14/release.json").read_bytes() == b"{}"


def test_a_site_is_deleted_if_its_build_was_killed_after_the_swap(output: Path) -> None:
    write(SECOND, output / ".former-site")
    with owned(output):
        assert folders(output) == ["site", "store"]
    assert contents(output / "site") == FIRST


def test_the_previous_site_is_restored_if_it_cannot_be_replaced(output: Path) -> None:
    with pytest.raises(FileNotFoundError), fresh(output / "site") as new:
        new.rmdir()
    assert contents(output / "site") == FIRST


@pytest.mark.parametrize("n_written", [0, 1])
def test_a_build_that_is_killed_while_it_marks_its_folder_can_be_repeated(
    n_written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def write_text(path: Path, _: str, encoding: str) -> None:
        if len(written) == n_written:
            raise KeyboardInterrupt
        path.write_bytes(encoding.encode())
        written.append(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", write_text)
        with pytest.raises(KeyboardInterrupt), owned(tmp_path / "out"):
            pass
    with owned(tmp_path / "out") as folder:
        assert folders(folder) == ["store"]


def test_a_second_build_in_the_same_folder_is_refused(output: Path) -> None:
    running = "another build is running there; expected none"
    with owned(output), pytest.raises(RefusedError, match=running), owned(output):
        pass
    assert contents(output / "site") == FIRST


def test_a_refused_build_does_not_delete_files_of_the_running_one(output: Path) -> None:
    with FileLock(output / ".lock"):
        write(SECOND, output / ".new-site-abc")
        with pytest.raises(RefusedError), owned(output):
            pass
        assert contents(output / ".new-site-abc") == SECOND


def test_a_failed_build_releases_the_lock(output: Path) -> None:
    with pytest.raises(RuntimeError, match="halfway"), owned(output) as folder:
        fail_halfway(folder / "site")
    with owned(output) as folder:
        assert contents(folder / "site") == FIRST


@pytest.mark.parametrize("name", ["new", "new/below/new", "empty"])
def test_a_new_or_empty_folder_is_suitable(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with owned(tmp_path / name) as folder:
        assert (folder / MARKER).is_file()


# Paths that no build may write to, relative to "home/work/here" in a temporary folder, with the
# beginning of the message.
OURS = "the working folder, one above it, or home"
UNSUITABLE: dict[str, tuple[str, str]] = {
    "the root": ("/", OURS),
    "the working folder": (".", OURS),
    "the one above": ("..", OURS),
    "the working folder by another name": ("../here/../here", OURS),
    "home": ("~", OURS),
    "a link to home": ("../to-home", OURS),
    "a repository": ("../repository", "another project"),
    "a project": ("../project", "another project"),
    "another's folder": ("../other", "has files that no build made"),
    "a folder with a hidden file": ("../hidden", "has files that no build made"),
    "one with a link for its site": ("../linked", "has a link where a build puts a folder"),
    "a file": ("../file", "not a folder"),
    "below a file": ("../file/out", "Not a directory"),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary folder with the paths of UNSUITABLE; home is its folder "home"."""
    for name in (
        "work/repository/.git/HEAD",
        "work/project/pyproject.toml",
        "work/other/thesis.tex",
        "work/hidden/.keep",
        "work/file",
    ):
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("not ours", encoding="utf-8")
    (tmp_path / "home/work/here").mkdir()
    (tmp_path / "home/work/linked").mkdir()
    (tmp_path / "home/work/linked/site").symlink_to(tmp_path / "home/work/here")
    (tmp_path / "home/work/to-home").symlink_to(tmp_path / "home")
    (tmp_path / "link").symlink_to(tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home/work/here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize(("path", "message"), UNSUITABLE.values(), ids=UNSUITABLE)
def test_an_unsuitable_path_is_refused_unchanged(path: str, message: str, world: Path) -> None:
    before, told = contents(world), f"^{path}: {message}; expected".replace("~", "/.*/home")
    with pytest.raises(RefusedError, match=told), owned(Path(path).expanduser()):
        pass
    assert contents(world) == before


def test_home_is_refused_if_it_is_a_link(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world / "link"))
    monkeypatch.chdir("/")
    with pytest.raises(RefusedError, match="or home"), owned(world / "home"):
        pass


def test_a_user_without_a_home_can_build(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    with owned(world / "home/work/new") as folder:
        assert folder.is_dir()


def test_this_repository_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedError, match="another project"), owned(Path(__file__).parents[2]):
        pass


def test_folders_and_pipes_there_do_not_matter(output: Path) -> None:
    (output / "other").mkdir()
    os.mkfifo(output / "pipe")
    with owned(output) as folder:
        write(SECOND, folder / "site")
    assert contents(output / "site") == SECOND
