import sys
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import torch

from generator.checkpoints.files.formats import flax
from generator.checkpoints.files.reader import FolderFiles
from generator.errors import RowError
from generator.numerics.arrays import Array
from tests.support import save_folder
from tests.synthetic import write_folder

CONFIG = {"model_type": "bert"}
TABLE = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


def packed(array: Array, dtype: str = "", code: int = 1) -> Any:
    """An array as flax/serialization.py packs it: shape, name of the dtype, bytes in row-major
    order.
    """
    return msgpack.ExtType(
        code,
        msgpack.packb(
            (array.shape, dtype or array.dtype.name, array.tobytes("C")), use_bin_type=True
        ),
    )


def chunked(array: Array, size: int) -> dict[str, Any]:
    """An array in flat chunks of ``size`` values, as flax/serialization.py splits those above 1
    GiB.
    """
    flat = array.reshape(-1)
    chunks = [flat[start : start + size] for start in range(0, flat.size, size)]
    return {
        "__msgpack_chunked_array__": True,
        "shape": {str(index): n for index, n in enumerate(array.shape)},
        "chunks": {str(index): packed(chunk) for index, chunk in enumerate(chunks)},
    }


def saved(folder: Path, tree: Any) -> FolderFiles:
    content = tree if isinstance(tree, bytes) else msgpack.packb(tree, strict_types=True)
    return FolderFiles(
        write_folder(save_folder(folder, CONFIG), {"flax_model.msgpack": content}), "here"
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int32])
def test_an_array_and_its_rows_are_read_exactly(tmp_path: Path, dtype: Any) -> None:
    table = (TABLE * 9).astype(dtype)
    files = saved(tmp_path, {"wpe": {"embedding": packed(table)}})
    np.testing.assert_array_equal(files.tensor("wpe.weight"), table)
    np.testing.assert_array_equal(files.rows("wpe.weight", [4, 1]), table[[4, 1]])


def test_bfloat16_is_read_exactly(tmp_path: Path) -> None:
    table = torch.from_numpy(TABLE).bfloat16()
    files = saved(
        tmp_path, {"wpe": {"embedding": packed(table.view(torch.int16).numpy(), "bfloat16")}}
    )
    np.testing.assert_array_equal(files.tensor("wpe.weight"), table.double().numpy())


@pytest.mark.parametrize("size", [1, 5, 24])
def test_an_array_in_chunks_is_put_together(tmp_path: Path, size: int) -> None:
    np.testing.assert_array_equal(
        saved(tmp_path, {"wpe": {"embedding": chunked(TABLE, size)}}).tensor("wpe.weight"), TABLE
    )


def test_a_kernel_is_transposed_and_says_its_name_in_the_file(tmp_path: Path) -> None:
    files = saved(
        tmp_path, {"h": {"0": {"fc": {"kernel": packed(TABLE), "bias": packed(TABLE[0])}}}}
    )
    assert files.tensors["h.0.fc.weight"].shape == (4, 6)
    np.testing.assert_array_equal(files.tensor("h.0.fc.weight"), TABLE.T)
    assert files.notes("h.0.fc.weight") == ("flax_model.msgpack calls this tensor h/0/fc/kernel.",)


def test_the_kernel_of_a_convolution_has_the_axes_of_pytorch(tmp_path: Path) -> None:
    kernel = np.arange(120.0).reshape(2, 3, 4, 5)  # Rows, columns, inputs, outputs.
    stored = saved(tmp_path, {"conv": {"kernel": packed(kernel)}}).tensor("conv.weight")
    assert stored.shape == (5, 4, 2, 3)
    assert stored[4, 3, 1, 2] == kernel[1, 2, 3, 4]


def test_scalars_are_tensors_and_other_values_are_not(tmp_path: Path) -> None:
    tree = {
        "scale": packed(np.asarray(2.0, dtype=np.float32), code=3),
        "step": 7,
        "name": "x",
        "complex": msgpack.ExtType(2, b""),
    }
    assert {name: tensor.shape for name, tensor in saved(tmp_path, tree).tensors.items()} == {
        "weight": ()
    }


INVALID = {
    "no map at the end": b"\x81\xa1a",
    "a reserved byte": b"\xc1",
    "very deep": b"\x81\xa1a" * 100_000 + b"\xc0",
    "a list": msgpack.packb([1, 2]),
    "a name of bytes": b"\x81\xc4\x01a\x01",
    "a claimed map of 4 billion": b"\xdf\xff\xff\xff\xff",
    "a name that appears twice": b"\x82\xa1a\x01\xa1a\x02",
    "an array beyond its bytes": msgpack.packb(
        {"a": msgpack.ExtType(1, msgpack.packb(((2**40,), "float32", b"0000")))}
    ),
    "an array of negative size": msgpack.packb(
        {"a": msgpack.ExtType(1, msgpack.packb(((-1, -1), "float32", b"0000")))}
    ),
    "an array of objects": msgpack.packb(
        {"a": msgpack.ExtType(1, msgpack.packb(((1,), "object", b"0000")))}
    ),
    "two names that become one": msgpack.packb(
        {"a": {"embedding": packed(TABLE), "kernel": packed(TABLE)}}
    ),
    "chunks that are missing": msgpack.packb(
        {"a": {**chunked(TABLE, 5), "chunks": {"0": packed(TABLE[0])}}}
    ),
}


@pytest.mark.parametrize("content", INVALID.values(), ids=INVALID)
def test_an_invalid_file_is_a_row_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(RowError, match=r"here/flax_model.msgpack: .*expected"):
        assert saved(tmp_path, content).tensors is None


def test_a_dtype_that_is_not_read_is_a_row_error_of_its_tensor_alone(tmp_path: Path) -> None:
    files = saved(tmp_path, {"a": packed(TABLE.astype(np.int8)), "b": packed(TABLE)})
    np.testing.assert_array_equal(files.tensor("b"), TABLE)
    with pytest.raises(RowError, match="here: a: dtype int8; expected one of"):
        files.tensor("a")


def test_a_file_above_the_limit_is_a_row_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flax, "MOST_FILE_BYTES", 10)
    with pytest.raises(RowError, match="which would be read whole; expected at most 10"):
        assert saved(tmp_path, {"a": packed(TABLE)}).tensors


def test_more_entries_than_the_limit_are_a_row_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flax, "MOST_ENTRIES", 3)
    with pytest.raises(RowError, match="more than 3 entries"):
        assert saved(tmp_path, {"a": {"b": 1, "c": 2}, "d": {"e": 3}}).tensors


def test_without_msgpack_the_row_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = saved(tmp_path, {"a": packed(TABLE)})
    monkeypatch.setitem(sys.modules, "msgpack", None)
    with pytest.raises(
        RowError,
        match=r"it needs msgpack, which is not installed; expected `pip install .\[formats\]`",
    ):
        assert files.tensors
