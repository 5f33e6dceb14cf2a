import json
import struct
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import save
from safetensors.torch import save as save_torch

from generator.checkpoints.files.formats.safetensors import (
    MOST_HEADER_BYTES,
    TensorSpan,
    header_size,
    spans,
)
from generator.checkpoints.files.tensors import decode
from generator.errors import RowError
from generator.numerics.arrays import Array

SIZES = [  # the first eight bytes, the file's size
    (b"", 0),
    (b"\x01\x00\x00", 3),
    (struct.pack("<Q", 100), 20),
    (struct.pack("<Q", 13), 20),
    (struct.pack("<Q", 2**63), 20),
    (struct.pack("<Q", 2**64 - 1), 2**62),
    (struct.pack("<Q", MOST_HEADER_BYTES + 1), 2**40),
]
NOT_JSON = [
    b"",
    b"{",
    b"not JSON",
    b"\xff\xfe\xfa",
    b'{"a": ' * 50_000,
    b"[" * 100_000,
    b'{"a": ' + b"9" * 5_000 + b"}",
]
NOT_AN_OBJECT = [b"[]", b"null", b"1", b"NaN", b'"F32"']
F32: dict[str, Any] = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
BAD_ENTRIES: list[Any] = [
    None,
    [],
    "F32",
    {},
    {"dtype": "F32"},
    {"dtype": "F32", "shape": [2, 2]},
    {**F32, "dtype": "F31"},
    {**F32, "dtype": "f32"},
    {**F32, "dtype": None},
    {**F32, "dtype": ["F32"]},
    {**F32, "dtype": {"F32": 1}},
    {**F32, "shape": 4},
    {**F32, "shape": [2, -2]},
    {**F32, "shape": [-2, -2]},
    {**F32, "shape": [2, 2.0]},
    {**F32, "shape": [2, "2"]},
    {**F32, "shape": [4, True]},
    {**F32, "shape": [2**40, 1]},
    {**F32, "shape": [2**39] * 1000},
    {**F32, "shape": [2, 3]},
    {**F32, "shape": [2]},
    {**F32, "data_offsets": [0]},
    {**F32, "data_offsets": [0, 16, 16]},
    {**F32, "data_offsets": [0.0, 16.0]},
    {**F32, "data_offsets": ["0", "16"]},
    {**F32, "data_offsets": [-16, 0]},
    {**F32, "data_offsets": [16, 0]},
    {**F32, "data_offsets": [0, 12]},
    {**F32, "data_offsets": [0, 2**80]},
]
BAD_COVERS = [  # pairs of offsets, size of the data
    ([(0, 16), (8, 24)], 24, "overlap"),
    ([(0, 16), (0, 16)], 16, "overlap"),
    ([(0, 16), (20, 36)], 36, "gap"),
    ([(4, 20)], 20, "gap"),
    ([(0, 16)], 20, "the same size"),
    ([(0, 16)], 12, "the same size"),
]
UNREADABLE = ["BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "U16", "U64", "F4", "C64"]
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(
    lambda name: name != "__metadata__"
)
dtypes = st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int32])
values = dtypes.flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
every_half = np.arange(2**16, dtype=np.uint16)


def read(file: bytes) -> dict[str, Array]:
    """Every tensor of a whole file in memory."""
    size = header_size(file[:8], len(file), "file")
    tensors = spans(file[8 : 8 + size], len(file), "file")
    return {
        name: decode(file[span.start : span.stop], span.dtype, span.shape, name)
        for name, span in tensors.items()
    }


