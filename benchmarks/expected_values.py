"""Values that are frozen for `benchmarks.made`: the frequencies, windows and tables of every
published config that was read from a copy, by other code than the atlas where some runs here. The
version of a model rises, and its date is today's, where a value differs from the frozen one.

Frequencies are those of the rotary module of transformers, run in double precision, wherever it
gives ours to 1e-6, else ours, in double precision as well. They are compared with what each layer
of the model does: in transformers, at a small size (`layers_oracle`), and in mlx-lm
(`expected_mlx`).
"""

import gc
import json
import logging
import os
import re
import subprocess
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import models
from benchmarks.layers_coverage import part_of
from benchmarks.layers_oracle import SECONDS, observe
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Encoding, Layer
from generator.encodings import Form, PositionTable, Rotation
from generator.encyclopedia import made as shipped
from generator.encyclopedia.known_models import KnownModel, file_of, known_models
from generator.encyclopedia.table import row
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.reading.find import find, look

TOLERANCE = 1e-6  # Relative, of frequencies and of the factor.
# Of what computes in single precision: half a digit of the exponent, times the logarithm of a large
# base.
SINGLE = {"layers": 3e-6, "mlx": 3e-6}
OURS = ("atlas", "Position Atlas")
# What is behind known differences, by model and code.
REASONS = {
    ("databricks/dbrx-base", "module"): (
        "transformers takes the base 10,000, its default, in place of attn_config.rope_theta"
    ),
    ("moonshotai/Kimi-K2.7-Code", "mlx"): (
        "mlx-lm reads rope_scaling alone, and the config has rope_parameters"
    ),
    ("microsoft/Phi-3.5-MoE-instruct", "mlx"): (
        "mlx-lm takes the factors for long texts in all, and the code of the family in transformers"
        " those for short ones"
    ),
    **dict.fromkeys(
        (("openai/gpt-oss-20b", "mlx"), ("openai/gpt-oss-120b", "mlx")),
        "mlx-lm rounds the ends of YaRN's ramp, and the config has truncate: false",
    ),
    **dict.fromkeys(
        (("openbmb/MiniCPM-2B-sft-bf16", "mlx"), ("openbmb/MiniCPM3-4B", "mlx")),
        "the config has no rope_theta, for which mlx-lm takes 1,000,000 and the family's own code"
        " 10,000",
    ),
    ("tencent/Tencent-Hunyuan-Large", "mlx"): (
        "mlx-lm divides hidden_size by the heads, and the config has attention_head_dim"
    ),
}
# Rules that the tests compute anew, from papers.
FORMULAS = {
    "default", "linear", "dynamic", "ntk", "yarn", "longrope", "llama3", "proportional",
}  # fmt: skip
ROTARY = ("RotaryEmbedding", "RotaryPositionalEmbedding")
OF_SOUND = re.compile("audio|speech|codec")  # Names of sections of configs.
WITHOUT_ATTENTION = {"recurrent", "convolution", "fourier", "none"}


@dataclass(frozen=True)
class Turned:
    """A rotation by one implementation.

    by: what it is, as in `expected_schema.Code`, and its name; frequencies: (n_pairs,), radians per
        position, 0 where a pair rests; factor: on sine and cosine
    order: of the pairs, "" where it is not known
    longer: whether for texts longer than the original length
    """

    by: tuple[str, str]
    frequencies: Floats
    factor: float
    order: str = ""
    longer: bool = False

    def deviation(self, other: "Turned") -> float | None:
        """The largest relative one of frequencies and factor; None for other numbers of pairs."""
        mine, theirs = (np.sort(one.frequencies[one.frequencies != 0.0]) for one in (self, other))
        if mine.size != theirs.size:
            return None
        values = (np.append(mine, self.factor), np.append(theirs, other.factor))
        return float(np.max(np.abs(values[0] / values[1] - 1.0)))


