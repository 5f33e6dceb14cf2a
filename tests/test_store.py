"""Finished work is found again, whole, or not at all."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from generator.contracts import Checkpoint, Outcome
from generator.store import Store, pack
from generator.study import Task, study

REFERENCES = Path(__file__).parent.parent / "references"
KEY = "0" * 64


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    place = str(REFERENCES / "bloom-7b1")
    return study(Task(Checkpoint("bloom", "folder", "bloom-7b1", place, "BLOOM"), "#3d7fd6", offline=False))


def test_what_is_kept_comes_back_to_the_byte(outcome: Outcome, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, outcome)
    again = store.get(KEY)
    assert again is not None
    assert pack(again) == pack(outcome)


def test_arrays_come_back_read_only_and_exact(outcome: Outcome, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, outcome)
    again = store.get(KEY)
    assert again is not None
    before, after = (each.readings[0].results["bias"].arrays["values"] for each in (outcome, again))
    np.testing.assert_array_equal(before, after)
    assert not after.flags.writeable


def test_what_was_never_kept_is_a_miss(tmp_path: Path) -> None:
    assert Store(tmp_path / "nowhere").get(KEY) is None


@pytest.mark.parametrize("place", [0, 1, -1])
def test_an_entry_with_a_flipped_bit_is_a_miss_or_unchanged(place: int, outcome: Outcome, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, outcome)
    path = next(tmp_path.glob("*.npz"))
    data = bytearray(path.read_bytes())
    data[place * (len(data) // 2)] ^= 0x10
    path.write_bytes(data)
    again = store.get(KEY)
    assert again is None or pack(again) == pack(outcome)


@pytest.mark.parametrize("content", [b"", b"PK", b"x" * 1000, pickle.dumps({"kind": "Outcome"})])
def test_a_foreign_file_is_a_miss(content: bytes, tmp_path: Path) -> None:
    (tmp_path / f"{KEY}.npz").write_bytes(content)
    assert Store(tmp_path).get(KEY) is None


def test_an_entry_that_was_cut_is_a_miss(outcome: Outcome, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, outcome)
    path = next(tmp_path.glob("*.npz"))
    path.write_bytes(path.read_bytes()[:-200])
    assert store.get(KEY) is None


def test_keeping_some_removes_all_others(outcome: Outcome, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(KEY, outcome)
    store.put("1" * 64, outcome)
    store.keep({KEY})
    assert [path.stem for path in tmp_path.iterdir()] == [KEY]
