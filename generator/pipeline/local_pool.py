"""Who does the work of a run on this machine: processes, each within limits."""

import ctypes
import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLongError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from generator.contracts import Maker
from generator.pipeline.evaluate import Task
from generator.pipeline.result_store import Store
from generator.pipeline.worker import Done, attempt, made

# What evaluations take beside what ``preload`` imports: shared, it costs one import instead of one for each process that needs it.
EVALUATING = ("torch", "transformers.models.auto.modeling_auto")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1  # that this process may use
M_MMAP_THRESHOLD, LARGE = -3, 2**20  # A parameter of glibc's mallopt, and bytes.


@dataclass(frozen=True)
class Limits:
    """What one checkpoint may take: seconds, and bytes of a process's own memory."""

    seconds: float = 600.0
    memory: int = 4 * 2**30


@dataclass(frozen=True)
class _Processes:
    pool: Any
    limits: Limits

    def submit(self, task: Task, store: Store, key: str) -> "Future[Done]":
        future: Future[Done] = self.pool.schedule(attempt, args=(task, store, key), timeout=self.limits.seconds)
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
    _give_back_memory()
    workers = min(jobs, max(n_rows, CORES))
    with ProcessPool(max_workers=workers, context=_context(n_rows), initializer=_begin, initargs=(within.memory,)) as pool:
        try:
            yield _Processes(pool, within)
        except BaseException:
            pool.stop()  # Nobody waits any longer for what is under way.
            raise


def _context(n_rows: int) -> Any:
    """How processes are started: on Linux from one that has imported the large libraries once, whose memory they share."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    multiprocessing.set_forkserver_preload([*(EVALUATING if n_rows else ()), "generator.pipeline.preload"])
    return multiprocessing.get_context("forkserver")


def _give_back_memory() -> None:
    """Have glibc return the memory of large arrays once they are gone; without that it learns from the first of them to keep it."""
    with suppress(AttributeError, OSError, TypeError):  # Other systems have no such thing.
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)


def _begin(most: int) -> None:
    _give_back_memory()
    _limit_memory(most)


def _limit_memory(most: int) -> None:
    """Bound what this process may take for its own data; libraries mapped from files do not count."""
    try:
        import resource
    except ImportError:  # There is no such thing on Windows.
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounded = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bounded, hard))
