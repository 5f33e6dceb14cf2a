"""The command ``compare``: what it prints, and how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from tests import gguf_files, inline
from tests.hub_server import Repository, serving
from tests.support import save_folder

Run = Callable[..., CompletedProcess[str]]
LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "vocab_size": 100, "max_position_embeddings": 64, "rope_theta": 1e6,
}  # fmt: skip


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
    one = save_folder(tmp_path / "one", LLAMA)
    other = save_folder(tmp_path / "other", {**LLAMA, **changed})
    ended = run("compare", one, other)
    assert (ended.stdout.splitlines()[0], ended.returncode) == (verdict, code)
    found = json.loads(run("compare", one, other, "--json").stdout)
    assert found["verdict"] == verdict
    assert [one["kind"] for one in found["differences"]] == ["rotation"] * code


def test_what_is_not_understood_is_one_line_of_bounded_length(run: Run, tmp_path: Path) -> None:
    odd = {f"odd_{number}": [number] * 99 for number in range(20)}
    scaling = {"rope_type": "linear", "factor": 2.0, **odd}
    one = save_folder(tmp_path / "one", LLAMA)
    other = save_folder(tmp_path / "other", {**LLAMA, "rope_scaling": scaling})
    [line] = [
        line
        for line in run("compare", one, other).stdout.splitlines()
        if "Not understood in B" in line
    ]
    assert line.endswith(" and 8 more")
    assert len(line) < 1_500


V1, V3 = "mistralai/Mistral-7B-v0.1", "mistralai/Mistral-7B-v0.3"


def test_without_the_hub_published_configs_are_compared_and_named(run: Run, tmp_path: Path) -> None:
    ended = run("compare", V1, V3, "--json")
    found = json.loads(ended.stdout)
    assert (ended.returncode, found["verdict"]) == (1, "different")
    # Mistral 7B, arXiv 2310.06825, table 1; the changelog of its maker on version 0.3.
    assert [each["kind"] for each in found["differences"]] == ["mixing", "rotation"]
    assert "windows within 4,096 positions" in found["differences"][0]["text"]
    for side, name in zip("AB", (V1, V3), strict=True):
        said = f"{side} is this program's own copy of the config.json of {name}, without weights"
        assert sum(said in note for note in found["notes"]) == 1
    local = save_folder(tmp_path / "local", {**LLAMA, "model_type": "mistral"})
    notes = json.loads(run("compare", V1, local, "--json").stdout)["notes"]
    assert sum("own copy" in note for note in notes) == 1
    assert "own copy" in run("compare", V1, V3, "--draft").stdout


@pytest.mark.parametrize("other", [f"{V3}@main", "nobody/else"])
def test_a_revision_or_an_unknown_model_is_not_replaced_by_a_published_config(
    run: Run, other: str
) -> None:
    ended = run("compare", V1, other)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("no folder or file") == 1


def test_nothing_is_mended_by_a_published_config(run: Run) -> None:
    ended = run("compare", V1, V3, "--fix")
    assert (ended.returncode, ended.stdout) == (2, "")


def no_json(folder: Path) -> Path:
    save_folder(folder, {})
    (folder / "config.json").write_text("{", encoding="utf-8")
    return folder


def cut_weights(folder: Path) -> Path:
    bert = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2}
    save_folder(folder, bert)
    path = folder / "model.safetensors"
    save_file({"bert.embeddings.position_embeddings.weight": np.ones((32, 8), "f")}, path)
    path.write_bytes(path.read_bytes()[:-8])
    return folder


def without_factors(folder: Path) -> Path:
    folder.mkdir()
    settings = {"block_count": 2, "embedding_length": 64, "attention.head_count": 4,
                "context_length": 64, "rope.scaling.type": "longrope"}  # fmt: skip
    return gguf_files.write(folder / "model.gguf", "llama", settings)


def pickled(folder: Path) -> Path:
    save_folder(folder, {**LLAMA, "model_type": "gpt2"})
    torch.save({"wpe.weight": torch.ones(4, 4)}, folder / "pytorch_model.bin")
    return folder


def nowhere(folder: Path) -> Path:
    return folder


BROKEN = (no_json, cut_weights, without_factors, pickled, nowhere)


@pytest.mark.parametrize("make", BROKEN, ids=lambda make: make.__name__)
def test_what_cannot_be_read_is_one_sentence_and_ends_with_2(
    run: Run, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    one, other = save_folder(tmp_path / "one", LLAMA), make(tmp_path / "other")
    for ended in (run("compare", one, other), run("compare", other, one), run("lint", other)):
        assert (ended.returncode, ended.stdout) == (2, "")
        assert len(ended.stderr.splitlines()) == 1
        assert "unexpected" not in ended.stderr


def test_a_pickle_is_compared_where_it_may_be_opened(run: Run, tmp_path: Path) -> None:
    """A folder without weights beside it is compared by its settings all the same."""
    bert = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2,
            "num_hidden_layers": 1, "vocab_size": 100, "max_position_embeddings": 32}  # fmt: skip
    one, other = (save_folder(tmp_path / name, bert) for name in ("one", "other"))
    torch.save({"embeddings.position_embeddings.weight": torch.ones(32, 8)}, other / "model.pt")
    refused, opened = run("compare", one, other), run("compare", one, other, "--pickle")
    assert refused.returncode == 2
    assert "give --pickle to inspect or compare" in refused.stderr
    assert opened.returncode == 0
    assert "A has no numbers for Learned table (encoder)." in opened.stdout


@pytest.mark.parametrize(("base", "code"), [(1e4, 0), (1e6, 1)])
def test_a_checkpoint_of_gemma_pytorch_is_compared(
    run: Run, tmp_path: Path, base: float, code: int
) -> None:
    gemma = {**LLAMA, "model_type": "gemma", "head_dim": 16, "rope_theta": base}
    angles = torch.outer(torch.arange(64), 1e4 ** -(torch.arange(8) / 8))
    turns = torch.polar(torch.ones_like(angles), angles)
    path = tmp_path / "gemma.ckpt"
    torch.save({"model_state_dict": {"freqs_cis": turns}}, path)
    ended = run("compare", save_folder(tmp_path / "one", gemma), path, "--pickle")
    assert ended.returncode == code
    assert ("base 10,000, 16 components (freqs_cis) in B" in ended.stdout) == bool(code)


def test_a_revision_on_the_hub_is_compared_with_a_folder(tmp_path: Path) -> None:
    positions = {
        "rope_freqs.weight": np.ones(8, "f"),
        "token_embd.weight": np.ones((4096, 64), "f"),
    }
    settings = {"block_count": 2, "context_length": 64, "embedding_length": 64,
                "attention.head_count": 4, "rope.freq_base": 1e6, "vocab_size": 100}  # fmt: skip
    file = gguf_files.write(tmp_path / "model.gguf", "llama", settings, positions)
    weights = file.read_bytes()
    files = {"model.gguf": weights}
    repositories = {"atlas/plain": Repository({"a" * 40: files}, {"main": "a" * 40})}
    other = str(save_folder(tmp_path / "other", {**LLAMA, "rope_theta": 1e4}))
    home = tmp_path / "hub"
    with serving(repositories) as hub:
        ended = inline.run("compare", "atlas/plain@main", other, home=home, endpoint=hub.endpoint)
        linted = inline.run("lint", "atlas/plain", home=home, endpoint=hub.endpoint)
    assert (ended.returncode, linted.returncode) == (1, 0)
    assert ended.stdout.startswith("different\n")
    assert "atlas/plain: reading its settings, and of weights the headers" in ended.stderr
    assert hub.sent < len(weights) / 2


def test_what_would_make_them_equal_is_printed(run: Run, tmp_path: Path) -> None:
    one, same = save_folder(tmp_path / "one", LLAMA), save_folder(tmp_path / "same", LLAMA)
    other = save_folder(tmp_path / "other", {**LLAMA, "rope_theta": 1e4})
    ended = run("compare", one, other, "--fix")
    assert ended.returncode == 1
    assert json.loads(ended.stdout) == [{"op": "add", "path": "/rope_theta", "value": 1e6}]
    ended = run("compare", one, same, "--fix")
    assert (ended.returncode, json.loads(ended.stdout)) == (0, [])
    deeper = save_folder(tmp_path / "deeper", {**LLAMA, "num_hidden_layers": 3})
    for arguments, text in (
        ([deeper, "--fix"], "because weights would have to change. What would still differ"),
        ([other, "--fix", "--draft"], "a draft keeps the rotation"),
    ):
        ended = run("compare", one, *arguments)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert text in ended.stderr


def test_a_gguf_file_is_mended_by_commands(run: Run, tmp_path: Path) -> None:
    settings = {"block_count": 2, "context_length": 64, "embedding_length": 64,
                "attention.head_count": 4, "rope.freq_base": 1e4, "vocab_size": 100}  # fmt: skip
    file = gguf_files.write(tmp_path / "own model.gguf", "llama", settings)
    ended = run("compare", save_folder(tmp_path / "one", LLAMA), file, "--fix")
    assert ended.returncode == 1
    assert ended.stdout == (
        f"python -m gguf.scripts.gguf_set_metadata '{file}' llama.rope.freq_base 1000000.0\n"
    )
