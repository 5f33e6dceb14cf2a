import hashlib
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.errors import RowError
from generator.reading.find import find
from tests.support import Planted, save_folder

CONFIG = {"model_type": "bert"}
KINDS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def pickled(folder: Path, state: Any, **options: Any) -> FolderFiles:
    torch.save(state, save_folder(folder, CONFIG) / "pytorch_model.bin", **options)
    return FolderFiles(folder, "here", Choice(pickle=True))


def random_table(kind: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(0)).to(kind)


@pytest.mark.parametrize(
    ("kind", "zipped"), [*((kind, True) for kind in KINDS), (torch.float32, False)]
)
def test_a_tensor_its_rows_and_its_header_are_those_in_safetensors(
    tmp_path: Path, kind: torch.dtype, zipped: bool
) -> None:
    table = random_table(kind)
    state, folder = {"table": table}, tmp_path / "pickled"
    files = pickled(folder, state, _use_new_zipfile_serialization=zipped)
    np.testing.assert_array_equal(files.tensor("table"), table.double().numpy())
    np.testing.assert_array_equal(files.rows("table", [4, 1]), table[[4, 1]].double().numpy())
    save_file({"table": table}, save_folder(tmp_path / "safe", CONFIG) / "model.safetensors")
    theirs = FolderFiles(tmp_path / "safe", "here")
    one, other = files.tensors["table"], theirs.tensors["table"]
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    assert files.sha256("table") == theirs.sha256("table")


def test_a_view_of_a_larger_tensor_has_the_digest_of_its_values(tmp_path: Path) -> None:
    table = random_table()
    whole = pickled(tmp_path / "a", {"table": table.T.contiguous()})
    view = pickled(tmp_path / "b", {"table": table.T})
    assert whole.sha256("table") == view.sha256("table")


@pytest.mark.parametrize(
    "value",
    [torch.nn.Parameter(torch.ones(3, 2)), torch.tensor(2.0), torch.zeros(0, 4)],
    ids=["parameter", "number", "empty"],
)
def test_a_parameter_a_number_and_an_empty_tensor_are_read_like_any_other(
    tmp_path: Path, value: torch.Tensor
) -> None:
    files = pickled(tmp_path, {"value": value})
    np.testing.assert_array_equal(files.tensor("value"), value.detach().numpy())
    assert files.sha256("value") == hashlib.sha256(value.detach().numpy().tobytes()).hexdigest()


def test_the_row_error_for_an_unreadable_tensor_names_its_dtype(tmp_path: Path) -> None:
    for kind in (torch.int8, torch.uint8, torch.bool, torch.float8_e4m3fn):
        files = pickled(tmp_path, {"table": torch.zeros(6, 4).to(kind)})
        with pytest.raises(RowError, match=f"table: dtype {kind}"):
            files.tensor("table")
        with pytest.raises(RowError, match=f"table: dtype {kind}"):
            files.rows("table", [0])


def test_complex_numbers_are_their_real_and_imaginary_parts(tmp_path: Path) -> None:
    table = torch.tensor([[1 + 2j, 3 - 4j]])
    for value, sign in ((table, 1.0), (table.conj(), -1.0)):
        files = pickled(tmp_path, {"table": value})
        expected = [[[1.0, 2.0 * sign], [3.0, -4.0 * sign]]]
        np.testing.assert_array_equal(files.tensor("table"), expected)


def test_other_objects_than_plain_tensors_are_ignored(tmp_path: Path) -> None:
    state = {
        "table": random_table(), "version": 1, 7: random_table(),
        "sparse": random_table().to_sparse(),
    }  # fmt: skip
    assert list(pickled(tmp_path, state).tensors) == ["table"]


def test_a_malicious_pickle_does_not_run_even_in_a_row_that_allows_pickles(tmp_path: Path) -> None:
    (save_folder(tmp_path, CONFIG) / "pytorch_model.bin").write_bytes(
        pickle.dumps(Planted(tmp_path / "ran"))
    )
    with pytest.raises(RowError, match="weights_only"):
        FolderFiles(tmp_path, "here", Choice(pickle=True)).tensor("table")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["model.pt", "model.pth", "model.ckpt", "pytorch_model.bin"])
def test_a_planted_pickle_under_any_name_does_not_run_and_is_not_even_opened_unless_allowed(
    tmp_path: Path, name: str
) -> None:
    state = {"table": random_table(), "dims": Planted(tmp_path / "ran")}
    torch.save(state, save_folder(tmp_path, CONFIG) / name)
    for choice, message in (
        (Choice(), "only a pickle"),
        (Choice(pickle=True), "weights_only"),
        (Choice(True, name), "weights_only"),
    ):
        with pytest.raises(RowError, match=message):
            assert FolderFiles(tmp_path, "here", choice).tensors
    assert not (tmp_path / "ran").exists()


def test_a_state_dict_within_another_is_found(tmp_path: Path) -> None:
    state = {"step": 7, "model_state_dict": {"table": random_table()}, "loss": torch.tensor(0.5)}
    files = pickled(tmp_path, state)
    np.testing.assert_array_equal(files.tensor("table"), random_table().numpy())
    assert list(files.tensors) == ["table"]


