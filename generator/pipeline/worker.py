"""What runs in other processes than the main one."""

from dataclasses import dataclass
from time import monotonic

from threadpoolctl import threadpool_limits

from generator.contracts import Maker
from generator.pipeline.evaluate import Task, all_sources, evaluate
from generator.pipeline.result_store import ResultStore, pack, packed


@dataclass(frozen=True)
class Done:
    """A finished evaluation: the packed outcome, unless it is in the store already, the seconds it took, and the bytes it received."""

    packed: bytes | None
    seconds: float
    received: int


def received() -> int:
    """Bytes that this process has received over the network."""
    return sum(source.received() for source in all_sources())


def run_task(task: Task, store: ResultStore | None, key: str) -> Done:
    """Evaluate ``task``. An outcome without failure goes into ``store`` under ``key``; any other, or all of them without a store, is returned.

    errors: MemoryError
    """
    begun, before = monotonic(), received()
    outcome, returned = evaluate(task), None
    try:
        if store is None or outcome.status != "ok":
            returned = pack(outcome)
        else:
            store.put(key, packed(outcome))
    except OSError:
        returned = pack(outcome)  # The main process reports what is wrong with the disk.
    return Done(returned, monotonic() - begun, received() - before)


def make(maker: Maker) -> bytes:
    """The result of ``maker``."""
    with threadpool_limits(1):  # More threads would change the last digits, and with them the bytes.
        return maker()
