"""The attention of a model while it reads: one layer at a time, nothing of which is kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

OnAttention = Callable[[int, Any], None]
SUM = 1e-3  # Tolerance of the sum of a row; a sink takes a part of it.


def attention_modules(run: Callable[[], object], root: Any) -> tuple[Any, ...]:
    """The modules below ``root`` that return attention of a text to itself while ``run`` runs, the
    first caller of each alone, in the order of the calls.
    """
    found: list[Any] = []
    # By address; without them, another tensor may take the place of one in memory.
    seen: dict[int, Any] = {}

    def note(module: Any, _: object, output: object) -> None:
        weights = attention_in(output)
        if weights is not None and weights.data_ptr() not in seen:
            seen[weights.data_ptr()] = weights
            if module not in found:
                found.append(module)

    with hooked(root.modules(), note):
        run()
    return tuple(found)


@contextmanager
def hooked(modules: Iterable[Any], hook: Callable[[Any, Any, Any], Any]) -> Iterator[None]:
    """In the block, ``hook`` gets each of ``modules``, what it is given, and its output, in whose
    place comes what the hook returns.
    """
    with ExitStack() as stack:
        for module in modules:
            stack.callback(module.register_forward_hook(hook).remove)
        yield


def attention_in(output: object) -> Any:
    """The weights (batch, heads, n, n) among what a module returns; None without them."""
    for value in output if isinstance(output, tuple) else ():
        shape = tuple(getattr(value, "shape", ()))
        if len(shape) == 4 and shape[2] == shape[3] > 1 and _are_shares(value):
            return value
    return None


def _are_shares(values: Any) -> bool:
    sums = values.detach().sum(dim=-1)
    return bool(values.detach().min() >= 0.0 and sums.max() <= 1.0 + SUM and sums.min() > 0.0)


@contextmanager
def watched(modules: Sequence[Any], on_attention: OnAttention) -> Iterator[None]:
    """In the block, ``on_attention`` gets the layer and the weights (batch, heads, n, n) of each
    call of one of ``modules``; a module that is called again is another layer.
    """
    calls = 0

    def report(_module: Any, _: object, output: object) -> None:
        nonlocal calls
        weights = attention_in(output)
        if weights is not None:
            on_attention(calls, weights)
            calls += 1

    with hooked(modules, report):
        yield