@dataclass(frozen=True)
class OurRotation:
    """A rotation as the atlas resolves it. is_of_sound: whether its positions are frames of sound;
    layers: indices in the stack ``part``; lengths: of the texts for which it holds, None for any
    end
    """

    turned: Turned
    form: Rotation
    is_of_sound: bool
    part: str
    layers: tuple[int, ...]
    lengths: tuple[int, int | None]
    n_layers: int


@dataclass
class Others:
    """What other implementations say of a model.

    modules: rotary modules of transformers; of_sound: those of an encoder of sound, which has a
        section of its own; layers: of the model in transformers, by stack of the atlas; mlx: in
        mlx-lm
    """

    modules: list[Turned] = field(default_factory=list)
    of_sound: list[Turned] = field(default_factory=list)
    layers: dict[str, list[Turned | None]] = field(default_factory=dict)
    mlx: list[Turned | None] = field(default_factory=list)


def published() -> Iterator[KnownModel]:
    """The models that take part: those whose config was read from a copy."""
    return (model for model in known_models() if not model.is_from_knowledge)


def rotations(model: KnownModel) -> list[OurRotation]:
    """Its rotations of words and sound; LongRoPE once for each of its lists."""
    encodings = find(model.files)
    layers = layer_map(model.files, encodings)
    return [
        rotation
        for encoding in encodings
        if isinstance(encoding.form, Rotation) and encoding.modality != "image"
        for rotation in _rotations(encoding, encoding.form, layers)
    ]


def _rotations(
    encoding: Encoding[Form], form: Rotation, layers: Sequence[Layer]
) -> Iterator[OurRotation]:
    turning = [layer for layer in layers if encoding.key in (layer.encodings or ())]
    part = turning[0].part if turning else encoding.part
    indices = tuple(layer.index for layer in turning)
    where = (encoding.modality == "audio", part, indices)
    n_layers = sum(layer.part == part for layer in layers)
    short = Turned(OURS, form.frequencies, form.attention_factor)
    has_two = bool(form.long_factors) and form.has_two_lists
    is_dynamic = form.rope_type == "dynamic" and not form.has_fixed_alpha
    end = form.short if has_two else form.n_positions if is_dynamic else None
    yield OurRotation(short, form, *where, (1, end), n_layers)
    if has_two and form.short:
        slowed = form.step * form.unscaled_frequencies / np.array(form.long_factors)
        longer = Turned(OURS, slowed, form.attention_factor, longer=True)
        yield OurRotation(longer, form, *where, (form.short + 1, None), n_layers)


def places(model: KnownModel) -> dict[str, Any]:
    """Context, windows and layers without encoding, by stack, as the table of models has them, and
    the tables at the input.
    """
    known = row(model)
    tables = [
        {
            "part": encoding.part,
            "rows": encoding.form.shape[0],
            "offset": encoding.form.first_row,
        }
        for encoding in look(model.files).all
        if isinstance(encoding.form, PositionTable) and encoding.modality != "image"
    ]
    return {
        "context": known["context"],
        "original": known["trained"],
        "windows": windows(known),
        "without_encoding": without_encoding(known),
        "tables": tables,
        "layers_checked": known["check"]["outcome"] if known["check"] else None,
    }


def windows(known: Mapping[str, Any]) -> dict[str, list[int | None]]:
    """Keys that a query sees, by stack and layer, of a row of models.json: None for all, 0 without
    attention.
    """
    return {
        stack["part"]: [
            0 if WITHOUT_ATTENTION.issuperset(group["kinds"]) else group["keys"]
            for group in (stack["groups"][index] for index in stack["layers"])
        ]
        for stack in known["stacks"]
    }


def without_encoding(known: Mapping[str, Any]) -> dict[str, list[int]]:
    """Layers of attention without encoding, by stack that has any, of a row of models.json."""
    found = {
        stack["part"]: [
            index
            for index, group in enumerate(stack["layers"])
            if stack["groups"][group]["without_encoding"]
        ]
        for stack in known["stacks"]
    }
    return {part: indices for part, indices in found.items() if indices}