def test_a_compressed_file_is_a_row_error(tmp_path: Path) -> None:
    pickled(tmp_path, {"table": random_table()})
    with zipfile.ZipFile(tmp_path / "pytorch_model.bin") as plain:
        contents = {name: plain.read(name) for name in plain.namelist()}
    with zipfile.ZipFile(tmp_path / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    with pytest.raises(RowError, match="a compressed zip file"):
        assert FolderFiles(tmp_path, "here", Choice(pickle=True)).tensors


def test_warnings_of_torch_do_not_reach_the_terminal(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    with zipfile.ZipFile(save_folder(tmp_path, CONFIG) / "pytorch_model.bin", "w") as archive:
        archive.writestr("archive/constants.pkl", pickle.dumps(()))
        archive.writestr("archive/data.pkl", pickle.dumps({}))
        archive.writestr("archive/version", "3")
    with pytest.raises(RowError, match="TorchScript, a program"):
        assert FolderFiles(tmp_path, "here", Choice(pickle=True)).tensors
    assert not recwarn.list


def sharded(folder: Path, weight_map: dict[str, str]) -> FolderFiles:
    save_folder(folder, CONFIG)
    torch.save({"a": random_table()}, folder / "one.bin")
    torch.save({"b": random_table() * 2}, folder / "two.bin")
    index = json.dumps({"weight_map": weight_map})
    (folder / "pytorch_model.bin.index.json").write_text(index, encoding="utf-8")
    return FolderFiles(folder, "here", Choice(pickle=True))


def test_shards_are_read_through_their_index(tmp_path: Path) -> None:
    files = sharded(tmp_path, {"b": "two.bin", "a": "one.bin"})
    found = {name: tensor.file for name, tensor in files.tensors.items()}
    assert found == {"a": "one.bin", "b": "two.bin"}
    np.testing.assert_array_equal(files.tensor("b"), random_table().numpy() * 2)


def test_one_of_several_files_with_slices_is_a_row_error(tmp_path: Path) -> None:
    for name in ("consolidated.00.pth", "consolidated.01.pth"):
        torch.save({"a": random_table()}, save_folder(tmp_path, CONFIG) / name)
    with pytest.raises(RowError, match="one of 2 files with slices of every tensor"):
        assert FolderFiles(tmp_path, "here", Choice(pickle=True)).tensors
    (tmp_path / "consolidated.01.pth").unlink()
    assert set(FolderFiles(tmp_path, "here", Choice(pickle=True)).tensors) == {"a"}


DIMS = {
    "n_mels": 80, "n_vocab": 40,
    "n_audio_ctx": 32, "n_audio_state": 16, "n_audio_head": 2, "n_audio_layer": 1,
    "n_text_ctx": 16, "n_text_state": 16, "n_text_head": 2, "n_text_layer": 1,
}  # fmt: skip


def whisper(folder: Path, dims: Any) -> FolderFiles:
    """A file as OpenAI publishes them (load_model in whisper/__init__.py), with a table of
    ``sinusoids`` of whisper/model.py.
    """
    folder.mkdir(exist_ok=True)
    angles = torch.arange(32)[:, None] * torch.exp(-np.log(10_000) / 7 * torch.arange(8))
    random = torch.Generator().manual_seed(0)
    state = {
        "encoder.positional_embedding": torch.cat([torch.sin(angles), torch.cos(angles)], dim=1),
        "decoder.positional_embedding": torch.randn(16, 16, generator=random),
        "decoder.token_embedding.weight": torch.randn(40, 16, generator=random),
    }
    torch.save({"dims": dims, "model_state_dict": state}, folder / "tiny.pt")
    return FolderFiles(folder, "here", Choice(True, "tiny.pt"))


def test_a_file_of_whisper_has_its_own_config_and_both_encodings(tmp_path: Path) -> None:
    files = whisper(tmp_path, DIMS)
    sizes = [files.config.integer(name) for name in ("max_source_positions", "d_model")]
    assert (files.config.family, sizes) == ("whisper", [32, 16])
    found = [(each.part, each.stack, each.scheme, each.modality) for each in find(files)]
    assert found == [
        ("encoder", "encoder", "sinusoidal", "audio"),
        ("decoder", "decoder", "learned", "text"),
    ]


@pytest.mark.parametrize(
    "dims", [None, {}, {**DIMS, "n_mels": "80"}, {**DIMS, "n_vocab": True}, [80]]
)
def test_a_file_with_other_sizes_has_no_config(tmp_path: Path, dims: Any) -> None:
    assert "model_type" not in whisper(tmp_path, dims).config


class Made:
    """Pickled as a call that makes a tensor of whatever memory holds."""

    def __reduce__(self) -> tuple[Any, ...]:
        return torch.Tensor, (6, 4)


def test_what_is_no_record_of_the_file_is_a_row_error(tmp_path: Path) -> None:
    for name, zipped in (("zip", True), ("former", False)):
        state = {"table": random_table(), "made": Made()}
        folder = save_folder(tmp_path / name, CONFIG)
        torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
        with pytest.raises(RowError, match="here: made: made by the pickle, and no record"):
            find(FolderFiles(folder, "here", Choice(pickle=True)))


@pytest.mark.parametrize("change", [-16, 16])
def test_a_record_that_is_not_as_long_as_its_tensor_is_a_row_error(
    tmp_path: Path, change: int
) -> None:
    files = pickled(tmp_path, {"table": random_table(), "beside": random_table()})
    path = tmp_path / "pytorch_model.bin"
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            changed = (content + bytes(16))[: len(content) + change]
            archive.writestr(member, changed if member.endswith("data/0") else content)
    with pytest.raises(RowError, match=r"pytorch_model\.bin: a tensor is not as long as its rec"):
        find(files)
