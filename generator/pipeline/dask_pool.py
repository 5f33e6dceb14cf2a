"""Who does the work of a run elsewhere: the workers of a dask.distributed scheduler, none of whom is waited for without end."""

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLongError
from contextlib import contextmanager, suppress
from threading import Event, RLock, Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from generator.errors import RefusedError, RowError
from generator.pipeline.evaluate import Task
from generator.pipeline.result_store import Store
from generator.pipeline.worker import Done, Workers, attempt

REACH_SECONDS = 10.0
WORKERS_SECONDS = 30.0  # Workers may come after their scheduler, and others for those that are lost.
WATCH_SECONDS = 0.5
STARTED = "position-atlas-started"


class _LostError(Exception):
    """Nobody is left to do what is under way."""


class _Cluster:
    """What is under way, by the scheduler's keys, and since when and where it runs. Several threads hear of it, one at a time."""

    def __init__(self, client: Any, address: str, code: str, seconds: float) -> None:
        self.client, self.address, self.code, self.seconds = client, address, code, seconds
        self.given: dict[str, tuple[Any, Future[Done]]] = {}
        self.running: dict[str, tuple[float, str]] = {}
        self.heard = monotonic()  # when a row last started or ended
        self.lock = RLock()

    def submit(self, task: Task, store: Store, key: str) -> "Future[Done]":  # noqa: ARG002 (others have disks of their own)
        future: Future[Done] = Future()
        with self.lock:
            there = self.client.submit(attempt_elsewhere, task, self.code, pure=False)
            self.given[there.key] = there, future
        there.add_done_callback(self._ended)
        return future

    def reason(self, error: BaseException) -> str:
        if isinstance(error, _LostError):
            raise RefusedError(f"--cluster {self.address}: {error}; what was finished is kept, and the former site stands")
        if isinstance(error, TooLongError):
            return f"took longer than {self.seconds:g} seconds"
        said = f"its worker was lost ({type(error).__name__}: {' '.join(str(error).split())[:160]})"
        return str(error) if isinstance(error, RowError) else said

    def started(self, event: tuple[float, tuple[str, str]]) -> None:
        """A worker begins with a row; again, if it was lost with another worker."""
        key, worker = event[1]
        with self.lock:
            if key not in self.given:
                return  # Another build's, or no longer waited for.
            self.heard = monotonic()
            self.running[key] = self.heard, worker
            _, future = self.given[key]
            if not future.running():
                future.set_running_or_notify_cancel()

    def watch(self, over: Event) -> None:
        """End what takes too long, and everything when nobody works, until all is over."""
        peopled = monotonic()
        while not over.wait(WATCH_SECONDS):
            now = monotonic()
            with self.lock:
                late = {key: worker for key, (began, worker) in self.running.items() if now - began > self.seconds}
            for key, worker in late.items():
                self._settle(key, TooLongError())
                Thread(target=self._restart, args=(worker,), daemon=True).start()
            peopled = now if self._has_workers() else peopled
            if now - peopled > WORKERS_SECONDS:
                self.give_up(f"no worker for {WORKERS_SECONDS:g} seconds; expected one, as from `dask worker {self.address}`")
            elif now - self.heard > self.seconds:
                self.give_up(f"no worker took up a row for {self.seconds:g} seconds; expected one that is free")

    def give_up(self, reason: str) -> None:
        """Wait for nothing any more."""
        for key in list(self.given):
            self._settle(key, _LostError(reason))

    def _ended(self, there: Any) -> None:
        if there.cancelled():
            self._settle(there.key, _LostError("its scheduler was lost"))
            return
        try:
            self._settle(there.key, there.result())
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # However a worker ends, it is the end of one row alone.
            self._settle(there.key, error)

    def _settle(self, key: str, result: Done | BaseException) -> None:
        """That came of it, whatever may still come."""
        with self.lock:
            if key not in self.given:
                return
            self.heard = monotonic()
            self.running.pop(key, None)
            there, future = self.given.pop(key)
        there.release()  # The scheduler forgets it; nobody waits here.
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)

    def _has_workers(self) -> bool:
        with suppress(Exception):  # Whoever does not answer has none that can be reached.
            return bool(self.client.sync(self.client.scheduler.ncores, callback_timeout=REACH_SECONDS))
        return False

    def _restart(self, worker: str) -> None:
        """Free a worker from what never ends; one without a nanny keeps at it, and its thread is lost."""
        with suppress(Exception):
            self.client.restart_workers([worker], timeout=REACH_SECONDS)


def scheduler(address: str) -> str:
    """``address`` itself.

    errors: RefusedError when nobody can be there
    """
    try:
        parts = urlsplit(address)
        well_formed = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port and not parts.path
    except ValueError:
        well_formed = False
    if not well_formed:
        raise RefusedError(f"--cluster {address!r}: not the address of a scheduler; expected one as tcp://host:port")
    return address


@contextmanager
def cluster(n_rows: int, *, address: str, code: str, seconds: float) -> Iterator[Workers]:  # noqa: ARG001 (they run already)
    """The workers of a dask.distributed scheduler; a row of one that is lost goes to another.

    seconds: that a row may take once it has started
    errors: RefusedError when the extra is not installed or nobody answers there
    """
    try:
        from distributed import Client, Security
    except ImportError:
        raise RefusedError("--cluster: dask.distributed is not installed; expected `pip install .[cluster]`") from None
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # What it would show as a traceback is told in a sentence here.
    if address.startswith("tls:") and Security().get_connection_args("client").get("ssl_context") is None:
        raise RefusedError(f"--cluster {address}: no certificate in dask's settings; expected one under distributed.comm.tls")
    try:
        client = Client(address, timeout=REACH_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RefusedError(f"--cluster {address}: no scheduler ({type(error).__name__}); expected one, as tcp://host:port") from None
    with client:
        pool, over = _Cluster(client, address, code, seconds), Event()
        client.subscribe_topic(STARTED, pool.started)
        watching = Thread(target=pool.watch, args=(over,), daemon=True)
        watching.start()
        try:
            yield pool
        finally:
            over.set()
            pool.give_up("ended")  # Also by Ctrl+C: rows that wait are taken back.
            watching.join(REACH_SECONDS)


def attempt_elsewhere(task: Task, code: str) -> Done:
    """``attempt`` on another machine, if that has the same code and the same libraries.

    errors: RowError
    """
    from distributed import get_worker

    from generator.pipeline import versions

    worker = get_worker()
    worker.log_event(STARTED, (worker.get_current_task(), worker.address))
    if versions.code() != code:
        raise RowError("its worker has other code or other libraries; expected the same checkout and the same versions everywhere")
    return attempt(task)
