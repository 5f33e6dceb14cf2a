"""Files of weights that were cut, altered or made by hand, in every format: a row error in one
sentence, or the numbers that the format's own library reads, which are bytes of the file; in either
case in little memory.
"""

import io
import json
import pickle
import re
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import onnx
import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto
from safetensors import SafetensorError, deserialize
from safetensors.numpy import load, save

from generator.checkpoints.files.formats import torch_pickle
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.errors import RowError
from generator.numerics.arrays import Array
from tests import gguf_files
from tests.checkpoints import onnx_files
from tests.gguf_files import file_of, number_of, setting, tensor_of, text_of
from tests.synthetic import TABLE, write_folder

RANDOM = np.random.default_rng(0)
ARRAYS = {
    name: RANDOM.normal(size=(16, 8)).astype(np.float32) for name in ("wpe.weight", "wte.weight")
}
CONFIG = {"config.json": TABLE["config.json"]}
SHARD = "model-00001-of-00001.safetensors"
FORMER = "model.ckpt"  # In torch's former format, of which torch reads as much as it states.
MOST_WRITTEN = 400  # bytes
LARGEST = 2**26  # bytes of memory, for files of some kB, and modules that the first one imports
Arrays = Iterable[tuple[str, Array]]


@dataclass(frozen=True)
class Format:
    """A file format. write(path); read(path): by the library, whose names end as ours do"""

    name: str
    write: Callable[[Path], Any]
    read: Callable[[Path], Arrays]
    is_compressed: bool = False


def _write_torch(path: Path, **options: Any) -> None:
    torch.save({name: torch.from_numpy(array) for name, array in ARRAYS.items()}, path, **options)


def _read_torch(path: Path) -> Arrays:
    return [
        (name, value.numpy())
        for name, value in torch.load(path, map_location="cpu", weights_only=True).items()
    ]


def _write_index(path: Path) -> None:
    path.with_name(SHARD).write_bytes(save(ARRAYS))
    path.write_text(json.dumps({"weight_map": dict.fromkeys(ARRAYS, SHARD)}), encoding="utf-8")


def _read_npz(path: Path) -> Arrays:
    # np.load takes one that begins with other bytes, as archives may, for a pickle.
    with np.lib.npyio.NpzFile(path.open("rb"), own_fid=True) as archive:
        return [(name, archive[name]) for name in archive.files]


def _read_onnx(path: Path) -> Arrays:
    graph = onnx.load(path).graph
    return [(each.name, onnx.numpy_helper.to_array(each)) for each in graph.initializer]


def _write_gguf(path: Path) -> None:
    settings = {"context_length": 16, "rope.freq_base": 5e5, "tokenizer.ggml.tokens": ["a"] * 9}
    gguf_files.write(path, "gpt2", settings, ARRAYS)


def _read_gguf(path: Path) -> Arrays:
    return [(each.name, each.data) for each in gguf.GGUFReader(path).tensors]


FORMATS = {
    "safetensors": Format(
        "model.safetensors",
        lambda path: path.write_bytes(save(ARRAYS)),
        lambda path: load(path.read_bytes()).items(),
    ),
    "safetensors, index": Format(
        "model.safetensors.index.json",
        _write_index,
        lambda path: load(path.with_name(SHARD).read_bytes()).items(),
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
        is_compressed=True,
    ),
    "torch": Format("pytorch_model.bin", _write_torch, _read_torch),
    "torch, no zip": Format(
        FORMER, lambda path: _write_torch(path, _use_new_zipfile_serialization=False), _read_torch
    ),
    "onnx": Format(
        "model.onnx",
        lambda path: path.write_bytes(
            onnx_files.model(initialisers=onnx_files.tensors_of(ARRAYS)).SerializeToString()
        ),
        _read_onnx,
    ),
    "gguf": Format("model.gguf", _write_gguf, _read_gguf),
}


FIRST: dict[str, bytes] = {}  # The first file of each format: all examples damage the same one.


