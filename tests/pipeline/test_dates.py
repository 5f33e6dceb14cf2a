"""The date of a site is that of the data, on whatever day it is built."""

import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from generator import __version__
from generator.checkpoints.hub.revisions import committed
from generator.checkpoints.sources.hub import SOURCE
from generator.pipeline.versions import LIBRARIES
from tests import inline
from tests.built import ROOT, contents
from tests.hub_server import (
    LAST_MODIFIED,
    NOBODY,
    Answer,
    Repository,
    Trouble,
    client_of,
    refusal,
    serving,
)
from tests.support import checkpoint
from tests.synthetic import BROKEN, NOTHING, write_folder, write_list

GIT = shutil.which("git") or "git"
OLD, NEW, COMMIT = "a" * 40, "b" * 40, "c" * 40
DATES = {
    OLD: "2019-02-18T10:36:15.000Z", NEW: "2022-05-06T07:08:09.000Z",
    COMMIT: "2024-01-01T00:00:00.000Z",
}  # fmt: skip
HUB = {
    "atlas/moving": Repository({OLD: NOTHING, NEW: NOTHING}, {"main": NEW, "former": OLD}, DATES),
    "atlas/broken": Repository({COMMIT: BROKEN}, {"main": COMMIT}, DATES),
}
PINNED = [
    {"hub": "atlas/moving", "revision": OLD},
    {"hub": "atlas/moving", "revision": NEW, "title": "Newest"},
]


def build(
    folder: Path, rows: list[dict[str, str]], *options: str, endpoint: str = NOBODY, **settings: Any
) -> str:
    """What is printed by a build whose ``settings`` beside the address are those of the
    environment, or names of its folders.
    """
    environment: dict[str, Any] = {
        "SOURCE_DATE_EPOCH": None,
        "SITE_URL": "https://where.it/stands",
        **settings,
    }
    write_list(folder, rows)
    return inline.build(folder, *options, endpoint=endpoint, **environment).stdout


def atlas(folder: Path) -> Any:
    return json.loads((folder / "out/site/data/atlas.json").read_text(encoding="utf-8"))


def present(folder: Path) -> dict[str, bytes]:
    """The files of the site, but for those that remember former builds (the first page names what
    changed), the index of their words, and the release that pages cite.
    """
    remembering = ("index.", "changes.", "data/releases/", "search/")
    cited = re.compile(rb", release\s[^}]*|\"release\":\"[^\"]*\"")
    return {
        path: cited.sub(b"", content)
        for path, content in contents(folder).items()
        if not path.startswith(remembering)
    }


def holding(folder: Path, text: str) -> set[str]:
    """The suffixes of the files of the site in which ``text`` stands."""
    files = present(folder / "out/site").items()
    return {Path(path).suffix for path, content in files if text.encode() in content}


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two commits that the list names."""
    folder = tmp_path_factory.mktemp("pinned")
    with serving(HUB) as hub:
        build(folder, PINNED, endpoint=hub.endpoint)
    return folder


def test_a_site_has_the_date_of_the_newest_revision_that_could_be_read_and_says_what_made_it(
    tmp_path: Path,
) -> None:
    """Of two revisions of one repository and a row that fails."""
    rows = [{"hub": "atlas/moving", "revision": "former"}, {"hub": "atlas/broken"}]
    rows.append({"hub": "atlas/moving", "title": "Newest"})
    with serving(HUB) as hub:
        build(tmp_path, rows, endpoint=hub.endpoint, rendered=True)
    document = atlas(tmp_path)
    assert document["date"] == "2022-05-06"
    assert {".html", ".json", ".xml"} <= holding(tmp_path, "2022-05-06")
    assert holding(tmp_path, "changes.xml") >= {".html"}
    for other in (LAST_MODIFIED[:10], "2024-01-01", "2019-02-18"):
        assert holding(tmp_path, other) == set()
    assert {document["version"]} | set(document["libraries"]) == {__version__, *LIBRARIES}
    assert (document["schema"], document["licence"][:4]) == (3, "MIT;")
    assert document["address"] == "https://where.it/stands/"


def test_offline_a_site_is_the_same_to_the_byte(pinned: Path) -> None:
    """Without the Hub's cache, and without a store."""
    before = contents(pinned / "out/site")
    losses: tuple[dict[str, str], ...] = ({"home": "empty"}, {"output": "anew"})
    for lost in losses:
        assert "2 built, 0 failed, 0 not reached" in build(pinned, PINNED, "--offline", **lost)
        assert contents(pinned / lost.get("output", "out") / "site") == before


