"""The command ``compare``: what it prints, and how it ends."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests import inline

Run = Callable[..., CompletedProcess[str]]
LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "vocab_size": 100, "max_position_embeddings": 64, "rope_theta": 1e6,
}  # fmt: skip


def write(folder: Path, settings: Mapping[str, Any]) -> str:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    return str(folder)


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    home = tmp_path_factory.mktemp("home")
    return lambda *arguments: inline.run("compare", *arguments, home=home)


@pytest.mark.parametrize(
    ("changed", "code", "verdict"),
    [
        ({}, 0, "equal"),
        ({"rope_theta": 1e4}, 1, "different"),
        ({"model_type": "nobody"}, 0, "equal as far as both files tell"),
    ],
)
def test_the_verdict_is_the_first_line_and_the_exit_code(
    run: Run, tmp_path: Path, changed: dict[str, Any], code: int, verdict: str
) -> None:
    one = write(tmp_path / "one", LLAMA)
    other = write(tmp_path / "other", {**LLAMA, **changed})
    ended = run(one, other)
    assert (ended.stdout.splitlines()[0], ended.returncode) == (verdict, code)
    found = json.loads(run(one, other, "--json").stdout)
    assert found["verdict"] == verdict
    assert [one["kind"] for one in found["differences"]] == ["rotation"] * code


@pytest.mark.parametrize("other", ["nowhere/at/all", "broken"])
def test_what_cannot_be_read_is_one_sentence_and_ends_with_2(
    run: Run, tmp_path: Path, other: str
) -> None:
    one = write(tmp_path / "one", LLAMA)
    write(tmp_path / "broken", {})
    (tmp_path / "broken" / "config.json").write_text("{", encoding="utf-8")
    ended = run(one, str(tmp_path / other))
    assert ended.returncode == 2
    assert ended.stderr.startswith("cannot be compared: ")
    assert len(ended.stderr.splitlines()) == 1
