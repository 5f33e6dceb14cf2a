"""Builds while the Hub is down and its cache is gone: they show what earlier builds read, or keep
the former site.
"""

import json
import shutil
from html import unescape
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from generator.checkpoints.hub import client, revisions
from tests import inline
from tests.built import contents
from tests.hub_server import USUAL_DATE, Answer, Repository, Request, serving
from tests.support import flowing
from tests.synthetic import NOTHING, ROTATION, WORDLESS, write_list

COMMIT = "a" * 40
HUB = {
    f"atlas/{name}": Repository({COMMIT: dict(files)}, {"main": COMMIT})
    for name, files in {"a": WORDLESS, "b": ROTATION, "c": NOTHING}.items()
}
ROWS = [{"hub": name} for name in HUB]
REASON = "the Hub could not be reached, and the cache does not have it"


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    """The checkpoints of atlas.json by slug."""
    document = json.loads((folder / "out/site/data/atlas.json").read_text(encoding="utf-8"))
    return {row["slug"]: row for row in document["checkpoints"]}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of three branches, built while the Hub answered."""
    folder = tmp_path_factory.mktemp("built")
    write_list(folder, ROWS)
    with serving(HUB) as hub:
        assert (
            inline.build(folder, endpoint=hub.endpoint)
            .stdout.splitlines()[-1]
            .startswith("3 built, 0 failed, 0 not reached")
        )
    return folder


@pytest.fixture
def world(built: Path, tmp_path: Path) -> Path:
    """A copy of it, of which nothing else remains."""
    return Path(shutil.copytree(built, tmp_path / "world", ignore=shutil.ignore_patterns("hub")))


def test_finished_work_is_shown_and_counted_apart(world: Path) -> None:
    before = rows(world)
    done = inline.build(world)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 built, 3 stale, 0 failed, 0 not reached" in done.stdout
    after = rows(world)
    assert {slug: row["stale"] for slug, row in after.items()} == {
        f"atlas-{name}": f"atlas/{name}@main: {REASON}" for name in "abc"
    }
    assert {slug: {**row, "stale": None} for slug, row in after.items()} == before
    assert {row["revision"] for row in after.values()} == {COMMIT}


def test_a_row_that_is_late_shows_what_an_earlier_build_read(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, over = rows(world), Event()
    monkeypatch.setattr(revisions, "LISTING_SECONDS", 0.3)
    monkeypatch.setattr(client, "WAITS", (0.0,))
    with serving(HUB) as hub:
        true = hub.answer

        def answer(asked: Request) -> Answer:
            if "atlas/a/revision" in asked.path:
                over.wait(60.0)
            return true(asked)

        monkeypatch.setattr(hub, "answer", answer)
        done = inline.build(world, endpoint=hub.endpoint)
        over.set()
    assert "2 built, 1 stale, 0 failed, 0 not reached" in done.stdout
    late = rows(world)["atlas-a"]
    assert late == {**before["atlas-a"], "stale": late["stale"]}
    assert late["stale"] == (
        "atlas/a@main: the Hub is slow: no whole answer within 0.3 seconds; expected one"
    )


def test_pages_say_that_it_is_of_an_earlier_build_and_why(world: Path) -> None:
    inline.build(world)
    page = unescape((world / "out/docs/checkpoints/atlas-a.md").read_text(encoding="utf-8"))
    assert "From an earlier build" in page
    assert REASON in page
    assert f"</code>, read on {USUAL_DATE[:10]}. The checkpoint may have changed since." in flowing(
        page
    )
    assert "<strong>3</strong> read earlier" in (world / "out/docs/status.md").read_text(
        encoding="utf-8"
    )


def test_strict_takes_what_is_stale_for_a_failure(world: Path) -> None:
    assert inline.build(world, "--strict").returncode == 1


def test_the_same_again_does_nothing_and_a_hub_that_answers_ends_it(world: Path) -> None:
    first = contents(world / "out/site")
    inline.build(world)
    assert "0 built, 3 stale, 0 failed, 0 not reached" in (again := inline.build(world).stdout)
    assert "nothing has changed since the last build" in again
    with serving(HUB) as hub:
        assert (
            "3 built, 0 failed, 0 not reached" in inline.build(world, endpoint=hub.endpoint).stdout
        )
    assert contents(world / "out/site") == first


@pytest.mark.parametrize("options", [[], ["--fresh"]], ids=["without a store", "fresh"])
def test_a_site_that_would_lose_all_is_kept_unless_that_is_allowed(
    options: list[str], world: Path
) -> None:
    if not options:
        shutil.rmtree(world / "out/store")
    before = contents(world / "out/site")
    done = inline.build(world, *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(
        "3 of 3 checkpoints of the former site were not reached, such as atlas/a@main: "
    )
    assert contents(world / "out/site") == before
    assert (
        "0 built, 0 failed, 3 not reached" in inline.build(world, "--allow-shrink", *options).stdout
    )
    assert {row["status"] for row in rows(world).values()} == {"not reached"}


def test_rows_that_the_list_has_no_longer_are_not_lost(world: Path) -> None:
    write_list(world, ROWS[:1])
    assert "0 built, 1 stale, 0 failed, 0 not reached" in inline.build(world).stdout


def test_a_commit_that_the_list_names_is_never_stale(tmp_path: Path) -> None:
    write_list(tmp_path, [{"hub": "atlas/a", "revision": COMMIT}])
    with serving(HUB) as hub:
        inline.build(tmp_path, endpoint=hub.endpoint)
    assert "1 built, 0 failed, 0 not reached" in inline.build(tmp_path, home="empty").stdout
