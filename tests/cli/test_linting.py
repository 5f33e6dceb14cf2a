"""The command ``lint``: what it prints, and how it ends."""

import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from generator import __version__
from generator.cli import muting
from tests.json_schema import problems
from tests.support import save_folder

# Of OASIS, which lets anyone use it (tests/cli/sarif-schema-2.1.0.md).
SCHEMA = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
Run = Callable[..., CompletedProcess[str]]
FINE: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "vocab_size": 100, "max_position_embeddings": 64, "rope_theta": 1e6,
}  # fmt: skip
NOTED = {**FINE, "model_type": "smollm3", "num_hidden_layers": 4, "no_rope_layers": [0, 0, 0, 1]}
WARNED = {**NOTED, "rope_parameters": {"rope_theta": 1e4}}
# transformers 4 and mlx-lm take the one at the top.
BOTH = ["readers", "two-places", "layer-schedule"]
SENTENCE = (
    "rope_theta is 1000000.0, and rope_parameters.rope_theta is 10000.0. This atlas follows"
    " rope_parameters.rope_theta."
)


def findings(ended: CompletedProcess[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ended.stdout)["findings"]
    return found


@pytest.mark.parametrize(
    ("settings", "code", "rules"),
    [(FINE, 0, []), (NOTED, 0, ["layer-schedule"]), (WARNED, 1, BOTH)],
)
def test_it_ends_with_1_where_there_is_a_warning(
    run: Run, tmp_path: Path, settings: Mapping[str, Any], code: int, rules: list[str]
) -> None:
    ended = run("lint", save_folder(tmp_path / "own", settings), "--json")
    assert ended.returncode == code
    assert [one["rule"] for one in findings(ended)] == rules


def test_each_finding_is_a_line_with_file_level_and_rule(run: Run, tmp_path: Path) -> None:
    source = save_folder(tmp_path / "own", WARNED)
    others = ["--ignore", "layer-schedule", "--ignore", "readers"]
    ended = run("lint", source, *others)
    assert " ".join(ended.stdout.split()) == (
        f"{source}/config.json: warning two-places: {SENTENCE}"
    )
    ignored = run("lint", source, *others, "--ignore", "two-places")
    assert (ignored.stdout, ignored.returncode) == ("", 0)


def test_a_path_that_it_prints_and_standard_input_are_read(run: Run, tmp_path: Path) -> None:
    source = save_folder(tmp_path / "own", WARNED)
    other = tmp_path / "of_others.json"
    other.write_text(json.dumps(WARNED), encoding="utf-8")
    [first, *_] = findings(run("lint", source, "--json"))
    for path in (first["file"], str(other)):
        again = run("lint", path, "--json")
        assert (again.returncode, findings(again)[0]) == (1, {**first, "file": path})
    given = run("lint", "-", "--json", stdin=json.dumps(WARNED))
    assert findings(given)[0] == {**first, "file": "-"}


@pytest.mark.parametrize(
    ("level", "rules"),
    [("error", []), ("warning", BOTH[:2]), ("note", BOTH),
     ("fact", [*BOTH, "window-without-effect"])],
)  # fmt: skip
def test_a_level_leaves_out_what_is_below(
    run: Run, tmp_path: Path, level: str, rules: list[str]
) -> None:
    settings = {**WARNED, "use_sliding_window": False, "sliding_window": 8}
    ended = run("lint", save_folder(tmp_path / "own", settings), "--level", level, "--json")
    assert [one["rule"] for one in findings(ended)] == rules
    assert ended.returncode == bool(rules)


def test_json_has_keys_lines_values_and_a_summary(run: Run, tmp_path: Path) -> None:
    source, broken = save_folder(tmp_path / "own", WARNED), str(tmp_path / "none.json")
    text = json.dumps({"a": [{"b": {}}], **WARNED}, indent=1)
    (tmp_path / "own" / "config.json").write_text(text, encoding="utf-8")
    (tmp_path / "none.json").write_text("{", encoding="utf-8")
    ended = run("lint", source, broken, "--json")
    told = json.loads(ended.stdout)
    assert (ended.returncode, told["version"]) == (2, __version__)
    _, given_twice, _ = told["findings"]
    assert given_twice["keys"] == ["rope_theta", "rope_parameters.rope_theta"]
    at_the_top = [line.startswith(' "rope_theta"') for line in text.splitlines()]
    assert given_twice["line"] == 1 + at_the_top.index(True)
    assert given_twice["values"]["values"] == [1e6, 1e4]
    assert [one["file"] for one in told["unread"]] == [broken]
    assert "expected a JSON object" in told["unread"][0]["reason"]
    assert told["summary"] == {
        "read": 1, "unread": 1, "error": 0, "warning": 2, "note": 1, "fact": 0,
    }  # fmt: skip


def test_sarif_is_as_its_schema_demands(run: Run, tmp_path: Path) -> None:
    """The schema of SARIF 2.1.0 is that of OASIS."""
    source = save_folder(tmp_path / "my own", WARNED)
    log = json.loads(run("lint", source, str(tmp_path / "nothing.gguf"), "--sarif").stdout)
    assert problems(log, SCHEMA, SCHEMA) == []
    [found] = log["runs"]
    rules = {rule["id"]: rule for rule in found["tool"]["driver"]["rules"]}
    assert all(rule["helpUri"].startswith("https://") for rule in rules.values())
    assert [one["ruleId"] for one in found["results"]] == BOTH
    for one in found["results"]:
        [location] = one["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("my%20own/config.json")
        assert one["ruleId"] in rules
        assert place["region"] == {"startLine": 1}
    marks = [one["partialFingerprints"]["positionAtlas/v1"] for one in found["results"]]
    assert len({*marks}) == 3
    assert found["results"][1]["message"]["text"] == SENTENCE
    [ran] = found["invocations"]
    assert not ran["executionSuccessful"]
    assert "nothing.gguf" in ran["toolExecutionNotifications"][0]["message"]["text"]


def test_names_of_a_file_are_no_links_of_sarif_and_no_commands_of_a_log(
    run: Run, tmp_path: Path
) -> None:
    name = "##[add-mask]x [all is well](https://evil.example/) {0}"
    scaling = {"rope_type": "yarn", "factor": 4.0, name: 1}
    source = save_folder(tmp_path / "own", {**WARNED, "rope_scaling": scaling})
    printed = run("lint", source, "--sarif").stdout
    said = [one["message"]["text"] for one in json.loads(printed)["runs"][0]["results"]]
    assert any(
        r"##\[add-mask\]x \[all is well\](https://evil.example/) {{0}}" in text for text in said
    )
    for option in ("--sarif", "--json"):
        assert "##[" not in run("lint", source, option).stdout


@pytest.mark.parametrize(
    ("path", "value"),
    [(["version"], "2.0"), (["runs", 0, "results", 0, "level"], "grave"), (["more"], 1),
     (["runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", "startLine"], 0)],
)  # fmt: skip
def test_the_schema_of_sarif_refuses_what_is_none(
    run: Run, tmp_path: Path, path: list[Any], value: Any
) -> None:
    log = json.loads(run("lint", save_folder(tmp_path / "own", WARNED), "--sarif").stdout)
    inner = log
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert len(problems(log, SCHEMA, SCHEMA)) == 1


def test_one_program_alone_is_told_of(run: Run, tmp_path: Path) -> None:
    lost = {**{name: FINE[name] for name in FINE if name != "rope_theta"},
            "rope_parameters": {"rope_theta": 1e6}}  # fmt: skip
    source = save_folder(tmp_path / "own", lost)
    told = {
        key: [one["text"] for one in findings(run("lint", source, "--as", key, "--json"))]
        for key in ("mlx-lm", "vllm")
    }
    assert "mlx-lm 0.32.2 takes base 10,000" in told["mlx-lm"][0]
    assert not any("transformers 4.57.6" in text for text in told["mlx-lm"])
    assert told["vllm"] == [
        "From config.json, vLLM 0cd57848 takes base 1,000,000, 16 of 16 components; it gives no"
        " layer a window, and its length is 64 positions."
    ]
    ended = run("lint", source, "--as", "mlx")
    assert ended.returncode == 2
    assert "expected one of llama-cpp, mlx-lm, sglang, transformers4" in ended.stderr


def test_a_patch_makes_programs_agree(run: Run, tmp_path: Path) -> None:
    lost = {**{name: FINE[name] for name in FINE if name != "rope_theta"},
            "rope_parameters": {"rope_theta": 1e6}}  # fmt: skip
    source = save_folder(tmp_path / "own", lost)
    assert run("lint", source).returncode == 1
    patch = json.loads(run("lint", source, "--fix").stdout)
    assert patch == [{"op": "add", "path": "/rope_theta", "value": 1e6}]
    mended = save_folder(tmp_path / "mended", {**lost, "rope_theta": 1e6})
    assert run("lint", mended).returncode == 0
    assert json.loads(run("lint", mended, "--fix").stdout) == []
    both = run("lint", source, mended, "--fix")
    assert (both.returncode, "expected one" in both.stderr) == (2, True)


@pytest.mark.parametrize(
    ("settings", "least", "code"), [(NOTED, "note", 1), (WARNED, "error", 0), (NOTED, "error", 0)]
)
def test_the_level_that_fails_can_be_chosen(
    run: Run, tmp_path: Path, settings: Mapping[str, Any], least: str, code: int
) -> None:
    ended = run("lint", save_folder(tmp_path / "own", settings), "--fail-on", least)
    assert ended.returncode == code


@pytest.mark.parametrize(
    ("file", "rules"),
    [(["position-atlas.toml", '[lint]\nignore = ["two-places"]'], [BOTH[0], BOTH[2]]),
     (["position-atlas.toml", '[lint.ignore-by-path]\n"own/*" = ["layer-schedule"]'],
      BOTH[:2]),
     (["pyproject.toml", '[tool.position-atlas.lint.ignore-by-path]\n"o*" = ["two-places"]'],
      [BOTH[0], BOTH[2]]),
     (["pyproject.toml", '[tool.other.lint]\nignore = ["two-places"]'],
      BOTH),
     (["position-atlas.toml", '[lint.ignore-by-path]\n"others/*" = ["two-places"]'],
      BOTH)],
)  # fmt: skip
def test_a_file_leaves_out_rules(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: list[str], rules: list[str]
) -> None:
    save_folder(tmp_path / "own", WARNED)
    (tmp_path / file[0]).write_text(file[1], encoding="utf-8")
    (tmp_path / "inner").mkdir()
    for folder, source in ((tmp_path, "own"), (tmp_path / "inner", str(tmp_path / "own"))):
        monkeypatch.chdir(folder)
        assert [one["rule"] for one in findings(run("lint", source, "--json"))] == rules


@pytest.mark.parametrize(
    ("text", "said"),
    [('[lint]\nignore = ["two-place"]', "two-place: no rule; expected one of base-and-context"),
     ('[lint]\nignored = ["two-places"]', "found 'ignored'; expected ignore or ignore-by-path"),
     ('[lint]\nignore = "two-places"', "expected a list of rules"),
     ('lint = "two-places"', "expected ignore or ignore-by-path"),
     ('[lint]\nignore-by-path = ["two-places"]', "expected a table"),
     ("[lint", "expected TOML"),
     ('lint.ignore = 3\n[lint.ignore-by-path]\nignore = []', "ignore is 3; expected a list"),
     ('[lint]\nignore = [["two-places"]]', "['two-places']: no rule; expected one of"),
     ('[lint]\nignore = 1979-05-27', 'ignore is "1979-05-27"; expected a list of rules'),
     (f'[lint]\nignore = ["{"x" * 5000}"]', "xxx: no rule; expected one of"),
     (f'[lint]\n"{"x" * 5000}" = 1', "'; expected ignore or ignore-by-path"),
     (f'[lint.ignore-by-path]\n"{"x" * 5000}" = 1', "xxx is 1; expected a list of rules"),
     (f"x = {'[' * 9000}", "; expected TOML"),
     (f"x = {'9' * 5000}", "a whole number of more than 4300 digits; expected TOML"),
     ("#" * (muting.MOST_BYTES + 1), "more than 1,048,576 bytes; expected TOML"),
     ('[lint]\nignore = ["\\n::warning::\\u202ex"]', "two-places")],
    ids=itertools.count(),
)  # fmt: skip
def test_a_mistake_in_that_file_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    (tmp_path / "position-atlas.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ended = run("lint", save_folder(tmp_path / "own", WARNED))
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr) < 1000
    assert [line for line in ended.stderr.split("\n") if not line.isprintable()] == []
    assert "\n::" not in ended.stderr


def test_the_nearest_file_counts_alone_and_one_of_a_folder_that_is_linted_does_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, outer = tmp_path / "outer/inner", tmp_path / "outer"
    linted = save_folder(tmp_path / "linted", WARNED)
    inner.mkdir(parents=True)
    for folder, rule in ((inner, BOTH[1]), (outer, BOTH[0]), (tmp_path / "linted", BOTH[2])):
        text = f'[lint]\nignore = ["{rule}"]\n'
        (folder / "position-atlas.toml").write_text(text, encoding="utf-8")
    # What is no file there, and one of another program that is not TOML, stop nothing.
    (inner / "pyproject.toml").write_text(f"x = {'[' * 9000}", encoding="utf-8")
    for folder, left_out in ((inner, BOTH[1]), (outer, BOTH[0]), (tmp_path, None)):
        monkeypatch.chdir(folder)
        found = [one["rule"] for one in findings(run("lint", linted, "--json"))]
        assert found == [rule for rule in BOTH if rule != left_out]


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
    assert len(findings(ended)) == 3
