"""Work handed to a real scheduler with two workers on this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

import pytest

from generator import crews, runs, study, versions
from generator.errors import RefusedError
from generator.store import Store, pack
from tests.hub_server import ROOT, run
from tests.support import checkpoint
from tests.synthetic import BROKEN, BUCKETS, NOTHING, ROTATION, TABLE, write_folder, write_list

pytest.importorskip("distributed", reason="the extra is not installed: pip install .[cluster]")
FOLDERS = {"broken": BROKEN, "buckets": BUCKETS, "nothing": NOTHING, "rotation": ROTATION, "table": TABLE}
QUIET = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
WORKER = ("worker", "--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")


def start(stack: ExitStack, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A process of dask's own command line, ended with the stack."""
    command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
    process = stack.enter_context(
        subprocess.Popen(command, cwd=folder, env={**os.environ, **QUIET}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    )
    stack.callback(process.kill)
    return process


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its two workers."""
    from distributed import Client

    file = tmp_path / "scheduler.json"
    with ExitStack() as stack:
        start(stack, tmp_path, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        workers = [start(stack, tmp_path, *WORKER, "--scheduler-file", str(file)) for _ in range(2)]
        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            address = str(client.scheduler.address)
        yield address, workers


def packed(folder: Path, crew: Callable[[int], AbstractContextManager[runs.Workers]], tell: Callable[[runs.Event], None]) -> list[bytes]:
    """What comes of the folders, none of it known before."""
    rows = [checkpoint(slug=name, id=name, place=str(write_folder(folder / name, files))) for name, files in FOLDERS.items()]
    tasks = dict.fromkeys(study.plan(rows, offline=True))
    return [pack(outcome) for outcome in runs.run(tasks, Store(folder / "store"), crew, tell)]


def test_a_cluster_gives_the_same_as_this_machine_also_when_a_worker_is_killed(
    scheduler: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = scheduler
    events: list[runs.Event] = []

    def kill_one(event: runs.Event) -> None:
        workers[0].kill()  # When the first row is done, and others are not.
        events.append(event)

    there = packed(tmp_path, partial(crews.cluster, address=address, code=versions.code()), kill_one)
    assert there == packed(tmp_path, partial(crews.processes, jobs=2), events.append)
    assert workers[0].wait() == -signal.SIGKILL


def test_a_build_on_a_cluster_publishes_its_site(scheduler: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path) -> None:
    write_folder(tmp_path / "rotation", ROTATION)
    listed = write_list(tmp_path, [{"folder": str(tmp_path / "rotation")}])
    done = run("build", "--config", str(listed), "--output", str(tmp_path / "out"), "--cluster", scheduler[0], home=tmp_path / "hub")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/site/checkpoints").is_dir()


def test_a_worker_with_other_code_does_no_work(scheduler: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path) -> None:
    write_folder(tmp_path / "nothing", NOTHING)
    [task] = study.plan([checkpoint(place=str(tmp_path / "nothing"))], offline=True)
    told: list[runs.Event] = []
    [outcome] = runs.run({task: None}, Store(tmp_path / "store"), partial(crews.cluster, address=scheduler[0], code="other"), told.append)
    assert outcome.reason == "its worker has other code or other libraries; expected the same checkout and the same versions everywhere"


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "x"])
def test_a_scheduler_that_is_not_there_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "REACH_SECONDS", 0.5)
    with pytest.raises(RefusedError, match="no scheduler"), crews.cluster(1, address=address, code="code"):
        pass
