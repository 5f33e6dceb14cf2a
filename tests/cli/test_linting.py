"""The command ``lint``: what it prints, and how it ends."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.support import save_folder

Run = Callable[..., CompletedProcess[str]]
FINE: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "vocab_size": 100, "max_position_embeddings": 64, "rope_theta": 1e6,
}  # fmt: skip
NOTED = {**FINE, "model_type": "smollm3", "num_hidden_layers": 4}
WARNED = {**NOTED, "rope_parameters": {"rope_theta": 1e4}}
SENTENCE = (
    "rope_theta is 1000000.0, and rope_parameters.rope_theta is 10000.0. This atlas follows"
    " rope_parameters.rope_theta."
)


@pytest.mark.parametrize(
    ("settings", "code", "rules"),
    [(FINE, 0, []), (NOTED, 0, ["layer-schedule"]), (WARNED, 1, ["two-places", "layer-schedule"])],
)
def test_it_ends_with_1_where_there_is_a_warning(
    run: Run, tmp_path: Path, settings: Mapping[str, Any], code: int, rules: list[str]
) -> None:
    ended = run("lint", save_folder(tmp_path / "own", settings), "--json")
    assert ended.returncode == code
    assert [one["rule"] for one in json.loads(ended.stdout)] == rules


def test_each_finding_is_a_line_with_file_level_and_rule(run: Run, tmp_path: Path) -> None:
    source = save_folder(tmp_path / "own", WARNED)
    ended = run("lint", source, "--ignore", "layer-schedule")
    assert " ".join(ended.stdout.split()) == (
        f"{source}/config.json: warning two-places: {SENTENCE}"
    )
    ignored = run("lint", source, "--ignore", "layer-schedule", "--ignore", "two-places")
    assert (ignored.stdout, ignored.returncode) == ("", 0)


def test_a_path_that_it_prints_and_standard_input_are_read(run: Run, tmp_path: Path) -> None:
    source = save_folder(tmp_path / "own", WARNED)
    other = tmp_path / "of_others.json"
    other.write_text(json.dumps(WARNED), encoding="utf-8")
    [first, *_] = json.loads(run("lint", source, "--json").stdout)
    for path in (first["file"], str(other)):
        again = run("lint", path, "--json")
        assert (again.returncode, json.loads(again.stdout)[0]) == (1, {**first, "file": path})
    given = run("lint", "-", "--json", stdin=json.dumps(WARNED))
    assert json.loads(given.stdout)[0] == {**first, "file": "-"}


@pytest.mark.parametrize(
    ("level", "rules"),
    [("error", []), ("warning", ["two-places"]), ("note", ["two-places", "layer-schedule"]),
     ("fact", ["two-places", "layer-schedule", "window-without-effect"])],
)  # fmt: skip
def test_a_level_leaves_out_what_is_below(
    run: Run, tmp_path: Path, level: str, rules: list[str]
) -> None:
    settings = {**WARNED, "use_sliding_window": False, "sliding_window": 8}
    ended = run("lint", save_folder(tmp_path / "own", settings), "--level", level, "--json")
    assert [one["rule"] for one in json.loads(ended.stdout)] == rules
    assert ended.returncode == bool(rules)


def test_sarif_has_what_code_scanning_needs(run: Run, tmp_path: Path) -> None:
    """SARIF 2.1.0 (OASIS 2020), sections 3.13, 3.14, 3.19, 3.27 and 3.49: what is required."""
    source = save_folder(tmp_path / "my own", WARNED)
    log = json.loads(run("lint", source, "--sarif").stdout)
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    [found] = log["runs"]
    rules = {rule["id"] for rule in found["tool"]["driver"]["rules"]}
    assert found["tool"]["driver"]["name"] == "position-atlas"
    assert [one["ruleId"] for one in found["results"]] == ["two-places", "layer-schedule"]
    for one in found["results"]:
        assert one["ruleId"] in rules
        assert one["level"] in ("error", "warning", "note")
        [location] = one["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"].endswith(
            "my%20own/config.json"
        )
    assert found["results"][0]["message"]["text"] == SENTENCE


def test_what_cannot_be_read_is_one_sentence_and_ends_with_2(run: Run, tmp_path: Path) -> None:
    fine, broken = save_folder(tmp_path / "fine", FINE), save_folder(tmp_path / "broken", {})
    (tmp_path / "broken" / "config.json").write_text("{", encoding="utf-8")
    ended = run("lint", broken, fine)
    assert ended.returncode == 2
    assert "expected a JSON object" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("arguments", [[], ["--ignore", "nothing", "."]])
def test_a_mistake_in_the_command_is_refused(run: Run, arguments: list[str]) -> None:
    ended = run("lint", *arguments)
    assert ended.returncode == 2
    assert "expected" in ended.stderr


def test_a_list_is_read_whole(run: Run, tmp_path: Path) -> None:
    save_folder(tmp_path / "one", FINE)
    save_folder(tmp_path / "two", WARNED)
    listed = tmp_path / "checkpoints.yml"
    listed.write_text("checkpoints:\n  - folder: one\n  - folder: two\n", encoding="utf-8")
    ended = run("lint", "--config", str(listed), "--json")
    assert ended.returncode == 1
    assert len(json.loads(ended.stdout)) == 2
