"""GGUF files: headers, tensors of every type, models in several files, files that are damaged, and what is read of large ones."""

import json
import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.formats.gguf import FORMAT, header
from generator.checkpoints.files.formats.gguf.quantised import scaled_block
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import Encoding, StoredTensor, WeightsFile
from generator.encodings import Form
from generator.errors import RowError
from generator.numerics.arrays import Array
from generator.pipeline import evaluate
from tests import inline, tiny
from tests.gguf_files import add, close, renamed, write
from tests.hub_server import Repository, serving

COMMIT = "a" * 40
PLAIN = {Kind.F64: "<f8", Kind.I8: "<i1", Kind.I16: "<i2", Kind.I32: "<i4", Kind.I64: "<i8"}
WITHOUT_NUMBERS = [Kind.Q8_1, Kind.Q8_K]
QUANTISED = [kind for kind in GGML_QUANT_SIZES if kind in gguf.quants._type_traits]
WRITTEN = [Kind.BF16, Kind.Q4_0, Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q8_0, Kind.TQ1_0, Kind.TQ2_0, Kind.MXFP4]
FAMILIES = ("bert", "gpt2", "t5")
WIDE = dict.fromkeys(("hidden_size", "n_embd", "d_model", "d_kv", "intermediate_size", "d_ff"), 32)
SIZES = {"block_count": 1, "context_length": tiny.POSITIONS, "embedding_length": 32, "attention.head_count": 2}
OWN: dict[str, dict[str, Any]] = {
    "bert": {"attention.causal": False, "attention.layer_norm_epsilon": 1e-12},
    "gpt2": {"attention.layer_norm_epsilon": 1e-5},
    "t5": {"attention.relative_buckets_count": 32, "attention.key_length": 32},
}
TWINS = [(model_type, kind) for model_type in FAMILIES for kind in (Kind.F32, Kind.F16, Kind.Q8_0)]


def files(path: Path) -> FolderFiles:
    """The contents of one file."""
    return FolderFiles(Folder(path.parent, "here", named=path.name), "here", Choice(name=path.name))


def weights(path: Path) -> WeightsFile:
    return WeightsFile(Folder(path.parent, "here"), path.name, "here")


def read(path: Path) -> header.Header:
    return header.read(weights(path), path.name)


def number_of(value: int, size: str = "Q") -> bytes:
    return struct.pack(f"<{size}", value)


def text_of(value: str) -> bytes:
    return number_of(len(value.encode())) + value.encode()


def setting(key: str, kind: int, value: bytes) -> bytes:
    return text_of(key) + number_of(kind, "I") + value


def tensor_of(name: str, shape: tuple[int, ...] = (2, 2), kind: int = 0, offset: int = 0) -> bytes:
    """What the header says of a tensor. shape: in the order of the file, columns first"""
    return text_of(name) + number_of(len(shape), "I") + b"".join(map(number_of, shape)) + number_of(kind, "I") + number_of(offset)


def file_of(settings_part: list[bytes], tensors: list[bytes], data: bytes = b"", magic: bytes = b"GGUF", version: int = 3) -> bytes:
    """A file by hand, as docs/gguf.md of ggml describes it."""
    start = magic + number_of(version, "I") + number_of(len(tensors)) + number_of(len(settings_part))
    head = start + b"".join(settings_part) + b"".join(tensors)
    return head + bytes(-len(head) % 32) + data


@pytest.fixture(scope="module")
def models() -> dict[str, dict[str, Array]]:
    """The tensors of a tiny model of each family."""
    return {model_type: tiny.arrays(tiny.build(model_type, **WIDE)) for model_type in FAMILIES}


