"""What is done elsewhere than in the main process, and the interfaces of those who do it."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from threadpoolctl import threadpool_limits

from generator.contracts import Maker
from generator.pipeline.evaluate import Task, all_sources, study
from generator.pipeline.result_store import Store, pack, packed


@dataclass(frozen=True)
class Done:
    """What a worker sends back: a packed outcome, if it has not put that into the store itself, and what it took."""

    packed: bytes | None
    seconds: float
    received: int


class Workers(Protocol):
    """Whoever does the work: processes on this machine or on others."""

    def submit(self, task: Task, store: Store, key: str) -> "Future[Done]":
        """Do ``attempt`` of a task sometime; whoever shares no disk with the store leaves it out."""

    def reason(self, error: BaseException) -> str:
        """What an error says of the worker that it comes from."""


class Makers(Protocol):
    """Whoever makes all else: processes on this machine, which read results from its own disk."""

    def make(self, maker: Maker) -> "Future[bytes]":
        """Do ``made`` of it sometime."""

    def reason(self, error: BaseException) -> str:
        """As that of workers."""


class Pool(Workers, Makers, Protocol):
    """Both."""


@dataclass(frozen=True)
class Pools:
    """The pools of a build; each starts when it is called with the number of new rows.

    local: evaluates checkpoints and draws what compares them
    cluster: evaluates them in its place
    """

    local: Callable[[int], AbstractContextManager[Pool]]
    cluster: Callable[[int], AbstractContextManager[Workers]] | None = None


def received() -> int:
    """Bytes that came to this process over the network."""
    return sum(source.received() for source in all_sources())


def attempt(task: Task, store: Store | None = None, key: str = "") -> Done:
    """The study of one task, by whichever process this is; what succeeds goes to ``store``, where that is at hand, and all else back.

    errors: MemoryError
    """
    begun, before = monotonic(), received()
    outcome, sent = study(task), None
    try:
        if store is None or outcome.status != "ok":
            sent = pack(outcome)
        else:
            store.put(key, packed(outcome))
    except OSError:
        sent = pack(outcome)  # Whoever waits for it will say what is wrong with the disk.
    return Done(sent, monotonic() - begun, received() - before)


def made(make: Maker) -> bytes:
    """What ``make`` returns, by whichever process this is."""
    with threadpool_limits(1):  # More threads would change the last digits, and with them the bytes.
        return make()