def whole(form: Format, folder: Path) -> bytes:
    """A file of the format beside a config.json."""
    path = write_folder(folder, {"config.json": TABLE["config.json"]}) / form.name
    form.write(path)
    return path.read_bytes()


def ours(folder: Path, name: str) -> dict[str, Array] | None:
    """What the row reads; None for a row error."""
    tracemalloc.start()
    try:
        files = FolderFiles(folder, "here", Choice(pickle=True, name=name))
        return {tensor: files.tensor(tensor) for tensor in files.tensors}
    except RowError as error:
        # Any other error fails the test.
        assert str(error).startswith("here")  # noqa: PT017
        assert "expected" in str(error)  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017
        return None
    finally:
        largest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert largest < LARGEST or name == FORMER


def check(form: Format, folder: Path, content: bytes) -> bool:
    """Check a damaged file; whether it was read."""
    (folder / form.name).write_bytes(content)
    found = ours(folder, form.name)
    if not found:
        return False
    theirs = [(name, np.asarray(array)) for name, array in form.read(folder / form.name)]
    stored = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    with np.errstate(all="ignore"):
        for name, array in found.items():
            assert any(
                name == other
                and np.array_equal(array, values.astype(np.float64), equal_nan=True)
                and (form.is_compressed or is_of(stored, values))
                for other, values in theirs
            ), name
    return True


def is_of(stored: bytes, values: Array) -> bool:
    """Whether the bytes of each value are somewhere among those that are stored."""
    size = min(values.dtype.itemsize, 8)
    pieces = [
        np.frombuffer(stored, f"u{size}", (len(stored) - start) // size, start)
        for start in range(size)
    ]
    own = np.frombuffer(values.tobytes(), f"u{size}")
    return bool(np.isin(own, np.concatenate(pieces)).all())


@st.composite
def damages(draw: st.DrawFn, content: bytes) -> bytes:
    """``content`` cut, with bits flipped, with a range overwritten, or with bytes in between."""
    kind = draw(st.sampled_from(["cut", "flipped", "overwritten", "inserted"]))
    if kind == "cut":
        return content[: draw(st.integers(0, len(content) - 1))]
    damaged = bytearray(content)
    if kind == "flipped":
        for _ in range(draw(st.integers(1, 3))):
            damaged[draw(st.integers(0, len(content) - 1))] ^= 1 << draw(st.integers(0, 7))
        return bytes(damaged)
    start = draw(st.integers(0, len(content) - 1))
    if kind == "inserted":
        new = draw(st.sampled_from([b"\xff" * 8, b"9" * 12, b"-1", b"null", b"[]"]))
        damaged[start : start + draw(st.sampled_from([len(new), 0, 1]))] = new
        return bytes(damaged)
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
    # In torch's former format they hold addresses of memory, and are as long as these.
    content = FIRST.setdefault(name, whole(FORMATS[name], folder))
    check(FORMATS[name], folder, data.draw(damages(content)))


def with_another_value(content: bytes) -> bytes:
    """``content`` with the first value of a table increased by its least step."""
    first = content.index(ARRAYS["wpe.weight"][0, :2].tobytes())
    return content[:first] + bytes([content[first] ^ 1]) + content[first + 1 :]


@pytest.mark.parametrize("name", ["npz", "torch"])
def test_a_checksum_of_a_format_is_compared(tmp_path: Path, name: str) -> None:
    form = FORMATS[name]
    content = whole(form, tmp_path)
    assert check(form, tmp_path, content)
    assert not check(form, tmp_path, with_another_value(content))


def test_a_torch_file_without_checksums_is_read(tmp_path: Path) -> None:
    torch.serialization.set_crc32_options(compute_crc32=False)
    try:
        content = whole(FORMATS["torch"], tmp_path)
    finally:
        torch.serialization.set_crc32_options(compute_crc32=True)
    members = zipfile.ZipFile(tmp_path / "pytorch_model.bin").infolist()
    assert {member.CRC for member in members} == {0}
    assert check(FORMATS["torch"], tmp_path, content)


def test_a_torch_file_beyond_the_limit_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_pickle, "MOST_CHECKED_BYTES", 100)
    content = whole(FORMATS["torch"], tmp_path)
    assert check(FORMATS["torch"], tmp_path, with_another_value(content))


