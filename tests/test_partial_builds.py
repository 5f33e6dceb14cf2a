"""After one change, only what depends on it is made again; and the site is the same to the byte as one that was made from nothing."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.cache.stamps import Stamps
from generator.site import mkdocs_build
from generator.site.write import MARKER
from tests.built import contents
from tests.inline import run
from tests.synthetic import BROKEN, BUCKETS, NOTHING, ROTATION, WORDLESS, write_folder, write_list

FOLDERS = {"broken": BROKEN, "buckets": BUCKETS, "nothing": NOTHING, "rotation": ROTATION, "table": WORDLESS, "twin": WORDLESS}
LISTED: list[dict[str, object]] = [{"folder": name} for name in FOLDERS if name != "broken"]


def build(folder: Path, output: str = "out") -> int:
    """The exit code of a build of the list in ``folder``."""
    return run("build", "--config", str(folder / "checkpoints.yml"), "--output", str(folder / output), home=folder / "hub").returncode


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list, its checkpoints and its site."""
    folder = tmp_path_factory.mktemp("whole")
    for name, files in FOLDERS.items():
        write_folder(folder / name, files)
    write_list(folder, LISTED)
    assert build(folder) == 0
    return folder


@pytest.fixture
def world(whole: Path) -> Path:
    """The same, as it was before another test changed it."""
    for name, files in FOLDERS.items():
        write_folder(whole / name, files)
    write_list(whole, LISTED)
    build(whole)
    return whole


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Three pages and their site."""
    (tmp_path / "mkdocs.yml").write_text("site_name: Small\nuse_directory_urls: false\n", encoding="utf-8")
    write_folder(tmp_path / "docs", {"index.md": b"# One", "other.md": b"# Two", "always.md": b"# Four"})
    _html(tmp_path)
    return tmp_path


def _html(folder: Path) -> None:
    stamps = Stamps(folder / "stamps", "the same")
    mkdocs_build.build(folder / "mkdocs.yml", folder / "docs", folder / "site", None, mkdocs_build.Known(stamps, {"always.md"}))


def _marked(page: Path) -> None:
    """Another text at the same size and time."""
    state = page.stat()
    page.write_bytes(b"as it was".ljust(state.st_size))
    os.utime(page, ns=(state.st_atime_ns, state.st_mtime_ns))


def _other_weights(world: Path) -> None:
    config = world / "rotation/config.json"
    config.write_bytes(config.read_bytes().replace(b"4096.0", b"8000.0"))


def _listed(*rows: dict[str, object]) -> Callable[[Path], None]:
    def change(world: Path) -> None:
        write_list(world, rows)

    return change


EDITS = (
    _other_weights,
    _listed(*LISTED[:-1], {"folder": "twin", "title": "Gemini & <co>"}),
    _listed({"folder": "buckets", "notes": "Edited since.", "group": "Others"}, *LISTED[1:]),
)
ROWS = (_listed(*LISTED[:-2], LISTED[-1]), _listed({"folder": "broken"}, *LISTED), _listed(*reversed(LISTED)))


@pytest.mark.parametrize("changes", [EDITS, ROWS], ids=["edits", "rows"])
def test_after_some_changes_a_site_is_the_one_that_would_be_made_from_nothing(
    changes: tuple[Callable[[Path], None], ...], world: Path
) -> None:
    for change in changes:
        change(world)
        build(world)
    shutil.rmtree(world / "anew", ignore_errors=True)
    shutil.copytree(world / "out/store", world / "anew/store")
    shutil.copy(world / "out" / MARKER, world / "anew")
    build(world, "anew")
    assert contents(world / "out/docs") == contents(world / "anew/docs")
    assert contents(world / "out/site") == contents(world / "anew/site")


def test_a_change_of_one_checkpoint_writes_none_of_the_others_pages(world: Path) -> None:
    pages = {name: world / f"out/site/checkpoints/{name}.html" for name in ("rotation", "table")}
    before = {name: page.stat().st_ino for name, page in pages.items()}
    EDITS[2](world)
    _other_weights(world)
    build(world)
    assert {name for name, page in pages.items() if page.stat().st_ino != before[name]} == {"rotation"}


def test_a_page_that_somebody_changed_is_written_again(world: Path) -> None:
    page = world / "out/docs/checkpoints/table.md"
    before = page.read_bytes()
    page.write_bytes(before + b"Not ours.")
    _other_weights(world)
    build(world)
    assert page.read_bytes() == before


@pytest.mark.parametrize("content", [None, b"{}", b'{"config":{},"docs":[]}'])
def test_a_search_that_is_not_as_it_was_made_is_made_as_a_whole(content: bytes | None, small: Path) -> None:
    (small / "site" / mkdocs_build.SEARCH).unlink()
    if content is not None:
        (small / "site" / mkdocs_build.SEARCH).write_bytes(content)
    _html(small)
    assert b"Two" in (small / "site" / mkdocs_build.SEARCH).read_bytes()


def test_pages_that_stay_are_not_given_to_mkdocs(small: Path) -> None:
    (small / "docs/index.md").write_bytes(b"# Three")
    _marked(small / "site/other.html")
    _html(small)
    assert b"Three" in (small / "site/index.html").read_bytes()
    assert b"as it was" in (small / "site/other.html").read_bytes()
    assert [name in (small / "site" / mkdocs_build.SEARCH).read_bytes() for name in (b"One", b"Two", b"Three")] == [False, True, True]


@pytest.mark.parametrize("place", ["docs/other.md", "docs/always.md", "site/other.html"])
def test_a_page_is_made_again_where_anything_is_not_as_it_was(place: str, small: Path) -> None:
    page = small / "site" / f"{Path(place).stem}.html"
    _marked(page)
    os.utime(small / place, (0, 0)) if "always" not in place else None
    _html(small)
    assert b"as it was" not in page.read_bytes()


def test_a_disk_without_second_names_gets_copies(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    _marked(small / "site/other.html")
    _html(small)
    assert b"as it was" in (small / "site/other.html").read_bytes()


def test_stamps_hold_what_they_saw_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    Stamps(tmp_path / "stamps", "base").save(tmp_path, {"a": "made of", "gone": "made of"})
    same, other = Stamps(tmp_path / "stamps", "base"), Stamps(tmp_path / "stamps", "other")
    assert [same.holds(tmp_path / path, path, "made of") for path in ("a", "gone")] == [True, False]
    assert [same.holds(tmp_path / "a", "a", made_of) for made_of in ("other", None)] == [False, False]
    assert not other.holds(tmp_path / "a", "a", "made of")


@pytest.mark.parametrize("cut", [b"", b"{}", b"[" * 100_000])
def test_stamps_that_somebody_changed_hold_nothing(cut: bytes, tmp_path: Path) -> None:
    Stamps(tmp_path / "stamps", "base").save(tmp_path, {"stamps": "made of"})
    (tmp_path / "stamps").write_bytes(cut)
    assert Stamps(tmp_path / "stamps", "base").known == {}


def test_a_disk_that_takes_no_stamps_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "stamps").mkdir()
    Stamps(tmp_path / "stamps", "base").save(tmp_path, {})
