"""Evaluation on other machines: the workers of a dask.distributed scheduler as an executor. Each
has processes of its own, with the limits of those on this machine.
"""

import asyncio
import atexit
import logging
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from threading import Event, Lock, RLock, Thread
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

from generator.contracts import own
from generator.errors import RefusedError, RowError
from generator.pipeline import local_pool
from generator.pipeline.executor import Executor, result_of

REACH_SECONDS = 10.0
# Workers may come after their scheduler, and others for those that are lost.
WORKERS_SECONDS = 30.0
WATCH_SECONDS = 0.5

T = TypeVar("T")
_opening = Lock()


class _ClusterLostError(Exception):
    """No scheduler or no worker is left."""


class _ClusterExecutor:
    """Futures under way by the scheduler's keys. Callbacks of several threads come in, one at a
    time.

    address: of the scheduler; code: ``versions.evaluation()``, which workers must have too
    """

    shares_disk = False

    def __init__(self, client: Any, address: str, code: str) -> None:
        self.client, self.address, self.code = client, address, code
        self.pending: dict[str, tuple[Any, Future[Any]]] = {}
        self.lock = RLock()

    def submit(
        self, function: Callable[..., T], /, *arguments: object, times: int = 1
    ) -> "Future[T]":
        future: Future[T] = Future()
        with self.lock:
            # Not pure: dask would answer an equal call with what the first one returned.
            remote = self.client.submit(
                run_on_worker, function, arguments, times, self.code, own.used(), pure=False
            )
            self.pending[remote.key] = remote, future
        remote.add_done_callback(self._ended)
        return future

    def explain(self, error: BaseException, times: int = 1) -> str:  # noqa: ARG002
        if isinstance(error, _ClusterLostError):
            raise RefusedError(
                f"--cluster {self.address}: {error}; finished work is kept, and the last site"
                " remains"
            )
        if isinstance(error, RowError):
            return str(error)
        return f"its worker was lost ({type(error).__name__}: {' '.join(str(error).split())[:160]})"

    def watch(self, over: Event) -> None:
        """Until ``over``, end all calls when no worker is left."""
        last_worker = monotonic()
        while not over.wait(WATCH_SECONDS):
            if self._has_workers():
                last_worker = monotonic()
            elif monotonic() - last_worker > WORKERS_SECONDS:
                self.give_up(
                    f"no worker for {WORKERS_SECONDS:g} seconds; expected one, as from `dask worker"
                    f" {self.address}`"
                )

    def give_up(self, reason: str) -> None:
        """End every future that is pending."""
        for key in list(self.pending):
            self._settle(key, _ClusterLostError(reason))

    def _ended(self, remote: Any) -> None:
        if remote.cancelled():
            self._settle(remote.key, _ClusterLostError("its scheduler was lost"))
            return
        try:
            self._settle(remote.key, remote.result())
        # However a worker ends, it is the end of one row alone.
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001
            self._settle(remote.key, error)

    def _settle(self, key: str, result: object) -> None:
        """Set the result or the error of a future; whatever comes later is ignored."""
        with self.lock:
            if key not in self.pending:
                return
            remote, future = self.pending.pop(key)
        remote.release()  # The scheduler forgets it.
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)

    def _has_workers(self) -> bool:
        with suppress(Exception):  # A scheduler that does not answer has none within reach.
            return bool(
                self.client.sync(self.client.scheduler.ncores, callback_timeout=REACH_SECONDS)
            )
        return False


def scheduler(address: str) -> str:
    """``address`` itself.

    errors: RefusedError when it is not the address of one
    """
    with suppress(ValueError):
        parts = urlsplit(address)
        if parts.scheme in ("tcp", "tls") and parts.hostname and parts.port and not parts.path:
            return address
    raise RefusedError(
        f"--cluster {address!r}: not the address of a scheduler; expected one as tcp://host:port"
    )


@contextmanager
def cluster(*, address: str, code: str) -> Iterator[Executor]:
    """The workers of a dask.distributed scheduler; a call of one that is lost goes to another.

    code: ``versions.evaluation()``
    errors: RefusedError when the extra is not installed, no scheduler answers, or dask's settings
        have no certificate for one over TLS
    """
    try:
        from distributed import Client
    except ImportError:
        raise RefusedError(
            "--cluster: dask.distributed is not installed; expected `pip install .[cluster]`"
        ) from None
    for name in ("distributed", "distributed.client"):
        # Its tracebacks become one sentence each here.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=REACH_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise RefusedError(
            f"--cluster {address}: no scheduler ({type(error).__name__}); expected one, as"
            " tcp://host:port"
        ) from None
    with client:
        executor, over = _ClusterExecutor(client, address, code), Event()
        watching = Thread(target=executor.watch, args=(over,), daemon=True)
        watching.start()
        try:
            yield executor
        finally:
            over.set()
            executor.give_up("ended")  # Also by Ctrl+C: calls that wait are cancelled.
            watching.join(REACH_SECONDS)


def run_on_worker(
    function: Callable[..., T],
    arguments: tuple[object, ...],
    times: int,
    code: str,
    beside: own.Used,
) -> T:
    """The result of ``function`` in a process of a worker; beside: as of ``own.used``

    errors: as of ``result_of``; RowError unless the worker has the same code, also beside the list,
        and the same libraries
    """
    from distributed import get_worker

    from generator.pipeline import versions

    with _opening:
        own.use(*beside)
        if versions.evaluation() != code:
            raise RowError(
                "its worker has different code or libraries; expected the same checkout, the same"
                " versions and the same extensions beside the list everywhere"
            )
        executor = _own_processes(get_worker().state.nthreads, code)
    return result_of(executor, function, *arguments, times=times)


@cache
def _own_processes(n_threads: int, code: str) -> Executor:  # noqa: ARG001 (what they imported)
    """Processes of this worker, as many as it has threads, which end with it."""
    # The worker of a nanny is a daemon, which multiprocessing lets have no processes.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(local_pool.processes(n_threads, True, jobs=n_threads))
