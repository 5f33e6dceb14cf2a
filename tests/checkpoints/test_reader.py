import gc
import hashlib
import json
import os
import pickle
import struct
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch_file

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.files.named_paths import MOST_TEXT_BYTES
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.position_tables import stored_tables
from generator.encodings import sinusoid
from generator.errors import RowError
from generator.numerics.arrays import Array
from generator.reading.find import find
from tests.support import DictFiles, Planted, save_folder

TABLE = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
CONFIG = {"model_type": "bert"}
BAD_CONFIGS = [
    b"", b"{", b"[]", b"null", b'"bert"', b"\xff\xfe\xfa", b"[" * 100_000, b'{"a": ' * 50_000,
    b'{"a": ' + b"9" * 5_000 + b"}", b'{"a": ' + b"9" * 309 + b"}",
    # The Hub's libraries read UTF-8 alone.
    *('{"model_type": "gpt2"}'.encode(encoding) for encoding in ("utf-16", "utf-16-le", "utf-32")),
]  # fmt: skip
ODD_CONFIGS = [  # Valid JSON objects with odd settings.
    b'{"auto_map": {"AutoModel": "evil.Model"}}',
    b'{"_attn_implementation_internal": "evil/kernel"}',
    b'{"max_position_embeddings": NaN}',
    b'\xef\xbb\xbf{"model_type": "bert"}',
]
NAMES = ["config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json"]


def folder_of(tmp_path: Path, array: Array = TABLE) -> FolderFiles:
    return FolderFiles(save_folder(tmp_path, CONFIG, {"table": array}), "here")


def touch_all(files: FolderFiles, name: str) -> None:
    """Read the small file ``name``, and then the list of tensors."""
    files.read(name)
    assert files.tensors is not None


def test_a_tensor_is_read_exactly(tmp_path: Path) -> None:
    files = folder_of(tmp_path)
    assert files.tensors["table"].shape == (6, 4)
    np.testing.assert_array_equal(files.tensor("table"), TABLE.astype(np.float64))


@given(st.lists(st.integers(0, 5), max_size=8))
def test_rows_are_in_the_order_of_the_indices(
    tmp_path_factory: pytest.TempPathFactory, indices: list[int]
) -> None:
    files = folder_of(tmp_path_factory.mktemp("rows"))
    np.testing.assert_array_equal(files.rows("table", indices), files.tensor("table")[indices])


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_rows_of_every_readable_dtype_are_exact(tmp_path: Path, kind: torch.dtype) -> None:
    tensor = (torch.randn(6, 4, generator=torch.Generator().manual_seed(0)) * 9).to(kind)
    save_torch_file({"table": tensor}, save_folder(tmp_path, CONFIG) / "model.safetensors")
    rows = FolderFiles(tmp_path, "here").rows("table", [4, 1])
    np.testing.assert_array_equal(rows, tensor[[4, 1]].double().numpy())


@pytest.mark.parametrize("indices", [[6], [-1], [0, 100], [2**62]])
def test_a_missing_row_is_a_row_error(tmp_path: Path, indices: list[int]) -> None:
    with pytest.raises(RowError, match="has no row"):
        folder_of(tmp_path).rows("table", indices)


def test_rows_of_a_tensor_of_another_shape_are_a_row_error(tmp_path: Path) -> None:
    for shape in ((), (6,), (2, 3, 4)):
        with pytest.raises(RowError, match="expected a matrix"):
            folder_of(tmp_path, np.zeros(shape, dtype=np.float32)).rows("table", [0])


def test_only_the_requested_rows_of_a_table_of_16_gb_are_read(tmp_path: Path) -> None:
    n_rows = 2**24
    entry = {"dtype": "F32", "shape": [n_rows, 256], "data_offsets": [0, n_rows * 1024]}
    header = json.dumps({"table": entry}).encode()
    file = save_folder(tmp_path, CONFIG) / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(header)) + header)
    os.truncate(file, 8 + len(header) + n_rows * 1024)
    assert not FolderFiles(tmp_path, "here").rows("table", [n_rows - 1]).any()