def test_another_date_is_on_all_pages_and_goes_as_it_came(pinned: Path) -> None:
    """A date that is given, and that of other revisions."""
    before = present(pinned / "out/site")
    build(pinned, PINNED, SOURCE_DATE_EPOCH="1700000000")
    assert (atlas(pinned)["date"], holding(pinned, "2022-05-06")) == ("2023-11-14", set())
    build(pinned, PINNED[:1])
    assert (atlas(pinned)["date"], holding(pinned, "2022-05-06")) == ("2019-02-18", set())
    build(pinned, PINNED)
    assert present(pinned / "out/site") == before
    assert "nothing has changed since the last build" in build(pinned, PINNED)


def test_a_site_of_folders_has_the_date_of_the_program(tmp_path: Path) -> None:
    os.utime(write_folder(tmp_path / "nothing", NOTHING) / "config.json", (0, 0))
    build(tmp_path, [{"folder": "nothing"}])
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%d"]
    committed_on = subprocess.run(
        command, env={**os.environ, "TZ": "UTC"}, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert atlas(tmp_path)["date"] == committed_on


def test_a_commit_is_requested_once(tmp_path: Path) -> None:
    with serving(HUB) as hub, client_of(tmp_path, hub.endpoint):
        dates = [committed("atlas/moving", NEW, "row", offline=False) for _ in range(2)]
    assert dates == [int(datetime(2022, 5, 6, 7, 8, 9, tzinfo=UTC).timestamp())] * 2
    asked = [request.path for request in hub.log if "atlas" in request.path]
    assert asked == [f"/api/models/atlas/moving/commits/{NEW}"]


def test_what_is_no_date_is_none(tmp_path: Path) -> None:
    outside = "9999-12-31T23:59:59.000Z", "1969-12-31T23:59:59.000Z"
    dates: list[object] = [None, 1700000000, "", "yesterday", *outside, []]
    for date in dates:
        stored = Repository({COMMIT: NOTHING}, {}, {COMMIT: date})
        with serving({"atlas/x": stored}) as hub, client_of(tmp_path, hub.endpoint):
            assert committed("atlas/x", COMMIT, "row", offline=False) is None, date


@pytest.mark.parametrize(
    "answer", [refusal(503, Retry_After="60"), Answer(body=b"<html>"), Answer(body=b"{}")], ids=str
)
def test_a_date_that_is_missing_is_requested_again_the_next_time(
    answer: Answer, tmp_path: Path
) -> None:
    row = checkpoint(source="hub", place="atlas/moving", revision=NEW)
    troubled = serving(HUB, Trouble(answer, "/commits/", times=1))
    with troubled as hub, client_of(tmp_path, hub.endpoint):
        dates = [SOURCE.pin(row, False).committed for _ in range(2)]
    assert [date is None for date in dates] == [True, False]


def test_a_list_without_dates_of_its_own_has_that_of_its_last_commit(tmp_path: Path) -> None:
    write_folder(tmp_path / "nothing", NOTHING)
    write_list(tmp_path, [{"folder": "nothing"}])
    author = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    environment = {**os.environ, "GIT_COMMITTER_DATE": "2021-03-04T05:06:07Z"}
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "A list"]):
        subprocess.run([GIT, "-C", str(tmp_path), *command], check=True, env=environment)
    build(tmp_path, [{"folder": "nothing"}])
    assert atlas(tmp_path)["date"] == "2021-03-04"
