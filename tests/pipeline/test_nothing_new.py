"""Builds with little or nothing new: what they reuse, and which libraries they do not import."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from generator.cache.blobs import BlobCache
from generator.cache.fingerprint import Digests
from generator.checkpoints.hub.client import REACH_WAITS
from generator.pipeline import last_build, worker
from tests import inline
from tests.built import ROOT, begin, contents
from tests.hub_server import NOBODY, Answer, Repository, Trouble, run, serving
from tests.synthetic import NOTHING, ROTATION, write_folder, write_list

# None with weights: what needs them is imported in no process.
FOLDERS = {"nothing": NOTHING, "rotation": ROTATION, "other": NOTHING}
COMMIT = "a" * 40
JAVASCRIPT = {
    *("STPyV8", "dukpy", "execjs", "js2py", "mini_racer", "py_mini_racer", "pythonmonkey"),
    *("quickjs", "v8"),
}
SETTINGS = {
    "HF_ENDPOINT": NOBODY,
    "HF_HUB_DISABLE_XET": "1",
    "SOURCE_DATE_EPOCH": "1700000000",
    "PYTHONPATH": str(ROOT),
}  # as those of `run`
HEAVY = {"torch", "transformers", "sklearn", "scipy", "matplotlib", "pandas", "tokenizers", "PIL"}


def build(folder: Path) -> CompletedProcess[str]:
    listed, output = str(folder / "checkpoints.yml"), str(folder / "out")
    command = ("build", "--config", listed, "--output", output)
    return run(*command, home=folder / "hub", PYTHONPROFILEIMPORTTIME="1")


def here(folder: Path, *options: str, endpoint: str = NOBODY, rendered: bool = False) -> str:
    """What the same prints where no other process starts."""
    return inline.build(folder, *options, endpoint=endpoint, rendered=rendered).stdout


def imported(done: CompletedProcess[str]) -> set[str]:
    """The libraries that a run imported, as Python itself reports."""
    return {
        line.split(".")[0]
        for line in re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    for name, files in FOLDERS.items():
        write_folder(folder / name, files)
    write_list(folder, [{"folder": name} for name in FOLDERS])
    return folder


@pytest.fixture(scope="module", autouse=True)
def first(world: Path) -> CompletedProcess[str]:
    """The build in which all is new; the last line of its output names what its own process has
    imported, and stderr is that of all its processes.
    """
    begin(world / "out")
    log = world / "log.jsonl"
    command = ["build", "--config", str(world / "checkpoints.yml")]
    command += ["--output", str(world / "out"), "--log", str(log)]
    code = (
        f"import sys; from generator.cli.commands import app; app({command},"
        " standalone_mode=False); print(*sys.modules)"
    )
    environment = {
        **os.environ,
        **SETTINGS,
        "HF_HOME": str(world / "hub"),
        "PYTHONPROFILEIMPORTTIME": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    done.stderr += "".join(
        json.loads(line).get("stderr", "") for line in log.read_text(encoding="utf-8").splitlines()
    )
    return done


def test_no_process_of_a_build_imports_a_javascript_engine(first: CompletedProcess[str]) -> None:
    assert {"generator", "math_core", "matplotlib", "mkdocs"} <= imported(first)
    assert not imported(first) & JAVASCRIPT


def test_rows_without_weights_whose_code_trains_no_encoding_need_no_torch_in_any_process(
    first: CompletedProcess[str],
) -> None:
    assert "transformers" in imported(first)
    assert "torch" not in imported(first)


def test_other_processes_import_what_a_first_build_needs(first: CompletedProcess[str]) -> None:
    own = set(first.stdout.splitlines()[-1].split())
    assert "generator" in own
    assert not own & HEAVY


def test_a_build_with_nothing_new_imports_no_heavy_library_and_no_mkdocs(world: Path) -> None:
    done = build(world)
    assert "nothing has changed since the last build" in done.stdout
    assert "json" in imported(done)
    assert not imported(done) & {*HEAVY, "mkdocs", "pebble"}


def test_pages_made_of_finished_work_need_no_heavy_library(world: Path) -> None:
    before = contents(world / "out/site")
    (world / "out/.last-build").unlink()
    done = build(world)
    assert "3 from the store" in done.stdout
    assert "mkdocs" in imported(done)
    assert not imported(done) & {*HEAVY, "pebble"}
    assert contents(world / "out/site") == before


def _edit(page: Path) -> None:
    page.write_bytes(page.read_bytes().replace(b"Position Atlas", b"Position atlas", 1))


def _add(page: Path) -> None:
    page.with_name("own.html").write_bytes(b"own")


@pytest.mark.parametrize("change", [_edit, _add, Path.unlink])
def test_what_others_changed_ends_what_is_known_of_the_last_build(
    change: Callable[[Path], None], world: Path
) -> None:
    page, digests = world / "out/site/index.html", Digests(BlobCache(world / "out/store"))
    before, state = page.read_bytes(), page.stat()
    assert last_build.read(world / "out", digests).inputs is not None
    change(page)
    if page.exists():
        os.utime(page, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert last_build.read(world / "out", digests) == last_build.LastBuild()
    page.write_bytes(before)
    (world / "out" / "site/own.html").unlink(missing_ok=True)


def test_what_others_changed_is_made_again(world: Path) -> None:
    before = contents(world / "out/site")
    _edit(world / "out/site/index.html")
    assert "3 from the store" in here(world, rendered=True)
    assert contents(world / "out/site") == before


def test_a_copy_of_the_output_is_as_good_as_the_output(world: Path, tmp_path: Path) -> None:
    here(world)
    (world / "out").rename(tmp_path / "out")
    shutil.copytree(tmp_path / "out", world / "out", copy_function=shutil.copyfile)
    assert "nothing has changed since the last build" in here(world)


def test_a_note_that_is_cut_tells_nothing_and_a_changed_drawing_is_drawn_again(world: Path) -> None:
    before = contents(world / "out/docs")
    drawings = [
        path
        for path in sorted((world / "out/store").iterdir())
        if not path.suffix and b"<svg" in path.read_bytes()[:400]  # And no page with one.
    ]
    for file in (world / "out/.last-build", *drawings):
        file.write_bytes(file.read_bytes()[:-1])
    assert "matplotlib" in imported(build(world))
    assert contents(world / "out/docs") == before


def test_an_edited_note_is_published_without_a_new_evaluation(world: Path) -> None:
    write_list(world, [{"folder": name, "notes": "Edited since."} for name in FOLDERS])
    assert "3 from the store" in here(world)
    assert "Edited since" in (world / "out/site/checkpoints/other.md").read_text(encoding="utf-8")


def test_files_that_were_only_touched_are_not_evaluated_again(world: Path) -> None:
    here(world)
    for name in FOLDERS:
        for file in (world / name).iterdir():
            os.utime(file, (0, 0))
    assert "nothing has changed since the last build" in here(world)


def test_a_file_that_changed_within_the_same_size_and_time_is_evaluated_again(world: Path) -> None:
    config = world / "rotation/config.json"
    time = config.stat().st_mtime_ns
    config.write_bytes(config.read_bytes().replace(b"4096.0", b"8192.0"))
    os.utime(config, ns=(time, time))
    assert "2 from the store" in here(world)


@pytest.mark.parametrize("revision", [COMMIT, "main"])
def test_a_checkpoint_that_was_not_reached_is_tried_again_by_one_question(
    revision: str, tmp_path: Path
) -> None:
    write_list(tmp_path, [{"hub": "atlas/plain", "revision": revision}])
    assert "0 built, 0 failed, 1 not reached" in here(tmp_path)
    assert "nothing has changed since the last build" in here(tmp_path)
    with serving({}, Trouble(Answer(None))) as hub:
        assert "nothing has changed since the last build" in here(tmp_path, endpoint=hub.endpoint)
        # Asked as often as a Hub is that does not answer at once.
        assert len(hub.log) == 1 + len(REACH_WAITS)
        assert len({request.path for request in hub.log}) == 1
    with serving({"atlas/plain": Repository({COMMIT: dict(NOTHING)}, {"main": COMMIT})}) as hub:
        assert "1 built, 0 failed, 0 not reached" in here(tmp_path, endpoint=hub.endpoint)


def test_no_process_starts_for_a_checkpoint_that_is_not_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_list(tmp_path, [{"hub": "atlas/plain"}])
    monkeypatch.setattr(worker, "run_task", pytest.fail)
    assert "0 built, 0 failed, 1 not reached" in here(tmp_path)


def test_fresh_does_all_again_and_gives_the_same(world: Path) -> None:
    here(world, "--fresh")
    before = contents(world / "out/site")
    assert "(0 from the store" in here(world, "--fresh")
    assert contents(world / "out/site") == before


def test_a_row_that_is_taken_from_the_list_is_gone_from_the_site(world: Path) -> None:
    write_list(world, [{"folder": name} for name in FOLDERS if name != "other"])
    assert "2 from the store" in here(world)
    assert not [
        path
        for path in (world / "out/site").rglob("*")
        if path.stem == "other" and path.parent.name == "checkpoints"
    ]
