"""Evaluation on other machines: the workers of a dask.distributed scheduler as an executor, with
time limits on all waiting.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLongError
from contextlib import contextmanager, suppress
from threading import Event, RLock, Thread
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

from generator.errors import RefusedError, RowError
from generator.pipeline.executor import Executor

REACH_SECONDS = 10.0
# Workers may come after their scheduler, and others for those that are lost.
WORKERS_SECONDS = 30.0
WATCH_SECONDS = 0.5
STARTED = "position-atlas-started"

T = TypeVar("T")


class _ClusterLostError(Exception):
    """No scheduler or no worker is left."""


class _ClusterExecutor:
    """Futures under way by the scheduler's keys, and when and where each started. Callbacks of
    several threads come in, one at a time.

    address: of the scheduler; code: digest of the program, which workers must have too; seconds:
        limit of one call once it has started
    """

    shares_disk = False

    def __init__(self, client: Any, address: str, code: str, seconds: float) -> None:
        self.client, self.address, self.code, self.seconds = client, address, code, seconds
        self.pending: dict[str, tuple[Any, Future[Any]]] = {}
        self.times: dict[str, int] = {}
        self.running: dict[str, tuple[float, str]] = {}
        self.last_event = monotonic()  # when a call last started or ended
        self.lock = RLock()

    def submit(
        self, function: Callable[..., T], /, *arguments: object, times: int = 1
    ) -> "Future[T]":
        future: Future[T] = Future()
        with self.lock:
            # Not pure: dask would answer an equal call with what the first one returned.
            remote = self.client.submit(run_on_worker, function, arguments, self.code, pure=False)
            self.pending[remote.key] = remote, future
            self.times[remote.key] = times
        remote.add_done_callback(self._ended)
        return future

    def explain(self, error: BaseException, times: int = 1) -> str:
        if isinstance(error, _ClusterLostError):
            raise RefusedError(
                f"--cluster {self.address}: {error}; finished work is kept, and the previous site"
                " remains"
            )
        if isinstance(error, TooLongError):
            return f"took longer than {self.seconds * times:g} seconds"
        if isinstance(error, MemoryError):
            return "needed more memory than its worker has"
        if isinstance(error, RowError):
            return str(error)
        return f"its worker was lost ({type(error).__name__}: {' '.join(str(error).split())[:160]})"

    def started(self, event: tuple[float, tuple[str, str]]) -> None:
        """Note that a worker has started a call; a second time if the first worker was lost."""
        key, worker = event[1]
        with self.lock:
            if key not in self.pending:
                return  # Another build's, or no longer waited for.
            self.last_event = monotonic()
            self.running[key] = self.last_event, worker
            _, future = self.pending[key]
            if not future.running():
                future.set_running_or_notify_cancel()

    def watch(self, over: Event) -> None:
        """Until ``over``, end calls that take too long, and all of them when no worker is left, or
        none has begun or ended a call for as long as one may take.
        """
        last_worker = monotonic()
        while not over.wait(WATCH_SECONDS):
            now = monotonic()
            with self.lock:
                late = {
                    key: worker
                    for key, (began, worker) in self.running.items()
                    if now - began > self.seconds * self.times[key]
                }
            for key, worker in late.items():
                self._settle(key, TooLongError())
                # In a thread, since a restart may take longer than the next call has.
                Thread(target=self._restart, args=(worker,), daemon=True).start()
            last_worker = now if self._has_workers() else last_worker
            if now - last_worker > WORKERS_SECONDS:
                self.give_up(
                    f"no worker for {WORKERS_SECONDS:g} seconds; expected one, as from `dask worker"
                    f" {self.address}`"
                )
            elif now - self.last_event > self.seconds * max(self.times.values(), default=1):
                self.give_up(
                    f"no worker accepted a row within {self.seconds:g} seconds; expected a free one"
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
            self.last_event = monotonic()
            self.running.pop(key, None)
            self.times.pop(key, None)
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

    def _restart(self, worker: str) -> None:
        """Free a worker from a call that never ends; without a nanny it goes on, and its thread is
        lost.
        """
        with suppress(Exception):
            self.client.restart_workers([worker], timeout=REACH_SECONDS)


def scheduler(address: str) -> str:
    """``address`` itself.

    errors: RefusedError when it is not the address of one
    """
    try:
        parts = urlsplit(address)
        well_formed = (
            parts.scheme in ("tcp", "tls") and parts.hostname and parts.port and not parts.path
        )
    except ValueError:
        well_formed = False
    if not well_formed:
        raise RefusedError(
            f"--cluster {address!r}: not the address of a scheduler; expected one as"
            " tcp://host:port"
        )
    return address


@contextmanager
def cluster(*, address: str, code: str, seconds: float) -> Iterator[Executor]:
    """The workers of a dask.distributed scheduler; a call of one that is lost goes to another.

    code: digest of the program; seconds: limit of one call once it has started
    errors: RefusedError when the extra is not installed, no scheduler answers, or dask's settings
        have no certificate for one over TLS
    """
    try:
        from distributed import Client, Security
    except ImportError:
        raise RefusedError(
            "--cluster: dask.distributed is not installed; expected `pip install .[cluster]`"
        ) from None
    for name in ("distributed", "distributed.client"):
        # Its tracebacks become one sentence each here.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if (
        address.startswith("tls:")
        and Security().get_connection_args("client").get("ssl_context") is None
    ):
        raise RefusedError(
            f"--cluster {address}: no certificate in dask's settings; expected one under"
            " distributed.comm.tls"
        )
    try:
        client = Client(address, timeout=REACH_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RefusedError(
            f"--cluster {address}: no scheduler ({type(error).__name__}); expected one, as"
            " tcp://host:port"
        ) from None
    with client:
        executor, over = _ClusterExecutor(client, address, code, seconds), Event()
        client.subscribe_topic(STARTED, executor.started)
        watching = Thread(target=executor.watch, args=(over,), daemon=True)
        watching.start()
        try:
            yield executor
        finally:
            over.set()
            executor.give_up("ended")  # Also by Ctrl+C: calls that wait are cancelled.
            watching.join(REACH_SECONDS)


def run_on_worker(function: Callable[..., T], arguments: tuple[object, ...], code: str) -> T:
    """The result of ``function`` on a worker.

    errors: RowError unless the worker has the same code and the same libraries
    """
    from distributed import get_worker

    from generator.pipeline import versions

    worker = get_worker()
    worker.log_event(STARTED, (worker.get_current_task(), worker.address))
    if versions.code() != code:
        raise RowError(
            "its worker has different code or libraries; expected the same checkout and versions"
            " everywhere"
        )
    return function(*arguments)
