"""Digests of files by bytes and names, and of the program by the modules that a stage needs."""

import os
from hashlib import sha256
from pathlib import Path

import grimp
import pytest
from mkdocs.utils.yaml import yaml_load

from generator.cache import fingerprint
from generator.errors import RefusedError
from generator.pipeline import build, versions
from generator.resources import PACKAGE, ROOT
from generator.site.materials import OURS


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_file_that_moves_is_a_change(tmp_path: Path) -> None:
    place = written(tmp_path / "place", file="text")
    before = fingerprint.of_contents([place])
    (place / "within").mkdir()
    (place / "file").rename(place / "within/file")
    assert fingerprint.of_contents([place]) != before


def test_byte_code_is_no_change(tmp_path: Path) -> None:
    place = written(tmp_path / "place", file="text")
    before = fingerprint.of_contents([place])
    written(place / "__pycache__", file="code")
    assert fingerprint.of_contents([place]) == before


def test_the_same_bytes_have_the_same_digest_whenever_they_were_written(tmp_path: Path) -> None:
    one, other = (written(tmp_path / name, file="text") / "file" for name in "ab")
    os.utime(other, (0, 0))
    digests = fingerprint.Digests(tmp_path / "digests")
    assert digests.of(one) == digests.of(other)


def test_other_bytes_have_another_digest_though_size_and_time_are_the_same(tmp_path: Path) -> None:
    file = written(tmp_path / "a", file="text") / "file"
    first = fingerprint.Digests(tmp_path / "digests")
    before, time = first.of(file), file.stat().st_mtime_ns
    first.save()
    file.write_text("TEXT", encoding="utf-8")
    os.utime(file, ns=(time, time))
    assert fingerprint.Digests(tmp_path / "digests").of(file) != before


def test_a_file_that_did_not_change_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "a", file="text") / "file"
    first = fingerprint.Digests(tmp_path / "digests")
    before = first.of(file)
    first.save()
    monkeypatch.setattr(fingerprint, "of_file", pytest.fail)
    assert fingerprint.Digests(tmp_path / "digests").of(file) == before


def test_a_pipe_has_no_digest_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        fingerprint.Digests(tmp_path / "digests").of(tmp_path / "pipe")


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', "{", '{"a": []}'])
def test_a_memory_that_is_broken_is_none(content: str, tmp_path: Path) -> None:
    file = written(tmp_path / "a", file="text") / "file"
    before = fingerprint.Digests(tmp_path / "digests").of(file)
    written(tmp_path, digests=content.replace('"a"', f'"{file.resolve()}:0:None"'))
    assert fingerprint.Digests(tmp_path / "digests").of(file) == before


@pytest.mark.parametrize(
    ("start", "stop"), [(0, None), (0, 4), (1, 3), (2, 2), (3, 99), (99, None)]
)
def test_the_digest_of_a_part_is_that_of_its_bytes(
    start: int, stop: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint, "AT_ONCE", 1)
    file = written(tmp_path, file="text") / "file"
    assert fingerprint.of_file(file, start, stop) == sha256(b"text"[start:stop]).hexdigest()


def test_a_change_is_one_of_the_evaluation_where_that_imports_it_and_nowhere_else() -> None:
    graph = grimp.build_graph("generator")
    extensions = (
        graph.find_children(f"generator.{room}")
        for room in ("analyses", "schemes", "checkpoints.sources")
    )
    evaluating = {f"generator.pipeline.{name}" for name in ("evaluate", "jobs", "versions")}.union(
        *extensions
    )
    needed = evaluating.union(*map(graph.find_upstream_modules, evaluating))
    modules = {place for place in versions.EVALUATED_BY if not place.endswith(".json")}
    assert {place_of(name) for name in needed} == modules
    shipped = {path.name for path in (PACKAGE / "pipeline/precomputed").glob("*.json")}
    named = {path.rpartition("/")[2] for path in versions.EVALUATED_BY if path.endswith(".json")}
    assert shipped - named == {
        *("models.json", "observed.json", "published.json"),  # Of pages
    }


def place_of(module: str) -> str | None:
    """The one of EVALUATED_BY that ``module`` is or lies in."""
    within = PACKAGE
    path = PACKAGE.parent / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return next(
        (place for place in versions.EVALUATED_BY if file.is_relative_to(within / place)), None
    )


def test_the_theme_lies_where_a_build_looks_for_changes() -> None:
    theme = yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["theme"]
    assert theme["custom_dir"] == f"{OURS.templates[0].name}/{build.THEME}"


@pytest.mark.parametrize("given", ["", "abc", "-1", "1e9", "²", "4294967296", "1" * 5000])
def test_a_date_that_is_none_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with pytest.raises(
        RefusedError, match=r"^SOURCE_DATE_EPOCH: found '.*'; expected seconds since 1970$"
    ):
        versions.given_time()
