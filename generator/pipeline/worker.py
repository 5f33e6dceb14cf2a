"""What runs in other processes than the main one."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from threadpoolctl import threadpool_limits

from generator.contracts import Checkpoint, Maker, Outcome
from generator.pipeline import keys
from generator.pipeline.evaluate import evaluate
from generator.pipeline.plan import Task, all_sources
from generator.pipeline.references import References
from generator.pipeline.result_store import ResultStore, pack, packed
from generator.pipeline.stderr import Captured, captured

T = TypeVar("T")


@dataclass(frozen=True)
class Done:
    """A finished evaluation: the packed outcome, unless it is in the store already, the seconds it
    took, the bytes it received, and its key.

    stderr: what libraries wrote to stderr; failure: why its process gave no result, None where it
        gave one
    """

    packed: bytes | None
    seconds: float
    received: int
    key: str | None = None
    stderr: str = ""
    failure: str | None = None


def received() -> int:
    """Bytes that this process has received over the network."""
    return sum(source.received() for source in all_sources())


def run_task(task: Task, store: ResultStore | None, key: str | None, code: str) -> Done:
    """Evaluate ``task``. An outcome without failure goes into ``store`` under its key; any other,
    or all of them without a store, is returned.

    key: the one from before the evaluation, which counts unless the outcome has the state of its
        files; code: digest of the program
    errors: MemoryError
    """
    begun, before = monotonic(), received()
    # Without a store, other calls may share this process.
    with nullcontext(Captured()) if store is None else captured() as stderr:
        outcome = evaluate(task, References(store.drawings if store else None, code))
    returned = None
    key = keys.key_of(task.checkpoint, outcome.state, code) if outcome.state else key
    try:
        if store is None or outcome.status != "ok":
            returned = pack(outcome)
        else:
            keep(outcome, store, key, packed(outcome))
    except OSError:
        returned = pack(outcome)  # The main process reports what is wrong with the disk.
    return Done(returned, monotonic() - begun, received() - before, key, stderr.text)


def keep(
    outcome: Outcome, store: ResultStore, key: str | None, chunks: Iterable[bytes | memoryview]
) -> None:
    """Put a packed outcome into ``store``, with what the next build needs to find it.

    errors: OSError
    """
    store.put(name_of(outcome.checkpoint, key), chunks)
    keys.note_questions(store.drawings, outcome)


def name_of(checkpoint: Checkpoint, key: str | None) -> str:
    """The name of an outcome in the store; one without a key has a name that no later run asks
    for.
    """
    return key or f"{checkpoint.slug}.once"


def quietly(function: Callable[..., T], *arguments: object) -> T:
    """The result of ``function``, while nobody sees what libraries write to stderr."""
    with captured():
        return function(*arguments)


def make(maker: Maker) -> bytes:
    """The result of ``maker``."""
    # More threads would change the last digits, and with them the bytes.
    with threadpool_limits(1):
        return maker()
