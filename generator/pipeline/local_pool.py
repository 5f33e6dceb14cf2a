"""Processes on this machine as an executor, each within limits of time and memory."""

import ctypes
import gc
import math
import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from concurrent.futures import TimeoutError as TooLongError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from multiprocessing import resource_tracker
from multiprocessing.reduction import ForkingPickler
from threading import active_count, current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

from generator.errors import NO_PROCESS, RefusedError, RowError, of_system
from generator.pipeline.executor import Executor, result_of
from generator.pipeline.stderr import quietly

if TYPE_CHECKING:
    from generator.contracts import own
    from generator.reading.plan import Task

DRAWING, EVALUATING = "generator.figures.preload", "generator.pipeline.preload"
READING, WITHOUT_TORCH = "generator.reading.preload", "generator.reading.without_torch"
# that this process may use
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
# How a process ends whose timer of processor time has run out.
TOO_BUSY = (-signal.SIGPROF,) if hasattr(signal, "SIGPROF") else ()
LEAST_FILES = 64  # that a pool may open at once; one of a single process opens 18
M_MMAP_THRESHOLD, MMAP_BYTES = -3, 2**20  # A parameter of glibc's mallopt, and bytes.

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """What one checkpoint may take.

    processor: seconds of processor time, of which other programs take none; Windows has no such
        limit
    seconds: of any time, for what waits for ever; memory: bytes of a process's own
    """

    processor: float = 600.0
    seconds: float = 3600.0
    memory: int = 4 * 2**30

    def __mul__(self, times: int) -> "Limits":
        return Limits(self.processor * times, self.seconds * times, self.memory * times)

    def __str__(self) -> str:
        """In words."""
        return (
            f"{self.memory / 2**30:g} GiB of memory, {self.processor:g} seconds of processor time"
            f" and {self.seconds:g} seconds in all"
        )


class _PoolExecutor:
    """A pool of processes, which is opened by the first call."""

    shares_disk = True

    def __init__(self, open_pool: Callable[[], Any], limits: Limits, *, is_tracked: bool) -> None:
        self.pool, self.limits, self.is_tracked = cache(open_pool), limits, is_tracked

    def submit(
        self, function: Callable[..., T], /, *arguments: object, times: int = 1
    ) -> "Future[T]":
        limits = self.limits * times
        # Pebble would lose a call that a process fails to unpickle, and wait for it for ever.
        call = bytes(ForkingPickler.dumps((function, arguments)))
        # The first call starts processes and the threads that will start others.
        with _without_interrupts(is_tracked=self.is_tracked):
            try:
                future: Future[T] = self.pool().schedule(
                    _limited, args=(limits, call), timeout=limits.seconds
                )
            except RuntimeError as error:  # Pebble's, where no process can start.
                raise BrokenExecutor(str(error)) from error
        return future

    def explain(self, error: BaseException, times: int = 1) -> str:
        limits = self.limits * times
        if isinstance(error, TooLongError):
            return f"took longer than {limits.seconds:g} seconds"
        if isinstance(error, MemoryError):
            most, name = min(
                (limits.memory, "memory"), (_most("RLIMIT_AS"), "addresses (ulimit -v)")
            )
            return f"needed more than {most / 2**30:.3g} GiB of {name}"
        if not hasattr(error, "exitcode"):
            return f"unexpected {type(error).__name__}: {error}"
        if error.exitcode in TOO_BUSY:
            return f"took more than {limits.processor:g} seconds of processor time"
        code = error.exitcode or type(error).__name__
        return f"its process ended with code {code}; it had {limits}"


@contextmanager
def processes(
    n_rows: int = 0,
    shares_models: bool = False,
    *,
    jobs: int,
    limits: Limits | None = None,
    preload: tuple[str, ...] = (DRAWING,),
) -> Iterator[Executor]:
    """At most ``jobs`` processes, for ``n_rows`` new checkpoints, or to draw alone. They start with
    the first call; one that crashes or exceeds the limits costs its own call alone.

    shares_models: whether torch and models of transformers are imported once for all; otherwise by
        each that needs them
    preload: what all share where there are no new checkpoints
    errors: RefusedError where too few files may be open, for which Python has a traceback alone
    """
    n_workers = min(jobs, max(n_rows, CORES))
    evaluating = ["torch", EVALUATING] if shares_models else [EVALUATING]
    shared = evaluating if n_rows else [*preload]
    with _executor(partial(_context, shared), n_workers, limits or Limits()) as executor:
        yield executor


@contextmanager
def reading(*more: str) -> Iterator[Executor]:
    """One process that reads checkpoints, for commands that build no site: a copy of this one, to
    which Python and half of what it needs are imported already.

    more: modules that it imports
    errors: as of ``processes``
    """
    needed = (READING, *more)
    # A copy has no other thread, and would wait for those of OpenMP.
    if sys.platform != "linux" or "torch" in sys.modules or active_count() > 1:
        with processes(jobs=1, preload=needed) as executor:
            yield executor
    else:
        copying = partial(multiprocessing.get_context, "fork")
        with _executor(copying, 1, Limits(), needed) as executor:
            yield executor


