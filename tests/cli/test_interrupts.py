"""Ctrl+C at many moments of a real build: it ends with 2 and one line, and nothing is half
written.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import inline
from tests.built import ROOT, contents
from tests.hub_server import NOBODY
from tests.synthetic import NOTHING, TABLE, write_folder, write_list

if sys.platform == "win32":
    pytest.skip("Windows has no groups to which a terminal sends SIGINT", allow_module_level=True)

REPORT = "import time:"  # How Python begins a line about an import.
# Modules in the order in which a first build imports them: of the program's start, of the process
# from which workers are forked, of the site.
MOMENTS = [
    "generator.cli", "typer", "numpy", "generator.contracts", "pebble",
    "torch.nn", "generator.pipeline.preload", "mkdocs",
]  # fmt: skip
# One in the build's own process, and one in another; a test below has a late one.
ALWAYS = ["numpy", "generator.pipeline.preload"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    for name, files in {"table": TABLE, "nothing": NOTHING}.items():
        write_folder(folder / name, files)
    write_list(folder, [{"folder": "table"}, {"folder": "nothing"}])
    return folder


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Ctrl+C reaches the builds of these tests, even if this process was started in a way that
    ignores it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(world: Path, output: str, moment: str) -> tuple[int, list[str]]:
    """The exit code of a build to whose processes Ctrl+C is sent when ``moment`` has been imported,
    and what these wrote to stderr.
    """
    command = [sys.executable, "-m", "generator", "build", "--offline"]
    command += ["--config", str(world / "checkpoints.yml"), "--output", str(world / output)]
    set_ = {"PYTHONPROFILEIMPORTTIME": "1", "PYTHONUNBUFFERED": "1"}
    variables = os.environ | set_ | {"HF_ENDPOINT": NOBODY, "HF_HOME": str(world / "hub")}
    streams: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        command, cwd=ROOT, env=variables, start_new_session=True, **streams
    ) as process:
        assert process.stderr is not None
        said, sent = list[str](), False
        for line in process.stderr:  # Ends when no process of the build is left.
            if not sent and line.startswith(REPORT) and line.split("|")[-1].strip() == moment:
                os.killpg(process.pid, signal.SIGINT)
                sent = True
            if not line.startswith(REPORT):
                said.append(line.rstrip("\n"))
    assert sent
    return process.returncode, said


@pytest.mark.parametrize(
    "moment", [m if m in ALWAYS else pytest.param(m, marks=pytest.mark.thorough) for m in MOMENTS]
)
def test_an_interrupt_ends_a_build_with_2_and_one_line(moment: str, world: Path) -> None:
    code, said = interrupted(world, f"out-{moment}", moment)
    assert code == 2
    assert said in (["interrupted"], ["interrupted; the last site remains"])


def test_the_previous_site_remains_and_the_next_build_is_whole(tmp_path: Path) -> None:
    for name in ("nothing", "other"):
        write_folder(tmp_path / name, NOTHING)
    write_list(tmp_path, [{"folder": "nothing"}])
    assert inline.build(tmp_path, "--offline").returncode == 0
    before = contents(tmp_path / "out/site")
    write_list(tmp_path, [{"folder": name} for name in ("nothing", "other")])
    remains = ["interrupted; the last site remains"]
    assert interrupted(tmp_path, "out", "mkdocs") == (2, remains)
    assert contents(tmp_path / "out/site") == before
    assert inline.build(tmp_path, "--offline").returncode == 0
    assert (tmp_path / "out/site/checkpoints/other.md").exists()
