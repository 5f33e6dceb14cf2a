"""Operation: partly restored caches, damaged sites, odd paths, closed pipes, deceptive names."""

import errno
import json
import multiprocessing
import os
import shutil
import struct
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from generator.cli.terminal import Terminal
from generator.pipeline import evaluate, local_pool
from generator.reading.plan import Task, may_need_models
from generator.site import write
from generator.site.write import MARKER
from tests import inline
from tests.built import ROOT, contents
from tests.hub_server import run
from tests.support import checkpoint
from tests.synthetic import NOTHING, ROTATION, TABLE, write_folder, write_list

ODD = "\x1b]0;owned\x07\n         ok  fake: 3 schemes\u202e[/b][red]:100:##[x].wpe"
SPELT = r"\u001b]0;owned\u0007\u000a         ok  fake: 3 schemes\u202e[/b][red]:100:\u0023#[x].wpe"


def build(world: Path, output: str = "out") -> subprocess.CompletedProcess[str]:
    return inline.build(world, "--offline", output=output)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_folder(folder / "rotation", ROTATION)
    write_folder(folder / "nothing", NOTHING)
    write_list(folder, [{"folder": "rotation", "title": "日本語"}, {"folder": "nothing"}])
    done = build(folder)
    # Also of letters that figures have no font for.
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.parametrize("restored", [("store",), ("store", "docs", "site")])
def test_an_output_restored_without_hidden_files_still_has_its_outcomes(
    restored: tuple[str, ...], world: Path
) -> None:
    again = world / "again"
    shutil.rmtree(again, ignore_errors=True)
    for name in restored:
        shutil.copytree(world / "out" / name, again / name)
    done = build(world, "again")
    assert (done.returncode, "(2 from the store, " in done.stdout) == (0, True)
    assert contents(again / "site") == contents(world / "out/site")


def test_a_store_beside_foreign_files_is_left_alone(world: Path) -> None:
    shutil.copytree(world / "out/store", world / "mixed/store")
    (world / "mixed/thesis.tex").touch()
    assert build(world, "mixed").returncode == 2
    assert not (world / "mixed" / MARKER).exists()


def test_a_site_that_was_damaged_is_made_whole_and_a_link_that_leads_nowhere_is_cleared_away(
    world: Path,
) -> None:
    before, link = contents(world / "out/site"), world / "out/site/nowhere"
    shutil.rmtree(world / "out/site/data")
    (world / "out/docs/index.md").unlink()
    (world / "out/site/index.md").unlink()
    link.symlink_to("none")
    assert "nothing has changed" not in build(world).stdout
    assert not link.is_symlink()
    assert contents(world / "out/site") == before
    assert "nothing has changed" in build(world).stdout


def test_a_name_made_to_mislead_is_shown_as_it_is(tmp_path: Path) -> None:
    """A tensor whose name commands a terminal and a log viewer, begins a line of its own, and has
    rich's markup and one of its emoji.
    """
    header = json.dumps({ODD: {"dtype": "I8", "shape": [2, 2], "data_offsets": [0, 4]}}).encode()
    weights = struct.pack("<Q", len(header)) + header + bytes(4)
    write_folder(
        tmp_path / "odd:100:", {"config.json": TABLE["config.json"], "model.safetensors": weights}
    )
    done = inline.run("inspect", str(tmp_path / "odd:100:"), home=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert SPELT in done.stderr


def test_no_line_begins_as_a_command_for_a_log_viewer() -> None:
    written = StringIO()
    Terminal(file=written).print("  ::set-output name=x::y")
    assert written.getvalue() == "  \\u003a:set-output name=x::y\n"


def test_what_inspect_prints_as_json_is_not_touched(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run:100:a", ROTATION)
    done = inline.run("inspect", str(folder), "--json", home=tmp_path)
    assert json.loads(done.stdout)["id"] == str(folder)


def test_a_build_whose_output_is_no_longer_read_goes_on(world: Path) -> None:
    (world / "out/.last-build").unlink()
    command = [sys.executable, "-m", "generator", "build", "--offline", "--output", "out"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SOURCE_DATE_EPOCH": "1700000000",
        "HF_HOME": str(world / "hub"),
    }
    with subprocess.Popen(
        command, cwd=world, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as going:
        assert going.stdout is not None
        assert going.stderr is not None
        going.stdout.close()
        stderr = going.stderr.read()
    assert (going.returncode, stderr) == (0, b"")
    assert (world / "out/.last-build").exists()


def test_a_build_without_input_stands_in_any_folder_and_a_user_without_a_home_sees_no_warning(
    world: Path,
) -> None:
    rows = [{"folder": str(world / "rotation")}]
    done = run(
        *(
            *("build", "--offline", "--config", str(write_list(world / "one", rows))),
            *("--output", str(world / "homeless")),
        ),
        home=world / "hub",
        before=("/bin/sh", "-c", 'cd / && exec "$@" <&-', "sh"),
        HOME="/dev/null/none",
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_paths_that_lead_nowhere_get_one_sentence(tmp_path: Path) -> None:
    write_list(tmp_path, [{"folder": "~nobody_of_this_name/m"}])
    done = inline.run(
        "check", "--bytes", "--config", str(tmp_path / "checkpoints.yml"), home=tmp_path
    )
    assert (done.returncode, "no such folder" in done.stdout + done.stderr) == (1, True)
    long = tmp_path / ("x" * 300)
    write_list(tmp_path, [{"folder": long.name}, {"folder": "none"}])
    done = inline.run("check", "--config", str(tmp_path / "checkpoints.yml"), home=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 2)
    assert "(File name too long); expected a path relative to this file" in done.stderr
    task = Task(checkpoint(place=str(long)), offline=True)
    assert (evaluate.unreached(task), may_need_models(task)) == (None, False)
    (tmp_path / "loop").symlink_to("loop")
    done = build(tmp_path, "loop")
    assert (done.returncode, done.stderr.count("\n"), "leads to itself" in done.stderr) == (
        2,
        1,
        True,
    )
    done = inline.run("serve", "--config", "none.yml", home=tmp_path)
    assert (done.returncode, done.stderr) == (2, "none.yml: No such file or directory\n")


def test_an_output_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root, who may run this, may write to what others may not."""

    def denied(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    write_list(tmp_path, [{"folder": "any"}])
    monkeypatch.setattr(write, "_mark", denied)
    done = build(tmp_path)
    said = "Permission denied; expected a folder that can be written to"
    assert (done.returncode, said in done.stderr, done.stderr.count("\n")) == (2, True, 1)


@pytest.mark.parametrize(("n_rows", "n_processes"), [(1, 2), (3, 3), (9, 4)])
def test_no_more_processes_are_started_than_there_are_rows_or_cores(
    n_rows: int, n_processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_pool, "CORES", 2)
    with local_pool.processes(n_rows, jobs=4) as pool:
        assert pool.submit(bytes).result() == b""
        assert len(multiprocessing.active_children()) == n_processes
