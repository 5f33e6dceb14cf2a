"""A file of weights that was cut or altered, in every format: a row error, or the numbers that the
format's own library reads in it.
"""

import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import onnx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import load, save

from generator.checkpoints.files.formats import numpy_archive, torch_pickle
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.errors import RowError
from generator.numerics.arrays import Array
from tests import gguf_files
from tests.checkpoints import onnx_files
from tests.synthetic import TABLE, write_folder

RANDOM = np.random.default_rng(0)
ARRAYS = {
    name: RANDOM.normal(size=(16, 8)).astype(np.float32) for name in ("wpe.weight", "wte.weight")
}
MOST_WRITTEN = 400  # bytes
Arrays = Iterable[tuple[str, Array]]


@dataclass(frozen=True)
class Format:
    """A file format. write(path); read(path): by the library, whose names end as ours do"""

    name: str
    write: Callable[[Path], Any]
    read: Callable[[Path], Arrays]


def _write_torch(path: Path, **options: Any) -> None:
    torch.save({name: torch.from_numpy(array) for name, array in ARRAYS.items()}, path, **options)


def _read_torch(path: Path) -> Arrays:
    return [
        (name, value.numpy())
        for name, value in torch.load(path, map_location="cpu", weights_only=True).items()
    ]


def _read_npz(path: Path) -> Arrays:
    with np.load(path) as archive:
        return [(name, archive[name]) for name in archive.files]


def _read_onnx(path: Path) -> Arrays:
    graph = onnx.load(path).graph
    return [(each.name, onnx.numpy_helper.to_array(each)) for each in graph.initializer]


def _read_gguf(path: Path) -> Arrays:
    return [(each.name, each.data) for each in gguf.GGUFReader(path).tensors]


FORMATS = {
    "safetensors": Format(
        "model.safetensors",
        lambda path: path.write_bytes(save(ARRAYS)),
        lambda path: load(path.read_bytes()).items(),
    ),
    "npz": Format(
        "model.npz",
        # Its stubs take the names for its options.
        lambda path: np.savez(path, **ARRAYS),  # type: ignore[arg-type]
        _read_npz,
    ),
    "npz, compressed": Format(
        "model.npz",
        # As above.
        lambda path: np.savez_compressed(path, **ARRAYS),  # type: ignore[arg-type]
        _read_npz,
    ),
    "torch": Format("pytorch_model.bin", _write_torch, _read_torch),
    "torch, no zip": Format(
        "pytorch_model.bin",
        lambda path: _write_torch(path, _use_new_zipfile_serialization=False),
        _read_torch,
    ),
    "onnx": Format(
        "model.onnx",
        lambda path: path.write_bytes(
            onnx_files.model(initialisers=onnx_files.tensors_of(ARRAYS)).SerializeToString()
        ),
        _read_onnx,
    ),
    "gguf": Format(
        "model.gguf",
        lambda path: gguf_files.write(path, "gpt2", {"context_length": 16}, ARRAYS),
        _read_gguf,
    ),
}


def whole(form: Format, folder: Path) -> bytes:
    """A file of the format beside a config.json."""
    path = write_folder(folder, {"config.json": TABLE["config.json"]}) / form.name
    form.write(path)
    return path.read_bytes()


def ours(folder: Path, name: str) -> dict[str, Array] | None:
    """What the row reads; None for a row error."""
    try:
        files = FolderFiles(folder, "here", Choice(pickle=True, name=name))
        return {tensor: files.tensor(tensor) for tensor in files.tensors}
    except RowError as error:
        assert "expected" in str(error)  # noqa: PT017 (any other error fails the test)
        return None


def check(form: Format, folder: Path, content: bytes) -> bool:
    """Check a damaged file; whether it was read."""
    (folder / form.name).write_bytes(content)
    found = ours(folder, form.name)
    if not found:
        return False
    with np.errstate(all="ignore"):
        theirs = [
            (name, np.asarray(array, dtype=np.float64))
            for name, array in form.read(folder / form.name)
        ]
    for name, array in found.items():
        assert any(
            name == other and np.array_equal(array, values, equal_nan=True)
            for other, values in theirs
        ), name
    return True


