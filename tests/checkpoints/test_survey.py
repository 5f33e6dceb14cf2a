"""Folders of runs, looked through by the names in them."""

import json
import os
from pathlib import Path

import pytest
import torch

from generator.checkpoints import survey as surveys
from generator.checkpoints.survey import LINK, ODD_NAME, TOO_DEEP, survey
from tests.synthetic import NOTHING, PICKLED, TABLE, WORDLESS, write_folder

WEIGHTS = WORDLESS["model.safetensors"]


def found(top: Path) -> list[str]:
    return ["/".join(parts) for parts in survey(top).found]


def made(top: Path, *names: str) -> Path:
    """``top`` with files of weights by these names."""
    return write_folder(top, dict.fromkeys(names, WEIGHTS))


def test_a_folder_with_a_config_or_one_file_of_weights_is_a_checkpoint(tmp_path: Path) -> None:
    write_folder(tmp_path / "table", TABLE)
    write_folder(tmp_path / "deeper/nothing", NOTHING)
    write_folder(tmp_path / "pickled", PICKLED)
    made(tmp_path / "alone", "weights-of-mine.safetensors", "optimizer.bin")
    write_folder(tmp_path / "logs", {"events.txt": b"x", "data.json": b"{}"})
    assert found(tmp_path) == ["alone", "deeper/nothing", "pickled", "table"]


def test_several_files_that_may_be_weights_are_checkpoints_each(tmp_path: Path) -> None:
    made(tmp_path / "run", "epoch=0.safetensors", "epoch=1.safetensors", "table.npy")
    assert found(tmp_path) == ["run/epoch=0.safetensors", "run/epoch=1.safetensors"]


def test_folders_in_that_of_a_model_are_its_parts_but_for_steps(tmp_path: Path) -> None:
    write_folder(tmp_path / "model", TABLE)
    for part in ("1_Pooling", "checkpoint-10", "checkpoint-10/global_step10", "checkpoint-20"):
        write_folder(tmp_path / "model" / part, TABLE)
    made(tmp_path / "model/onnx", "model.onnx")
    assert found(tmp_path) == ["model", "model/checkpoint-10", "model/checkpoint-20"]


def test_a_config_without_weights_hides_no_other_checkpoints(tmp_path: Path) -> None:
    write_folder(tmp_path, {"config.json": b"{}"})
    write_folder(tmp_path / "model", TABLE)
    assert found(tmp_path) == ["", "model"]


def test_parts_of_a_layout_are_no_checkpoints(tmp_path: Path) -> None:
    made(tmp_path / "megatron/iter_0000010/mp_rank_00", "model_optim_rng.pt")
    made(tmp_path / "megatron/iter_0000020/mp_rank_00", "model_optim_rng.pt")
    (tmp_path / "megatron/latest_checkpointed_iteration.txt").write_text("20", encoding="utf-8")
    made(tmp_path / "mixed/fsdp", "__0_0.distcp")
    write_folder(tmp_path / "mixed/table", TABLE)
    steps = ["megatron/iter_0000010", "megatron/iter_0000020"]
    inner = [name for name in found(tmp_path) if "/" in name]
    assert inner == [*steps, "mixed/fsdp", "mixed/table"]


def test_hidden_folders_environments_and_blobs_of_a_cache_are_not_looked_at(tmp_path: Path) -> None:
    for name in (".git/a", "env/a", "models--a--b/blobs", "models--a--b/snapshots/c"):
        write_folder(tmp_path / name, TABLE)
    (tmp_path / "env/pyvenv.cfg").write_text("", encoding="utf-8")
    assert found(tmp_path) == ["models--a--b/snapshots/c"]


def test_links_and_odd_names_are_left_out_with_a_reason(tmp_path: Path) -> None:
    write_folder(tmp_path / "outside", TABLE)
    top = tmp_path / "runs"
    for name in ("plain", "red\x1b[31m", os.fsdecode(b"latin-\xe9")):
        write_folder(top / name, TABLE)
    (top / "latest").symlink_to(tmp_path / "outside")
    (top / "circle").symlink_to(top)
    made(top / "files", "a.safetensors", "b\x1b.safetensors")
    seen = survey(top)
    assert seen.found == [("files", "a.safetensors"), ("plain",)]
    odd = ("files/b\x1b.safetensors", os.fsdecode(b"latin-\xe9"), "red\x1b[31m")
    assert seen.left_out == {"circle": LINK, "latest": LINK, **dict.fromkeys(odd, ODD_NAME)}


def test_what_lies_too_deep_is_named_and_not_looked_at(tmp_path: Path) -> None:
    write_folder(tmp_path / "1/2/3/4/5/6/7/8", TABLE)
    write_folder(tmp_path / "1/2/3/4/5/6/7/other/9", TABLE)
    seen = survey(tmp_path)
    assert ["/".join(parts) for parts in seen.found] == ["1/2/3/4/5/6/7/8"]
    assert seen.left_out == {"1/2/3/4/5/6/7/other/9": TOO_DEEP}


def test_it_ends_after_so_many_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcd":
        write_folder(tmp_path / name, TABLE)
    assert survey(tmp_path).is_whole
    monkeypatch.setattr(surveys, "MOST_FOLDERS", 3)  # The top is one of them.
    seen = survey(tmp_path)
    assert (seen.found, seen.is_whole) == ([("a",), ("b",)], False)


def test_no_weights_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError

    torch.save({"a": torch.ones(2)}, write_folder(tmp_path / "a", {}) / "model.pt")
    monkeypatch.setattr(torch, "load", opened)
    write_folder(tmp_path / "b", {**TABLE, "model.safetensors": b"broken"})
    os.mkfifo(write_folder(tmp_path / "c", {}) / "model.safetensors")  # Opened, it would wait.
    assert found(tmp_path) == ["a", "b", "c"]


def test_a_file_is_what_it_is(tmp_path: Path) -> None:
    write_folder(tmp_path, TABLE)
    (tmp_path / "config.json").write_text(json.dumps({}), encoding="utf-8")
    assert survey(tmp_path / "model.safetensors").found == [()]