@contextmanager
def in_double() -> Iterator[None]:
    """While open, code that asks for torch's single precision gets double."""
    import torch

    double = {
        (torch, "float"): torch.float64,
        (torch, "float32"): torch.float64,
        (torch.Tensor, "float"): torch.Tensor.double,
    }
    before = {(owner, name): getattr(owner, name) for owner, name in double}
    try:
        for (owner, name), value in double.items():
            setattr(owner, name, value)
        yield
    finally:
        for (owner, name), value in before.items():
            setattr(owner, name, value)


def of_modules(model: KnownModel, is_of_sound: bool = False) -> list[Turned]:
    """The rotations of the rotary modules of transformers for a config, none where it has none.

    is_of_sound: those of the sections for sound, in place of those of the text model
    """
    try:
        configs = configs_of(model, is_of_sound)
        return [one for config in configs for one in _of_code(config)]
    except Exception:  # noqa: BLE001 (config classes validate in many ways)
        return []


def _of_code(config: Any) -> list[Turned]:
    """The rotations of the rotary modules in the code of a config."""
    module = import_module(type(config).__module__.replace("configuration_", "modeling_"))
    found = []
    for name, kind in vars(module).items():
        if name.endswith(ROTARY) and "Vision" not in name and "Audio" not in name:
            with warnings.catch_warnings(), in_double():
                warnings.simplefilter("ignore")
                try:
                    found += list(
                        _of_module(kind(config), ("module", f"{name} of {transformers()}"))
                    )
                except Exception:  # noqa: BLE001, S112 (modules of another part)
                    continue
    return found


def configs_of(model: KnownModel, is_of_sound: bool) -> list[Any]:
    """transformers' config of the text model, or those of its sections for sound.

    errors: any; LookupError for code of its own
    """
    from transformers import CONFIG_MAPPING

    if "auto_map" in model.settings and model.settings["model_type"] not in CONFIG_MAPPING:
        raise LookupError(model.id)
    config = CONFIG_MAPPING[model.settings["model_type"]].from_dict(deepcopy(model.settings))
    if not is_of_sound:
        return [config.get_text_config()]
    return [getattr(config, name) for name in config.sub_configs if OF_SOUND.search(name)]


def _of_module(module: Any, by: tuple[str, str]) -> Iterator[Turned]:
    """Its rotations, also that of texts longer than the original length."""
    for name, buffer in list(module.named_buffers()):
        if not name.endswith("inv_freq") or "original" in name:
            continue
        kind = name.removesuffix("inv_freq").removesuffix("_")
        frequencies = buffer.double().numpy().copy()
        rope = getattr(getattr(module, "config", None), "rope_parameters", None) or {}
        if rope.get("rope_type") == "longrope":
            yield Turned(by, frequencies, _at_zero(module, 1))
            factor = _at_zero(module, rope["original_max_position_embeddings"] + 1)
            yield Turned(by, module.inv_freq.double().numpy().copy(), factor, longer=True)
        else:
            named = f"{kind}_attention_scaling" if kind else "attention_scaling"
            yield Turned(by, frequencies, float(getattr(module, named, 1.0)))


def _at_zero(module: Any, length: int) -> float:
    """Its cosine at position 0 in a text of ``length``, the factor."""
    import torch

    zeros = torch.zeros(1, 1, 1, dtype=torch.float64)
    cos, _ = module(zeros, torch.tensor([[0, length - 1]]))
    return float(cos[0, 0, 0])


@cache
def transformers() -> str:
    """The library with its version."""
    return f"transformers {version('transformers')}"


