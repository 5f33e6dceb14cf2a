"""Work handed to a real scheduler with workers on this machine."""

import os
import shutil
import signal
import subprocess
import sys
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Timer
from time import sleep

import pytest

from generator.contracts import own
from generator.encodings import OffsetBias
from generator.errors import RefusedError
from generator.pipeline import dask_pool, jobs, local_pool, versions
from generator.pipeline.executor import Executor
from generator.pipeline.packing import pack
from generator.pipeline.store import Store
from generator.reading import plan
from tests.built import ROOT
from tests.hub_server import run
from tests.support import Deadly, checkpoint
from tests.synthetic import BROKEN, NOTHING, ROTATION, WORDLESS, write_folder, write_list

pytest.importorskip("distributed", reason="the extra is not installed: pip install .[cluster]")
FOLDERS = {"broken": BROKEN, "nothing": NOTHING, "rotation": ROTATION, "table": WORDLESS}
WORKER = ("worker", "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
TOLD = ["started", "finished"]
NEVER = 3600.0  # seconds


@dataclass(frozen=True)
class Endless:
    """A place that no other process ever opens."""

    here: int = field(default_factory=os.getpid)

    def __fspath__(self) -> str:
        if os.getpid() != self.here:
            sleep(NEVER)
        return "endless"


ENDLESS = plan.Task(checkpoint(slug="endless", place=Endless()), True)


def start(
    stack: ExitStack, folder: Path, *arguments: str, code: Path = ROOT
) -> subprocess.Popen[bytes]:
    """A process of dask's own command line, ended with the stack; code: of the program."""
    command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
    process = stack.enter_context(
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(code), "PYTHONWARNINGS": "ignore"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    )
    stack.callback(process.kill)
    return process


@dataclass(frozen=True)
class Cluster:
    """A scheduler and its workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    def pool(self, code: str = "") -> Callable[[], AbstractContextManager[Executor]]:
        return partial(dask_pool.cluster, address=self.address, code=code or versions.evaluation())


@contextmanager
def running(folder: Path, n_workers: int, *options: str, code: Path = ROOT) -> Iterator[Cluster]:
    from distributed import Client

    file = folder / "scheduler.json"
    with ExitStack() as stack:
        here = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        first = start(stack, folder, "scheduler", *here, "--scheduler-file", str(file))
        workers = [
            start(stack, folder, *WORKER, *options, "--scheduler-file", str(file), code=code)
            for _ in range(n_workers)
        ]
        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            if workers:
                client.wait_for_workers(n_workers, timeout=60)
            address = str(client.scheduler.address)
        yield Cluster(address, first, workers)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One worker for the tests that leave it as it was."""
    with running(tmp_path_factory.mktemp("lasting"), 1, "--no-nanny") as cluster:
        yield cluster


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Cluster]:
    """One with two workers."""
    with running(tmp_path, 2, "--no-nanny") as cluster:
        yield cluster


def packed(
    folder: Path,
    pool: Callable[[], AbstractContextManager[Executor]],
    report: Callable[[jobs.Event], None],
) -> list[bytes]:
    """The packed outcomes of FOLDERS, with an empty store."""
    rows = [
        checkpoint(slug=name, id=name, place=str(write_folder(folder / name, files)))
        for name, files in FOLDERS.items()
    ]
    tasks = plan.plan(rows, offline=True)
    with pool() as executor:
        outcomes = jobs.run(tasks, Store(folder / "store", "code"), executor, report)
    return [pack(outcomes[task]) for task in tasks]


@pytest.mark.thorough
def test_a_cluster_gives_the_same_as_this_machine_also_when_a_worker_is_killed(
    scheduler: Cluster, tmp_path: Path
) -> None:
    events: list[jobs.Event] = []

    def kill_one(event: jobs.Event) -> None:
        if event.name == "finished":
            scheduler.workers[0].kill()  # When the first row is done, and others are not.
        events.append(event)

    there = packed(tmp_path, scheduler.pool(), kill_one)
    assert {
        name: [event.name for event in events if event.slug == name] for name in FOLDERS
    } == dict.fromkeys(FOLDERS, TOLD)
    assert there == packed(tmp_path, partial(local_pool.processes, jobs=2), events.append)
    assert scheduler.workers[0].wait() == -signal.SIGKILL


def test_a_build_on_a_cluster_publishes_its_site(lasting: Cluster, tmp_path: Path) -> None:
    write_folder(tmp_path / "nothing", NOTHING)
    listed = write_list(tmp_path, [{"folder": str(tmp_path / "nothing")}])
    command = ("build", "--config", str(listed), "--output", str(tmp_path / "out"))
    done = run(*command, "--cluster", lasting.address, home=tmp_path / "hub")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/site/checkpoints").is_dir()