def twins(tmp_path: Path, model_type: str, arrays: Mapping[str, Array], kind: Kind) -> tuple[list[Encoding[Form]], list[Encoding[Form]]]:
    """What is found in the same model, in safetensors and in GGUF."""
    (tmp_path / "plain").mkdir()
    save_file(dict(arrays), tmp_path / "plain/model.safetensors")
    config: dict[str, Any] = {"model_type": model_type, **tiny.SIZES, **tiny.LAYERS, **WIDE}
    (tmp_path / "plain/config.json").write_text(json.dumps(config))
    architecture = gguf.MODEL_ARCH[model_type.upper()]
    path = write(tmp_path / "model.gguf", model_type, {**SIZES, **OWN[model_type]}, renamed(architecture, arrays), kind)
    return evaluate.find(FolderFiles(tmp_path / "plain", "plain")), evaluate.find(files(path))


@pytest.mark.parametrize(("model_type", "kind"), TWINS, ids=[f"{model_type} {kind.name}" for model_type, kind in TWINS])
def test_a_model_in_gguf_has_the_encodings_that_it_has_in_safetensors(
    model_type: str, kind: Kind, models: dict[str, dict[str, Array]], tmp_path: Path
) -> None:
    plain, stored = twins(tmp_path, model_type, models[model_type], kind)
    assert [(own.part, own.scheme, type(own.form), own.stack, own.modality) for own in stored] == [
        (own.part, own.scheme, type(own.form), own.stack, own.modality) for own in plain
    ]
    assert len(plain) == (2 if model_type == "t5" else 1)
    for own, other in zip(stored, plain, strict=True):
        largest = float(np.abs(other.form.numbers).max())
        apart = {"F32": 0.0, "F16": largest * 2**-11, "Q8_0": largest / 254 * 1.01}[own.provenance.dtype or ""]
        np.testing.assert_allclose(own.form.numbers, other.form.numbers, rtol=0.0, atol=apart)
        assert own.form.parameters.keys() == other.form.parameters.keys()


def test_the_provenance_has_the_name_that_the_tensor_has_in_the_file(models: dict[str, dict[str, Array]], tmp_path: Path) -> None:
    _, [encoding] = twins(tmp_path, "gpt2", models["gpt2"], Kind.Q8_0)
    origin = encoding.provenance
    assert (origin.file, origin.tensor, origin.dtype, origin.shape) == ("model.gguf", "position_embd.weight", "Q8_0", (tiny.POSITIONS, 32))
    assert [note for note in encoding.notes if note.startswith("Stored as Q8_0, in blocks of 32 values")]


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.name)
def test_a_tensor_that_the_library_has_written_is_read_as_the_library_reads_it(kind: Kind, tmp_path: Path) -> None:
    array = np.random.default_rng(0).normal(size=(4, 512)).astype(np.float32)
    path = write(tmp_path / "x.gguf", "any", {}, {"x": array}, kind)
    expected = gguf.quants.dequantize(gguf.quants.quantize(array, kind), kind).astype(np.float64)
    np.testing.assert_array_equal(files(path).tensor("x"), expected)
    np.testing.assert_array_equal(files(path).rows("x", [3, 0, 3]), expected[[3, 0, 3]])
    assert files(path).tensors["x"].dtype == kind.name


def raw(tmp_path: Path, kind: Kind, n_columns: int, data: bytes) -> Path:
    """One matrix of a type, of any bytes."""
    block, n_bytes = GGML_QUANT_SIZES[kind]
    matrix = np.frombuffer(data, dtype=np.uint8).reshape(-1, n_columns // block * n_bytes)
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "any")
    writer.add_tensor("x", matrix, raw_shape=matrix.shape, raw_dtype=kind)
    return close(writer, tmp_path / "x.gguf")


