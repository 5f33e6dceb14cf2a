import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.checkpoints.files.formats import numpy_archive
from generator.checkpoints.files.reader import FolderFiles
from generator.errors import RowError
from generator.numerics.arrays import Array
from tests.support import Planted, save_folder
from tests.synthetic import write_folder

CONFIG = {"model_type": "bert"}
TABLE = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
ARRAYS = {
    "plain": TABLE,
    "by columns": np.asfortranarray(TABLE),
    "big-endian": TABLE.astype(">f4"),
    "half": TABLE.astype(np.float16),
    "double": TABLE.astype(np.float64),
    "whole numbers": np.arange(24).reshape(6, 4),
    "number": np.float32(2.0),
    "empty": np.zeros((0, 4), dtype=np.float32),
}
savers = pytest.mark.parametrize(
    "save", [np.savez, np.savez_compressed], ids=["stored", "compressed"]
)


def archived(folder: Path, save: Any = np.savez, **arrays: Any) -> FolderFiles:
    save(save_folder(folder, CONFIG) / "model.npz", **arrays)
    return FolderFiles(folder, "here")


def a_header(shape: tuple[int, ...], dtype: str = "<f4") -> bytes:
    """The header of an .npy file without its data."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


def members(
    folder: Path, contents: dict[str, bytes], compression: int = zipfile.ZIP_STORED
) -> FolderFiles:
    with zipfile.ZipFile(save_folder(folder, CONFIG) / "model.npz", "w", compression) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return FolderFiles(folder, "here")


@savers
@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_an_array_of_any_order_is_read_exactly(tmp_path: Path, save: Any, array: Array) -> None:
    files = archived(tmp_path, save, table=array)
    assert files.tensors["table"].shape == array.shape
    np.testing.assert_array_equal(files.tensor("table"), array.astype(np.float64))


@savers
def test_rows_are_read_in_the_order_of_their_indices(tmp_path: Path, save: Any) -> None:
    np.testing.assert_array_equal(
        archived(tmp_path, save, table=TABLE).rows("table", [4, 1, 4]), TABLE[[4, 1, 4]]
    )


def test_the_digest_of_a_table_does_not_depend_on_how_it_is_stored(tmp_path: Path) -> None:
    each = [
        archived(tmp_path / str(index), save, table=array)
        for index, (save, array) in enumerate(
            [(np.savez, TABLE), (np.savez_compressed, TABLE), (np.savez, ARRAYS["by columns"])]
        )
    ]
    safe = FolderFiles(save_folder(tmp_path / "safe", CONFIG, {"table": TABLE}), "here")
    assert {files.sha256("table") for files in each} == {safe.sha256("table")}


def test_texts_are_no_tensors(tmp_path: Path) -> None:
    assert list(
        archived(
            tmp_path, table=TABLE, meta_json=np.array('{"d_model": 4}'), names=np.array(["a", "b"])
        ).tensors
    ) == ["table"]


def test_an_array_of_objects_is_listed_and_never_loaded(tmp_path: Path) -> None:
    files = archived(tmp_path, table=np.array([Planted(tmp_path / "ran")], dtype=object))
    with pytest.raises(RowError, match="here: table: dtype object; expected one of"):
        files.tensor("table")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shape", [(2, 3), (-6, -4), (2**40, 1), (1,) * 40, (2**39,) * 20])
def test_a_shape_that_is_not_that_of_the_data_is_a_row_error(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    with pytest.raises(RowError, match=r"here/model.npz.*expected"):
        assert members(tmp_path, {"table.npy": a_header(shape) + TABLE.tobytes()}).tensors


def test_a_compressed_array_above_the_limit_is_a_row_error_before_it_is_decompressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_archive, "MOST_BYTES", 95)
    with pytest.raises(RowError, match="here: table: 96 bytes; expected at most 95"):
        archived(tmp_path, np.savez_compressed, table=TABLE).tensor("table")


def test_too_many_members_are_a_row_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_archive, "MOST_MEMBERS", 1)
    with pytest.raises(RowError, match="2 members; expected at most 1"):
        assert archived(tmp_path, first=TABLE, second=TABLE).tensors


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_a_row_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(save_folder(tmp_path, CONFIG) / "model.npz", "w") as archive:
        archive.writestr("table.npy", a_header((0,)))
        archive.writestr("table.npy", a_header((0,)))
    with pytest.raises(RowError, match="'table' appears twice"):
        assert FolderFiles(tmp_path, "here").tensors


@pytest.mark.parametrize("content", [b"", b"PK", b"\x93NUMPY\x01\x00", b"no archive" * 9])
def test_another_file_under_the_name_is_a_row_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(RowError, match=r"here/model.npz: .*expected"):
        assert FolderFiles(
            write_folder(save_folder(tmp_path, CONFIG), {"model.npz": content}), "here"
        ).tensors
