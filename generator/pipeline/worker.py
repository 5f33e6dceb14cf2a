"""What runs in other processes than the main one."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import monotonic
from typing import TypeVar

from threadpoolctl import threadpool_limits

from generator.cache.fingerprint import of_file
from generator.contracts import Maker
from generator.pipeline.evaluate import outcome_of
from generator.pipeline.packing import pack
from generator.pipeline.stderr import Captured, captured
from generator.pipeline.store import Store
from generator.reading.plan import Task, all_sources, source_of

T = TypeVar("T")


@dataclass(frozen=True)
class Done:
    """A finished evaluation.

    key: of its outcome in the store; packed: the outcome where it is not stored
    seconds: that it took; received: bytes over the network
    stderr: what libraries wrote to stderr; failure: why its process gave no result, None where it
        gave one
    """

    key: str | None = None
    packed: bytes | None = None
    seconds: float = 0.0
    received: int = 0
    stderr: str = ""
    failure: str | None = None


def received() -> int:
    """Bytes that this process has received over the network."""
    return sum(source.received() for source in all_sources())


def run_task(task: Task, store: Store | None) -> Done:
    """Evaluate ``task``. An outcome without failure goes into ``store``; any other, or all of them
    without a store, is returned.

    errors: MemoryError
    """
    begun, before = monotonic(), received()
    # Before the evaluation, so that what changes meanwhile counts as changed.
    state = source_of(task.checkpoint).state(task.checkpoint, of_file, ())
    # Without a store, other calls may share this process.
    with nullcontext(Captured()) if store is None else captured() as stderr:
        outcome = outcome_of(task, store)
    outcome = replace(outcome, state=outcome.state or state or "")
    key, returned = None, None
    try:
        if store is None or outcome.status != "ok":
            returned = pack(outcome)
        else:
            key = store.put(task, outcome)
    except OSError:
        returned = pack(outcome)  # The main process reports what is wrong with the disk.
    return Done(key, returned, monotonic() - begun, received() - before, stderr.text)


def make(maker: Maker) -> bytes:
    """The result of ``maker``."""
    # More threads would change the last digits, and with them the bytes.
    with threadpool_limits(1):
        return maker()
