"""Queries and keys of a model whose attention turns pairs of their components."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from generator.checkpoints.model.running.positions import places
from generator.checkpoints.model.running.stack import RunningStack
from generator.checkpoints.model.running.watch import hooked
from generator.errors import NotApplicableError
from generator.numerics.arrays import Array, Floats

ATTENTION, HALF_TURN = "eager_attention_forward", "rotate_half"  # Functions of its code.


def pairs(stack: RunningStack) -> Array:
    """The two components of each pair that a rotation turns, fastest first: (n_pairs, 2), int.

    errors: NotApplicableError where it has no rotation, or pairs of another kind
    """
    import torch

    rotations = places(stack).rotations
    if not rotations:
        raise NotApplicableError("it has no rotation")
    code = sys.modules[type(stack.attention.modules[0]).__module__]
    half_turn = getattr(code, HALF_TURN, None)
    n_pairs = _n_pairs(stack, rotations[0])
    if half_turn is None or n_pairs < 2:
        raise NotApplicableError("it is not known here which components its rotation pairs")
    # (a, b) becomes (−b, a), so a turned row tells which component takes the place of which.
    turned = half_turn(torch.arange(1.0, 2 * n_pairs + 1)).cpu().numpy()
    firsts = np.flatnonzero(turned < 0)
    found = np.stack([firsts, (-turned[firsts]).astype(np.int64) - 1], axis=1)
    if len(found) != n_pairs:
        raise NotApplicableError("it is not known here which components its rotation pairs")
    return found


def _n_pairs(stack: RunningStack, rotation: Any) -> int:
    """How many pairs the first rotation turns."""
    counts = [0]

    def note(_module: Any, _given: object, output: object) -> None:
        if isinstance(output, tuple):
            counts.append(output[0].shape[-1] // 2)

    with hooked([rotation], note):
        stack.read_once()
    return int(counts[-1])


OnHeads = Callable[[int, Any, Any, Any], None]


@contextmanager
def heads_watched(stack: RunningStack, on_heads: OnHeads) -> Iterator[None]:
    """In the block, ``on_heads`` gets the layer, and queries (batch, n_heads, n, d_head), keys and
    values (batch, n_key_heads, n, d_head) of each layer as it is read: as attention multiplies
    them, so the former two are normed, where the model norms them, and turned.

    errors: NotApplicableError where the code computes attention elsewhere
    """
    code = sys.modules[type(stack.attention.modules[0]).__module__]
    original = getattr(code, ATTENTION, None)
    if original is None:
        raise NotApplicableError(
            "its code computes attention in a way that cannot be observed here"
        )
    layers = {id(module): layer for layer, module in enumerate(stack.attention.modules)}

    def watched(module: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        if id(module) in layers:
            on_heads(layers[id(module)], query, key, value)
        return original(module, query, key, value, *args, **kwargs)

    setattr(code, ATTENTION, watched)
    try:
        yield
    finally:
        setattr(code, ATTENTION, original)


@contextmanager
def without(stack: RunningStack, pairs_off: Array) -> Iterator[None]:
    """In the block, pairs (n, 2) of components do not turn."""
    columns = pairs_off.reshape(-1)

    def still(_module: Any, _given: object, output: Any) -> Any:
        cosine, sine = (value.clone() for value in output)
        cosine[..., columns], sine[..., columns] = 1.0, 0.0
        return cosine, sine

    with hooked(places(stack).rotations, still):
        yield


def wavelengths(stack: RunningStack) -> Floats:
    """Positions in which each pair of the first rotation turns once: (n_pairs,)."""
    frequencies = places(stack).rotations[0].inv_freq.double().cpu().numpy()
    return np.asarray(2.0 * np.pi / frequencies)
