"""Lists that are written of folders of somebody's runs."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import torch

from generator import errors
from generator.checkpoints import list_file
from generator.cli import own_runs
from generator.reading import plan
from tests import inline
from tests.synthetic import NOTHING, ROTATION, TABLE, WORDLESS, write_folder

WPE = torch.randn(24, 16, generator=torch.Generator().manual_seed(0))
ADAPTER = {
    "adapter_config.json": json.dumps({"base_model_name_or_path": "a/base"}).encode(),
    "adapter_model.safetensors": b"not opened",
}
SIX = """\
models: listed
checkpoints:
  - folder: runs/gpt
    title: gpt
  - folder: runs/gpt/checkpoint-*
    title: "gpt, in training"
  - folder: runs/rope
    title: rope
  # These entries have their weights only in pickles. None was opened: a pickle can run code.
  # `pickle: true` opens one by torch's weights_only. If you trust it, remove "# " from its lines.
  # - folder: runs/lightning/epoch=*-step=*.ckpt
  #   title: lightning
  #   pickle: true
  # - folder: runs/nano
  #   title: nano
  #   pickle: true
  # Left out, with the reason:
  # - runs/cut: model.safetensors: ends at byte 3; expected 8
  # - runs/lora/checkpoint-* (5 checkpoints): adapter_config.json: a PEFT adapter, such as LoRA,\
 which changes a base model, which is not read; expected model.safetensors (merge_and_unload and\
 save_pretrained; the position is that of its base, a/base: name that, or write 'base: true' in the\
 entry)
"""


def pickled(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"state_dict": {"transformer.wpe.weight": WPE}}, path)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six runs in a folder of the present one."""
    monkeypatch.chdir(tmp_path)
    top = tmp_path / "runs"
    for name in ("gpt", "gpt/checkpoint-9", "gpt/checkpoint-10", "gpt/checkpoint-200"):
        write_folder(top / name, WORDLESS)
    write_folder(top / "rope", ROTATION)
    for step in range(100, 600, 100):
        write_folder(top / f"lora/checkpoint-{step}", ADAPTER)
    for epoch in (0, 1):
        pickled(top / f"lightning/epoch={epoch}-step={epoch * 50 + 49}.ckpt")
    pickled(top / "nano/ckpt.pt")
    write_folder(top / "cut", {"model.safetensors": b"cut"})
    return top


def run(*arguments: str, code: int = 0) -> CompletedProcess[str]:
    done = inline.run(*arguments, home=Path("hub-of-this-test"))
    assert done.returncode == code, done.stdout + done.stderr
    return done


def text() -> str:
    return Path("checkpoints.yml").read_text(encoding="utf-8")


def listed() -> Mapping[str, list[str]]:
    """The steps of each row, by its title; empty for a single checkpoint."""
    steps: dict[str, list[str]] = {}
    rows = list_file.load(Path("checkpoints.yml"), plan.all_sources())
    for task in plan.plan(rows, offline=True):
        assert task.problem is None
        one = task.checkpoint
        steps.setdefault(one.series.title if one.series else one.title, []).extend(
            [one.series.name] if one.series else []
        )
    return steps


def test_rows_are_appended_and_the_rest_stays_as_it_is(runs: Path) -> None:
    before = "# Mine.\ncheckpoints:\n    - folder: runs/rope   # the first\n      title: gpt\n"
    Path("checkpoints.yml").write_text(before, encoding="utf-8")
    said = run("add", "runs").stdout
    assert "entries of 3 are new" in said
    assert "1 already listed" in said
    assert text().startswith(before)
    assert text().count("runs/rope") == 1
    assert '    - folder: runs/gpt\n      title: "gpt 2"\n' in text()
    assert "gpt 2" in listed()
    whole = text()
    assert "nothing to add" in run("add", "runs").stdout
    assert text() == whole


