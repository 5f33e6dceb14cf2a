"""Rotations as a model's own code applies them: its functions, called again on unit vectors, give
the whole matrix at every position.
"""

import hashlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

TURNS = re.compile(
    r"^_?(vision_)?apply_\w*(rot|rope)\w*$|^rotate_queries_or_keys$|^apply_multidimensional_rope$"
)
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Turn:
    """A rotation at the positions of one sequence.

    frequencies: radians per position, fastest first, one for each pair that is turned
    factor: length of the vector (cos, sin)
    steady: whether every pair turns by the same angle from each position to the next
    order: "adjacent" where a pair is two neighbouring components of a head, "halves" where it is
        one of each half of what is turned, "" for any other order and for a single pair
    """

    frequencies: tuple[float, ...]
    factor: float
    steady: bool
    order: str = ""


Call = Callable[[Callable[..., Any], Sequence[Any], Mapping[str, Any]], Any]


@contextmanager
def intercepted(model: Any, call: Call) -> Iterator[None]:
    """While open, ``call`` gets every call of a function or method of the model's code that turns
    queries and keys, the outermost alone.
    """
    inside = False

    def wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            if inside:
                return function(*args, **kwargs)
            inside = True
            try:
                return call(function, args, kwargs)
            finally:
                inside = False

        return wrapped

    found = list(_functions(model))
    for owner, name, raw in found:
        static = isinstance(raw, staticmethod)
        wrapped = wrapper(raw.__func__ if static else raw)
        setattr(owner, name, staticmethod(wrapped) if static else wrapped)
    try:
        yield
    finally:
        for owner, name, raw in found:
            setattr(owner, name, raw)


def _functions(model: Any) -> Iterator[tuple[Any, str, Any]]:
    """Owner, name and value of each function that turns, in the modules and classes of a model's
    code.
    """
    kinds = {
        kind
        for module in model.modules()
        for kind in type(module).__mro__
        if kind.__module__.startswith("transformers.models.")
    }
    owners = [*(sys.modules[name] for name in sorted({kind.__module__ for kind in kinds})), *kinds]
    for owner in owners:
        for name, value in list(vars(owner).items()):
            is_function = callable(value) or isinstance(value, staticmethod)
            if TURNS.search(name) and is_function and not isinstance(value, type):
                yield owner, name, value


def tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[int | str, Any]]:
    """Tensors among the arguments of a call, each with its place or name."""
    import torch

    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    return [(key, value) for key, value in given if isinstance(value, torch.Tensor)]


def all_tensors(value: Any) -> list[Any]:
    """The tensors of a result, which may be a tuple."""
    import torch

    if isinstance(value, tuple | list):
        return [tensor for item in value for tensor in all_tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


class Prober:
    """Measures calls; a call with the same angles as a former one is not measured again."""

    def __init__(self) -> None:
        self._known: dict[str, Turn | None] = {}

    def turn(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        length: int,
    ) -> Turn | None:
        """The rotation that ``function`` applies to its first argument shaped as its result; None
        when nothing is turned.

        length: of the sequence. errors: LookupError where no argument is shaped as the result, or
            no axis of it is as long as the sequence
        """
        results = all_tensors(function(*args, **kwargs))
        result, angles = results[0], tensors(args, kwargs)
        for made in results:  # What remains of the arguments are the angles.
            of = _shaped(angles, made)
            angles = [pair for pair in angles if pair[0] != of]
        place = _shaped(tensors(args, kwargs), result)
        if place is None or length not in result.shape[:-1]:
            raise LookupError(f"{function.__name__} returns the shape {tuple(result.shape)}")
        digest = hashlib.sha256(f"{function.__qualname__} {tuple(result.shape)}".encode())
        for _, value in angles:
            digest.update(value.detach().resolve_conj().cpu().numpy().tobytes())
        if digest.hexdigest() not in self._known:
            columns = []
            for component in range(result.shape[-1]):
                unit = result.new_zeros(result.shape)
                unit[..., component] = 1.0
                inner_args = [unit if key == place else value for key, value in enumerate(args)]
                named = {key: unit if key == place else value for key, value in kwargs.items()}
                inner = all_tensors(function(*inner_args, **named))[0]
                turned = inner.movedim(list(result.shape).index(length), 0)
                turned = turned.reshape(length, -1, result.shape[-1])[:, 0]
                columns.append(turned.double().numpy())
            self._known[digest.hexdigest()] = _measured(np.stack(columns, axis=2))
        return self._known[digest.hexdigest()]


def _shaped(given: Sequence[tuple[int | str, Any]], made: Any) -> int | str | None:
    """Place or name of the first floating tensor shaped as ``made``."""
    alike = [key for key, one in given if one.is_floating_point() and one.shape == made.shape]
    return next(iter(alike), None)


def _measured(matrices: np.ndarray) -> Turn | None:
    """The rotation of pairs of components by matrices (length, rows, columns); None when they turn
    nothing.

    Against the first, since some functions also put the components into another order: R₀ᵀ Rₚ turns
    by the angle between the two positions.
    """
    turns = matrices[0].T @ matrices
    largest = np.abs(turns).max(axis=0)
    turned, gaps = [], set()
    for column in range(turns.shape[2]):
        others = [row for row in np.flatnonzero(largest[:, column]) if row != column]
        if others and others[0] > column:
            turned.append(turns[:, column, column] + 1j * turns[:, others[0], column])
            gaps.add(int(others[0]) - column)
    if not turned:
        return None
    pairs = np.array(turned)  # (n_pairs, length)
    angles = np.angle(pairs[:, 1] / pairs[:, 0])
    counts = [count for count in range(len(angles), 1, -1) if len(angles) % count == 0]
    heads = next((count for count in counts if _repeats(angles, count)), 1)
    pairs, angles = pairs[: len(angles) // heads], angles[: len(angles) // heads]
    steps = (pairs[:, 1:] / pairs[:, :-1])[:, :11]
    steady = bool(np.abs(steps - np.exp(1j * angles)[:, None]).max() < TOLERANCE)
    frequencies = sorted((float(angle) for angle in np.abs(angles) if angle), reverse=True)
    factor = float(np.sqrt(np.abs(pairs).mean()))
    order = "" if len(pairs) < 2 or len(gaps) > 1 else "adjacent" if gaps == {1} else "halves"
    return Turn(tuple(frequencies), factor, steady, order)


def _repeats(angles: np.ndarray, count: int) -> bool:
    """Whether the angles (n_pairs,) are ``count`` times the same, as in functions that turn several
    heads beside each other.
    """
    once = angles[: len(angles) // count]
    return len(angles) > count and np.array_equal(angles, np.tile(once, count))
