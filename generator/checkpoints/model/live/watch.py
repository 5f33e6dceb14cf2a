"""The attention of a model while it reads: one layer at a time, nothing of which is kept."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

OnAttention = Callable[[int, Any], None]
SUM = 1e-3  # Tolerance of the sum of a row; a sink takes a part of it.


def attention_modules(run: Callable[[], object], root: Any) -> tuple[Any, ...]:
    """The modules below ``root`` that return attention of a text to itself while ``run`` runs, the
    first caller of each alone, in the order of the calls.
    """
    found: list[Any] = []
    seen: set[int] = set()

    def note(module: Any, _: object, output: object) -> None:
        weights = attention_in(output)
        if weights is not None and weights.data_ptr() not in seen:
            seen.add(weights.data_ptr())
            kept.append(weights)  # Else another tensor may take its place in memory.
            if module not in found:
                found.append(module)

    kept: list[Any] = []
    handles = [module.register_forward_hook(note) for module in root.modules()]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return tuple(found)


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

    handles = [module.register_forward_hook(report) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
