"""A model's forward pass under observation: calls of modules within layers, attention weights,
rotations, rows of tables.
"""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks import logits as measures
from benchmarks.inputs import ENCODER_LENGTH, LENGTH, inputs
from benchmarks.turning import Prober, Turn, intercepted, tensors

FAR = 2**17  # Positions from here on show a temperature by position.
# Logits of masked keys are lower; others may be so low in random models that their weight is 0.
MASKED = -1e3
Place = tuple[str, int]  # Path of a list of layers, and index in it.


@dataclass
class Events:
    """What happened in one layer, in order; softmax: logits and weights, each (…, queries,
    keys).
    """

    softmax: list[tuple[Any, Any]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)


@dataclass
class Call:
    """The first call of a module within a layer; softmax: whether one ran inside; square: queries
    of one with as many keys, or 0.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    softmax: bool = False
    square: int = 0


class Recorder:
    """Passes of a model. While one is open, what happens in a layer is noted under the layer's
    place.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.calls: dict[Any, Call] = {}
        self.mixers: dict[Any, list[str]] = {}
        self.notes: list[str] = []
        self.rows: list[tuple[str, int]] = []
        self.places = _places(model)
        self._prober = Prober()
        self._events: dict[Place, Events] = defaultdict(Events)
        self._entered: dict[Any, int] = defaultdict(int)
        self._open: list[Any] = []
        self._place: Place | None = None
        self._even = False
        self.entered: set[Place] = set()
        self.varied = False
        self._names = {
            tensor.data_ptr(): name
            for name, tensor in [*model.named_buffers(), *model.named_parameters()]
            if tensor.ndim > 1
        }

    def run(self, arguments: Mapping[str, Any], *, even: bool = False) -> dict[Place, Events]:
        """The events of one pass; even: hidden states are the same at all positions before every
        layer, and nothing is turned.
        """
        import torch

        self._even, self._events, self._entered = even, defaultdict(Events), defaultdict(int)
        turned = intercepted(self.model, self._turn)
        with torch.no_grad(), self._hooks(), turned, _mode(self._function):
            self.model(**arguments)
        return dict(self._events)

    @contextmanager
    def _hooks(self) -> Iterator[None]:
        self._open, self._place = [], None
        handles = [
            module.register_forward_pre_hook(self._enter, with_kwargs=True)
            for module in self.model.modules()
        ]
        handles += [module.register_forward_hook(self._leave) for module in self.model.modules()]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _enter(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._place is None:
            if module not in self.places:
                return None
            places = self.places[module]
            self._place = places[self._entered[module] % len(places)]
            self._entered[module] += 1
            self.entered.add(self._place)
            if self._even:
                self._note_varying(args, kwargs)
                args, kwargs = replaced(args, kwargs, _even, all_streams=True)
        self._open.append(module)
        if module not in self.calls:
            given, named = replaced(args, kwargs, lambda hidden: hidden.clone())
            kept = {name: _uncached(value) for name, value in named.items()}
            self.calls[module] = Call(tuple(map(_uncached, given)), kept)
        return args, kwargs

    def _note_varying(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Note whether hidden states before the first layer of a stack differ between positions."""
        if self._place is not None and self._place[1] == 0:
            for _, hidden in hidden_states(args, kwargs)[:1]:
                first = hidden.narrow(sequence_axis(hidden), 0, 1)
                self.varied |= bool((hidden - first).abs().max() > 1e-5 * hidden.abs().max())

    def _leave(self, module: Any, _args: Any, _output: Any) -> None:
        if self._open and self._open[-1] is module:
            self._open.pop()
        if not self._open:
            self._place = None

    def _turn(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        if self._even:
            return _unturned(function(*args, **kwargs), args, kwargs)
        hidden = None if self._place is None else self.hidden(self._open[0])
        if self._place is not None and hidden is not None:
            try:
                length = hidden.shape[sequence_axis(hidden)]
                turn = self._prober.turn(function, args, kwargs, length)
            except (LookupError, StopIteration, RuntimeError, ValueError) as error:
                self.notes.append(f"{function.__name__}: {type(error).__name__}: {error}")
            else:
                self._events[self._place].turns += [turn] if turn else []
        return function(*args, **kwargs)

    def hidden(self, module: Any) -> Any:
        """The hidden states that a module was first called with; None where it got none."""
        call = self.calls[module]
        return next((value for _, value in hidden_states(call.args, call.kwargs)), None)

    def _function(
        self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any
    ) -> None:
        """Note a call of a function of torch, with its result."""
        import torch
        from torch.nn import functional

        if self._place is None:
            if row := _row(function, args, kwargs):
                table = args[1 if function is functional.embedding else 0]
                self.rows.append((self._names.get(table.data_ptr(), ""), row[0]))
            return
        softmaxes = (functional.softmax, torch.softmax, torch.Tensor.softmax)
        if function in softmaxes and result.ndim > 2:
            self._softmax(args[0] if args else kwargs["input"], result)
        elif function is functional.scaled_dot_product_attention:
            self._softmax(*_attention(args, kwargs))

    def _softmax(self, logits: Any, weights: Any) -> None:
        assert self._place is not None  # noqa: S101
        self._events[self._place].softmax.append((logits.detach(), weights.detach()))
        for module in self._open:
            self.calls[module].softmax = True
            if 0 <= logits.shape[-1] - logits.shape[-2] <= 1:
                self.calls[module].square = logits.shape[-2]


def hidden_states(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[int | str, Any]]:
    """Arguments that may be hidden states, floating tensors of two or three axes, or four (batch,
    positions, streams, width), each with its place or name.
    """
    found = [(key, value) for key, value in tensors(args, kwargs) if value.is_floating_point()]
    return [
        (key, value)
        for key, value in found
        if value.ndim in (2, 3)
        or (value.ndim == 4 and LENGTH in value.shape[1:3] and value.shape[3] != LENGTH)
    ]


def sequence_axis(hidden: Any) -> int:
    """The axis of positions: that of the known length, else of (batch, positions, width),
    (positions, batch, width) or (positions, width).
    """
    lengths = (LENGTH, ENCODER_LENGTH)
    known = [axis for axis in range(hidden.ndim - 1) if hidden.shape[axis] in lengths]
    return known[0] if known else 1 if hidden.ndim == 3 and hidden.shape[0] == 1 else 0


def _places(model: Any) -> dict[Any, list[Place]]:
    """The places of each module that stands in a list of modules; a module may stand in several."""
    import torch

    places = defaultdict(list)
    for path, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, torch.nn.ModuleList):
            for index, child in enumerate(module):
                places[child].append((path, index))
    return dict(places)


def replaced(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    change: Callable[[Any], Any],
    *,
    all_streams: bool = False,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with the hidden states, their first floating tensor of two or three axes, changed;
    all_streams: and all others but for their width.

    A width of one, or that of the sequence, is no stream of hidden states but a mask, a bias or a
    factor.
    """
    found = hidden_states(args, kwargs)
    others = found[1:] if all_streams else []
    alike = [(key, value) for key, value in others if _is_stream(value, found[0][1])]
    changed = {key: change(value) for key, value in [*found[:1], *alike]}
    return tuple(changed.get(key, value) for key, value in enumerate(args)), {
        key: changed.get(key, value) for key, value in kwargs.items()
    }


def _is_stream(tensor: Any, hidden: Any) -> bool:
    *places, width = tensor.shape
    return bool(places == [*hidden.shape[:-1]] and width > 1 and width not in places)


def _uncached(value: Any) -> Any:
    """None for a cache of keys and values, which would grow with every further call; any other
    value as it is.
    """
    return None if "Cache" in type(value).__name__ else value


def _even(hidden: Any) -> Any:
    """Hidden states with the same random vector at every position."""
    import torch

    vector = torch.randn(hidden.shape[-1], generator=torch.Generator().manual_seed(0))
    return vector.to(hidden.dtype).expand(hidden.shape).clone()


def _unturned(result: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a rotation with each tensor replaced by the argument that it was made of."""
    given = [value for _, value in tensors(args, kwargs) if value.is_floating_point()]

    def origin(tensor: Any) -> Any:
        for place, value in enumerate(given):
            if value.shape == tensor.shape:
                return given.pop(place)
        return tensor

    return tuple(map(origin, result)) if isinstance(result, tuple | list) else origin(result)


@contextmanager
def _mode(note: Callable[..., None]) -> Iterator[None]:
    """While open, ``note`` gets every call of torch's functions with its result."""
    from torch.overrides import TorchFunctionMode

    class Watch(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            note(func, args, kwargs or {}, result)
            return result

    with Watch():
        yield


def _row(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int] | None:
    """The first of the rows that a call takes from a matrix, when they follow each other and are as
    many as positions; None for other calls.
    """
    import torch
    from torch.nn import functional

    if function is functional.embedding and len(args) > 1:
        index = args[0]
    elif function in (torch.Tensor.index_select, torch.index_select):
        index = args[2] if len(args) > 2 else kwargs["index"]
    elif function is torch.Tensor.__getitem__ and args[0].is_floating_point():
        index = args[1]
        every = index if isinstance(index, tuple) else (index,)
        for part in [part for part in every if isinstance(part, slice)]:
            if isinstance(part.stop, int) and part.stop - (part.start or 0) == LENGTH:
                return (part.start or 0,)
    else:
        return None
    if not isinstance(index, torch.Tensor) or index.is_floating_point():
        return None
    if index.dtype == torch.bool or index.numel() < LENGTH - 4:
        return None
    flat = index.flatten()[: LENGTH - 4]  # Some models fill the rest up.
    return (int(flat[0]),) if bool((flat[1:] - flat[:-1] == 1).all()) else None


def _attention(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Logits and weights of a call of torch's fused attention."""
    import torch

    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    query, key, mask = given["query"], given["key"], given.get("attn_mask")
    if key.shape[-3] != query.shape[-3]:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
    logits = query @ key.transpose(-1, -2) * (given.get("scale") or query.shape[-1] ** -0.5)
    if given.get("is_causal"):
        mask = torch.ones(logits.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        is_bool = mask.dtype == torch.bool
        logits = logits.masked_fill(~mask, -torch.inf) if is_bool else logits + mask
    return logits, logits.softmax(-1)


class Run:
    """A model as it runs, then with equal hidden states and nothing turned, then the same far
    away.
    """

    def __init__(self, model: Any) -> None:
        _fill_zeros(model)
        self.model, self.recorder = model, Recorder(model)
        self._arguments, self.plain = self._first_pass()
        self._rows = list(dict.fromkeys(self.recorder.rows))
        self.even = self.recorder.run(self._same_tokens(), even=True)
        self._varied = self.recorder.varied if not self.without_text else bool(self._rows)
        self.far = self._far_pass()

    @property
    def without_text(self) -> bool:
        """Whether the model takes sound or an image, and no tokens beside those of a decoder."""
        return "input_ids" not in self._arguments

    @property
    def notes(self) -> list[str]:
        """What could not be observed, each note once."""
        return list(dict.fromkeys(self.recorder.notes))

    def _first_pass(self) -> tuple[Mapping[str, Any], dict[Place, Events]]:
        """The first arguments that the model accepts, and what happened.

        errors: what the model raised for the first of them; LookupError where it takes neither
            tokens, sound nor images
        """
        problem: Exception = LookupError("takes neither tokens, sound nor images")
        for count, arguments in enumerate(inputs(self.model)):
            self.recorder.calls, self.recorder.rows = {}, []
            try:
                return arguments, self.recorder.run(arguments)
            except Exception as error:  # noqa: BLE001  # Anything that a model's code raises.
                problem = error if count == 0 else problem
        raise problem

    def _same_tokens(self) -> dict[str, Any]:
        import torch

        ids = {name for name in self._arguments if name.endswith("input_ids")}
        return {
            name: torch.full_like(value, value.flatten()[0].item()) if name in ids else value
            for name, value in self._arguments.items()
        }

    def _far_pass(self) -> dict[Place, Events]:
        import torch

        ids = self._arguments.get("input_ids")
        parameters = inspect.signature(self.model.forward).parameters
        if self._varied or ids is None or "position_ids" not in parameters:
            return {}
        places = torch.arange(FAR, FAR + ids.shape[1])[None]
        try:
            return self.recorder.run({**self._arguments, "position_ids": places}, even=True)
        except Exception as error:  # noqa: BLE001  # Anything that a model's code raises.
            self.recorder.notes.append(f"positions from {FAR}: {type(error).__name__}: {error}")
            return {}

    def tables(self) -> list[tuple[str, int | None]] | None:
        """Path and first row of each table added at the input; None where that cannot be told,
        since sound and images differ between positions.
        """
        if "pixel_values" in self._arguments or (self.without_text and not self._rows):
            return None
        named = [row for row in self._rows if row[0]] or self._rows
        return (list(named) or [("", None)]) if self._varied else []

    def stacks(self) -> dict[str, int]:
        """Lists of modules of which some were called as layers, with their lengths, in the order of
        the model.
        """
        lengths: dict[str, int] = defaultdict(int)
        for places in self.recorder.places.values():
            for path, index in places:
                lengths[path] = max(lengths[path], index + 1)
        called = {path for path, _ in self.recorder.entered}
        return {path: length for path, length in lengths.items() if path in called}

    @cached_property
    def _entered(self) -> dict[Place, Any]:
        """Modules by place."""
        pairs = self.recorder.places.items()
        return {place: module for module, places in pairs for place in places}

    def layer(self, path: str, index: int) -> dict[str, Any]:
        """The observed facts of one layer, as arguments of `layers_oracle.ObservedLayer`."""
        from benchmarks.mixing import Mixing

        place = (path, index)
        module = self._entered.get(place)
        hidden = self.recorder.hidden(module) if module in self.recorder.calls else None
        if hidden is None:
            return {}
        length = hidden.shape[sequence_axis(hidden)]
        mixing = Mixing(self.recorder, module, length)
        events = self.plain.get(place, Events())
        turn = next(iter(events.turns), None)
        square = _square(events, length)
        seen = np.any([visible for _, visible, _ in square], axis=0) if square else None
        found = mixing.reach if seen is None else measures.reach(seen.any(axis=0))
        facts = {"mixers": mixing.kinds, "n_positions": length, **vars(found)}
        if turn is not None:
            facts |= {"frequencies": turn.frequencies, "attention_factor": turn.factor}
            facts["pair_order"] = turn.order
            if not turn.steady:
                note = f"{path}.{index}: the angles are not proportional to position"
                self.recorder.notes.append(note)
        facts["sink"] = any(sink for _, _, sink in square)
        return facts | self._even_facts(place, length)

    def _even_facts(self, place: Place, length: int) -> dict[str, Any]:
        even = _square(self.even.get(place, Events()), length)
        if not even:
            return {"bias": None, "temperature": None}
        far = _square(self.far.get(place, Events()), length)
        logits, visible, _ = even[0]
        if measures.bias(logits, visible):
            return {"bias": True, "slopes": measures.slopes(logits, visible), "temperature": None}
        heated = measures.temperature(logits, far[0][0] if far else None)
        return {"bias": False, "slopes": (), "temperature": heated}


def _square(events: Events, length: int) -> list[tuple[np.ndarray, np.ndarray, bool]]:
    """Logits and visibility (heads, queries, keys) of each self-attention, and whether its softmax
    has one more column, a sink.
    """
    found = []
    for logits, weights in events.softmax:
        if logits.shape[-2] == length and logits.shape[-1] in (length, length + 1):
            values = logits.reshape(-1, *logits.shape[-2:])[..., :length].double().numpy()
            given = weights.reshape(-1, *weights.shape[-2:])[..., :length].numpy()
            visible = (given > 0) | (values > MASKED)
            found.append((values, visible, logits.shape[-1] == length + 1))
    return found


def _fill_zeros(model: Any) -> None:
    """Small random values for parameters that start at zero, as biases often do, so that their
    effect shows.
    """
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.02)
