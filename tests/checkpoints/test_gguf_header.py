"""Headers of GGUF files: settings of every type, files that are damaged, and what is read of large
ones.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import gguf
import numpy as np
import pytest

from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.formats.gguf import FORMAT, header
from generator.contracts import StoredTensor, WeightsFile
from generator.errors import RowError
from tests import inline
from tests.gguf_files import (
    add,
    close,
    file_of,
    files,
    header_of,
    number_of,
    setting,
    tensor_of,
    text_of,
    write,
)


def test_settings_of_every_type_are_read(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "any")
    numbers = {
        "uint8": 200, "int8": -100, "uint16": 60_000, "int16": -30_000, "uint32": 2**31,
        "int32": -(2**30), "uint64": 2**63, "int64": -(2**62),
    }  # fmt: skip
    said = {**numbers, "float32": 0.1, "float64": 0.1, "bool": True, "string": "Grüße"}
    for kind, value in said.items():
        getattr(writer, f"add_{kind}")(f"x.{kind}", value)
    add(writer, "x.list", [1, 2, 3])
    add(writer, "x.texts", ["a", "b"])
    add(writer, "x.lists", [[1, 2], [3, 4]])
    found = header_of(close(writer, tmp_path / "x.gguf")).settings
    own = {key.removeprefix("x."): value for key, value in found.items() if key.startswith("x.")}
    unread = {"texts": header.Unread(2), "lists": header.Unread(2)}
    assert own == {**said, "list": (1, 2, 3), **unread}


def test_tokens_are_counted_and_not_kept(tmp_path: Path) -> None:
    lists = {"tokenizer.ggml.tokens": ["token"] * 20_000, "tokenizer.ggml.scores": [0.5] * 20_000}
    found = header_of(write(tmp_path / "x.gguf", "llama", {**lists, "block_count": 7})).settings
    assert {found[name] for name in lists} == {header.Unread(20_000)}
    assert found["llama.block_count"] == 7


def test_version_2_and_another_alignment_are_read(tmp_path: Path) -> None:
    aligned = setting("general.alignment", 4, number_of(8, "I"))
    tensor = tensor_of("x", (2,), offset=8)
    content = file_of([aligned], [tensor], version=2)
    end = 24 + len(aligned) + len(tensor)
    opening = content[:end].ljust(-(-end // 8) * 8, b"\0")
    data = bytes(8) + np.array([1.0, 2.0], dtype="<f4").tobytes()
    (tmp_path / "x.gguf").write_bytes(opening + data)
    np.testing.assert_array_equal(files(tmp_path / "x.gguf").tensor("x"), [1.0, 2.0])


def test_a_tensor_of_a_file_made_by_hand_has_its_rows_first(tmp_path: Path) -> None:
    content = file_of([], [tensor_of("x", (3, 2))], np.arange(6, dtype="<f4").tobytes())
    (tmp_path / "x.gguf").write_bytes(content)
    np.testing.assert_array_equal(files(tmp_path / "x.gguf").tensor("x"), [[0, 1, 2], [3, 4, 5]])


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

    def read(self, name: str) -> bytes | None:  # noqa: ARG002
        return None

    def path(self, name: str) -> Path:  # noqa: ARG002
        raise AssertionError

    @property
    def n_read(self) -> int:
        return sum(stop - start for start, stop in self.parts)


def opened(storage: Memory) -> Mapping[str, StoredTensor]:
    return FORMAT.open(WeightsFile(storage, "x.gguf", "here"))


def test_of_a_file_of_10_gigabytes_the_header_alone_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert sum(n_read) <= 4 * header.FIRST_CHUNK


FOUR = np.arange(4, dtype="<f4").tobytes()
TWELVE = [setting("general.alignment", 4, number_of(12, "I"))]
WRONG_PLACES = {
    "an alignment of 12": (file_of(TWELVE, [tensor_of("x")], FOUR), "power of two"),
    "an odd offset": (file_of([], [tensor_of("x", offset=4)], FOUR * 9), "32 divides"),
    "an overlap": (file_of([], [tensor_of("x", (4, 4)), tensor_of("y", offset=32)], FOUR * 9),
                   "within another"),
    "tensors": (b"GGUF" + number_of(3, "I") + number_of(300_000) + number_of(0), "at most 50,000"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_PLACES)
def test_tensors_whose_bytes_may_be_those_of_others_are_refused(case: str) -> None:
    content, message = WRONG_PLACES[case]
    with pytest.raises(RowError, match=message):
        opened(Memory(content))


DEEP = (number_of(9, "I") + number_of(1)) * 64 + number_of(4, "I") + number_of(0)
NAMELESS = number_of(2) + b"\xff\xfe" + number_of(4, "I") + number_of(1, "I")
UNREADABLE = {
    "a type of value": (file_of([setting("a", 13, bytes(8))], []), "a value of type 13; expected"),
    "a type in a list": (file_of([setting("a", 9, number_of(99, "I") + bytes(16))], []), "type 99"),
    "lists in lists": (file_of([setting("a", 9, DEEP)], []), "nested more than 64 deep"),
    "a name": (file_of([NAMELESS], []), "for a name; expected text in UTF-8"),
    "a type of tensor": (file_of([], [tensor_of("x", kind=99)], FOUR), "'x' has type 99; expected"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_no_reader_of_gguf_knows_is_said_in_words(case: str) -> None:
    content, message = UNREADABLE[case]
    with pytest.raises(RowError, match=message):
        opened(Memory(content))


def test_a_file_that_ends_before_its_tensors_is_a_row_error_though_none_is_read() -> None:
    content = file_of([], [tensor_of("x")], bytes(15))
    with pytest.raises(RowError, match="expected an end within the file"):
        opened(Memory(content))


def test_a_header_is_read_in_chunks_that_double() -> None:
    key = setting("a", 8, number_of(300_000))
    storage = Memory(file_of([key], [])[: 24 + len(key)], length=10**9)
    opened(storage)
    assert [stop - start for start, stop in storage.parts][:1] == [header.FIRST_CHUNK]
    assert 300_000 < storage.n_read < 700_000


def test_a_header_longer_than_any_is_refused_before_all_of_it_is_read() -> None:
    """Two texts that are together longer than a header may be."""
    texts = setting("a", 8, number_of(2**26)) + bytes(2**26) + setting("b", 8, number_of(2**26))
    start = b"GGUF" + number_of(3, "I") + number_of(0) + number_of(2)
    storage = Memory(start + texts, length=10**12)
    with pytest.raises(RowError, match="expected at most 134,217,728"):
        opened(storage)
    assert storage.n_read <= header.MOST_HEADER_BYTES
