"""The history of an output folder, over several builds and from a published site."""

import gzip
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from generator.site.materials import SETTINGS
from tests import inline
from tests.serving import served
from tests.synthetic import NOTHING, ROTATION, write_folder, write_list

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one checkpoint was published, then two, then the same again."""
    folder = tmp_path_factory.mktemp("history")
    write_folder(folder / "rotation", ROTATION)
    write_folder(folder / "nothing", NOTHING)
    for day, rows in (
        (0, ["rotation"]),
        (1, ["rotation", "nothing"]),
        (2, ["rotation", "nothing"]),
    ):
        run(folder, rows, day=day)
    return folder


def run(
    folder: Path, rows: list[str], *options: str, day: int = 0, output: str = "build"
) -> tuple[int, str]:
    write_list(folder, [{"folder": name} for name in rows])
    (folder / SETTINGS).write_text("site_url: https://example.org/atlas\n", encoding="utf-8")
    environment = {"SOURCE_DATE_EPOCH": str(1_700_000_000 + day * 86_400), "SITE_URL": ""}
    done = inline.build(folder, *options, output=output, **environment)
    return done.returncode, done.stderr


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_each_change_is_a_release_and_the_same_again_is_none(built: Path) -> None:
    assert names(built / "build/history") == ["2023-11-14", "2023-11-15"]


def test_a_citation_can_be_followed(built: Path) -> None:
    release = built / "build/site/data/releases/2023-11-14"
    document = json.loads(gzip.decompress((release / "atlas.json.gz").read_bytes()))
    assert (document["date"], [row["slug"] for row in document["checkpoints"]]) == (
        "2023-11-14",
        ["rotation"],
    )


def test_the_page_shows_the_last_release_first(built: Path) -> None:
    page = (built / "build/docs/changes.md").read_text(encoding="utf-8")
    assert page.index("2023&#45;11&#45;15") < page.index("2023&#45;11&#45;14")
    assert page.count("&#58; new</li>") == 2


def test_the_feed_has_an_entry_for_each_release(built: Path) -> None:
    root = ET.parse(built / "build/site/changes.xml").getroot()  # noqa: S314 (our own file)
    assert [entry.findtext(f"{ATOM}id") for entry in root.iter(f"{ATOM}entry")] == [
        "https://example.org/atlas/changes.html#r2",
        "https://example.org/atlas/changes.html#r1",
    ]
    assert "changes.xml" in (built / "build/site/index.html").read_text(encoding="utf-8")


def test_a_bare_machine_continues_the_published_history(built: Path) -> None:
    (built / "bare/store").parent.mkdir()
    shutil.copytree(built / "build/store", built / "bare/store")
    # Of a build that failed, and was kept but not published.
    shutil.copytree(built / "build/history/2023-11-15", built / "bare/history/2023-11-16")
    with served(built / "build/site") as address:
        assert run(built, ["rotation"], "--published", address, day=5, output="bare") == (0, "")
    assert names(built / "bare/history") == ["2023-11-14", "2023-11-15", "2023-11-19"]
    assert (built / "bare/history/2023-11-14/release.json").read_bytes() == (
        built / "build/history/2023-11-14/release.json"
    ).read_bytes()


def test_a_site_without_a_history_gives_none_and_one_that_is_down_stops_the_build(
    built: Path, tmp_path: Path
) -> None:
    with served(tmp_path) as address:
        assert run(built, ["rotation"], "--published", address, output="new") == (0, "")
    code, message = run(built, ["rotation"], "--published", "http://127.0.0.1:9", output="down")
    assert code == 2
    assert message.startswith("http://127.0.0.1:9/data/releases/index.json: ")


@pytest.mark.parametrize("content", ['[{"id": "../../etc"}]', "no JSON"])
def test_a_foreign_index_is_refused(content: str, built: Path, tmp_path: Path) -> None:
    write_folder(tmp_path, {"data/releases/index.json": content.encode()})
    with served(tmp_path) as address:
        code, message = run(built, ["rotation"], "--published", address, output="foreign")
    assert code == 2
    assert "/data/releases/index.json: found " in message
