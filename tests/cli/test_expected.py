"""The command ``expected``: the list, one model, and an engine's numbers."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from generator.encyclopedia import expected

Run = Callable[..., CompletedProcess[str]]
QWEN = "Qwen/Qwen3-8B"


@pytest.fixture
def numbers() -> dict[str, Any]:
    """Of an engine that is right: those of the file, which has more."""
    document = expected.document(next(one for one in expected.frozen() if one["id"] == QWEN))
    found: dict[str, Any] = json.loads(json.dumps(document))
    return found


def checked(run: Run, folder: Path, numbers: object) -> tuple[int, str]:
    file = folder / "numbers.json"
    file.write_text(json.dumps(numbers), encoding="utf-8")
    ended = run("expected", "--check", file)
    return ended.returncode, " ".join((ended.stdout + ended.stderr).split())


def test_without_an_id_all_models_are_listed(run: Run) -> None:
    lines = run("expected").stdout.splitlines()
    assert len(lines) == len(expected.frozen())
    assert f"{QWEN}: 1 rotation, version 1 of " in "\n".join(lines)


def test_one_model_is_printed_as_in_its_file(run: Run, numbers: dict[str, Any]) -> None:
    assert json.loads(run("expected", QWEN).stdout) == numbers
    # config.json of Qwen3-8B.
    assert numbers["config"]["rope_theta"] == 1e6
    assert numbers["rotations"][0]["rope_parameters"]["rope_theta"] == 1e6


def test_numbers_of_an_engine_are_right_or_named(
    run: Run, tmp_path: Path, numbers: dict[str, Any]
) -> None:
    assert checked(run, tmp_path, numbers) == (0, f"{QWEN}: all values are right")
    numbers["rotations"][0]["values"][1]["cos"][2] += 1e-4
    code, said = checked(run, tmp_path, numbers)
    assert code == 1
    assert said.startswith("rotation 0, position 1, cos of pair 2: [0.")
    del numbers["rotations"][0]["values"][0]
    assert checked(run, tmp_path, numbers)[1].endswith("and 109 more")  # Of 2 · 64 + 1.


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "found no object"),
        ({}, "no published config of the program has this id"),
        ({"id": "Qwen/Qwen3-8"}, "nearest: Qwen/Qwen3-8B"),
        ({"id": QWEN}, "KeyError 'rotations'; expected the form"),
        ({"id": QWEN, "rotations": []}, "IndexError"),
        (
            {"id": QWEN, "rotations": [{"values": [{"position": 0, "cos": ["x"] * 64}]}]},
            "TypeError",
        ),
        ({"id": "google-bert/bert-base-uncased", "rotations": []}, "has no rotation"),
    ],
)
def test_what_cannot_be_compared_is_said(
    run: Run, tmp_path: Path, given: object, said: str
) -> None:
    code, answer = checked(run, tmp_path, given)
    assert code == 2, answer
    assert said in answer


def test_a_file_that_is_not_there_and_two_questions_at_once(run: Run, tmp_path: Path) -> None:
    assert run("expected", "--check", tmp_path / "none.json").returncode == 2
    assert "expected one of the two" in " ".join(
        run("expected", QWEN, "--check", tmp_path / "none.json").stderr.split()
    )
