"""What every layer of a model does with position, asked of the model's own code.

A model of a config, made small (`benchmarks/shrink.py`), runs on the CPU with random weights, and
each layer is observed: which rotation it applies, how far its attention reaches, whether the logits
hold a bias or a temperature, and what mixes tokens in it. No name of a setting is read.
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any

from benchmarks import models
from benchmarks.inputs import takes_input
from benchmarks.running import Run
from benchmarks.shrink import shrink

SECONDS = 60
MOST_PARAMETERS = 6e8
STATEFUL = {"attention", "recurrent"}  # A list of convolutions beside one of these makes its input.


@dataclass(frozen=True)
class ObservedLayer:
    """What one layer did with position.

    mixers: what carries information from token to token: "attention", "recurrent", "convolution",
        "shift" (by one token), "other"
    before, after: the farthest key of attention, or the reach of what mixes tokens instead; None
        where the sequence did not limit it
    chunk: size of the blocks that attention stays within
    frequencies: radians per position, fastest first, empty when nothing was turned;
        attention_factor: length of (cos, sin); pair_order: as in `turning.Turn`
    bias: whether logits depend on the place of query and key for another reason than a rotation
    slopes: of each head, logit per position of distance, where the bias is linear
    sink: whether the softmax has a column that is no key; temperature: whether logits are scaled by
        the position of the query; bias and temperature are None where no logits of all pairs of
        positions were seen
    n_positions: length of the sequence
    """

    mixers: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    chunk: int | None = None
    frequencies: tuple[float, ...] = ()
    attention_factor: float = 1.0
    pair_order: str = ""
    bias: bool | None = False
    slopes: tuple[float, ...] = ()
    sink: bool = False
    temperature: bool | None = False
    n_positions: int = 0


@dataclass(frozen=True)
class Rows:
    """Rows of a table added before the first layer; ``first`` is that of position 0, None where it
    cannot be told.
    """

    path: str
    first: int | None


@dataclass(frozen=True)
class Observation:
    """config: the small settings, as config.json would hold them; section: of them that describes
        the model observed.

    stacks: layers by the path of their list in the model, in order; tables: what was added at the
        input, None where that cannot be told
    notes: what could not be observed, and why; shapes: of the model's tensors, by name
    """

    config: Mapping[str, Any]
    section: tuple[str, ...] = ()
    stacks: Mapping[str, tuple[ObservedLayer, ...]] = field(default_factory=dict)
    tables: tuple[Rows, ...] | None = ()
    notes: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def observe(settings: Mapping[str, Any]) -> Observation:
    """Run the model of a config.json, small, and observe each layer.

    errors: any that its code raises; LookupError when transformers has no model for it, or none
        that takes tokens, sound or images
    """
    from transformers import CONFIG_MAPPING

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = CONFIG_MAPPING[settings["model_type"]].from_dict(dict(settings))
        problem: Exception | None = None
        for heads in (2, 4, None):
            small = shrink(settings, config, heads=heads)
            try:
                model = build(small.settings, small.path)
                return _observed(model, small.settings, small.path)
            except models.TooLongError:
                raise
            # Anything a model's code raises at an unusual size.
            except Exception as error:  # noqa: BLE001
                problem = problem or error
        raise problem or LookupError("not built")


def build(settings: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The model of a section of settings on the CPU, with random weights, the same on every run.

    errors: any that its code raises; LookupError when transformers has no model for it; MemoryError
        when it would be too large
    """
    import torch
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[settings["model_type"]].from_dict(dict(settings))
    for name in path:
        config = getattr(config, name)
    problem: Exception = LookupError("transformers has no model for it")
    for candidate in models.classes(config.model_type, type(config)):
        if not takes_input(candidate):
            problem = LookupError("takes neither tokens, sound nor images")
            continue
        try:
            with torch.device("meta"):
                parameters = [*candidate._from_config(config).parameters()]
            size = sum(parameter.numel() for parameter in parameters)
            if size > MOST_PARAMETERS:
                raise MemoryError(f"{size:,} parameters")
            torch.manual_seed(0)
            eager = dict.fromkeys(("attn_implementation", "experts_implementation"), "eager")
            model = candidate._from_config(config, **eager, dtype=torch.float32).eval()
            for part in model.modules():
                if hasattr(getattr(part, "config", None), "use_cache"):
                    part.config.use_cache = False
            return model
        except (*models.PROBLEMS, AssertionError) as error:
            problem = error
    raise problem


def _observed(model: Any, settings: Mapping[str, Any], section: tuple[str, ...]) -> Observation:
    run = Run(model)
    stacks = {
        path: tuple(ObservedLayer(**run.layer(path, index)) for index in range(length))
        for path, length in run.stacks().items()
    }
    kinds = {path: {*chain(*(one.mixers for one in layers))} for path, layers in stacks.items()}
    mixing = {path: layers for path, layers in stacks.items() if kinds[path]}
    stateful = {path: layers for path, layers in mixing.items() if kinds[path] & STATEFUL}
    mixing = stateful or mixing
    before = "model.language_model." if section else ""
    shapes = {f"{before}{name}": tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = run.tables()
    tables = None if found is None else tuple(Rows(*rows) for rows in found)
    return Observation(dict(settings), section, mixing, tables, tuple(run.notes), shapes)


def spans(indices: Sequence[int]) -> str:
    """Ascending indices, consecutive ones as a span."""
    spans = [
        [index for _, index in group]
        for _, group in groupby(enumerate(indices), key=lambda pair: pair[1] - pair[0])
    ]
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}–{span[-1]}" for span in spans)


def default_settings(type_: str) -> dict[str, Any]:
    """The default config of a model type, as config.json would hold it."""
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[type_](**models.NEEDED.get(type_, {})).to_dict()
    return dict(json.loads(json.dumps({**config, "model_type": type_}, default=str)))
