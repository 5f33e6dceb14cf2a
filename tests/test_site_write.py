"""Where a site may be written, and that the former one stands until the new one is whole."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from generator.errors import RefusedError
from generator.site.write import MARKER, fresh, owned, write
from tests.built import contents

FIRST = {"index.md": b"first", "data/a.json": b"{}"}
SECOND = {"index.md": b"second", "figures/x/y.svg": b"<svg/>"}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A folder of ours with a site in it."""
    with owned(tmp_path / "out") as folder:
        write(FIRST, folder / "site")
    return tmp_path / "out"


def folders(output: Path) -> list[str]:
    return sorted(path.name for path in output.iterdir() if path.is_dir())


def fail_halfway(folder: Path) -> None:
    with fresh(folder) as new:
        (new / "index.md").write_bytes(b"half")
        raise RuntimeError("halfway")


def test_a_tree_is_written_as_it_is(output: Path) -> None:
    assert contents(output / "site") == FIRST


def test_a_new_tree_takes_the_place_of_the_former(output: Path) -> None:
    assert write(SECOND, output / "site")
    assert contents(output / "site") == SECOND
    assert folders(output) == ["site", "store"]


def test_the_same_tree_is_no_change(output: Path) -> None:
    assert not write(FIRST, output / "site")
    assert contents(output / "site") == FIRST


@pytest.mark.parametrize("change", [{"index.md": b"First"}, {"more.md": b""}], ids=["other bytes", "another file"])
def test_any_change_is_written(change: dict[str, bytes], output: Path) -> None:
    assert write({**FIRST, **change}, output / "site")
    assert contents(output / "site") == {**FIRST, **change}


def test_what_is_no_longer_in_the_tree_is_gone(output: Path) -> None:
    write({"index.md": b"first"}, output / "site")
    assert contents(output / "site") == {"index.md": b"first"}


def test_the_former_site_stands_when_its_successor_fails_halfway(output: Path) -> None:
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(output / "site")
    assert contents(output / "site") == FIRST
    assert folders(output) == ["site", "store"]


def test_the_former_site_stands_when_a_file_cannot_be_written(output: Path) -> None:
    with pytest.raises(FileExistsError):
        write({"a": b"", "a/b": b""}, output / "site")
    assert contents(output / "site") == FIRST
    assert folders(output) == ["site", "store"]


def test_readers_of_a_web_server_may_read_the_folder(output: Path) -> None:
    assert (output / "site").stat().st_mode & 0o777 == 0o755


def test_a_run_killed_while_it_wrote_leaves_nothing_behind(output: Path) -> None:
    write(SECOND, output / ".new-site-abc")
    with owned(output):
        assert folders(output) == ["site", "store"]
    assert contents(output / "site") == FIRST


def test_a_run_killed_between_two_renames_gets_its_former_site_back(output: Path) -> None:
    (output / "site").rename(output / ".former-site")
    write(SECOND, output / ".new-site-abc")
    with owned(output):
        assert folders(output) == ["site", "store"]
    assert contents(output / "site") == FIRST


def test_a_run_killed_before_it_cleared_up_keeps_its_new_site(output: Path) -> None:
    write(SECOND, output / ".former-site")
    with owned(output):
        assert folders(output) == ["site", "store"]
    assert contents(output / "site") == FIRST


def test_a_second_run_is_refused_while_the_first_goes_on(output: Path) -> None:
    with owned(output), pytest.raises(RefusedError, match="another run is building there; expected to be alone"), owned(output):
        pass
    assert contents(output / "site") == FIRST


def test_a_run_refused_for_another_leaves_that_ones_work_alone(output: Path) -> None:
    with FileLock(output / ".lock"):
        write(SECOND, output / ".new-site-abc")
        with pytest.raises(RefusedError), owned(output):
            pass
        assert contents(output / ".new-site-abc") == SECOND


def test_a_run_that_failed_lets_the_next_one_in(output: Path) -> None:
    with pytest.raises(RuntimeError, match="halfway"), owned(output) as folder:
        fail_halfway(folder / "site")
    with owned(output) as folder:
        assert contents(folder / "site") == FIRST


@pytest.mark.parametrize("name", ["new", "new/below/new", "empty"])
def test_a_new_or_empty_folder_is_taken(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with owned(tmp_path / name) as folder:
        assert (folder / MARKER).is_file()


# Places that no build may write to, seen from the folder "home/work/here" in a temporary one.
UNSUITABLE: dict[str, tuple[str, str]] = {
    "the root": ("/", "the working folder, one above it, or home"),
    "the working folder": (".", "the working folder, one above it, or home"),
    "the one above": ("..", "the working folder, one above it, or home"),
    "the working folder by another name": ("../here/../here", "the working folder, one above it, or home"),
    "home": ("~", "the working folder, one above it, or home"),
    "a link to home": ("../to-home", "the working folder, one above it, or home"),
    "a repository": ("../repository", "a project of its own"),
    "a project": ("../project", "a project of its own"),
    "another's folder": ("../other", "holds files that no build of ours made"),
    "a folder with a hidden file": ("../hidden", "holds files that no build of ours made"),
    "one with a link for its site": ("../linked", "holds a link where a build puts a folder of its own"),
    "a file": ("../file", "not a folder"),
    "below a file": ("../file/out", "Not a directory"),
}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders that UNSUITABLE speaks of."""
    for path in ("work/repository/.git/HEAD", "work/project/pyproject.toml", "work/other/thesis.tex", "work/hidden/.keep", "work/file"):
        place = tmp_path / "home" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("not ours", encoding="utf-8")
    (tmp_path / "home/work/here").mkdir()
    (tmp_path / "home/work/linked").mkdir()
    (tmp_path / "home/work/linked/site").symlink_to(tmp_path / "home/work/here")
    (tmp_path / "home/work/to-home").symlink_to(tmp_path / "home")
    (tmp_path / "link").symlink_to(tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home/work/here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize(("place", "said"), UNSUITABLE.values(), ids=UNSUITABLE)
def test_an_unsuitable_place_is_refused_and_nothing_in_it_changes(place: str, said: str, world: Path) -> None:
    before = contents(world)
    with pytest.raises(RefusedError, match=f"^{place}: {said}; expected".replace("~", "/.*/home")), owned(Path(place).expanduser()):
        pass
    assert contents(world) == before


def test_home_is_refused_when_it_is_a_link_itself(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world / "link"))
    monkeypatch.chdir("/")
    with pytest.raises(RefusedError, match="or home"), owned(world / "home"):
        pass


def test_whoever_has_no_home_can_build(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    with owned(world / "home/work/new") as folder:
        assert folder.is_dir()


def test_this_repository_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedError, match="a project of its own"), owned(Path(__file__).parent.parent):
        pass


def test_a_folder_of_ours_is_taken_again_whatever_has_come_into_it(output: Path) -> None:
    (output / "notes.txt").write_text("mine", encoding="utf-8")
    with owned(output):
        pass
    assert (output / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("leave", [Path.mkdir, os.mkfifo], ids=["a folder", "a pipe"])
def test_other_things_in_a_folder_of_ours_do_no_harm(leave: Callable[[Path], None], output: Path) -> None:
    leave(output / "other")
    with owned(output) as folder:
        write(SECOND, folder / "site")
    assert contents(output / "site") == SECOND
