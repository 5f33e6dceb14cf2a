"""The state of a folder: what an evaluation read of it, and nothing else."""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from generator.cache.fingerprint import of_file
from generator.checkpoints.sources import folder
from generator.contracts import Call, Checkpoint
from generator.reading.find import find
from tests.support import checkpoint, save_folder

# rows of 4 KiB: a table, and the word vectors beside it, of 1 GiB, which need no room on disk
N_READ, N_UNREAD = 8, 2**18
CONFIG = {"model_type": "gpt2", "n_embd": 1024, "n_positions": N_READ, "n_layer": 1, "n_head": 1}


def large(place: Path) -> Path:
    """The file of weights of a checkpoint of which only the table of positions is read."""
    shapes = {"wpe.weight": (N_READ, 1024), "wte.weight": (N_UNREAD, 1024)}
    entries, end = {}, 0
    for name, shape in shapes.items():
        start, end = end, end + 4 * shape[0] * shape[1]
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    header = json.dumps(entries).encode()
    file = save_folder(place, CONFIG) / "model.safetensors"
    table = np.random.default_rng(0).normal(size=shapes["wpe.weight"]).astype("<f4")
    file.write_bytes(struct.pack("<Q", len(header)) + header + table.tobytes())
    os.truncate(file, 8 + len(header) + end)
    return file


def evaluated(row: Checkpoint) -> tuple[str, tuple[Call, ...]]:
    """The state and the calls of an evaluation of the encodings."""
    files = folder.SOURCE.open(row, True)
    assert find(files)
    return folder.SOURCE.seen(files)


def write_at(file: Path, place: int) -> None:
    """Change one byte, and neither size nor time of the file."""
    before = file.stat()
    with file.open("r+b") as stream:
        stream.seek(place)
        stream.write(b"\x01")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_state_is_known_without_reading_what_the_evaluation_did_not(tmp_path: Path) -> None:
    file, row, read = large(tmp_path), checkpoint(place=str(tmp_path)), []

    def counting(path: Path, start: int = 0, stop: int | None = None) -> str:
        read.append((path.stat().st_size if stop is None else stop) - start)
        return of_file(path, start, stop)

    state, calls = evaluated(row)
    assert folder.SOURCE.state(row, counting, calls) == state
    assert 4 * 1024 * N_READ < sum(read) < 0.02 * file.stat().st_size


@pytest.mark.parametrize(
    ("place", "is_read"),
    [(-1, False), (-(N_UNREAD // 2) * 4096, False), (-(N_UNREAD + 1) * 4096, True), (12, True)],
)
def test_the_state_changes_with_each_byte_that_is_read_and_with_no_other(
    place: int, is_read: bool, tmp_path: Path
) -> None:
    file, row = large(tmp_path), checkpoint(place=str(tmp_path))
    state, calls = evaluated(row)
    write_at(file, file.stat().st_size + place if place < 0 else place)
    assert (folder.SOURCE.state(row, of_file, calls) != state) == is_read


def _to_a_pipe(place: Path) -> None:
    os.mkfifo(place.with_name("pipe"))
    place.symlink_to("pipe")


LINKS: dict[str, Callable[[Path], object]] = {
    "to a device": lambda place: place.symlink_to("/dev/zero"),
    "to a pipe": _to_a_pipe,
    "to itself": lambda place: place.symlink_to(place.name),
}


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("name", ["notes", "other.bin", "pictures.json"])
def test_a_link_that_is_not_read_is_left_alone(
    link: Callable[[Path], object], name: str, tmp_path: Path
) -> None:
    save_folder(tmp_path, CONFIG, {"wpe.weight": np.eye(N_READ, 1024, dtype=np.float32)})
    row = checkpoint(place=str(tmp_path))
    state, calls = evaluated(row)
    link(tmp_path / name)
    assert folder.SOURCE.state(row, of_file, calls) == state


def test_a_file_that_is_added_is_a_change_where_it_would_be_read(tmp_path: Path) -> None:
    save_folder(tmp_path, CONFIG, {"wpe.weight": np.eye(N_READ, 1024, dtype=np.float32)})
    row = checkpoint(place=str(tmp_path))
    state, calls = evaluated(row)
    (tmp_path / "README.md").write_text("A model.")
    assert folder.SOURCE.state(row, of_file, calls) == state
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {}}')
    assert folder.SOURCE.state(row, of_file, calls) != state


def test_without_an_evaluation_the_state_is_not_known(tmp_path: Path) -> None:
    row = checkpoint(place=str(tmp_path))
    large(tmp_path)
    assert folder.SOURCE.state(row, of_file, ()) is None
    _, calls = evaluated(row)
    (tmp_path / "model.safetensors").unlink()
    known = [folder.SOURCE.state(row, of_file, asked) for asked in (calls, calls[:1])]
    assert known[0] != known[1]
