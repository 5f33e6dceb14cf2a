"""Who does the work of a run: processes on this machine, each within limits, or a cluster of machines."""

import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLongError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from generator.contracts import Maker
from generator.errors import RefusedError, RowError
from generator.runs import Done, Workers, attempt, made
from generator.study import Task

REACH_SECONDS = 10
SHARED = ("generator.study", "matplotlib.backends.backend_svg", "sklearn.model_selection")
SHARED_BY_MANY = ("torch", "transformers.models.auto.modeling_auto")  # A list of a few may not need them, or in one process alone.
FEW = 8  # rows


@dataclass(frozen=True)
class Limits:
    """What one checkpoint may take: seconds, and bytes of a process's own memory."""

    seconds: float = 600.0
    memory: int = 4 * 2**30


@dataclass(frozen=True)
class _Processes:
    pool: Any
    limits: Limits

    def submit(self, task: Task) -> "Future[Done]":
        future: Future[Done] = self.pool.schedule(attempt, args=(task,), timeout=self.limits.seconds)
        return future

    def make(self, maker: Maker) -> "Future[bytes]":
        future: Future[bytes] = self.pool.schedule(made, args=(maker,), timeout=self.limits.seconds)
        return future

    def reason(self, error: BaseException) -> str:
        if isinstance(error, TooLongError):
            return f"took longer than {self.limits.seconds:g} seconds"
        if isinstance(error, MemoryError):
            return f"needed more than {self.limits.memory / 2**30:g} GiB of memory"
        if not hasattr(error, "exitcode"):
            return f"unexpected {type(error).__name__}: {error}"
        ended = f"its process ended with code {error.exitcode or type(error).__name__}"
        return f"{ended}; it had {self.limits.memory / 2**30:g} GiB of memory and {self.limits.seconds:g} seconds"


@contextmanager
def processes(n_rows: int = 0, *, jobs: int, limits: Limits | None = None) -> "Iterator[_Processes]":
    """``jobs`` processes on this machine, who study so many rows. One that crashes, takes too much or never ends costs its own row alone."""
    from pebble import ProcessPool

    within = limits or Limits()
    with ProcessPool(max_workers=jobs, context=_context(n_rows), initializer=_limit_memory, initargs=(within.memory,)) as pool:
        try:
            yield _Processes(pool, within)
        except BaseException:
            pool.stop()  # Nobody waits any longer for what is under way.
            raise


def _context(n_rows: int) -> Any:
    """How processes are started: on Linux from one that has imported the large libraries once, whose memory they share."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    multiprocessing.set_forkserver_preload([*SHARED, *(SHARED_BY_MANY if n_rows > FEW else ())])
    return multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class _Cluster:
    executor: Any
    code: str

    def submit(self, task: Task) -> "Future[Done]":
        future: Future[Done] = self.executor.submit(attempt_elsewhere, task, self.code)
        return future

    def reason(self, error: BaseException) -> str:
        return (
            str(error)
            if isinstance(error, RowError)
            else f"its worker was lost ({type(error).__name__}: {' '.join(str(error).split())[:160]})"
        )


@contextmanager
def cluster(n_rows: int, *, address: str, code: str) -> Iterator[Workers]:  # noqa: ARG001 (they run already, however many there are)
    """The workers of a dask.distributed scheduler; a task of one that is lost goes to another.

    errors: RefusedError when the extra is not installed or nobody answers there
    """
    try:
        from distributed import Client
    except ImportError:
        raise RefusedError("--cluster: dask.distributed is not installed; expected `pip install .[cluster]`") from None
    try:
        client = Client(address, timeout=REACH_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RefusedError(f"--cluster {address}: no scheduler ({type(error).__name__}); expected one, as tcp://host:port") from None
    with client, client.get_executor(pure=False) as executor:
        yield _Cluster(executor, code)


def attempt_elsewhere(task: Task, code: str) -> Done:
    """``attempt`` on another machine, if that has the same code and the same libraries.

    errors: RowError
    """
    from generator import versions

    if versions.code() != code:
        raise RowError("its worker has other code or other libraries; expected the same checkout and the same versions everywhere")
    return attempt(task)


def _limit_memory(most: int) -> None:
    """Bound what this process may take for its own data; libraries mapped from files do not count."""
    try:
        import resource
    except ImportError:  # There is no such thing on Windows.
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounded = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bounded, hard))