def evaluated(
    folder: Path, pool: Callable[[], AbstractContextManager[Executor]], *tasks: plan.Task
) -> list[str | None]:
    """The reason of each task that failed, else None."""
    with pool() as executor:
        outcomes = jobs.run(tasks, Store(folder / "store", "code"), executor, lambda _: None)
    return [outcomes[task].reason for task in tasks]


def test_a_worker_with_other_code_does_no_work(lasting: Cluster, tmp_path: Path) -> None:
    write_folder(tmp_path / "nothing", NOTHING)
    [task] = plan.plan([checkpoint(place=str(tmp_path / "nothing"))], offline=True)
    [reason] = evaluated(tmp_path, lasting.pool("other"), task)
    assert reason is not None
    assert "has different code or libraries" in reason


def test_a_worker_with_other_sentences_does_no_work(tmp_path: Path) -> None:
    """They are in the outcomes that it would return."""
    other = tmp_path / "other"
    sentences = shutil.copytree(ROOT / "templates", other / "templates") / "wording/questions.jinja"
    for name in ("generator", "pyproject.toml"):
        (other / name).symlink_to(ROOT / name)
    sentences.write_text("{# another #}" + sentences.read_text(encoding="utf-8"), encoding="utf-8")
    write_folder(tmp_path / "nothing", NOTHING)
    [task] = plan.plan([checkpoint(place=str(tmp_path / "nothing"))], offline=True)
    with running(tmp_path, 1, "--no-nanny", code=other) as cluster:
        [reason] = evaluated(tmp_path, cluster.pool(), task)
    assert "has different code or libraries" in str(reason)


def test_a_worker_measures_with_what_is_beside_the_list_unless_its_copy_differs(
    lasting: Cluster, tmp_path: Path
) -> None:
    atlas = shutil.copytree(ROOT / "examples/own-atlas", tmp_path / "atlas")
    [task] = plan.plan([checkpoint(place=str(atlas / "models/biased"))], offline=True)
    own.use(atlas)
    try:
        with lasting.pool()() as executor:
            found = jobs.run([task], Store(tmp_path / "store", "code"), executor, lambda _: None)
        [reading] = found[task].readings
        form = reading.form.load()
        assert isinstance(form, OffsetBias)
        assert reading.results["bias_range"].value("most") == -form.values.min()
        code = versions.evaluation()
        (atlas / "rules/whole_blocks.py").write_text("# another", encoding="utf-8")
        [reason] = evaluated(tmp_path / "other", lasting.pool(code), task)
        assert "the same extensions beside the list everywhere" in str(reason)
    finally:
        own.use(None)


def test_a_scheduler_without_workers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "WORKERS_SECONDS", 1.0)
    with (
        running(tmp_path, 0) as cluster,
        pytest.raises(
            RefusedError, match=r"^--cluster tcp://\S+: no worker for 1 seconds; expected one"
        ),
    ):
        evaluated(tmp_path, cluster.pool(), ENDLESS)


@pytest.mark.thorough
def test_a_scheduler_that_is_lost_ends_the_run_with_one_sentence(
    scheduler: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        RefusedError,
        match=r"its scheduler was lost; finished work is kept, and the last site remains$",
    ):
        packed(tmp_path, scheduler.pool(), lambda _: scheduler.scheduler.kill())
    assert capfd.readouterr().err == ""


def test_an_interrupted_run_does_not_wait_for_pending_rows(
    scheduler: Cluster, tmp_path: Path
) -> None:
    Timer(3.0, interrupt_main).start()
    with pytest.raises(KeyboardInterrupt), scheduler.pool()() as executor:
        jobs.run([ENDLESS], Store(tmp_path / "store", "code"), executor, lambda _: None)


@pytest.mark.thorough
def test_a_row_whose_process_is_killed_fails_and_its_worker_goes_on(tmp_path: Path) -> None:
    """The worker of a nanny, as `dask worker` starts it."""
    write_folder(tmp_path / "nothing", NOTHING)
    [task] = plan.plan([checkpoint(place=str(tmp_path / "nothing"))], offline=True)
    deadly = plan.Task(checkpoint(slug="deadly", place=Deadly()), True)
    with running(tmp_path, 1) as cluster:
        reason, other = evaluated(tmp_path, cluster.pool(), deadly, task)
    assert str(reason).startswith("its process ended with code -9; it had 4 GiB of memory")
    assert other is None


def test_a_scheduler_that_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "REACH_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "tls://127.0.0.1:9"):
        with (
            pytest.raises(RefusedError, match="no scheduler"),
            dask_pool.cluster(address=address, code="code"),
        ):
            pass


def test_what_is_no_address_is_refused_at_once() -> None:
    for address in ("", "x", "tcp://x", "tcp://:1", "tcp://x:y", "nonsense://x:1", "tcp://[x:1"):
        with pytest.raises(RefusedError, match="not the address of a scheduler"):
            dask_pool.scheduler(address)
    for address in ("tcp://127.0.0.1:8786", "tls://scheduler:1", "tcp://[::1]:8786"):
        assert dask_pool.scheduler(address) == address