def safe(header: object, n_bytes: int = 16) -> bytes:
    """A file of safetensors with this header, in JSON or in bytes, and zeros as data."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(n_bytes)


def npy(shape: tuple[int, ...], data: bytes = bytes(96)) -> bytes:
    """An .npy file that states ``shape``."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f4", "fortran_order": False, "shape": shape}
    )
    return stream.getvalue() + data


def zipped(*members: tuple[str, bytes], **options: Any) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def saved(state: object) -> bytes:
    stream = io.BytesIO()
    torch.save(state, stream)
    return stream.getvalue()


def proto(**fields: Any) -> bytes:
    """A model with one tensor of two numbers, with these fields."""
    given = {"name": "a", "data_type": TensorProto.FLOAT, "dims": [2], **fields}
    data = {} if {"raw_data", "float_data"} & given.keys() else {"raw_data": bytes(8)}
    tensor = TensorProto(**given, **data)
    return bytes(onnx_files.model(initialisers=[tensor]).SerializeToString())


def field(number: int, content: bytes) -> bytes:
    """A field of Protocol Buffers with a length below 128."""
    return bytes([number << 3 | 2, len(content)]) + content


F32: dict[str, Any] = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
ENTRY = json.dumps(F32)
ENTRIES: list[Any] = [
    None, [], "F32", {}, {"dtype": "F32"}, {"dtype": "F32", "shape": [2, 2]},
    *({**F32, "dtype": dtype} for dtype in ("F31", "f32", None, ["F32"], {"F32": 1})),
    *({**F32, "shape": shape} for shape in (4, [2, -2], [-2, -2], [2, 2.0], [2, "2"], [2**40],
                                            [2**39] * 1000, [2, 3], [2])),
    *({**F32, "data_offsets": span} for span in ([0], [0, 16, 16], ["0", "16"], [-16, 0],
                                                 [16, 0], [0, 12], [0, 2**80])),
]  # fmt: skip
IN_SAFETENSORS = [
    b"", b"\x01\x00\x00", (100).to_bytes(8, "little") + bytes(12), b"\xff" * 8 + bytes(12),
    *map(safe, (b"", b"{", b"not JSON", b"\xff\xfe\xfa", b'{"a": ' * 50_000, b"[" * 100_000,
                b'{"a": ' + b"9" * 5_000 + b"}", [], None, 1, "F32",
                json.dumps({"wpe": F32}).encode("utf-16"),
                json.dumps({"wpe": F32}).encode("utf-8-sig"),
                f'{{"\\ud800": {ENTRY}}}'.encode(), f'{{"a": {ENTRY}, "a": {ENTRY}}}'.encode())),
    *(safe({"wpe": entry}) for entry in ENTRIES),
    *(safe({str(i): {**F32, "data_offsets": span} for i, span in enumerate(spans)}, n_bytes)
      for spans, n_bytes in (([(0, 16), (8, 24)], 24), ([(0, 16), (0, 16)], 16),
                             ([(0, 16), (20, 36)], 36), ([(4, 20)], 20), ([(0, 16)], 20),
                             ([(0, 16)], 12))),
]  # fmt: skip
ONE = '"wpe":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]'
# Headers that the library refuses, and such as it takes.
REFUSED = [
    *(f'{{"__metadata__":{given},{ONE}}}}}' for given in (
        "NaN", "[]", '"x"', '{"x":1}', '{"x":{}}', '{"x":null}', '{"x":"\\udc00"}')),
    *(f'{{{ONE},"x":{more}}}}}' for more in (
        "NaN", "-Infinity", "1e999", "9" * 400, '"\\ud800"', "[" * 126 + "]" * 126)),
    *(f'{{"wpe":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{span}}}}}'
      for dtype, shape, span in (
        ("F32", "[4e0]", "[0,16]"), ("F32", "[4]", "[0.0,16.0]"), ("U8", "[true]", "[0,1]"),
        ("U8", "[1]", "[false,true]"), ("U8", '""', "[0,1]"), ("U8", "{}", "[0,1]"),
        ("F32", "[-0]", "[0,0]"), ("F32", f"[{2**64},0]", "[0,0]"), ("F4", "[3]", "[0,2]"),
        ("F32", f"[{2**63},4,0]", "[0,0]"), ("F6_E2M3", "[3]", "[0,3]"))),
]  # fmt: skip
TAKEN = [
    *(f'{{"__metadata__":{given},{ONE}}}}}' for given in ("null", "{}", '{"x":"1"}')),
    *(f'{{{ONE},"x":{more}}}}}' for more in ("1e99", "9" * 300, "[" * 125 + "]" * 125, "null")),
    '{"wpe":{"dtype":"F32","shape":[0,9],"data_offsets":[0,0]}}',
]  # fmt: skip
IN_GGUF = [
    b"", file_of([], [], magic=b"GGML"), file_of([], [], version=1),
    file_of([], [], version=3 << 24),
    file_of([setting("a", 8, text_of("b" * 99))], [])[:60],
    b"GGUF" + number_of(3, "I") + number_of(2**62) + number_of(0),
    b"GGUF" + number_of(3, "I") + number_of(0) + number_of(2**62),
    *(file_of(settings, []) for settings in (
        [setting("a", 13, b"")], [setting("a", 7, b"\1")] * 2, [setting("a", 8, number_of(2**62))],
        [setting("a", 8, number_of(2**20))], [number_of(2**62)], [number_of(1) + b"\xff"],
        [setting("a", 9, number_of(8, "I") + number_of(2**62))],
        [setting("a", 9, number_of(10, "I") + number_of(10**6))],
        [setting("a", 9, (number_of(9, "I") + number_of(1)) * 5_000)])),
    *(file_of([setting("general.alignment", kind, value)], [tensor_of("x")], bytes(64))
      for kind, value in ((4, number_of(0, "I")), (5, number_of(2**32 - 8, "I")),
                          (8, text_of("8")))),
    *(file_of([], tensors, bytes(16)) for tensors in (
        [tensor_of("x")] * 2, [tensor_of("x", (2**62,))], [tensor_of("x", kind=31)],
        [tensor_of("x", (16, 2), kind=int(Kind.Q8_0))], [tensor_of("x", offset=2**60)],
        [tensor_of("x", (3, 3))])),
]  # fmt: skip
VALID = onnx_files.model(initialisers=onnx_files.tensors_of(ARRAYS)).SerializeToString()
SPARSE = onnx_files.model(initialisers=onnx_files.tensors_of(ARRAYS))
SPARSE.graph.sparse_initializer.add(dims=[16, 8])
IN_ONNX = [
    b"", b"not a model, but some text", b"PK\x03\x04" + bytes(40), VALID[:-9],
    VALID[: len(VALID) // 2], field(2, b"producer"), b"\x0b\x0c", b"\x08" + b"\xff" * 11,
    b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", field(7, field(5, field(8, b"\xff\xfe"))),
    *(proto(dims=dims) for dims in ([3], [2**39] * 2, [-2], [-1, -2], [1] * 99)),
    proto(data_type=99), proto(data_type=0), proto(name="a" * 501),
    proto(dims=[2**30, 2**9], float_data=[1.0]), proto(dims=[2], float_data=[1.0]),
    proto(data_type=TensorProto.COMPLEX64, dims=[1], float_data=[1.0]),
    onnx_files.model(
        [onnx.helper.make_node("Gather", ["wpe.weight"], ["out"])], onnx_files.tensors_of(ARRAYS)
    ).SerializeToString(),
    onnx_files.model(
        initialisers=onnx_files.tensors_of(ARRAYS) + onnx_files.tensors_of(ARRAYS)
    ).SerializeToString(),
    SPARSE.SerializeToString(),
]  # fmt: skip
IN_NPZ = [
    b"", b"PK", b"\x93NUMPY\x01\x00", b"no archive" * 9, zipped(("a.npy", b"no array")),
    *(zipped(("a.npy", npy(shape)))
      for shape in ((2, 3), (-6, -4), (2**40, 1), (1,) * 99, (2**39,) * 20)),
]  # fmt: skip
IN_TORCH = [
    *(opening + b"\x00\xff" * 9
      for opening in (b"", b"PK\x03\x04", b"\x80\x02", b"\x80\x02}q\x00")),
    *map(saved, ([torch.zeros(2)], torch.zeros(2), "text", 1, None)),
    pickle.dumps({"a": 1}), zipped(("a/data.pkl", b""), compression=zipfile.ZIP_DEFLATED),
    saved({"a": torch.ones(2, 3, device="meta")}), saved({"a": torch.ones(1).expand(10**10)}),
]  # fmt: skip
IN_INDEX = [
    json.dumps({"weight_map": names}).encode() for names in (
        None, ["one.safetensors"], {"wpe": 1}, {"wpe": "../one.safetensors"},
        {"wpe": "/etc/hostname"}, {"wpe": "sub/one.safetensors"}, {"wpe": ".."}, {"wpe": ""},
        {"wpe": "one.safetensors\0"}, {"wpe": "missing.safetensors"}, {"other": "one.safetensors"},
    )
] + [b"[]", b"{}", b"{"]  # fmt: skip
HOSTILE = {
    "model.safetensors": IN_SAFETENSORS,
    "model.safetensors.index.json": IN_INDEX,
    "model.gguf": IN_GGUF,
    "model.onnx": IN_ONNX,
    "model.npz": IN_NPZ,
    "pytorch_model.bin": IN_TORCH,
    "table.npy": [b"", b"\x93NUMPY", npy((5, 5)), npy((-6, -4)), npy((2**40, 2**40))],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_invalid_is_a_row_error(tmp_path: Path, name: str) -> None:
    shard = {"one.safetensors": safe({"wpe": F32}), "config.json": TABLE["config.json"]}
    read = [
        content[:200]
        for index, content in enumerate(HOSTILE[name])
        if ours(write_folder(tmp_path / str(index), {**shard, name: content}), name) is not None
    ]
    assert not read


@pytest.mark.parametrize(("headers", "is_read"), [(REFUSED, False), (TAKEN, True)])
def test_a_header_of_safetensors_is_read_where_the_library_reads_it(
    tmp_path: Path, headers: Sequence[str], is_read: bool
) -> None:
    for number, header in enumerate(headers):
        [*_, end] = re.findall(r'offsets":\[\w+(?:\.0)?,(\w+)', header)
        content = safe(header.encode(), int(end) if end.isdigit() else 1)
        try:
            deserialize(content)  # type: ignore[no-untyped-call]
            is_taken = True
        except SafetensorError:
            is_taken = False
        folder = write_folder(tmp_path / str(number), {**CONFIG, "model.safetensors": content})
        found = ours(folder, "model.safetensors")
        assert (header, is_taken, found is not None) == (header, is_read, is_read)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_in_an_archive_is_a_row_error(tmp_path: Path) -> None:
    content = zipped(("a.npy", npy((24,))), ("a.npy", npy((24,))))
    folder = write_folder(tmp_path, {"config.json": TABLE["config.json"], "model.npz": content})
    assert ours(folder, "model.npz") is None


def test_too_many_tensors_are_a_row_error(tmp_path: Path) -> None:
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    content = safe({str(index): entry for index in range(50_001)}, 0)
    folder = write_folder(tmp_path, {"config.json": b"{}", "model.safetensors": content})
    with pytest.raises(RowError, match="50,001 tensors"):
        assert FolderFiles(folder, "here").tensors
