"""Ctrl+C at many moments of a real build: it ends with 2 and one line, and nothing is half
written.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import inline
from tests.built import ROOT, contents
from tests.hub_server import NOBODY
from tests.synthetic import NOTHING, TABLE, write_folder, write_list

if sys.platform == "win32":
    pytest.skip(
        "Windows has no process groups to which a terminal sends SIGINT, so that was not tested"
        " here",
        allow_module_level=True,
    )

REPORT = "import time:"  # How Python begins a line about an import.
# Modules in the order in which a first build imports them: of the program's start, of the process
# from which workers are forked, of the site.
MOMENTS = [
    "generator.cli", "typer", "numpy", "generator.contracts", "pebble",
    "generator.pipeline.preload", "torch.nn", "mkdocs",
]  # fmt: skip
# One in the build's own process, and one in another; a test below has a late one.
ALWAYS = ["numpy", "generator.pipeline.preload"]
CASES = [
    moment if moment in ALWAYS else pytest.param(moment, marks=pytest.mark.thorough)
    for moment in MOMENTS
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    rows = [
        {"folder": write_folder(folder / name, files).name}
        for name, files in {"table": TABLE, "nothing": NOTHING}.items()
    ]
    write_list(folder, rows)
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
    variables = {
        **os.environ,
        "PYTHONPROFILEIMPORTTIME": "1",
        "HF_ENDPOINT": NOBODY,
        "HF_HOME": str(world / "hub"),
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=variables,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        said = []
        sent = False
        for line in process.stderr:  # Ends when no process of the build is left.
            if not sent and line.startswith(REPORT) and line.split("|")[-1].strip() == moment:
                os.killpg(process.pid, signal.SIGINT)
                sent = True
            if not line.startswith(REPORT):
                said.append(line.rstrip("\n"))
    assert sent
    return process.returncode, said


@pytest.mark.parametrize("moment", CASES)
def test_an_interrupt_ends_a_build_with_2_and_one_line(moment: str, world: Path) -> None:
    code, said = interrupted(world, f"out-{moment}", moment)
    assert code == 2
    assert said in (["interrupted"], ["interrupted; the previous site remains"])


def test_the_previous_site_remains_and_the_next_build_is_whole(tmp_path: Path) -> None:
    world = tmp_path
    for name in ("nothing", "other"):
        write_folder(world / name, NOTHING)
    write_list(world, [{"folder": "nothing"}])
    assert inline.build(world, "--offline").returncode == 0
    before = contents(world / "out/site")
    write_list(world, [{"folder": name} for name in ("nothing", "other")])
    assert interrupted(world, "out", "mkdocs") == (2, ["interrupted; the previous site remains"])
    assert contents(world / "out/site") == before
    assert inline.build(world, "--offline").returncode == 0
    assert "other.html" in {path.name for path in (world / "out/site/checkpoints").iterdir()}