def check(header: Any, data_size: int) -> dict[str, TensorSpan]:
    """The spans of a file with this header and ``data_size`` bytes of data."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return spans(text, 8 + len(text) + data_size, "file")


@given(st.dictionaries(names, values, max_size=5))
def test_files_of_the_safetensors_library_are_read_exactly(stored: dict[str, Array]) -> None:
    tensors = read(save(stored, metadata={"format": "np"}))
    assert set(tensors) == set(stored)
    for name, array in stored.items():
        assert tensors[name].dtype == np.float64
        np.testing.assert_array_equal(tensors[name], array.astype(np.float64))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "kind"), [("F16", torch.float16), ("BF16", torch.bfloat16)])
def test_every_value_of_half_precision_is_read_exactly(dtype: str, kind: torch.dtype) -> None:
    theirs = torch.from_numpy(every_half).view(kind).double().numpy()
    np.testing.assert_array_equal(
        decode(every_half.tobytes(), dtype, (256, 256), "file"), theirs.reshape(256, 256)
    )


def test_a_bfloat16_tensor_written_by_the_library_is_read_exactly() -> None:
    tensor = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)).bfloat16()
    np.testing.assert_array_equal(
        read(save_torch({"table": tensor}))["table"], tensor.double().numpy()
    )


@pytest.mark.parametrize("dtype", UNREADABLE)
def test_the_row_error_for_an_unreadable_dtype_names_it(dtype: str) -> None:
    with pytest.raises(
        RowError, match=f"gpt2: wpe.weight: dtype {dtype}; expected one of F64, F32"
    ):
        decode(b"\x00" * 8, dtype, (1,), "gpt2: wpe.weight")


def test_a_float8_tensor_is_listed_but_not_readable() -> None:
    file = save_torch({"table": torch.zeros(2, 2).to(torch.float8_e4m3fn), "other": torch.ones(2)})
    size = header_size(file[:8], len(file), "file")
    assert {
        name: span.dtype for name, span in spans(file[8 : 8 + size], len(file), "file").items()
    } == {"table": "F8_E4M3", "other": "F32"}


@pytest.mark.parametrize(("first", "file_size"), SIZES)
def test_a_header_beyond_the_end_of_the_file_is_a_row_error(first: bytes, file_size: int) -> None:
    with pytest.raises(RowError, match=r"gpt2: .*expected"):
        header_size(first, file_size, "gpt2")


def test_the_length_is_little_endian_and_may_include_the_whole_file() -> None:
    assert header_size(b"\x02\x01" + b"\x00" * 6, 8 + 258, "gpt2") == 258


@pytest.mark.parametrize("header", NOT_JSON)
def test_a_header_that_is_not_json_is_a_row_error(header: bytes) -> None:
    with pytest.raises(RowError, match="not JSON"):
        check(header, 0)


@pytest.mark.parametrize("header", NOT_AN_OBJECT)
def test_a_header_without_a_json_object_is_a_row_error(header: bytes) -> None:
    with pytest.raises(RowError, match="expected a JSON object"):
        check(header, 0)


@pytest.mark.parametrize("entry", BAD_ENTRIES)
def test_an_invalid_entry_is_a_row_error(entry: Any) -> None:
    with pytest.raises(RowError, match=r"'wpe'.*expected"):
        check({"wpe": entry}, 16)


@pytest.mark.parametrize(("offsets", "data_size", "message"), BAD_COVERS)
def test_gaps_and_overlaps_of_tensors_are_a_row_error(
    offsets: list[tuple[int, int]], data_size: int, message: str
) -> None:
    header = {
        f"tensor {start} {i}": {**F32, "data_offsets": [start, stop]}
        for i, (start, stop) in enumerate(offsets)
    }
    with pytest.raises(RowError, match=message):
        check(header, data_size)


def test_the_row_error_for_a_duplicate_tensor_names_it() -> None:
    entry = json.dumps(F32)
    with pytest.raises(RowError, match="'wpe' appears twice"):
        check(f'{{"wpe": {entry}, "wpe": {entry}}}'.encode(), 16)


def test_a_duplicate_name_after_very_many_others_is_detected_quickly() -> None:
    others = ",".join(f'"{index}":0' for index in range(300_000))
    with pytest.raises(RowError, match="'wpe' appears twice"):
        check(f'{{{others},"wpe":0,"wpe":0}}'.encode(), 0)


def test_too_many_tensors_are_a_row_error() -> None:
    header = {
        str(index): {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
        for index in range(100_000)
    }
    with pytest.raises(RowError, match="100,000 tensors"):
        check(header, 0)


def test_metadata_are_not_a_tensor() -> None:
    assert set(check({"__metadata__": {"format": "pt"}, "wpe": F32}, 16)) == {"wpe"}


def test_tensors_are_in_the_order_of_their_bytes() -> None:
    header = {"second": {**F32, "data_offsets": [16, 32]}, "first": F32}
    assert list(check(header, 32)) == ["first", "second"]


def test_tensors_without_values_have_an_empty_range() -> None:
    empty = {"dtype": "F32", "shape": [0, 8], "data_offsets": [16, 16]}
    assert set(check({"wpe": F32, "empty": empty}, 16)) == {"wpe", "empty"}