def test_the_digest_does_not_depend_on_other_tensors(tmp_path: Path) -> None:
    among = {"a": TABLE * 2, "table": TABLE, "z": TABLE * 3}
    files = FolderFiles(save_folder(tmp_path / "among", CONFIG, among), "here")
    assert files.sha256("table") == folder_of(tmp_path / "alone").sha256("table")


def test_a_small_file_is_read_if_it_exists_and_there_are_no_tensors(tmp_path: Path) -> None:
    files = FolderFiles(save_folder(tmp_path, CONFIG, texts={"vocab.txt": "[CLS]\n"}), "here")
    assert files.read("vocab.txt") == b"[CLS]\n"
    assert (files.read("tokenizer.json"), files.tensors) == (None, {})


def test_what_is_no_folder_is_a_row_error_and_no_wait(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    found = {
        "missing": "no such folder",
        "file": "not a folder",
        "fifo": "not a folder",
        "loop": "",
    }
    for name, problem in found.items():
        with pytest.raises(RowError, match=f"here: {problem}"):
            FolderFiles(tmp_path / name, "here")


def test_a_folder_without_config_is_a_row_error(tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"here: no config.json"):
        FolderFiles(tmp_path, "here")


@pytest.mark.parametrize("name", NAMES)
def test_a_fifo_or_a_link_to_a_device_is_a_row_error_and_no_wait(tmp_path: Path, name: str) -> None:
    save_folder(tmp_path, CONFIG)
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (tmp_path / name).unlink(missing_ok=True)
        make(tmp_path / name)
        with pytest.raises(RowError, match=f"here/{name}: not a regular file"):
            touch_all(FolderFiles(tmp_path, "here"), name)


@pytest.mark.parametrize("name", NAMES)
def test_a_link_out_of_the_folder_is_a_row_error(tmp_path: Path, name: str) -> None:
    folder = save_folder(tmp_path / "one" / "two" / "three", CONFIG)
    (folder / name).unlink(missing_ok=True)
    (tmp_path / "secret").write_text("{}")
    (folder / name).symlink_to(tmp_path / "secret")
    with pytest.raises(RowError, match=f"here/{name}: a link that leads out of the folder"):
        touch_all(FolderFiles(folder, "here"), name)


def test_a_link_into_the_blobs_of_a_hub_cache_is_followed(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "0a1b").write_text('{"model_type": "gpt2"}')
    for place in ("snapshots", "plain"):
        (tmp_path / place / "main").mkdir(parents=True)
        (tmp_path / place / "main" / "config.json").symlink_to("../../blobs/0a1b")
    assert FolderFiles(tmp_path / "snapshots" / "main", "here").config.family == "gpt2"
    with pytest.raises(RowError, match=r"here/config\.json: a link that leads out of the folder"):
        FolderFiles(tmp_path / "plain" / "main", "here")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_broken_link_is_a_row_error(tmp_path: Path, name: str) -> None:
    """Not a checkpoint without weights."""
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    for link in ("nowhere", name):
        (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / name).symlink_to(link)
        with pytest.raises(RowError, match=f"here/{name}: no such file"):
            assert FolderFiles(tmp_path, "here").tensors


@pytest.mark.parametrize("text", BAD_CONFIGS)
def test_an_invalid_config_is_a_row_error(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "config.json").write_bytes(text)
    with pytest.raises(RowError, match=r"here/config.json: .*; expected a JSON object"):
        FolderFiles(tmp_path, "here")


def test_a_config_that_goes_deep_is_a_row_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b'{"a":' * 900 + b"1" + b"}" * 900)
    with pytest.raises(RowError, match="nested more than 64 deep"):
        FolderFiles(tmp_path, "here")


def test_a_config_of_a_gigabyte_is_a_row_error_and_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    os.truncate(tmp_path / "config.json", 2**30)
    with pytest.raises(RowError, match=f"expected at most {MOST_TEXT_BYTES:,}"):
        FolderFiles(tmp_path, "here")


