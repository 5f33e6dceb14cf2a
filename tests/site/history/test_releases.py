"""Releases in a folder."""

import errno
import gzip
from pathlib import Path
from typing import Any

import pytest

from generator.contracts import Release
from generator.errors import RefusedError
from generator.site.history import releases
from generator.site.history.changes import Change
from tests.site.history.test_changes import atlas


def published(date: str = "2026-01-01", value: float = 2.0) -> dict[str, Any]:
    document = {**atlas(), "date": date, "version": "0.1.0", "libraries": {"numpy": "2.0"}}
    document["checkpoints"][0]["encodings"][0]["metrics"]["rank.stable"]["value"] = value
    return document


def history(*documents: dict[str, Any]) -> tuple[Release, ...]:
    found: tuple[Release, ...] = ()
    for document in documents:
        release = releases.following(found, document)
        found = (*found, release) if release else found
    return found


def changes(step: releases.Step) -> list[Change]:
    """Every change of a step, with those that follow from another."""
    every = ((cause.change, *cause.follows) for cause in step.causes)
    return [change for of_one in every for change in of_one if change]


def test_the_first_release_is_all_new() -> None:
    (step,) = releases.steps(history(published()))
    assert [(change.kind, change.title) for change in changes(step)] == [
        ("new", "GPT"),
        ("new", "Other"),
    ]


def test_the_same_is_no_release() -> None:
    assert len(history(published(), published("2026-02-02"))) == 1


def test_a_number_that_moved_in_a_training_run_is_a_release() -> None:
    first, second = published(), published("2026-02-02")
    third = published("2026-03-03")
    for document, value in ((first, 2.0), (second, 3.0), (third, 3.0001)):
        metrics = {"rank.stable": {"value": value, "unit": ""}}
        encoding = {"key": "learned", "part": "decoder", "metrics": metrics}
        document["runs"] = [{"slug": "gpt", "title": "A run", "encodings": [encoding]}]
    _, release = history(first, second, third)  # The third differs by rounding alone.
    assert list(release.checkpoints) == ["runs/gpt"]
    (change,) = changes(releases.steps((*history(first), release))[0])
    assert (change.encoding, change.what, change.before, change.after) == (
        "A run, decoder", "rank.stable", 2.0, 3.0,
    )  # fmt: skip


def test_a_release_holds_what_changed_alone_and_the_state_is_that_of_the_last() -> None:
    found = history(published(), published("2026-02-02", 3.0))
    assert list(found[1].checkpoints) == ["gpt"]
    assert releases.following(found, published("2026-03-03", 3.0)) is None
    assert releases.state(found)["gpt"]["encodings"][0]["metrics"]["rank.stable"]["value"] == 3.0


def test_two_releases_of_one_day_have_two_names() -> None:
    found = history(published(), published(value=3.0), published(value=4.0))
    assert [release.id for release in found] == ["2026-01-01", "2026-01-01.2", "2026-01-01.3"]


def test_what_is_gone_comes_back() -> None:
    less = published("2026-02-02")
    del less["checkpoints"][1]
    steps = releases.steps(history(published(), less, published("2026-03-03")))
    kinds = [[change.kind for change in changes(step)] for step in steps]
    assert kinds == [["new"], ["gone"], ["new", "new"]]


def test_what_is_not_reached_for_a_while_is_compared_with_what_it_was() -> None:
    missing = published("2026-02-02")
    missing["checkpoints"][0] |= {
        "status": "not reached", "reason": "no answer", "revision": None, "encodings": [],
    }  # fmt: skip
    later = (published("2026-03-03"), missing, published("2026-04-04", 3.0))
    found = history(published(), missing, *later)
    moved = [
        [(change.kind, change.before, change.after) for change in changes(step)]
        for step in releases.steps(found)
    ]
    lost, back = ("status", "ok", "not reached"), ("status", "not reached", "ok")
    assert moved[:-1] == [[back, ("metric", 2.0, 3.0)], [lost], [back], [lost]]


def test_a_verdict_stays_while_nothing_can_be_compared() -> None:
    documents = [published(), published("2026-02-02", 3.0), published("2026-03-03", 3.0)]
    for document, verdict in zip(documents, ("equal", None, "different"), strict=True):
        document["checkpoints"][0]["copy"] = {"original": "other", "verdict": verdict}
    last, middle, _ = releases.steps(history(*documents))
    assert [change.kind for change in changes(middle)] == ["metric"]
    (change,) = changes(last)
    assert (change.kind, change.before, change.after) == ("verdict", "equal", "different")


def test_a_folder_gives_back_what_was_written(tmp_path: Path) -> None:
    found = history(published(), published("2026-02-02", 3.0))
    for release in found:
        releases.write(tmp_path, release, {"atlas.json": b"data"})
    assert releases.read(tmp_path) == found
    assert gzip.decompress((tmp_path / "2026-02-02/atlas.json.gz").read_bytes()) == b"data"


def test_a_release_whose_record_cannot_be_written_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a record would be refused by every later build."""
    replace = Path.replace

    def full(path: Path, target: Path) -> Path:
        if target.name == releases.RECORD:
            raise OSError(errno.ENOSPC, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", full)
    (release,) = history(published())
    with pytest.raises(OSError, match="No space"):
        releases.write(tmp_path, release, {"atlas.json": b"data"})
    assert releases.read(tmp_path) == ()


def test_a_folder_without_its_record_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01").mkdir()
    assert releases.read(tmp_path) == ()
    assert releases.read(tmp_path / "missing") == ()


@pytest.mark.parametrize("content", ["", "[]", '{"id": 1}', "[" * 100_000])
def test_a_foreign_record_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x/release.json").write_text(content, encoding="utf-8")
    with pytest.raises(RefusedError, match="no record"):
        releases.read(tmp_path)