def of_layers(model: KnownModel) -> dict[str, list[Turned | None]]:
    """What each layer of the model in transformers does, by stack of the atlas; empty where it was
    not run.
    """
    try:
        if "auto_map" in model.settings:
            raise LookupError(model.id)
        with models.limit(SECONDS):
            seen = observe(deepcopy(model.settings))  # Config classes change theirs.
    except Exception:  # noqa: BLE001 (as in layers_coverage)
        return {}
    found = look(model.files)
    parts: dict[str, list[Layer]] = defaultdict(list)
    for layer in layer_map(model.files, found.all, is_complete=found.is_complete):
        parts[layer.part].append(layer)
    by = ("layers", transformers())
    return {
        part: [
            Turned(by, np.array(one.frequencies), one.attention_factor, one.pair_order)
            if one.frequencies
            else None
            for one in layers
        ]
        for path, layers in seen.stacks.items()
        if (part := part_of(path, seen, parts)) is not None
    }


def of_mlx(interpreter: str, ids: Sequence[str]) -> dict[str, list[Turned | None]]:
    """What each layer does in mlx-lm, by model."""
    script = Path(__file__).with_name("expected_mlx.py")
    done = subprocess.run(
        [interpreter, str(script), *(str(file_of(name)) for name in ids)],
        capture_output=True,
        check=True,
        text=True,
    )
    given = json.loads(done.stdout.splitlines()[-1])
    by = ("mlx", f"mlx-lm {given['versions']['mlx-lm']}, MLX {given['versions']['mlx']}")
    return {
        name: [
            Turned(by, np.array(one["frequencies"]), one["factor"], one["order"]) if one else None
            for one in found.get("layers", ())
        ]
        for name, found in given["models"].items()
    }


def record(model: KnownModel, others: Others) -> dict[str, Any]:
    """A model as it is frozen, without version and date."""
    with in_double():
        exact = rotations(model)
    found = [
        _record(model.id, ours, double.turned, others)
        for ours, double in zip(rotations(model), exact, strict=True)
    ]
    return {
        "id": model.id,
        "source": model.source,
        "model_type": model.settings.get("model_type"),
        **places(model),
        "rotations": found,
    }


def _record(hub_id: str, ours: OurRotation, double: Turned, others: Others) -> dict[str, Any]:
    modules = (ours.is_of_sound and others.of_sound) or others.modules
    fitting = [one for one in modules if one.longer == ours.turned.longer]
    given = [(one, one.deviation(ours.turned)) for one in fitting]
    known = [(one, deviation) for one, deviation in given if deviation is not None]
    nearest = min(known or given, key=lambda pair: pair[1] or 0.0, default=None)
    made, compared = double, list[tuple[tuple[str, str], float | None]]()
    if nearest and _agrees(nearest[0].by, nearest[1]):
        made, compared = nearest[0], [(OURS, nearest[1])]
    elif nearest:
        compared = [(nearest[0].by, nearest[1])]
    acting = [*_acting(ours, others)]
    for by in dict.fromkeys(one.by for one in acting):
        values = [one.deviation(made) for one in acting if one.by == by]
        compared.append((by, None if None in values else max(value or 0.0 for value in values)))
    orders = {one.order for one in acting if one.order}
    form = ours.form
    return {
        "part": ours.part,
        "layers": list(ours.layers),
        "lengths": list(ours.lengths),
        "base": form.base,
        "scaling": form.rope_type if form.is_rescaled else None,
        **_settings(form),
        "head_dim": form.head_dim,
        "rotary_dim": 2 * made.frequencies.size,
        "pair_order": orders.pop() if len(orders) == 1 else None,
        "attention_factor": made.factor,
        "inverse_frequencies": made.frequencies.tolist(),
        "made_by": {"code": made.by[0], "by": made.by[1]},
        "agrees": [_compared(hub_id, *one) for one in compared if _agrees(*one)],
        "differs": [_compared(hub_id, *one) for one in compared if not _agrees(*one)],
    }