@pytest.mark.parametrize("kind", QUANTISED, ids=lambda kind: kind.name)
def test_any_bytes_of_a_type_are_read_as_the_library_reads_them(kind: Kind, tmp_path: Path) -> None:
    block, n_bytes = GGML_QUANT_SIZES[kind]
    data = np.random.default_rng(0).integers(0, 256, (3, 512 // block * n_bytes), dtype=np.uint8)
    path = raw(tmp_path, kind, 512, data.tobytes())
    with np.errstate(all="ignore"):
        expected = gguf.quants.dequantize(data, kind).astype(np.float64)
    np.testing.assert_array_equal(files(path).tensor("x"), expected)
    np.testing.assert_array_equal(files(path).rows("x", [2, 1]), expected[[2, 1]])


@pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: kind.name)
def test_plain_numbers_are_read_exactly(kind: Kind, tmp_path: Path) -> None:
    array = np.arange(-6, 6).reshape(3, 4).astype(PLAIN[kind])
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "any")
    writer.add_tensor("x", array)
    stored = files(close(writer, tmp_path / "x.gguf"))
    np.testing.assert_array_equal(stored.tensor("x"), array.astype(np.float64))
    assert (stored.tensors["x"].dtype, stored.notes("x")) == (kind.name, ())


@pytest.mark.parametrize("kind", WITHOUT_NUMBERS, ids=lambda kind: kind.name)
def test_the_row_error_for_a_type_without_numbers_names_it(kind: Kind, tmp_path: Path) -> None:
    block, n_bytes = GGML_QUANT_SIZES[kind]
    path = raw(tmp_path, kind, block, bytes(n_bytes))
    assert files(path).tensors["x"].dtype == kind.name
    with pytest.raises(RowError, match=f"here: x: type {kind.name}, which .* cannot turn into numbers"):
        files(path).tensor("x")


def half(value: float) -> bytes:
    return np.float16(value).tobytes()


# The step by hand: the scale of Q8_0 and of Q4_1; of Q6_K, the scale of the block times those of its 16 parts, 1 to 16, whose median is 8.5.
STEPS = {
    Kind.Q8_0: (half(0.25) + bytes(range(32)), 32, 32, "0.25"),
    Kind.Q4_1: (half(0.5) + half(-3.0) + bytes(range(16)), 32, 32, "0.5"),
    Kind.Q6_K: (bytes(17 * (i % 16) for i in range(128)) + bytes(64) + bytes(range(1, 17)) + half(0.5), 256, 16, "4.25"),
}


@pytest.mark.parametrize("kind", STEPS, ids=lambda kind: kind.name)
def test_a_note_gives_the_step_of_a_type(kind: Kind, tmp_path: Path) -> None:
    data, n_columns, block, step = STEPS[kind]
    [note] = files(raw(tmp_path, kind, n_columns, data)).notes("x")
    assert note.startswith(
        f"Stored as {kind.name}, in blocks of {block} values with a scale of their own: two of them are equal or at least {step} "
    )


def test_a_note_on_values_that_are_all_equal_gives_no_step(tmp_path: Path) -> None:
    [note] = files(raw(tmp_path, Kind.Q8_0, 32, half(0.5) + bytes(32))).notes("x")
    assert note == "Stored as Q8_0, in blocks of 32 values with a scale of their own."


def changed_together(kind: Kind) -> int:
    """Length of the shortest run of more than eight values in a block that one bit may change: those that share a scale."""
    block, n_bytes = GGML_QUANT_SIZES[kind]
    changed = np.zeros((8 * n_bytes, block), dtype=bool)
    for bits in np.random.default_rng(0).integers(0, 2, (8, 8 * n_bytes), dtype=np.uint8):
        flipped = np.packbits(np.vstack([bits, bits ^ np.eye(len(bits), dtype=np.uint8)]), axis=1)
        with np.errstate(all="ignore"):
            values = gguf.quants.dequantize(flipped, kind).reshape(-1, block)
            changed |= (values[1:] != values[0]) & np.isfinite(values[1:] + values[0])
    places = [np.flatnonzero(row) for row in changed]
    return min(int(np.ptp(place)) + 1 for place in places if len(place) > 8)


@pytest.mark.parametrize("kind", [kind for kind in QUANTISED if kind is not Kind.BF16], ids=lambda kind: kind.name)
def test_values_that_share_a_scale_are_those_that_change_together(kind: Kind) -> None:
    assert scaled_block(kind.name) == changed_together(kind)