@contextmanager
def _executor(
    context: Callable[[], Any], n_workers: int, limits: Limits, imported: Sequence[str] = ()
) -> Iterator[Executor]:
    """context: how processes are started; imported: modules by each, as which they are copies of
    this one

    errors: as of ``processes``
    """
    if (most := _most("RLIMIT_NOFILE")) < LEAST_FILES:
        raise RefusedError(
            f"{most:g} files may be open (ulimit -n); expected at least {LEAST_FILES}"
        )
    with ExitStack() as stack:
        from generator.contracts import own  # Help needs none.

        begin = partial(_begin, limits.memory, own.used(), imported)
        yield _PoolExecutor(
            lambda: stack.enter_context(_pool(n_workers, context(), begin)),
            limits,
            is_tracked=not imported,
        )


def within_limits(executor: Executor, function: Callable[..., T], *tasks: "Task") -> T:
    """The result of ``function``, within the limits of a row of a build.

    errors: as of ``result_of``, with the names of the checkpoints; RowError for those of the system
    """
    where = f"{' and '.join(task.checkpoint.id for task in tasks)}: "
    try:
        result: T = result_of(executor, quietly, function, *tasks, where=where)
    except OSError as error:
        raise RowError(f"{of_system(error)}; expected a file that can be read") from None
    except BrokenExecutor:
        raise RowError(where + NO_PROCESS) from None
    return result


@contextmanager
def _pool(n_workers: int, context: Any, begin: Callable[[], None]) -> Iterator[Any]:
    from pebble import ProcessPool

    _give_back_memory()
    with ProcessPool(max_workers=n_workers, context=context, initializer=begin) as pool:
        try:
            yield pool
        except BaseException:
            pool.stop()  # Calls under way are given up.
            for child in multiprocessing.active_children():
                child.kill()  # One that has hardly begun would complain that its pool is gone.
            raise


@contextmanager
def _without_interrupts(*, is_tracked: bool) -> Iterator[None]:
    """Hold Ctrl+C back until the block ends; processes and threads that start in it never get it,
    and end when the pool says so.

    is_tracked: whether the pool needs the process of Python that clears away what is shared
    """
    if not hasattr(signal, "pthread_sigmask") or current_thread() is not main_thread():
        yield
        return
    came: list[tuple[Any, ...]] = []
    handler = signal.signal(signal.SIGINT, lambda *arguments: came.append(arguments))
    if is_tracked:
        resource_tracker.ensure_running()  # It would let Ctrl+C through when it starts.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
        if came and callable(handler):
            handler(*came[0])


def _context(shared: list[str]) -> Any:
    """How processes are started: on Linux from one that has imported the modules ``shared`` once,
    whose memory they share.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    multiprocessing.set_forkserver_preload(shared)
    return multiprocessing.get_context("forkserver")


def _give_back_memory() -> None:
    """Have glibc return the memory of large arrays once they are gone; without that it learns from
    the first of them to keep it.
    """
    with suppress(AttributeError, OSError, TypeError):  # Other systems have no such thing.
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, MMAP_BYTES)


def _limited(limits: Limits, call: bytes) -> Any:
    """The result of a pickled function with its arguments; the system ends this process where it
    takes more than its processor time, and gives it no more than its memory.
    """
    function, arguments = pickle.loads(call)  # noqa: S301 (of this program)
    _limit_memory(limits.memory)
    if not hasattr(signal, "setitimer"):
        return function(*arguments)
    signal.setitimer(signal.ITIMER_PROF, limits.processor)
    try:
        return function(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _begin(most: int, beside: "own.Used", imported: Sequence[str]) -> None:
    for name in imported:
        with suppress(ImportError):  # Said by what needs it.
            import_module(name)
    # It takes a tenth of the time; cycles are those of figures, after each of which ``svg.encode``
    # collects what is new.
    gc.disable()
    _give_back_memory()
    _limit_memory(most)
    from generator.contracts import own  # Help needs none.

    own.use(*beside)


def _most(limit: str) -> float:
    """How much the system lets this process, and each that it starts, have."""
    with suppress(ImportError):  # There is no such thing on Windows.
        import resource

        if (soft := resource.getrlimit(getattr(resource, limit))[0]) != resource.RLIM_INFINITY:
            return soft
    return math.inf


def _limit_memory(most: int) -> None:
    """Bound what this process may take for its own data; libraries mapped from files do not
    count.
    """
    try:
        import resource
    except ImportError:  # There is no such thing on Windows.
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounded = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bounded, hard))