def _settings(form: Rotation) -> dict[str, Any]:
    """From what its frequencies follow, by the names of transformers, and by which rule."""
    share = form.rotary_dim / form.head_dim
    given = {name: value for name, value in form.scaling.items() if value is not None}
    rope = {"rope_type": form.rope_type, "rope_theta": form.base, "partial_rotary_factor": share}
    return {
        "rope_parameters": {**rope, **given},
        "formula": form.rope_type if form.rope_type in FORMULAS and form.step == 1.0 else None,
    }


def _acting(ours: OurRotation, others: Others) -> Iterator[Turned]:
    """What other models do in the layers of a rotation. Of two lists, short texts use the first,
    and MLX the second.
    """
    has_two = ours.lengths != (1, None) and ours.form.rope_type == "longrope"
    sources = [] if ours.turned.longer else [others.layers.get(ours.part, [])]
    if ours.turned.longer or not has_two:
        sources.append(others.mlx)
    for source in sources:
        if len(source) == ours.n_layers:
            yield from (one for index in ours.layers if (one := source[index]) is not None)
        elif not ours.n_layers:  # Its layers are not known.
            yield from filter(None, source)


def _agrees(by: tuple[str, str], deviation: float | None) -> bool:
    return deviation is not None and deviation <= SINGLE.get(by[0], TOLERANCE)


def _compared(hub_id: str, by: tuple[str, str], deviation: float | None) -> dict[str, Any]:
    shown = None if deviation is None else float(f"{deviation:.2g}")
    why = None if _agrees(by, deviation) else REASONS.get((hub_id, by[0]))
    return {"code": by[0], "by": by[1], "deviation": shown, "why": why}


def frozen(found: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """``found`` with its version and date: those of ``before`` where no value differs."""
    number, date = 1, datetime.now(UTC).date().isoformat()
    if before is not None:
        is_same = values_of(found) == values_of(before)
        number = before["version"] + (not is_same)
        date = before["date"] if is_same else date
    return {"id": found["id"], **found, "version": number, "date": date}


def values_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a test of an engine reads, without its settings, who has made it and who agrees."""
    beside = {"version", "date", "source", "layers_checked"}
    values = {name: value for name, value in found.items() if name not in beside}
    by = {"made_by", "agrees", "differs", "rope_parameters", "formula"}
    return values | {
        "rotations": [
            {name: value for name, value in rotation.items() if name not in by}
            for rotation in found["rotations"]
        ]
    }


def made(ids: Sequence[str], interpreter: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The values of each of these models; interpreter: of an environment with mlx and mlx-lm."""
    import torch

    os.environ["HF_HUB_OFFLINE"] = "1"
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    mlx = of_mlx(interpreter, ids) if interpreter else {}
    for model in published():
        if model.id not in ids:
            continue
        modules = of_modules(model), of_modules(model, is_of_sound=True)
        others = Others(*modules, of_layers(model), mlx.get(model.id, []))
        try:
            before = shipped.made(model.id).get("expected")
            one = frozen(record(model, others), before)
            if interpreter is None and before is not None:
                _keep_mlx(one, before)
        except RowError as error:
            sys.stdout.write(f"{model.id}: {error}\n")
            continue
        gc.collect()  # A model and its hooks refer to each other.
        for rotation in one["rotations"]:
            sys.stdout.write(f"{model.id}: {_line(rotation)}\n")
        yield model.id, one


def _keep_mlx(new: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Where no value differs, what was found with mlx-lm holds without a run of it."""
    if new["version"] == before["version"]:
        for one, other in zip(new["rotations"], before["rotations"], strict=True):
            for name in ("agrees", "differs"):
                one[name] += [found for found in other[name] if found["code"] == "mlx"]


def _line(rotation: Mapping[str, Any]) -> str:
    compared = [
        f"{name} {one['code']} {one['deviation']}"
        for name in ("agrees", "differs")
        for one in rotation[name]
    ]
    return f"{rotation['pair_order']}, by {rotation['made_by']['by']}; {'; '.join(compared)}"