@pytest.mark.parametrize("text", ODD_CONFIGS)
def test_odd_configs_are_plain_data(text: bytes) -> None:
    assert len(parse_config(text, "here")) == 1


@given(
    st.dictionaries(
        st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers())
    )
)
def test_a_config_is_read_back_as_it_was_written(config: dict[str, Any]) -> None:
    assert parse_config(json.dumps(config, ensure_ascii=False).encode(), "here") == config


def test_a_file_that_shrinks_after_its_header_was_read_is_a_row_error(tmp_path: Path) -> None:
    files = folder_of(tmp_path)
    assert files.tensors
    os.truncate(tmp_path / "model.safetensors", (tmp_path / "model.safetensors").stat().st_size - 4)
    with pytest.raises(RowError, match="ends at byte"):
        files.tensor("table")


def test_tensors_are_read_from_their_shards(tmp_path: Path) -> None:
    places = {"table": "one.safetensors", "other": "two.safetensors"}
    save_folder(tmp_path, CONFIG)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    save_file({"table": TABLE}, tmp_path / "one.safetensors")
    save_file({"other": TABLE * 2}, tmp_path / "two.safetensors")
    files = FolderFiles(tmp_path, "here")
    assert {name: tensor.file for name, tensor in files.tensors.items()} == places
    np.testing.assert_array_equal(files.rows("other", [3]), 2 * TABLE[[3]].astype(np.float64))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model.bin.index.json"])
def test_the_error_for_pickled_weights_gives_the_way_to_convert_them(
    name: str, tmp_path: Path
) -> None:
    save_folder(tmp_path, CONFIG)
    (tmp_path / name).write_bytes(pickle.dumps(Planted(tmp_path / "ran")))
    with pytest.raises(RowError, match=r"pickle.*safetensors.torch.save_file"):
        touch_all(FolderFiles(tmp_path, "here"), "config.json")
    assert not (tmp_path / "ran").exists()


def test_a_pickle_next_to_safetensors_is_ignored(tmp_path: Path) -> None:
    files = folder_of(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"whatever")
    assert list(files.tensors) == ["table"]


class CountingFolder(Folder):
    """A folder that records the length of every range that is read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "here")
        self.lengths: list[int] = []

    def part(self, name: str, start: int, stop: int) -> bytes:
        self.lengths.append(stop - start)
        return super().part(name, start, stop)


@pytest.mark.parametrize(("table", "scheme"), [(TABLE, "learned"), (sinusoid(50, 8), "sinusoidal")])
def test_a_stored_table_is_read_once_for_both_schemes_and_its_digest(
    tmp_path: Path, table: Array, scheme: str
) -> None:
    storage = CountingFolder(save_folder(tmp_path, CONFIG, {"position_embeddings.weight": table}))
    (encoding,) = find(FolderFiles(storage, "here"))
    digest = hashlib.sha256(table.tobytes()).hexdigest()
    assert (encoding.scheme, encoding.provenance.sha256) == (scheme, digest)
    assert storage.lengths.count(table.nbytes) == 1


@pytest.mark.parametrize("first", ["tensor", "sha256"])
def test_the_digest_does_not_depend_on_the_order_of_reads(tmp_path: Path, first: str) -> None:
    files = folder_of(tmp_path)
    getattr(files, first)("table")
    assert files.sha256("table") == hashlib.sha256(TABLE.tobytes()).hexdigest()


def test_tables_do_not_outlive_their_files() -> None:
    files = DictFiles({}, {"wpe.weight": TABLE})
    vectors = weakref.ref(stored_tables(files)[0].vectors)
    assert vectors() is not None
    del files
    gc.collect()
    assert vectors() is None


def test_a_name_of_very_many_words_is_a_row_error(tmp_path: Path) -> None:
    files = FolderFiles(save_folder(tmp_path, CONFIG, {"a." * 300 + "weight": TABLE}), "here")
    with pytest.raises(RowError, match="606 characters"):
        assert files.tensors
