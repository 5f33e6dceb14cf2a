"""Rates of decay from the weights of recurrent layers, by the rules of their families."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from generator.checkpoints.model.tensor_names import misshapen
from generator.contracts import Files, ModelConfig
from generator.contracts.wording import Wording
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.schemes.decay.families import (
    EXPONENTIALS,
    FORGET_GATES,
    LEAST,
    LEAST_STEP,
    LIMITED,
    RECURRENT_GATES,
    lower_bound,
)

WORDING = Wording("schemes/decay.md.jinja")
# Of the step, beside A_log or NEGATED.
BIASES = ("dt_bias", "dt_proj.bias", "dt_proj_bias", "ssm_dt.bias")
NEGATED = "ssm_a"  # −exp(A_log), in files of llama.cpp.
NAME = re.compile(
    r"^(?P<stack>(?:.*?\.)?)(?P<layer>\d+)\.(?:.*\.)?"
    r"(?P<kind>A_log|ssm_a|time_decay|recurrent_param|fgate_preact\.bias|ifgate_preact\.bias)$"
)
MOST_VALUES = 2**24  # of one layer
MOST_LAYERS = 4096
GATE_SCALE = 8.0  # De et al. 2024 (arXiv 2402.19427), section 2.4: the constant c.
SOFT_CAP = 15.0  # Default of gate_soft_cap.


@dataclass(frozen=True, eq=False)
class Rates:
    """rates: (n_units,), e-foldings per position; unit: what has a rate; at_zero_input: whether
    content changes them; notes: on how they follow from the weights
    """

    rates: Floats
    unit: str
    at_zero_input: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LayerDecay:
    """Rates of one layer. stack: the tensor's name up to the number of the layer"""

    name: str
    stack: str
    layer: int
    read: Rates


def exponential(values: Floats) -> Floats:
    """e^x of values (…,), infinite where it overflows."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))


def softplus(values: Floats) -> Floats:
    """log(1 + e^x) of values (…,), without overflow."""
    return np.asarray(np.logaddexp(0.0, values))


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + e^−x) of values (…,), without overflow."""
    return np.exp(-softplus(-values))


def layer_decays(files: Files, config: ModelConfig) -> Iterator[LayerDecay]:
    """The decay of every layer that has one, in the order of the tensors.

    config: of the stack of these layers
    errors: RowError when the shapes of tensors do not match, or the number of a layer is too large
    """
    for name in files.tensors:
        match = NAME.match(name)
        if match is None:
            continue
        layer = int(match["layer"])
        if not 0 < math.prod(files.tensors[name].shape) <= MOST_VALUES or layer >= MOST_LAYERS:
            expected = f"1 to {MOST_VALUES:,} values of a layer below {MOST_LAYERS:,}"
            raise misshapen(files, name, expected)
        read = READERS[match["kind"]](files, name, config)
        if read is not None:
            read = replace(read, rates=read.rates.ravel())
            yield LayerDecay(name, match["stack"], layer, read)


def _steps(files: Files, name: str, config: ModelConfig) -> Rates | None:
    """Mamba (arXiv 2312.00752, 2405.21060), gated delta nets (arXiv 2412.06464) and Kimi's delta
    attention (arXiv 2510.26692).
    """
    stem = name.removesuffix("A_log").removesuffix(NEGATED)
    bias_name = next((stem + ending for ending in BIASES if stem + ending in files.tensors), None)
    if bias_name is None:
        return None
    scale, bias = _scale(files, name), files.tensor(bias_name)
    if scale.shape[: bias.ndim] == bias.shape:
        unit, bias = (
            "head" if scale.ndim == 1 else "component",
            bias.reshape(bias.shape + (1,) * (scale.ndim - bias.ndim)),
        )
    elif bias.size and bias.size % scale.size == 0:
        unit, scale, bias = "channel", scale.reshape(-1, 1), bias.reshape(scale.size, -1)
    else:
        raise RowError(
            f"{files.where}: {name} has shape {scale.shape}, {bias_name} has shape {bias.shape};"
            " expected one for each"
        )
    bound = lower_bound(config)
    if bound is not None:
        note = WORDING("bounded_rate", bound=-bound)
        return Rates(-bound * sigmoid(scale * bias), unit, True, (note,))
    low, high = _limits(config)
    steps = softplus(bias)
    clipped = np.clip(steps, low, high)
    rate = f"−{NEGATED}" if name.endswith(NEGATED) else "exp(A_log)"
    notes = [WORDING("rate_times_step", rate=rate, bias=bias_name.removeprefix(stem))]
    if not np.array_equal(clipped, steps, equal_nan=True):
        notes.append(WORDING("limited_step", low=low, high=None if high == math.inf else high))
    return Rates(scale * clipped, unit, True, tuple(notes))