@st.composite
def damages(draw: st.DrawFn, content: bytes) -> bytes:
    """``content`` cut, with bits flipped, or with a range overwritten."""
    kind = draw(st.sampled_from(["cut", "flipped", "overwritten"]))
    if kind == "cut":
        return content[: draw(st.integers(0, len(content) - 1))]
    damaged = bytearray(content)
    if kind == "flipped":
        for _ in range(draw(st.integers(1, 3))):
            damaged[draw(st.integers(0, len(content) - 1))] ^= 1 << draw(st.integers(0, 7))
        return bytes(damaged)
    start = draw(st.integers(0, len(content) - 1))
    stop = min(len(content), start + draw(st.integers(1, MOST_WRITTEN)))
    damaged[start:stop] = draw(st.randoms(use_true_random=False)).randbytes(stop - start)
    return bytes(damaged)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_a_damaged_file_is_a_row_error_or_has_the_numbers_of_its_library(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    content = whole(FORMATS[name], folder)
    check(FORMATS[name], folder, data.draw(damages(content)))


CHECKED = {
    "npz": FORMATS["npz"],
    "torch": FORMATS["torch"],
}


def with_another_value(content: bytes) -> bytes:
    """``content`` with the first value of a table increased by its least step."""
    first = content.index(ARRAYS["wpe.weight"][0, :2].tobytes())
    return content[:first] + bytes([content[first] ^ 1]) + content[first + 1 :]


@pytest.mark.parametrize("name", CHECKED)
def test_a_checksum_of_a_format_is_compared(tmp_path: Path, name: str) -> None:
    form = CHECKED[name]
    content = whole(form, tmp_path)
    assert check(form, tmp_path, content)
    assert not check(form, tmp_path, with_another_value(content))


def test_a_large_array_of_an_archive_is_checked_where_all_of_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_archive, "MOST_CHECKED_BYTES", 100)
    # Longer than what zipfile reads at once.
    large = np.random.default_rng(0).normal(size=(2_000, 8)).astype(np.float32)
    np.savez(write_folder(tmp_path, {"config.json": TABLE["config.json"]}) / "model.npz", a=large)
    content = (tmp_path / "model.npz").read_bytes()
    np.testing.assert_array_equal(FolderFiles(tmp_path, "here").tensor("a"), large)
    last = content.index(large[-1].tobytes())
    (tmp_path / "model.npz").write_bytes(content[:last] + bytes(4) + content[last + 4 :])
    files = FolderFiles(tmp_path, "here")
    with pytest.raises(RowError, match="Bad CRC-32"):
        files.tensor("a")
    np.testing.assert_array_equal(files.rows("a", [3]), large[3:4])


def test_a_torch_file_without_checksums_is_read(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(compute_crc32=False)
    try:
        content = whole(FORMATS["torch"], tmp_path)
    finally:
        torch.serialization.set_crc32_options(compute_crc32=True)
    assert {
        member.CRC for member in zipfile.ZipFile(tmp_path / "pytorch_model.bin").infolist()
    } == {0}
    assert check(FORMATS["torch"], tmp_path, content)


def test_a_torch_file_beyond_the_limit_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_pickle, "MOST_CHECKED_BYTES", 100)
    content = whole(FORMATS["torch"], tmp_path)
    assert check(FORMATS["torch"], tmp_path, with_another_value(content))


HEADERS = {
    "UTF-16": lambda header: header.decode().encode("utf-16"),
    "a byte order mark": lambda header: b"\xef\xbb\xbf" + header,
    "a number as metadata": lambda header: b'{"__metadata__":{"a":1},' + header[1:],
    "NaN": lambda header: b'{"__metadata__":NaN,' + header[1:],
    "half of a letter": lambda header: header.replace(b"wpe", b"\\ud800"),
    "minus zero": lambda header: header.replace(b"[0,", b"[-0,"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_that_safetensors_refuses_is_a_row_error(tmp_path: Path, case: str) -> None:
    content = whole(FORMATS["safetensors"], tmp_path)
    size = int.from_bytes(content[:8], "little")
    header = HEADERS[case](content[8 : 8 + size])
    changed = len(header).to_bytes(8, "little") + header + content[8 + size :]
    with pytest.raises(SafetensorError):
        load(changed)
    assert not check(FORMATS["safetensors"], tmp_path, changed)
