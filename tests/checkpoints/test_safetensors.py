import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import save
from safetensors.torch import save as save_torch

from generator.checkpoints.files.formats.safetensors import BITS
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.tensors import decode
from generator.errors import RowError
from generator.numerics.arrays import Array
from tests.checkpoints.test_damaged_files import F32, safe
from tests.synthetic import write_folder

UNREADABLE = ["BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "U16", "U64", "F4", "C64"]
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(
    lambda name: name != "__metadata__"
)
dtypes = st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int32])
values = dtypes.flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
every_half = np.arange(2**16, dtype=np.uint16)


def opened(folder: Path, content: bytes) -> FolderFiles:
    return FolderFiles(
        write_folder(folder, {"config.json": b"{}", "model.safetensors": content}), "here"
    )


@given(st.dictionaries(names, values, max_size=5))
def test_files_of_the_safetensors_library_are_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, stored: dict[str, Array]
) -> None:
    files = opened(tmp_path_factory.mktemp("safe"), save(stored, metadata={"format": "np"}))
    assert set(files.tensors) == set(stored)
    for name, array in stored.items():
        assert files.tensor(name).dtype == np.float64
        np.testing.assert_array_equal(files.tensor(name), array.astype(np.float64))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "kind"), [("F16", torch.float16), ("BF16", torch.bfloat16)])
def test_every_value_of_half_precision_is_read_exactly(dtype: str, kind: torch.dtype) -> None:
    theirs = torch.from_numpy(every_half).view(kind).double().numpy()
    np.testing.assert_array_equal(
        decode(every_half.tobytes(), dtype, (256, 256), "file"), theirs.reshape(256, 256)
    )


def test_a_number_has_as_many_bits_as_the_name_of_its_type_says() -> None:
    """A truth value has a byte."""
    said = {dtype: int((re.findall(r"^\D+(\d+)", dtype) or [8])[0]) for dtype in BITS}
    assert said == BITS


def test_the_row_error_for_an_unreadable_dtype_names_it() -> None:
    for dtype in UNREADABLE:
        with pytest.raises(RowError, match=f"gpt2: wpe.weight: dtype {dtype}; expected one of F64"):
            decode(b"\x00" * 8, dtype, (1,), "gpt2: wpe.weight")


def test_a_float8_tensor_is_listed_but_not_readable(tmp_path: Path) -> None:
    stored = {"table": torch.zeros(2, 2).to(torch.float8_e4m3fn), "other": torch.ones(2)}
    files = opened(tmp_path, save_torch(stored))
    assert {name: header.dtype for name, header in files.tensors.items()} == {
        "table": "F8_E4M3",
        "other": "F32",
    }


def test_a_shape_that_is_no_whole_numbers_is_not_listed(tmp_path: Path) -> None:
    for shape in ([2, 2.0], [-2, -2], [4, True]):
        with pytest.raises(RowError, match="expected whole numbers"):
            dict(opened(tmp_path, safe({"wpe": {**F32, "shape": shape}})).tensors)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ({"__metadata__": {"format": "pt"}, "wpe": F32}, ["wpe"]),
        ({"second": {**F32, "data_offsets": [16, 32]}, "first": F32}, ["first", "second"]),
        ({"wpe": F32, "empty": {**F32, "shape": [0, 8], "data_offsets": [16, 16]}},
         ["wpe", "empty"]),
    ],
    ids=["metadata", "order", "empty"],
)  # fmt: skip
def test_tensors_are_in_the_order_of_their_bytes(
    tmp_path: Path, header: dict[str, Any], found: list[str]
) -> None:
    n_bytes = max(entry.get("data_offsets", [0, 0])[1] for entry in header.values())
    assert list(opened(tmp_path, safe(header, n_bytes)).tensors) == found
