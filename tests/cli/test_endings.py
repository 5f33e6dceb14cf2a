"""Every process of a build ends as it should."""

import json
import multiprocessing
import signal
import sys
from dataclasses import dataclass

import pytest

from generator.pipeline import local_pool
from tests.built import ROOT
from tests.hub_server import run
from tests.synthetic import NOTHING, WORDLESS, write_folder, write_list


@dataclass(frozen=True)
class Ended:
    """A build that has ended: exit codes of its processes, and what they wrote to stderr."""

    codes: list[int]
    stderr: str


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    if sys.platform != "linux":
        pytest.skip(
            "Other systems tell nobody how a process ends that outlives its parent, so that was not"
            " tested here"
        )
    folder = tmp_path_factory.mktemp("ended")
    rows = [
        {"folder": write_folder(folder / name, files).name}
        for name, files in {"table": WORDLESS, "nothing": NOTHING}.items()
    ]
    arguments = (
        "--config",
        str(write_list(folder, rows)),
        "--output",
        str(folder / "out"),
        "--jobs",
        "2",
    )
    watched = (sys.executable, str(ROOT / "tests/ending.py"), str(folder / "codes.json"))
    done = run("build", *arguments, home=folder / "hub", before=watched, PYTHONFAULTHANDLER="1")
    return Ended(json.loads((folder / "codes.json").read_text(encoding="utf-8")), done.stderr)


def test_a_build_and_what_it_leaves_behind_end_with_0(ended: Ended) -> None:
    assert len(ended.codes) >= 2  # The process from which workers are forked outlives the build.
    assert set(ended.codes) == {0}


def test_no_process_of_a_build_writes_to_stderr(ended: Ended) -> None:
    assert ended.stderr == ""


def test_workers_end_by_themselves_or_because_the_pool_says_so() -> None:
    with local_pool.processes(jobs=2) as pool:
        assert pool.submit(bytes).result() == b""
        workers = multiprocessing.active_children()
    assert len(workers) == 2
    # Pebble sends SIGTERM, which a worker answers with that number, unless it has not begun yet.
    assert {worker.exitcode for worker in workers} <= {0, signal.SIGTERM, -signal.SIGTERM}
