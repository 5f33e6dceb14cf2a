from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.checkpoints.files.formats import numpy_archive
from generator.checkpoints.files.reader import FolderFiles
from generator.errors import RowError
from generator.numerics.arrays import Array
from tests.support import Planted, save_folder

CONFIG = {"model_type": "bert"}
TABLE = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
ARRAYS: dict[str, Any] = {
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


@savers
def test_arrays_of_any_order_are_read_exactly(tmp_path: Path, save: Any) -> None:
    files = archived(tmp_path, save, **ARRAYS)
    for name, array in ARRAYS.items():
        assert files.tensors[name].shape == array.shape
        np.testing.assert_array_equal(files.tensor(name), array.astype(np.float64))
    np.testing.assert_array_equal(files.rows("plain", [4, 1, 4]), TABLE[[4, 1, 4]])


def test_the_digest_of_a_table_does_not_depend_on_how_it_is_stored(tmp_path: Path) -> None:
    ways: list[tuple[Any, Array]] = [
        (np.savez, TABLE), (np.savez_compressed, TABLE), (np.savez, ARRAYS["by columns"])
    ]  # fmt: skip
    each = [
        archived(tmp_path / str(index), save, table=array)
        for index, (save, array) in enumerate(ways)
    ]
    safe = FolderFiles(save_folder(tmp_path / "safe", CONFIG, {"table": TABLE}), "here")
    assert {files.sha256("table") for files in each} == {safe.sha256("table")}


def test_texts_are_no_tensors(tmp_path: Path) -> None:
    texts = {"meta_json": np.array('{"d_model": 4}'), "names": np.array(["a", "b"])}
    assert list(archived(tmp_path, table=TABLE, **texts).tensors) == ["table"]


def test_an_array_of_objects_is_listed_and_never_loaded(tmp_path: Path) -> None:
    files = archived(tmp_path, table=np.array([Planted(tmp_path / "ran")], dtype=object))
    with pytest.raises(RowError, match="here: table: dtype object; expected one of"):
        files.tensor("table")
    assert not (tmp_path / "ran").exists()


def test_an_array_above_the_limit_is_a_row_error_before_it_is_decompressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_archive, "MOST_BYTES", 95)
    with pytest.raises(RowError, match="expected at most 95"):
        archived(tmp_path, np.savez_compressed, table=TABLE).tensor("table")