def test_a_list_is_written_of_six_runs_without_loading_a_pickle(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(torch, "load", pytest.fail)
        said = run("init", "runs").stdout
    assert text() == SIX
    assert "3 entries, 2 waiting for your permission, 2 left out, with the reason" in said
    run("check")
    rows = {"gpt": [], "gpt, in training": [f"checkpoint-{step}" for step in (9, 10, 200)]}
    assert listed() == {**rows, "rope": []}
    # Rows that wait are rows without their marks.
    lines = text().splitlines()
    first = next(index for index, line in enumerate(lines) if "# - folder" in line)
    freed = [line.replace("# ", "", 1) for line in lines[first : first + 6]]
    Path("checkpoints.yml").write_text("\n".join([*lines[:first], *freed]), encoding="utf-8")
    assert listed()["lightning"] == ["epoch=0-step=49.ckpt", "epoch=1-step=99.ckpt"]
    assert "lightning--99: " in run("check", "--bytes").stdout


def test_what_is_no_pickle_waits_for_nothing_and_what_was_not_looked_at_is_said(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(runs / "data", {"train.bin": bytes(1000)})
    run("init", "runs")
    assert "folder: runs/data" not in text()
    assert f"# - runs/data: {own_runs.NO_PICKLE}\n" in text()
    Path("checkpoints.yml").unlink()
    monkeypatch.setattr(own_runs, "MOST_OPENED", 3)
    run("init", "runs")
    assert f"# - runs: searched only in part ({errors.BOUNDS})" in text()


def test_what_a_series_of_the_list_has_is_not_added(runs: Path) -> None:
    row = "checkpoints:\n  - {folder: runs/gpt/checkpoint-*, every: 3}\n"
    Path("checkpoints.yml").write_text(row, encoding="utf-8")
    run("add", "runs/gpt/checkpoint-10")
    assert text() == row


def test_one_file_is_one_entry_by_whatever_path(runs: Path) -> None:
    write_folder(runs / "mine", WORDLESS)
    Path("link").symlink_to("runs/mine")
    Path("lists.safetensors").symlink_to("runs/gpt/model.safetensors")
    run("init", "runs/mine/model.safetensors", "runs/mine", str(runs / "mine"), "link")
    assert "2 entries of 3 are new" in run("add", "runs/gpt").stdout
    whole = text()
    assert whole.count("- folder:") == 3
    names = ("runs/gpt/model.safetensors", str(runs / "gpt"), "./runs/../runs/gpt", "link")
    for name in (*names, "lists.safetensors", "link/model.safetensors"):
        assert "nothing to add (1 already listed)" in run("add", name).stdout.replace(
            "2 al", "1 al"
        )
    assert text() == whole


def test_a_run_that_has_grown_is_listed_still(runs: Path) -> None:
    run("init", "runs/gpt")
    write_folder(runs / "gpt/checkpoint-300", WORDLESS)
    whole = text()
    run("add", "runs")
    assert text().startswith(whole)
    assert "checkpoint-" not in text().removeprefix(whole).replace("lora/checkpoint-", "")


def test_paths_are_relative_to_the_list(runs: Path, tmp_path: Path) -> None:
    write_folder(tmp_path / "lists", {"mine.yml": b"checkpoints:\n  - a/b\n"})
    run("add", "runs/rope", "--config", "lists/mine.yml")
    run("add", str(runs / "gpt"), "--config", "lists/mine.yml")
    run("check", "--config", "lists/mine.yml")
    rows = (tmp_path / "lists/mine.yml").read_text(encoding="utf-8")
    assert "- folder: ../runs/rope\n    title: rope\n" in rows
    assert f"- folder: {runs}/gpt\n    title: gpt\n" in rows


def test_several_folders_and_a_file_make_one_list(runs: Path) -> None:
    write_folder(Path("b/gpt"), TABLE)
    run("init", "runs/rope", "b", "runs/gpt/model.safetensors")
    assert list(listed()) == ["gpt", "model.safetensors", "rope"]


def test_this_folder_is_looked_through_when_it_is_named(runs: Path) -> None:
    done = run("init", code=2)
    assert "expected an empty or new folder ('position-atlas init .' searches" in done.stderr
    run("init", ".")
    assert "- folder: runs/gpt\n    title: runs/gpt\n" in text()


def test_a_list_is_never_written_over(runs: Path) -> None:
    for place in ("runs/checkpoints.yml", "checkpoints.yml"):
        Path(place).write_text("mine", encoding="utf-8")
        assert f"{place}: found a list; expected none" in run("init", "runs", code=2).stderr
        assert Path(place).read_text(encoding="utf-8") == "mine"


def test_where_nothing_is_found_nothing_is_written(runs: Path) -> None:
    said = run("init", "runs/cut", "runs/lora", code=2).stderr
    assert said.startswith("runs/cut, runs/lora: found no checkpoint that can be read; expected")
    assert said.count("a PEFT adapter") == 1
    assert not Path("checkpoints.yml").exists()
    assert run("init", "runs/absent", "runs", code=2).stderr.startswith("runs/absent: No such file")


def test_seeds_are_no_series_and_others_beside_a_series_are_not_in_it(runs: Path) -> None:
    for name in ("seed-1", "seed-2", "gpt/checkpoint-best", "x/step-1", "x/step-2"):
        write_folder(runs / name, TABLE)
    write_folder(runs / "x/step-2-merged", {"notes.txt": b"x"})
    run("init", "runs")
    rows = listed()
    assert rows["gpt, in training"] == [f"checkpoint-{step}" for step in (9, 10, 200)]
    assert '"runs/gpt/checkpoint-[0-9]*"' in text()
    # Of a run that no pattern names alone, each is a row.
    assert [rows[name] for name in ("seed-1", "seed-2", "x/step-1", "x/step-2")] == [[]] * 4


def test_a_run_of_very_many_is_thinned(runs: Path) -> None:
    for step in range(300):
        write_folder(runs / f"long/step-{step}", NOTHING if step else ROTATION)
    run("init", "runs/long")
    assert "every: 2\n" in text()
    assert "step-299" in listed()["long"]
    assert "# - runs/long/step-299: no position encoding found" in text()


NAMES = ("a: b # c", "new\nline", "~user", "[1]*?", "'quoted\"", "next\x85line", "null", "日本")


def test_odd_names_are_listed_as_they_are(runs: Path) -> None:
    expected = set[str]()
    for name in NAMES:
        members = [f"{runs}/{name}", *(f"{runs}/series {name}/step-{n}" for n in (1, 2))]
        for member in members:
            write_folder(Path(member), TABLE)
        write_folder(runs / f"bad {name}", {"model.safetensors": b"cut"})
        expected |= {*members}
    run("init", "runs")
    rows = list_file.load(Path("checkpoints.yml"), plan.all_sources())
    places = {os.path.realpath(task.checkpoint.place) for task in plan.plan(rows, offline=True)}
    assert expected <= places