def test_settings_of_every_type_are_read(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "any")
    numbers = {
        "uint8": 200,
        "int8": -100,
        "uint16": 60_000,
        "int16": -30_000,
        "uint32": 2**31,
        "int32": -(2**30),
        "uint64": 2**63,
        "int64": -(2**62),
    }
    for kind, value in {**numbers, "float32": 0.1, "float64": 0.1, "bool": True, "string": "Grüße"}.items():
        getattr(writer, f"add_{kind}")(f"x.{kind}", value)
    add(writer, "x.list", [1, 2, 3])
    add(writer, "x.texts", ["a", "b"])
    add(writer, "x.lists", [[1, 2], [3, 4]])
    found = read(close(writer, tmp_path / "x.gguf")).settings
    expected = {**numbers, "float32": 0.1, "float64": 0.1, "bool": True, "string": "Grüße", "list": (1, 2, 3)}
    assert {key.removeprefix("x."): value for key, value in found.items() if key.startswith("x.")} == {
        **expected, "texts": header.Unread(2), "lists": header.Unread(2),
    }  # fmt: skip


def test_tokens_are_counted_and_not_kept(tmp_path: Path) -> None:
    tokens = [f"token {index}" for index in range(20_000)]
    path = write(tmp_path / "x.gguf", "llama", {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.scores": [0.5] * 20_000, "block_count": 7})
    found = read(path).settings
    assert (found["tokenizer.ggml.tokens"], found["tokenizer.ggml.scores"]) == (header.Unread(20_000), header.Unread(20_000))
    assert found["llama.block_count"] == 7


def test_version_2_and_another_alignment_are_read(tmp_path: Path) -> None:
    content = file_of([setting("general.alignment", 4, number_of(8, "I"))], [tensor_of("x", (2,), offset=8)], version=2)
    end = 24 + len(setting("general.alignment", 4, number_of(8, "I"))) + len(tensor_of("x", (2,)))
    start = -(-end // 8) * 8
    (tmp_path / "x.gguf").write_bytes(content[:end].ljust(start, b"\0") + bytes(8) + np.array([1.0, 2.0], dtype="<f4").tobytes())
    np.testing.assert_array_equal(files(tmp_path / "x.gguf").tensor("x"), [1.0, 2.0])


def test_a_tensor_of_a_file_made_by_hand_has_its_rows_first(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(file_of([], [tensor_of("x", (3, 2))], np.arange(6, dtype="<f4").tobytes()))
    np.testing.assert_array_equal(files(tmp_path / "x.gguf").tensor("x"), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


FOUR = bytes(16)
HUGE = number_of(2**62)
DAMAGED = {
    "no bytes": (b"", "cut short"),
    "another magic": (file_of([], [], magic=b"GGML"), "begins with b'GGML'; expected a GGUF file"),
    "version 1": (file_of([], [], version=1), "GGUF version 1; expected 2 or 3"),
    "big-endian": (file_of([], [], version=3 << 24), "big-endian byte order"),
    "half a header": (file_of([setting("a", 8, text_of("b" * 99))], [])[:60], "cut short: its header goes on to byte"),
    "too many tensors": (b"GGUF" + number_of(3, "I") + HUGE + number_of(0), "tensors: 4,611,686,018,427,387,904; expected at most"),
    "too many settings": (b"GGUF" + number_of(3, "I") + number_of(0) + HUGE, "settings: .* expected at most"),
    "a setting of an unknown type": (file_of([setting("a", 13, b"")], []), "'a' is of type 13"),
    "a setting twice": (file_of([setting("a", 7, b"\1")] * 2, []), "the setting 'a' stands twice"),
    "a long text": (file_of([setting("a", 8, HUGE)], []), "bytes of 'a': .* expected at most"),
    "a text beyond the end": (file_of([setting("a", 8, number_of(2**20))], []), "cut short"),
    "a long key": (file_of([HUGE], []), "bytes of the name of a setting: .* expected at most"),
    "a long list": (file_of([setting("a", 9, number_of(8, "I") + HUGE)], []), "items of 'a': .* expected at most"),
    "a list beyond the end": (file_of([setting("a", 9, number_of(8, "I") + number_of(10**6))], []), "cut short"),
    "numbers beyond the end": (file_of([setting("a", 9, number_of(10, "I") + number_of(10**6))], []), "cut short"),
    "lists in lists": (file_of([setting("a", 9, (number_of(9, "I") + number_of(1)) * 20)], []), "more than 4 lists in each other"),
    "an alignment of 0": (file_of([setting("general.alignment", 4, number_of(0, "I"))], [tensor_of("x")], FOUR), "general.alignment is 0"),
    "an alignment of 12": (file_of([setting("general.alignment", 4, number_of(12, "I"))], [tensor_of("x")], FOUR), "expected a power of two"),
    "an alignment in words": (file_of([setting("general.alignment", 8, text_of("8"))], [tensor_of("x")], FOUR), "general.alignment is '8'"),
    "a tensor twice": (file_of([], [tensor_of("x")] * 2, FOUR), "the tensor 'x' stands twice"),
    "too many dimensions": (file_of([], [tensor_of("x", (1,) * 5)], FOUR), "'x' has 5 dimensions; expected at most 4"),
    "a large dimension": (file_of([], [tensor_of("x", (2**62,))], FOUR), "size of 'x': .* expected at most"),
    "an unknown type": (file_of([], [tensor_of("x", kind=31)], FOUR), "'x' is of type 31; expected one that the library gguf knows"),
    "half a block": (file_of([], [tensor_of("x", (16, 2), kind=int(Kind.Q8_0))], FOUR), "expected rows of whole blocks of 32, as Q8_0 has them"),
    "a range beyond the end": (file_of([], [tensor_of("x")], FOUR[:-1]), "expected an offset that 32 divides, and an end within the file"),
    "an offset beyond the end": (file_of([], [tensor_of("x", offset=2**60)], FOUR), "an end within the file"),
    "an odd offset": (file_of([], [tensor_of("x", offset=4)], FOUR * 9), "expected an offset that 32 divides"),
    "an overlap": (file_of([], [tensor_of("x", (4, 4)), tensor_of("y", offset=32)], FOUR * 9), "'y' begins at byte 160, within 'x'; expected it after byte 192"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_a_row_error_that_says_what_was_expected(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(content)
    with pytest.raises(RowError, match=f"here/x.gguf: .*{message}"):
        read(tmp_path / "x.gguf")


@dataclass(frozen=True, eq=False)
class Memory:
    """A storage of one file in memory that counts what is read of it."""

    content: bytes
    length: int | None = None  # Zeros follow ``content`` up to here.
    parts: list[tuple[int, int]] = field(default_factory=list)

    def matching(self, pattern: str) -> list[str]:  # noqa: ARG002
        return ["x.gguf"]

    def has(self, name: str) -> bool:
        return name == "x.gguf"

    def size(self, name: str) -> int:  # noqa: ARG002
        return len(self.content) if self.length is None else self.length

    def part(self, name: str, start: int, stop: int) -> bytes:  # noqa: ARG002
        self.parts.append((start, stop))
        return self.content[start:stop].ljust(stop - start, b"\0")

    def whole(self, name: str) -> bytes | None:  # noqa: ARG002
        return None

    def path(self, name: str) -> Path:  # noqa: ARG002
        raise AssertionError

    @property
    def n_read(self) -> int:
        return sum(stop - start for start, stop in self.parts)


def opened(storage: Memory) -> Mapping[str, StoredTensor]:
    return FORMAT.open(WeightsFile(storage, "x.gguf", "here"))


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small file with settings of many types, and tensors."""
    settings_given = {
        "block_count": 2,
        "embedding_length": 32,
        "rope.freq_base": 5e5,
        "tokenizer.ggml.tokens": ["a", "bc"] * 20,
        "x": [1, 2],
    }
    tensors = {"position_embd.weight": np.ones((4, 32), dtype=np.float32), "rope_freqs.weight": np.ones(8, dtype=np.float32)}
    return write(tmp_path_factory.mktemp("valid") / "x.gguf", "llama", settings_given, tensors, Kind.Q8_0).read_bytes()


@settings(max_examples=300, deadline=2_000)
@given(data=st.data())
def test_a_file_with_changed_bytes_is_a_row_error_or_read_within_its_length(valid: bytes, data: st.DataObject) -> None:
    content = bytearray(valid)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        new = data.draw(st.one_of(st.binary(min_size=1, max_size=8), st.just(b"\xff" * 8)))
        content[at : at + len(new)] = new[: len(content) - at]
    storage = Memory(bytes(content[: data.draw(st.sampled_from([len(content), len(content) // 2]))]))
    file = WeightsFile(storage, "x.gguf", "here")
    with suppress(RowError):
        FORMAT.texts(file)
        for stored in FORMAT.open(file).values():
            stored.decode(stored.part(0, stored.n_bytes), stored.header.shape)
            stored.notes()
    assert all(0 <= start <= stop <= len(storage.content) for start, stop in storage.parts)


def test_of_a_file_of_10_gigabytes_the_header_alone_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = tensor_of("token_embd.weight", (4096, 610_000))  # 10 GB in single precision.
    content = file_of([setting("general.architecture", 8, text_of("llama"))], [matrix])
    path = tmp_path / "large.gguf"
    path.write_bytes(content)
    os.truncate(path, len(content) + 4096 * 610_000 * 4)
    n_read = []
    part = Folder.part

    def counted(self: Folder, name: str, start: int, stop: int) -> bytes:
        n_read.append(stop - start)
        return part(self, name, start, stop)

    monkeypatch.setattr(Folder, "part", counted)
    done = inline.run("inspect", str(path), "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size > 9.9e9
    assert sum(n_read) <= 4 * header.FIRST_PIECE


def test_a_header_is_read_in_pieces_that_double() -> None:
    key = setting("a", 8, number_of(300_000))
    storage = Memory(file_of([key], [])[: 24 + len(key)], length=10**9)
    opened(storage)
    assert [stop - start for start, stop in storage.parts][:1] == [header.FIRST_PIECE]
    assert 300_000 < storage.n_read < 700_000


def test_a_header_that_never_ends_is_refused_before_it_fills_the_memory() -> None:
    storage = Memory(b"GGUF" + number_of(3, "I") + number_of(0) + number_of(20_000), length=10**12)
    with pytest.raises(RowError, match="stands twice"):  # All zeros are names of no letters.
        opened(storage)
    texts = [setting(str(index), 8, number_of(header.LONGEST_TEXT)) for index in range(1)]
    claimed = b"GGUF" + number_of(3, "I") + number_of(0) + number_of(3) + texts[0]
    with pytest.raises(RowError, match="cut short"):
        opened(Memory(claimed, length=10**6))


def parts(tmp_path: Path, n_parts: int, count: int | None = None) -> list[Path]:
    """A model in several files, each with one tensor, and the settings in the first."""
    paths = []
    for number in range(n_parts):
        own = {"block_count": 3} if number == 0 else {}
        split = {"split.no": number, "split.count": n_parts if count is None else count}
        path = tmp_path / f"model-{number + 1:05d}-of-{n_parts:05d}.gguf"
        tensors = {f"tensor {number}": np.full((2, 2), number, dtype=np.float32)}
        paths.append(write(path, "llama", {**own, **split}, tensors))
    return paths


@pytest.mark.parametrize("opened_through", [0, 2])
def test_a_model_in_several_files_is_read_whole(opened_through: int, tmp_path: Path) -> None:
    paths = parts(tmp_path, 3)
    found = files(paths[opened_through])
    assert {name: found.tensors[name].file for name in found.tensors} == {f"tensor {number}": paths[number].name for number in range(3)}
    assert found.tensor("tensor 2")[0, 0] == 2.0
    assert found.config.value("num_hidden_layers") == 3
    assert set(FORMAT.files(weights(paths[opened_through]))) == {path.name for path in paths}


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    paths = parts(tmp_path, 3)
    paths[1].unlink()
    with pytest.raises(RowError, match=r"here: no file 'model-00002-of-00003.gguf'; expected all 3 parts"):
        _ = files(paths[0]).tensors


def test_a_part_that_says_another_number_of_parts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"model-00001-of-00002.gguf: a part of 5; expected one of 2"):
        _ = files(parts(tmp_path, 2, count=5)[0]).tensors


def test_a_tensor_in_two_parts_is_refused(tmp_path: Path) -> None:
    first, second = parts(tmp_path, 2)
    write(second, "llama", {"split.count": 2}, {"tensor 0": np.zeros((2, 2), dtype=np.float32)})
    with pytest.raises(RowError, match=rf"'tensor 0' stands in {first.name}, too"):
        _ = files(first).tensors


@pytest.mark.parametrize("name", ["Zephyr.gguf", "mistral.gguf", "mmlu.gguf"])
def test_a_model_is_read_before_the_encoder_of_images_beside_it(name: str, tmp_path: Path) -> None:
    write(tmp_path / "mmproj-model.gguf", "clip", {"clip.has_vision_encoder": True})
    write(tmp_path / name, "llama", {}, {"x": np.zeros((2, 2), dtype=np.float32)})
    assert {tensor.file for tensor in FolderFiles(tmp_path, "here").tensors.values()} == {name}


def test_an_encoder_of_images_alone_is_read(tmp_path: Path) -> None:
    vision = {"image_size": 28, "patch_size": 14, "embedding_length": 32, "block_count": 2, "attention.head_count": 2}
    table = np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32)
    given = {"clip.has_vision_encoder": True, **{f"clip.vision.{key}": value for key, value in vision.items()}}
    [encoding] = evaluate.find(files(write(tmp_path / "mmproj-x.gguf", "clip", given, {"v.position_embd.weight": table})))
    assert (encoding.scheme, encoding.part, encoding.modality, encoding.form.grid) == ("learned", "vision", "image", (2, 2))
    np.testing.assert_array_equal(encoding.form.numbers, table[1:].astype(np.float64))  # The first row is of the class token.


def test_of_a_repository_the_hub_sends_the_header_and_the_tensors_that_are_asked_for(tmp_path: Path) -> None:
    words, table = np.zeros((30_000, 32), dtype=np.float32), np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    tokens = [f"token number {index}" for index in range(20_000)]
    given = {"context_length": 64, "embedding_length": 32, "block_count": 1, "attention.head_count": 2, "tokenizer.ggml.tokens": tokens}
    path = write(tmp_path / "model.gguf", "gpt2", given, {"token_embd.weight": words, "position_embd.weight": table})
    content = path.read_bytes()
    n_header = min(span.start for span in read(path).spans.values())
    with serving({"atlas/gguf": Repository({COMMIT: {"model.gguf": content, "README.md": b"x"}}, {"main": COMMIT})}) as hub:
        done = inline.run("inspect", "atlas/gguf", "--json", home=tmp_path / "home", endpoint=hub.endpoint)
        assert set(hub.downloads()) == {"model.gguf"}
        sent = hub.sent
    [encoding] = json.loads(done.stdout)["encodings"]
    assert (encoding["tensor"], encoding["part"]) == ("position_embd.weight", "decoder")
    assert n_header + table.nbytes < sent < 2 * n_header + 2 * table.nbytes + 4_096 < len(content) / 3
