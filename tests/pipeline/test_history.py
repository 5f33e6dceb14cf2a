"""The history of an output folder, over several builds and from a published site."""

import gzip
import json
import shutil
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from safetensors.numpy import load, save

from generator.pipeline.publication import History
from generator.site.materials import SETTINGS
from tests import inline
from tests.serving import served
from tests.synthetic import NOTHING, ROTATION, TABLE, write_folder, write_list

ATOM = "{http://www.w3.org/2005/Atom}"
BOTH = ["rotation", "nothing"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one checkpoint was published, then two, then the same again."""
    folder = tmp_path_factory.mktemp("history")
    write_folder(folder / "rotation", ROTATION)
    write_folder(folder / "nothing", NOTHING)
    for day, rows in enumerate((["rotation"], BOTH, BOTH)):
        run(folder, rows, day=day)
    return folder


def run(
    folder: Path, rows: list[str], *options: str, day: int = 0, output: str = "build"
) -> tuple[int, str]:
    write_list(folder, [{"folder": name} for name in rows])
    (folder / SETTINGS).write_text("site_url: https://example.org/atlas\n", encoding="utf-8")
    date = str(1_700_000_000 + day * 86_400)
    environment: dict[str, Any] = {"SOURCE_DATE_EPOCH": date, "SITE_URL": ""}
    done = inline.build(folder, *options, output=output, **environment)
    return done.returncode, done.stderr


def releases(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "history").iterdir() if path.is_dir())


def test_each_change_is_a_release_that_can_be_cited_and_the_same_again_is_none(built: Path) -> None:
    assert releases(built / "build") == ["2023-11-14", "2023-11-15"]
    release = built / "build/site/data/releases/2023-11-14"
    document = json.loads(gzip.decompress((release / "atlas.json.gz").read_bytes()))
    assert document["date"] == "2023-11-14"
    assert [row["slug"] for row in document["checkpoints"]] == ["rotation"]


def test_the_page_and_the_feed_show_each_release_the_last_first(built: Path) -> None:
    page = (built / "build/docs/changes.md").read_text(encoding="utf-8")
    assert page.index("2023&#45;11&#45;15") < page.index("2023&#45;11&#45;14")
    assert page.count("<li>row added&#58; ") == 2
    root = ET.parse(built / "build/site/changes.xml").getroot()  # noqa: S314 (our own file)
    entries = [entry.findtext(f"{ATOM}id") for entry in root.iter(f"{ATOM}entry")]
    assert entries == [f"https://example.org/atlas/changes.html#r{n}" for n in (2, 1)]


def test_a_bare_machine_continues_the_published_history(built: Path) -> None:
    shutil.copytree(built / "build/store", built / "bare/store")
    # Of a build that failed, and was kept but not published.
    shutil.copytree(built / "build/history/2023-11-15", built / "bare/history/2023-11-16")
    with served(built / "build/site") as address:
        assert run(built, ["rotation"], "--published", address, day=5, output="bare") == (0, "")
    assert releases(built / "bare") == ["2023-11-14", "2023-11-15", "2023-11-19"]
    first = "history/2023-11-14/release.json"
    assert (built / "bare" / first).read_bytes() == (built / "build" / first).read_bytes()


def test_a_release_says_which_row_of_a_table_changed(tmp_path: Path) -> None:
    """Beside the tables of the folder, or, on a bare machine, those of the published site."""
    write_folder(tmp_path / "table", TABLE)
    assert run(tmp_path, ["table"]) == (0, "")
    shutil.copytree(tmp_path / "build/site", tmp_path / "published")
    stored = load(TABLE["model.safetensors"])
    stored["wpe.weight"][5] *= 1.5
    (tmp_path / "table/model.safetensors").write_bytes(save(stored))
    assert run(tmp_path, ["table"], day=1) == (0, "")
    shutil.copytree(tmp_path / "build/store", tmp_path / "bare/store")
    with served(tmp_path / "published") as address:
        assert run(tmp_path, ["table"], "--published", address, day=1, output="bare") == (0, "")
    for output in ("build", "bare"):
        record = tmp_path / output / "history/2023-11-15/release.json"
        [encoding] = json.loads(record.read_bytes())["checkpoints"]["table"]["encodings"]
        found = encoding["rows"]
        assert [found[name] for name in ("changed", "compared", "row")] == [1, 16, 5]
        assert found["by"] == pytest.approx(50.0)
        page = (tmp_path / output / "docs/changes.md").read_text(encoding="utf-8")
        assert "1 of 16 rows changed, row 5, by 50% of its norm" in unescape(page)


def test_a_release_has_the_rows_of_a_table_though_a_first_build_ended_with_its_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the tables of the former release were, there are those of the new one by then."""
    write_folder(tmp_path / "table", TABLE)
    assert run(tmp_path, ["table"]) == (0, "")
    stored = load(TABLE["model.safetensors"])
    stored["wpe.weight"][5] *= 1.5
    (tmp_path / "table/model.safetensors").write_bytes(save(stored))
    with monkeypatch.context() as patch:
        patch.setattr(History, "save", _ended)
        assert run(tmp_path, ["table"], day=1)[0] == 2
    assert run(tmp_path, ["table"], day=1) == (0, "")
    record = (tmp_path / "build/history/2023-11-15/release.json").read_text(encoding="utf-8")
    [encoding] = json.loads(record)["checkpoints"]["table"]["encodings"]
    assert [encoding["rows"][name] for name in ("changed", "compared", "row")] == [1, 16, 5]


def _ended(_: History) -> None:
    raise KeyboardInterrupt


def test_a_site_without_a_history_gives_none_and_one_that_is_down_or_foreign_stops_the_build(
    built: Path, tmp_path: Path
) -> None:
    with served(tmp_path) as address:
        assert run(built, ["rotation"], "--published", address, output="new") == (0, "")
        for content in (b'[{"id": "../../etc"}]', b"no JSON"):
            write_folder(tmp_path, {"data/releases/index.json": content})
            code, said = run(built, ["rotation"], "--published", address, output="foreign")
            assert (code, "/data/releases/index.json: found " in said) == (2, True)
    code, said = run(built, ["rotation"], "--published", "http://127.0.0.1:9", output="down")
    assert code == 2
    assert said.startswith("http://127.0.0.1:9/data/releases/index.json: ")
