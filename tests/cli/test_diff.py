"""``diff`` of files, folders and addresses."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from generator.cli.commands import app
from tests.serving import served
from tests.site.history.test_changes import atlas


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


ROW = atlas()["checkpoints"][0]
WHY = "the published data do not say why"
MOVED = f"GPT · decoder: rank.stable 2 → 3; {WHY}\n1 cause, 1 value\n"


def diff(*arguments: object, command: str = "diff") -> tuple[int, str, str]:
    """The exit code, and what is printed to both streams."""
    done = CliRunner().invoke(app, [command, *map(str, arguments)])
    return done.exit_code, done.stdout, done.stderr


def test_what_moved_is_told_and_the_exit_code_is_1(folders: tuple[Path, Path]) -> None:
    former, later = folders
    assert diff(former, later)[:2] == (1, MOVED)
    same = diff(former, former / "site/data/atlas.json", "--markdown")
    assert same[:2] == (0, "Nothing changed.\n")


@pytest.fixture
def in_parts(folders: tuple[Path, Path]) -> tuple[Path, Path]:
    """The same two atlases, the published one in parts."""
    file = folders[1] / "data/atlas.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    (file.parent / "atlas").mkdir()
    parts = []
    for number, row in enumerate(document["checkpoints"], 1):
        parts.append(f"data/atlas/{number:04}.json")
        part = json.dumps({**document, "checkpoints": [row]})
        (folders[1] / parts[-1]).write_text(part, encoding="utf-8")
    file.write_text(json.dumps({**document, "checkpoints": [], "parts": parts}), encoding="utf-8")
    return folders


def test_an_atlas_in_parts_is_read_as_a_whole_or_not_at_all(in_parts: tuple[Path, Path]) -> None:
    former, later = in_parts
    with served(later) as address:
        places = (later, later / "data/atlas.json", address, f"{address}/data/atlas.json")
        assert [diff(former, place)[:2] for place in places] == [(1, MOVED)] * 4
        (later / "data/atlas/0001.json").unlink()
        for place in (later, address):
            code, _, said = diff(former, place)
            assert (code, "atlas/0001.json" in said) == (2, True)


def test_a_part_elsewhere_is_refused(in_parts: tuple[Path, Path]) -> None:
    file = in_parts[1] / "data/atlas.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    for part in ("data/atlas/../../secret.json", "http://127.0.0.1:9/atlas/1.json", "/etc/passwd"):
        file.write_text(json.dumps({**document, "parts": [part]}), encoding="utf-8")
        code, _, said = diff(*in_parts)
        assert (code, "expected one like 'data/atlas/0001.json'" in said) == (2, True), part


def test_numbers_beyond_all_others_are_compared(folders: tuple[Path, Path]) -> None:
    file = folders[1] / "data/atlas.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    encoding = document["checkpoints"][0]["encodings"][0]
    encoding["metrics"]["rank.stable"]["value"] = 10**400
    file.write_text(json.dumps(document), encoding="utf-8")
    code, said, _ = diff(*folders)
    assert (code, said.startswith("GPT · decoder: rank.stable 2 → not defined; ")) == (1, True)


def test_what_is_no_atlas_is_refused(tmp_path: Path) -> None:
    runs: tuple[Any, ...] = (
        {},
        {"slug": 1, "title": 2, "data": 3, "encodings": [], "steps": ["x"]},
        7,
    )
    wrong = [{"checkpoints": [], "schema": 3, "runs": [run]} for run in runs]
    wrong += [{"checkpoints": [row], "schema": 3} for row in ({}, 7, {**ROW, "encodings": [{}]})]
    wrong += [{"checkpoints": [], "schema": 3, "libraries": 7}, {"checkpoints": 1, "schema": 2}]
    for content in ("no JSON", *map(json.dumps, wrong), "[" * 100_000):
        (tmp_path / "atlas.json").write_text(content, encoding="utf-8")
        code, _, said = diff(tmp_path / "atlas.json", tmp_path)
        assert (code, "found no atlas; expected an atlas.json" in said) == (2, True)


def test_an_address_that_is_none_is_refused(folders: tuple[Path, Path]) -> None:
    former = folders[0]
    for address in ("http://[::1", f"http://{'a' * 300}.com", "http://127.0.0.1:9/"):
        summary = diff(former, "--since", address, command="summary")
        for code, _, said in (diff(address, former), summary):
            assert (code, said.count("\n")) == (2, 1), said


def test_a_summary_counts_training_runs_and_names_their_unread_checkpoints(tmp_path: Path) -> None:
    unread = {"step": 2000, "status": "failed", "reason": "cut | short"}
    run: dict[str, Any] = {"slug": "tiny", "title": "Tiny <b>", "data": "", "encodings": []}
    run |= {"steps": [1000, 2000, 3000], "unread": [unread]}
    counted = "**1 training run** of 3 checkpoints: 2 ok, 1 failed\n"
    row = {**ROW, "title": "A", "status": "ok"}
    for rows, head in (([], counted), ([row], f"**1 checkpoint**: 1 ok; {counted}")):
        atlas = {"schema": 1, "checkpoints": rows, "runs": [run]}
        (tmp_path / "atlas.json").write_text(json.dumps(atlas), encoding="utf-8")
        _, said, _ = diff(tmp_path / "atlas.json", command="summary")
        assert said.startswith(head)
        assert "| Tiny &#60;b&#62;, step 2,000 | cut &#124; short |" in said


def test_a_summary_counts_and_says_what_changed_or_that_nothing_is_published(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    with served(folders[1]) as address:
        code, said, _ = diff(folders[0], "--since", address, command="summary")
    assert code == 0
    assert said.startswith("**2 checkpoints**: 2 ok\n")
    assert f"| GPT · decoder: rank.stable 3 → 2; {WHY} | 1 |" in said
    with served(tmp_path / "empty") as address:
        _, said, _ = diff(folders[0], "--since", address, command="summary")
    assert said.endswith("Nothing has been published yet.\n")
