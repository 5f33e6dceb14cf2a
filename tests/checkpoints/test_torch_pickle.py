import hashlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.errors import RowError
from tests.support import Planted, save_folder

CONFIG = {"model_type": "bert"}
KINDS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
NO_STATE = [[torch.zeros(2)], torch.zeros(2), "text", 1, None]


def pickled(folder: Path, state: Any) -> FolderFiles:
    torch.save(state, save_folder(folder, CONFIG) / "pytorch_model.bin")
    return FolderFiles(folder, "here", Choice(pickle=True))


def random_table(kind: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(0)).to(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_and_its_rows_are_read_exactly(tmp_path: Path, kind: torch.dtype) -> None:
    table = random_table(kind)
    files = pickled(tmp_path, {"table": table})
    np.testing.assert_array_equal(files.tensor("table"), table.double().numpy())
    np.testing.assert_array_equal(files.rows("table", [4, 1]), table[[4, 1]].double().numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_the_header_of_a_tensor_equals_that_in_safetensors(tmp_path: Path, kind: torch.dtype) -> None:
    from safetensors.torch import save_file

    ours = pickled(tmp_path / "pickled", {"table": random_table(kind)})
    save_file({"table": random_table(kind)}, save_folder(tmp_path / "safe", CONFIG) / "model.safetensors")
    theirs = FolderFiles(tmp_path / "safe", "here")
    assert (ours.tensors["table"].dtype, ours.tensors["table"].shape) == (theirs.tensors["table"].dtype, theirs.tensors["table"].shape)
    assert ours.sha256("table") == theirs.sha256("table")


def test_a_view_of_a_larger_tensor_has_the_digest_of_its_values(tmp_path: Path) -> None:
    table = random_table()
    whole, view = pickled(tmp_path / "a", {"table": table.T.contiguous()}), pickled(tmp_path / "b", {"table": table.T})
    assert whole.sha256("table") == view.sha256("table")


@pytest.mark.parametrize(
    "value", [torch.nn.Parameter(torch.ones(3, 2)), torch.tensor(2.0), torch.zeros(0, 4)], ids=["parameter", "number", "empty"]
)
def test_a_parameter_a_number_and_an_empty_tensor_are_read_like_any_other(tmp_path: Path, value: torch.Tensor) -> None:
    files = pickled(tmp_path, {"value": value})
    np.testing.assert_array_equal(files.tensor("value"), value.detach().numpy())
    assert files.sha256("value") == hashlib.sha256(value.detach().numpy().tobytes()).hexdigest()


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_the_row_error_for_an_unreadable_tensor_names_its_dtype(tmp_path: Path, kind: torch.dtype) -> None:
    files = pickled(tmp_path, {"table": torch.zeros(6, 4).to(kind)})
    with pytest.raises(RowError, match=f"table: dtype {kind}"):
        files.tensor("table")
    with pytest.raises(RowError, match=f"table: dtype {kind}"):
        files.rows("table", [0])


def test_other_objects_than_plain_tensors_are_ignored(tmp_path: Path) -> None:
    state = {"table": random_table(), "version": 1, 7: random_table(), "sparse": random_table().to_sparse()}
    assert list(pickled(tmp_path, state).tensors) == ["table"]


@pytest.mark.parametrize("indices", [[6], [-1]])
def test_a_missing_row_is_a_row_error(tmp_path: Path, indices: list[int]) -> None:
    with pytest.raises(RowError, match="has no row"):
        pickled(tmp_path, {"table": random_table()}).rows("table", indices)


def test_a_malicious_pickle_does_not_run_even_in_a_row_that_allows_pickles(tmp_path: Path) -> None:
    (save_folder(tmp_path, CONFIG) / "pytorch_model.bin").write_bytes(pickle.dumps(Planted(tmp_path / "ran")))
    with pytest.raises(RowError, match="weights_only"):
        FolderFiles(tmp_path, "here", Choice(pickle=True)).tensor("table")
    assert not (tmp_path / "ran").exists()


def test_a_malicious_object_among_tensors_does_not_run(tmp_path: Path) -> None:
    files = pickled(tmp_path, {"table": random_table(), "planted": Planted(tmp_path / "ran")})
    with pytest.raises(RowError, match="weights_only"):
        files.tensor("table")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("state", NO_STATE)
def test_a_pickle_without_a_state_dict_is_a_row_error(tmp_path: Path, state: Any) -> None:
    with pytest.raises(RowError, match="expected a state dict of tensors"):
        pickled(tmp_path, state).tensor("table")


@given(
    st.binary(max_size=40),
    st.sampled_from([b"", b"PK\x03\x04", b"\x80\x02", b"\x80\x02}q\x00", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."]),
)
def test_invalid_bytes_are_a_row_error(tmp_path_factory: pytest.TempPathFactory, content: bytes, opening: bytes) -> None:
    folder = save_folder(tmp_path_factory.mktemp("bytes"), CONFIG)
    (folder / "pytorch_model.bin").write_bytes(opening + content)
    with pytest.raises(RowError, match=r"here/pytorch_model.bin: .*expected"):
        FolderFiles(folder, "here", Choice(pickle=True)).tensor("table")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_pickle_is_a_row_error(tmp_path: Path, share: float) -> None:
    pickled(tmp_path, {"table": random_table()})
    whole = (tmp_path / "pytorch_model.bin").read_bytes()
    (tmp_path / "pytorch_model.bin").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(RowError, match=r"here/pytorch_model.bin: "):
        FolderFiles(tmp_path, "here", Choice(pickle=True)).tensor("table")


def test_a_missing_pickle_is_a_row_error(tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"here/pytorch_model.bin: no such file"):
        FolderFiles(save_folder(tmp_path, CONFIG), "here", Choice(pickle=True)).tensor("table")
