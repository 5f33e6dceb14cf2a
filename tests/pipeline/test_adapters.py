"""Rows that name an adapter, and ask for its base."""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.errors import RowError
from generator.reading.plan import plan
from tests import inline
from tests.hub_server import NOBODY, Repository, serving
from tests.support import checkpoint
from tests.synthetic import WORDLESS, write_folder, write_list

COMMIT, OTHER = "a" * 40, "b" * 40


def adapter(**settings: object) -> dict[str, bytes]:
    return {"adapter_config.json": json.dumps({"peft_type": "LORA", **settings}).encode()}


def built(folder: Path, row: dict[str, Any], endpoint: str = NOBODY) -> Any:
    """The row of atlas.json after a build of this one."""
    write_list(folder, [row])
    inline.build(folder, endpoint=endpoint)
    text = (folder / "out/site/data/atlas.json").read_text(encoding="utf-8")
    return json.loads(text)["checkpoints"][0]


def test_the_base_beside_an_adapter_is_read_under_its_title(tmp_path: Path) -> None:
    write_folder(tmp_path / "base", WORDLESS)
    write_folder(tmp_path / "lora", adapter(base_model_name_or_path="../base"))
    row = built(tmp_path, {"folder": "lora", "title": "Ours", "base": True})
    assert (row["status"], row["title"], row["id"]) == ("ok", "Ours", "../base")
    assert len(row["encodings"]) == 1


def test_the_base_on_the_hub_is_read_at_the_revision_that_the_adapter_names(tmp_path: Path) -> None:
    lora = adapter(base_model_name_or_path="atlas/base", revision="old")
    repositories = {
        "atlas/lora": Repository({COMMIT: lora}, {"main": COMMIT}),
        "atlas/base": Repository({OTHER: WORDLESS}, {"old": OTHER}),
    }
    with serving(repositories) as hub:
        row = built(tmp_path, {"hub": "atlas/lora", "base": True}, hub.endpoint)
    assert (row["status"], row["id"], row["revision"]) == ("ok", "atlas/base", OTHER)


@pytest.mark.parametrize(("files", "reason"), [
    ({}, "no such file"),
    (adapter(), "found no base_model_name_or_path"),
    (adapter(base_model_name_or_path="/no/such"), "'/no/such'"),
    (adapter(base_model_name_or_path="atlas/base", revision="../../../etc"), "a name, not a path"),
    (adapter(base_model_name_or_path="a/.."), "'a/..'"),
    (adapter(base_model_name_or_path="/usr/lib"), "'/usr/lib', a folder that is not"),
    (adapter(base_model_name_or_path="../.."), "'../..', a folder that is not read"),
])  # fmt: skip
def test_an_adapter_without_a_base_fails_its_row(
    files: dict[str, bytes], reason: str, tmp_path: Path
) -> None:
    write_folder(tmp_path / "lora", {**files, "config.json": b"{}"})
    row = checkpoint(source="folder", id="lora", place=str(tmp_path / "lora"), base=True)
    [task] = plan([row], offline=True)
    assert isinstance(task.problem, RowError)
    assert reason in str(task.problem)
