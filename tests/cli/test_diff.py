"""``diff`` of files, folders and addresses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from generator.cli.commands import app
from tests.history.test_changes import atlas
from tests.serving import served

runner = CliRunner()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """An output folder, and a site in which a metric is another."""
    later = atlas()
    later["checkpoints"][0]["encodings"][0]["metrics"]["rank.stable"]["value"] = 3.0
    places = tmp_path / "build/site/data", tmp_path / "published/data"
    for place, document in zip(places, (atlas(), later), strict=True):
        place.mkdir(parents=True)
        (place / "atlas.json").write_text(json.dumps(document), encoding="utf-8")
    return tmp_path / "build", tmp_path / "published"


def test_what_moved_is_told_and_the_exit_code_is_1(folders: tuple[Path, Path]) -> None:
    done = runner.invoke(app, ["diff", *map(str, folders)])
    assert (done.exit_code, done.stdout) == (1, "GPT · decoder: rank.stable 2 → 3\n1 change\n")


def test_nothing_moved_ends_with_0(folders: tuple[Path, Path]) -> None:
    done = runner.invoke(
        app, ["diff", str(folders[0]), str(folders[0] / "site/data/atlas.json"), "--markdown"]
    )
    assert (done.exit_code, done.stdout) == (0, "Nothing changed.\n")


@pytest.fixture
def in_parts(folders: tuple[Path, Path]) -> tuple[Path, Path]:
    """The same two atlases, the published one in parts."""
    file = folders[1] / "data/atlas.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    (file.parent / "atlas").mkdir()
    parts = []
    for number, row in enumerate(document["checkpoints"], 1):
        parts.append(f"data/atlas/{number:04}.json")
        (folders[1] / parts[-1]).write_text(
            json.dumps({**document, "checkpoints": [row]}), encoding="utf-8"
        )
    file.write_text(json.dumps({**document, "checkpoints": [], "parts": parts}), encoding="utf-8")
    return folders


def test_an_atlas_in_parts_is_read_as_a_whole(in_parts: tuple[Path, Path]) -> None:
    with served(in_parts[1]) as address:
        for place in (
            str(in_parts[1]),
            str(in_parts[1] / "data/atlas.json"),
            address,
            f"{address}/data/atlas.json",
        ):
            done = runner.invoke(app, ["diff", str(in_parts[0]), place])
            assert (done.exit_code, done.stdout) == (
                1,
                "GPT · decoder: rank.stable 2 → 3\n1 change\n",
            )


@pytest.mark.parametrize(
    "part", ["data/atlas/../../secret.json", "http://127.0.0.1:9/atlas/1.json", "/etc/passwd"]
)
def test_a_part_elsewhere_is_refused(part: str, in_parts: tuple[Path, Path]) -> None:
    file = in_parts[1] / "data/atlas.json"
    file.write_text(
        json.dumps({**json.loads(file.read_text(encoding="utf-8")), "parts": [part]}),
        encoding="utf-8",
    )
    done = runner.invoke(app, ["diff", str(in_parts[0]), str(in_parts[1])])
    assert done.exit_code == 2
    assert "expected one like 'data/atlas/0001.json'" in done.stderr


def test_a_missing_part_is_refused(in_parts: tuple[Path, Path]) -> None:
    (in_parts[1] / "data/atlas/0001.json").unlink()
    with served(in_parts[1]) as address:
        for place in (str(in_parts[1]), address):
            done = runner.invoke(app, ["diff", str(in_parts[0]), place])
            assert done.exit_code == 2
            assert "atlas/0001.json" in done.stderr


@pytest.mark.parametrize("content", ["no JSON", '{"checkpoints": 1, "schema": 2}', "[" * 100_000])
def test_what_is_no_atlas_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "atlas.json").write_text(content, encoding="utf-8")
    done = runner.invoke(app, ["diff", str(tmp_path / "atlas.json"), str(tmp_path)])
    assert done.exit_code == 2
    assert "found no atlas; expected an atlas.json" in done.stderr


@pytest.mark.parametrize(
    "address", ["http://[::1", f"http://{'a' * 300}.com", "http://127.0.0.1:9/"]
)
def test_an_address_that_is_none_is_refused(address: str, folders: tuple[Path, Path]) -> None:
    place = str(folders[0])
    for command in (["diff", address, place], ["summary", place, "--since", address]):
        done = runner.invoke(app, command)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr


def test_a_summary_counts_and_says_what_changed(folders: tuple[Path, Path]) -> None:
    with served(folders[1]) as address:
        done = runner.invoke(app, ["summary", str(folders[0]), "--since", address])
    assert done.exit_code == 0
    assert done.stdout.startswith("**2 checkpoints**: 2 ok\n")
    assert "| GPT · decoder | rank.stable 3 → 2 |" in done.stdout


def test_before_anything_is_published_a_summary_says_so(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    with served(tmp_path / "empty") as address:
        done = runner.invoke(app, ["summary", str(folders[0]), "--since", address])
    assert done.stdout.endswith("Nothing is published yet.\n")
