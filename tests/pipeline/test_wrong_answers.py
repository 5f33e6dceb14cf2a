"""A Hub in trouble, or with other bytes, beside a site that was built before."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from tests import inline
from tests.hub_server import Answer, Hub, Repository, Trouble, serving
from tests.pipeline import test_stale as stale
from tests.synthetic import ROTATION, WORDLESS, write_list

COMMIT, LATER = "a" * 40, "b" * 40
OTHER = {
    **WORDLESS,
    "model.safetensors": save({"wpe.weight": np.arange(64.0, dtype=np.float32).reshape(16, 4)}),
}
ABOUT = "/api/models/atlas/table"


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
