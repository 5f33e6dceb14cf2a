"""That one more file makes one more format: nothing else of the program names the files in which
weights are stored.
"""

import hashlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from generator.cache.fingerprint import of_file
from generator.checkpoints.files import formats, weights
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.sources import folder
from generator.errors import RowError
from tests import inline
from tests.checkpoints import other_formats
from tests.checkpoints.other_formats.one_file import HEADER
from tests.hub_server import NOBODY, Repository, serving
from tests.support import checkpoint
from tests.synthetic import PICKLED, TABLE, Contents, binary, write_folder

COMMIT = "a" * 40
MATRIX = binary(16, 4)
TENSORS = {"wpe.weight": MATRIX.astype("<f4"), "wte.weight": np.ones((4_096, 4), dtype="<f8")}
FOUND = ("wpe.weight", hashlib.sha256(TENSORS["wpe.weight"].tobytes()).hexdigest())
CONFIG = TABLE["config.json"]


def one_file() -> bytes:
    """All of ``TENSORS`` with the config before them."""
    stops = np.cumsum([array.nbytes for array in TENSORS.values()]).tolist()
    entries = {
        name: (f"F{array.itemsize * 8}", array.shape, stop - array.nbytes, stop)
        for (name, array), stop in zip(TENSORS.items(), stops, strict=True)
    }
    header = json.dumps({"config": json.loads(CONFIG), "tensors": entries}).encode().ljust(HEADER)
    return header + b"".join(array.tobytes() for array in TENSORS.values())


def archive() -> bytes:
    file = io.BytesIO()
    np.savez(file, **TENSORS)  # type: ignore[arg-type]  # Its stubs take the names for its options.
    return file.getvalue()


CASES: dict[str, Contents] = {
    "by range, with its config": {"small.one": one_file()},
    "whole, beside its config": {"config.json": CONFIG, "model.arrays": archive()},
    "whole, in a folder below": {"config.json": CONFIG, "arrays/any.arrays": archive()},
}
each = pytest.mark.parametrize("contents", CASES.values(), ids=CASES)


@pytest.fixture(autouse=True)
def with_other_formats(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two more files in the package of formats, and no other change."""
    before = set(sys.modules)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, *other_formats.__path__])
    yield
    for name in set(sys.modules) - before:
        if name.startswith(f"{formats.__name__}."):
            delattr(formats, name.rpartition(".")[2])
            del sys.modules[name]


def tensor_found(place: str, home: Path, endpoint: str = NOBODY) -> tuple[str, str]:
    """The name and the digest of the only tensor that tells position in a checkpoint."""
    done = inline.run("inspect", place, "--json", home=home, endpoint=endpoint)
    assert done.returncode == 0, done.stderr
    [encoding] = json.loads(done.stdout)["encodings"]
    return encoding["tensor"], encoding["sha256"]


@each
def test_a_folder_is_read_in_a_format_that_the_package_has_gained(
    contents: Contents, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "folder", contents)
    assert tensor_found(str(folder), tmp_path) == FOUND
    files = FolderFiles(folder, "here")
    np.testing.assert_array_equal(files.tensor("wpe.weight"), MATRIX)
    np.testing.assert_array_equal(files.rows("wpe.weight", [4, 1, 4]), MATRIX[[4, 1, 4]])


@each
def test_the_hub_is_read_in_it_and_asked_for_no_other_file(
    contents: Contents, tmp_path: Path
) -> None:
    others = {"README.md": b"not asked for", "rust_model.ot": b"not asked for"}
    repository = Repository({COMMIT: {**contents, **others}}, {"main": COMMIT})
    with serving({"atlas/other": repository}) as hub:
        assert tensor_found("atlas/other", tmp_path, hub.endpoint) == FOUND
    assert set(hub.downloads()) == set(contents)


def test_of_a_format_with_ranges_the_hub_sends_its_beginning_alone(tmp_path: Path) -> None:
    contents = CASES["by range, with its config"]
    with serving({"atlas/other": Repository({COMMIT: contents}, {"main": COMMIT})}) as hub:
        tensor_found("atlas/other", tmp_path, hub.endpoint)
    assert hub.downloads() == ["small.one"]
    assert hub.sent < len(contents["small.one"]) / 3


@each
def test_what_the_clients_own_cache_holds_of_it_is_enough_where_nobody_answers(
    contents: Contents, tmp_path: Path
) -> None:
    write_folder(tmp_path / "hub/models--atlas--other/snapshots" / COMMIT, contents)
    assert tensor_found(f"atlas/other@{COMMIT}", tmp_path) == FOUND


@each
def test_a_format_that_comes_first_is_read_where_there_are_both_and_no_pickle_before_it(
    contents: Contents, tmp_path: Path
) -> None:
    files = FolderFiles(write_folder(tmp_path / "both", {**contents, **TABLE}), "here")
    assert {tensor.file for tensor in files.tensors.values()} == {"model.safetensors"}
    files = FolderFiles(write_folder(tmp_path / "pickle", {**PICKLED, **contents}), "here")
    assert set(files.tensors) == set(TENSORS)


@each
def test_a_checkpoint_is_read_again_when_its_file_has_changed(
    contents: Contents, tmp_path: Path
) -> None:
    row = checkpoint(place=str(write_folder(tmp_path, contents)))
    files = folder.SOURCE.open(row, True)
    assert [files.tensor(name) is not None for name in files.tensors] == [True] * len(TENSORS)
    before, calls = folder.SOURCE.seen(files)
    assert folder.SOURCE.state(row, of_file, calls) == before
    name = next(name for name in contents if name != "config.json")
    (tmp_path / name).write_bytes(b"changed")
    assert folder.SOURCE.state(row, of_file, calls) not in (None, before)


def test_a_row_that_promises_a_pickle_without_one_is_told_that_there_is_none(
    tmp_path: Path,
) -> None:
    files = FolderFiles(
        write_folder(tmp_path, {"config.json": CONFIG}), "here", Choice(pickle=True)
    )
    with pytest.raises(RowError, match="no such file"):
        assert files.tensors


def test_formats_stand_in_an_order_that_begins_with_those_that_every_row_may_have() -> None:
    assert not weights.all_formats()[0].refusal