def _scale(files: Files, name: str) -> Floats:
    """exp(A_log): (n_heads,), or (n_components, d_state)."""
    values = files.tensor(name)
    if not name.endswith(NEGATED):
        return exponential(values)
    return -values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else -values


def _limits(config: ModelConfig) -> tuple[float, float]:
    """Smallest and largest step, in the unit of softplus(bias)."""
    if config.family in LEAST:
        return config.positive("time_step_min", LEAST_STEP), math.inf
    pair = config.listed("time_step_limit") if config.family in LIMITED else ()
    if len(pair) != 2 or not all(isinstance(limit, int | float) for limit in pair):
        return 0.0, math.inf
    return float(pair[0]), float(pair[1])


def _exponentials(files: Files, name: str, config: ModelConfig) -> Rates | None:
    """RWKV (Peng et al. 2023, arXiv 2305.13048; 2024, arXiv 2404.05892)."""
    if config.family not in EXPONENTIALS:
        return None
    rates, notes = exponential(files.tensor(name)), (WORDING("exponential_rate"),)
    return Rates(rates, "channel", EXPONENTIALS[config.family], notes)


def _recurrent_gates(files: Files, name: str, config: ModelConfig) -> Rates | None:
    """RG-LRU (De et al. 2024, arXiv 2402.19427, section 2.4)."""
    bias_name = name.removesuffix("recurrent_param") + "recurrent_gate_bias"
    if config.family not in RECURRENT_GATES or bias_name not in files.tensors:
        return None
    parameter, bias = files.tensor(name).ravel(), files.tensor(bias_name).ravel()
    if parameter.shape != bias.shape:
        raise RowError(
            f"{files.where}: {name} has {parameter.size} values, {bias_name} has {bias.size};"
            " expected as many"
        )
    notes = (WORDING("recurrent_gate", scale=GATE_SCALE),)
    return Rates(GATE_SCALE * softplus(parameter) * sigmoid(bias), "channel", True, notes)


def _forget_gates(files: Files, name: str, config: ModelConfig) -> Rates | None:
    """The matrix memory of xLSTM (Beck et al. 2024, arXiv 2405.04517, section 2.3), whose forget
    gate is a sigmoid here.
    """
    if config.family not in FORGET_GATES:
        return None
    bias = files.tensor(name).ravel()
    # The first half is of the input gate.
    bias = bias[bias.size // 2 :] if name.endswith("ifgate_preact.bias") else bias
    if "gate_soft_cap" in config and config.value("gate_soft_cap") is None:
        return Rates(softplus(-bias), "head", True, (WORDING("forget_gate"),))
    cap = config.positive("gate_soft_cap", SOFT_CAP)
    notes = (WORDING("capped_forget_gate", cap=cap),)
    return Rates(softplus(-cap * np.tanh(bias / cap)), "head", True, notes)


READERS: dict[str, Callable[[Files, str, ModelConfig], Rates | None]] = {
    "A_log": _steps,
    NEGATED: _steps,
    "time_decay": _exponentials,
    "recurrent_param": _recurrent_gates,
    "fgate_preact.bias": _forget_gates,
    "ifgate_preact.bias": _forget_gates,
}
