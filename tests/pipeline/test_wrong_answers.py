"""A Hub with wrong answers, beside a site that was built before."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from tests import inline
from tests.hub_server import Answer, Hub, Repository, Trouble, serving
from tests.pipeline import test_stale as stale
from tests.pipeline.unrendered import without_html
from tests.synthetic import ROTATION, WORDLESS, write_list

COMMIT, LATER, MISSING = "a" * 40, "b" * 40, "c" * 40
OTHER = {
    **WORDLESS,
    "model.safetensors": save({"wpe.weight": np.arange(64.0, dtype=np.float32).reshape(16, 4)}),
}
ABOUT, FILES = "/api/models/atlas/table", f"/atlas/table/resolve/{LATER}/"
PAGE = Answer(200, b"<!doctype html><title>Back soon</title>", {"Content-Type": "text/html"})


def described(commit: str, names: Mapping[str, object], hub_id: str = "atlas/table") -> Answer:
    siblings = [{"rfilename": name} for name in names]
    return Answer(
        200,
        json.dumps({"id": hub_id, "sha": commit, "siblings": siblings}).encode(),
        {"Content-Type": "application/json"},
    )


WRONG = {
    "a page in place of a description": Trouble(PAGE, ABOUT),
    "a commit that nobody has": Trouble(described(MISSING, OTHER), ABOUT),
    "files of another commit": Trouble(Answer(200, WORDLESS["config.json"],
        {"X-Repo-Commit": COMMIT}), f"{FILES}config.json"),
    "weights that end early": Trouble(Answer(206, b"\0" * 99, {"Content-Range": "bytes 0-99/100"}),
        f"{FILES}model.safetensors"),
}  # fmt: skip


def hub_of(commit: str) -> dict[str, Repository]:
    table = Repository({COMMIT: dict(WORDLESS), LATER: dict(OTHER)}, {"main": commit})
    return {
        "atlas/table": table,
        "atlas/rotation": Repository({COMMIT: dict(ROTATION)}, {"main": COMMIT}),
    }


def build(folder: Path, hub: Hub) -> tuple[int, str, dict[str, Any]]:
    """Exit code, output, and the checkpoints of atlas.json."""
    done = inline.build(folder, endpoint=hub.endpoint)
    return done.returncode, done.stdout + done.stderr, stale.rows(folder)


def numbers(row: Mapping[str, Any]) -> Any:
    return [encoding["metrics"] for encoding in row["encodings"]]


@pytest.fixture(autouse=True, scope="module")
def short_builds() -> Iterator[None]:
    with without_html():
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    write_list(folder, [{"hub": name} for name in hub_of(COMMIT)])
    with serving(hub_of(COMMIT)) as hub:
        assert build(folder, hub)[0] == 0
    return folder


@pytest.fixture
def world(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "world"))


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_answer_is_of_its_row_alone_and_leaves_nothing_behind(
    case: str, world: Path
) -> None:
    with serving(hub_of(COMMIT)) as hub:
        _, _, before = build(world, hub)
    with serving(hub_of(LATER), WRONG[case]) as hub:
        code, output, rows = build(world, hub)
    assert code in (0, 1), output
    assert "Traceback" not in output
    assert rows["atlas-rotation"] == before["atlas-rotation"]
    # What is shown of the table is what was read before, or nothing.
    shown = rows["atlas-table"]
    assert not shown["encodings"] or numbers(shown) == numbers(before["atlas-table"])
    assert shown["status"] != "ok" or shown["stale"], output
    with serving(hub_of(COMMIT)) as hub:
        code, output, rows = build(world, hub)
    assert (code, rows) == (0, before), output


def test_of_a_hub_in_trouble_the_commit_is_shown_that_is_in_the_cache(world: Path) -> None:
    with serving(hub_of(COMMIT)) as hub:
        _, _, before = build(world, hub)
    with serving(hub_of(LATER), Trouble(Answer(500), ABOUT)) as hub:
        code, output, rows = build(world, hub)
    assert (code, rows) == (0, before), output
    assert rows["atlas-table"]["revision"] == COMMIT


def test_other_bytes_of_a_commit_that_is_known_are_not_asked_for(world: Path) -> None:
    hub_now = hub_of(COMMIT) | {"atlas/table": Repository({COMMIT: dict(OTHER)}, {"main": COMMIT})}
    with serving(hub_now) as hub:
        code, output, _ = build(world, hub)
    assert (code, hub.downloads()) == (0, [])
    assert "nothing has changed since the last build" in output


def test_nothing_new_costs_one_question_and_one_more_for_each_branch(world: Path) -> None:
    with serving(hub_of(COMMIT)) as hub:
        build(world, hub)
    assert [request.method for request in hub.log] == ["HEAD", *["GET"] * len(hub_of(COMMIT))]
