"""Bytes on disk: those that were put under a name, or none."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.cache.blobs import BlobCache


@given(content=st.binary(max_size=100), data=st.data())
def test_any_change_of_an_entry_is_a_miss(
    content: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    blobs = BlobCache(tmp_path_factory.mktemp("blobs"))
    blobs.put("a", content)
    whole = (blobs.folder / "a").read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = whole[data.draw(st.integers(start, len(whole))) :]
    changed = whole[:start] + data.draw(st.binary(max_size=9)) + end
    (blobs.folder / "a").write_bytes(changed)
    assert blobs.get("a") == (content if changed == whole else None)


@given(content=st.binary(max_size=100))
def test_any_foreign_file_is_a_miss(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("blobs")
    (folder / "a").write_bytes(content)
    assert BlobCache(folder).get("a") is None
    assert BlobCache(folder).path("a") is None


def test_an_entry_under_the_name_of_another_is_a_miss(tmp_path: Path) -> None:
    blobs = BlobCache(tmp_path)
    blobs.put("a", b"text")
    (tmp_path / "a").rename(tmp_path / "b")
    assert blobs.get("b") is None


@pytest.mark.parametrize("kind", ["a link", "a pipe", "a device", "a folder"])
def test_what_is_no_regular_file_is_a_miss(kind: str, tmp_path: Path) -> None:
    blobs = BlobCache(tmp_path)
    blobs.put_file("a", [b"text"])
    (tmp_path / "a").rename(tmp_path / "elsewhere")
    if kind == "a pipe":
        os.mkfifo(tmp_path / "a")
    elif kind == "a folder":
        (tmp_path / "a").mkdir()
    else:
        (tmp_path / "a").symlink_to(tmp_path / "elsewhere" if kind == "a link" else "/dev/zero")
    assert (blobs.get("a"), blobs.path("a")) == (None, None)
