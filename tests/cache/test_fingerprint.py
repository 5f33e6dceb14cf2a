"""Digests of files by bytes and names, and of the program by the modules that a stage needs."""

import os
import re
from hashlib import sha256
from pathlib import Path

import grimp
import pytest

from generator import PACKAGE
from generator.cache import fingerprint
from generator.cache.blobs import BlobCache
from generator.errors import RefusedError
from generator.pipeline import versions


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_other_bytes_have_another_digest_though_size_and_time_are_the_same(tmp_path: Path) -> None:
    file = written(tmp_path / "a", file="text") / "file"
    first = fingerprint.Digests(BlobCache(tmp_path))
    before, time = first.of(file), file.stat().st_mtime_ns
    first.save()
    file.write_text("TEXT", encoding="utf-8")
    os.utime(file, ns=(time, time))
    assert fingerprint.Digests(BlobCache(tmp_path)).of(file) != before


def test_a_pipe_has_no_digest_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        fingerprint.Digests(BlobCache(tmp_path)).of(tmp_path / "pipe")


def test_what_evaluates_imports_no_room_whose_change_evaluates_nothing() -> None:
    graph = grimp.build_graph("generator")
    extensions = (
        graph.find_children(f"generator.{room}")
        for room in ("analyses", "analyses.use", "schemes", "checkpoints.sources")
    )
    evaluating = {"generator.pipeline.worker"}.union(*extensions)
    needed = evaluating.union(*map(graph.find_upstream_modules, evaluating))
    rooms = {name.split(".")[1] for name in needed if "." in name}
    assert "checkpoints" in rooms
    assert not rooms & {*versions.NOT_EVALUATING}


def test_sentences_of_what_evaluates_are_in_templates_that_its_digest_has() -> None:
    """Outcomes hold them, those of the rules too, and are made anew when they change."""
    rooms = [room for room in PACKAGE.iterdir() if room.name not in versions.NOT_EVALUATING]
    modules = [path for room in rooms for path in room.rglob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert {*re.findall(r'Wording\(f?"(\w+)/', code)} == {*versions.OF_OUTCOMES}


def test_a_file_that_moves_is_a_change_and_byte_code_is_none(tmp_path: Path) -> None:
    place = written(tmp_path / "place", file="text")
    before = fingerprint.of_contents([place])
    written(place / "__pycache__", file="code")
    assert fingerprint.of_contents([place]) == before
    (place / "within").mkdir()
    (place / "file").rename(place / "within/file")
    assert fingerprint.of_contents([place]) != before


def test_the_same_bytes_have_the_same_digest_and_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (written(tmp_path / name, file="text") / "file" for name in "ab")
    os.utime(other, (0, 0))
    digests = fingerprint.Digests(BlobCache(tmp_path))
    assert (before := digests.of(one)) == digests.of(other)
    digests.save()
    monkeypatch.setattr(fingerprint, "of_file", pytest.fail)
    assert fingerprint.Digests(BlobCache(tmp_path)).of(one) == before


def test_digests_of_parts_are_those_of_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint, "AT_ONCE", 1)
    file = written(tmp_path, file="text") / "file"
    for start, stop in ((0, None), (0, 4), (1, 3), (2, 2), (3, 99), (99, None)):
        expected = sha256(b"text"[start:stop]).hexdigest()
        assert fingerprint.of_file(file, start, stop) == expected


def test_a_date_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("", "abc", "-1", "1e9", "²", "4294967296", "1" * 5000):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
        with pytest.raises(RefusedError, match=r"^SOURCE_DATE_EPOCH: found '.*'; expected seconds"):
            versions.given_time()
