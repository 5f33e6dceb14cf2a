"""No file of docs or site names a folder of the machine that built it, whatever the list says and
however its rows fail.
"""

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from generator.pipeline import evaluate, failures
from generator.reading import plan
from tests import inline
from tests.built import contents
from tests.support import checkpoint
from tests.synthetic import BROKEN, NOTHING, PICKLED, TABLE, write_folder, write_list

TELLING = "Zanzibar"  # A part of the path of every folder here, which nothing else contains.
# No file system has a name as long, so that opening it is an error of the disk, whoever asks.
LONG = "x" * 300


def _link_out(folder: Path) -> None:
    (folder.parent / "elsewhere.json").write_bytes(NOTHING["config.json"])
    (write_folder(folder, {}) / "config.json").symlink_to(folder.parent / "elsewhere.json")


def _link_to_nothing(folder: Path) -> None:
    (write_folder(folder, {}) / "config.json").symlink_to(folder.parent / "nowhere")


def _circle(folder: Path) -> None:
    (write_folder(folder, {"config.json": TABLE["config.json"]}) / "model.safetensors").symlink_to(
        folder / "model.safetensors"
    )


def _long_shard(folder: Path) -> None:
    index = json.dumps({"weight_map": {"wpe.weight": f"{LONG}.safetensors"}}).encode()
    write_folder(
        folder, {"config.json": TABLE["config.json"], "model.safetensors.index.json": index}
    )


def _file(folder: Path) -> None:
    folder.write_bytes(b"a file")


# How each folder is made, and its status.
FOLDERS: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "model": (lambda folder: write_folder(folder, TABLE), "ok"),
    "two words": (lambda folder: write_folder(folder, NOTHING), "ok"),
    "broken": (lambda folder: write_folder(folder, BROKEN), "failed"),
    "missing": (str, "failed"),
    "file": (_file, "failed"),
    "link-out": (_link_out, "failed"),
    "link-to-nothing": (_link_to_nothing, "failed"),
    "circle": (_circle, "failed"),
    "long-shard": (_long_shard, "failed"),
    "pickle": (lambda folder: write_folder(folder, PICKLED), "failed"),
    "tokenizer": (lambda folder: write_folder(folder, {**TABLE, "tokenizer.json": b"{"}), "failed"),
    LONG: (str, "failed"),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of a list outside of the repository, with absolute folders, one of them by way of the
    home.
    """
    folder = tmp_path_factory.mktemp("paths") / f"{TELLING} home"
    for name, (make, _) in FOLDERS.items():
        folder.mkdir(exist_ok=True)
        make(folder / name)
    rows: list[dict[str, Any]] = [
        {"folder": str(folder / name), "pickle": name == "pickle"} for name in FOLDERS
    ]
    rows += [{"folder": "~/two words", "title": "By the home"}]
    path, out = write_list(folder / "lists", rows), folder / "out"
    command = ("build", "--config", str(path), "--output", str(out))
    done = inline.run(*command, home=folder / "hub", rendered=True, HOME=str(folder))
    assert done.returncode == 1, done.stdout + done.stderr
    return folder / "out"


def rows_of(built: Path) -> dict[str, Any]:
    document = json.loads((built / "site/data/atlas.json").read_text(encoding="utf-8"))
    return {row["id"]: row for row in document["checkpoints"] if row["title"] != "By the home"}


def texts(name: str, content: bytes) -> Iterator[str]:
    """All text in a file: of pages without references to characters, of archives that of their
    members, of arrays as numpy stores it.
    """
    if name.endswith(".npz"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from (
                archive.read(member).replace(b"\0", b"").decode("latin-1")
                for member in archive.namelist()
            )
    else:
        plain = gzip.decompress(content) if name.endswith(".gz") else content
        yield unescape(plain.decode("latin-1"))


def test_each_row_is_what_it_is_meant_to_be(built: Path) -> None:
    assert {name: row["status"] for name, row in rows_of(built).items()} == {
        name: status for name, (_, status) in FOLDERS.items()
    }


@pytest.mark.parametrize("part", ["docs", "site"])
def test_no_file_names_the_folders_of_this_machine(part: str, built: Path) -> None:
    found = contents(built / part)
    named = [
        name
        for name, content in found.items()
        if any(TELLING.lower() in text.lower() for text in (name, *texts(name, content)))
    ]
    assert len(found) > 100
    assert named == []


def test_a_folder_is_known_by_its_name_alone_and_a_file_within_it(built: Path) -> None:
    rows = rows_of(built)
    assert (rows["model"]["slug"], rows["model"]["title"]) == ("model", "model")
    told = "missing: no such folder; expected a folder with config.json"
    assert rows["missing"]["reason"] == told
    told = f"long-shard/{LONG}.safetensors: File name too long; expected"
    assert rows["long-shard"]["reason"].startswith(told)


def reason(text: str, place: str = "/home/model") -> str | None:
    return failures.failed(checkpoint(id="model", place=place), text).reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "unexpected OSError: [Errno 5] '/home/model/sub/x.bin'",
            "unexpected OSError: [Errno 5] 'model/sub/x.bin'",
        ),
        (
            "cannot be kept in /tmp/cache/assets (No space left)",
            "cannot be kept in assets (No space left)",
        ),
        ("/home/models/x: no", "x: no"),
        ("https://example.org/a/b and a/b/c/d", "https://example.org/a/b and a/b/c/d"),
        ("no tensor named '/no such root/MatMul'", "no tensor named '/no such root/MatMul'"),
        ("'/nowhere/layers.0/MatMul'", "'/nowhere/layers.0/MatMul'"),
        (f"'/{300 * 'x'}/MatMul'", f"'/{300 * 'x'}/MatMul'"),  # Longer than any name of a file.
    ],
)
def test_a_reason_keeps_the_last_part_of_a_path_and_the_rest(text: str, expected: str) -> None:
    assert reason(text) == expected


def test_a_file_elsewhere_is_named_without_its_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", f"/home/{TELLING} home/a file")

    monkeypatch.setattr(evaluate, "opened", refused)
    outcome = evaluate.outcome_of(plan.Task(checkpoint(), offline=True))
    assert outcome.reason == "a file: Permission denied; expected a file that can be read"
