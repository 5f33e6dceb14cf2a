"""Decay: recurrent layers and linear attention, whose state forgets at a rate for each head or
channel.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from generator.checkpoints.model.families import attends_without_encoding
from generator.checkpoints.model.tensor_names import in_order
from generator.contracts import Encoding, Files, ModelConfig, Provenance, Scheme, Stack
from generator.contracts.wording import Wording
from generator.encodings import Decay, Form
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.schemes.decay.families import (
    ALTERNATING,
    FROM_WEIGHTS,
    LIGHTNING,
    RETENTION,
    WITHOUT_TYPE,
)
from generator.schemes.decay.stored import MOST_LAYERS, LayerDecay, layer_decays

WORDING = Wording("schemes/decay.md.jinja")
MOST_HEADS = 4096
LINEAR = "linear_attention"  # Type of a layer, in a config.


def lightning(n_heads: int, layer: int, n_layers: int) -> Floats:
    """Rates of a layer of lightning attention in MiniMax (arXiv 2501.08313, by the code of
    transformers).

    2^(−8h/H) · (1 − l / (L − 1 + 10⁻⁵) + 10⁻⁵) for head h = 1 … H in layer l = 0 … L − 1
    returns: (n_heads,), e-foldings per position
    """
    return np.asarray(
        2.0 ** (-8.0 * np.arange(1, n_heads + 1) / n_heads)
        * (1.0 - layer / (n_layers - 1 + 1e-5) + 1e-5)
    )


def retention(n_heads: int) -> Floats:
    """Rates of RetNet (Sun et al. 2023, arXiv 2307.08621, section 2.2): −log(1 − 2^(−5−h)) for h =
    0 … H − 1.

    returns: (n_heads,), e-foldings per position, the same in all layers
    """
    return np.asarray(-np.log1p(-(2.0 ** (-5.0 - np.arange(n_heads)))))


def find(files: Files) -> list[Encoding[Form]]:
    """The decays of recurrent layers: from the weights, or by a rule of the config; none without
    either.

    errors: RowError when sizes are missing or invalid, or the shapes of tensors do not match
    """
    inner = files.resolved.stacks[::-1]
    by_rule = next((stack for stack in inner if stack.config.family in LIGHTNING | RETENTION), None)
    if by_rule is not None:
        return _by_rule(by_rule)
    stored = next((stack for stack in inner if _is_stored(stack.config)), None)
    return [] if stored is None else list(_from_weights(files, stored))


def _is_stored(config: ModelConfig) -> bool:
    return config.family in FROM_WEIGHTS or ("model_type" not in config and WITHOUT_TYPE in config)


def _by_rule(stack: Stack) -> list[Encoding[Form]]:
    config = stack.config
    n_heads, n_layers = config.needed("n_heads"), config.needed("n_layers")
    if n_heads > MOST_HEADS or n_layers > MOST_LAYERS:
        raise RowError(
            f"{config.where}: {n_heads:,} heads in {n_layers:,} layers; expected at most"
            f" {MOST_HEADS:,} in {MOST_LAYERS:,}"
        )
    if config.family in RETENTION:
        # With another rule, config.json does not give the range of the rates.
        layers = list(range(n_layers)) if config.value("use_default_gamma", True) is True else []
        rates = [retention(n_heads)] * len(layers)
    else:
        layers = _lightning_layers(config, n_layers)
        rates = [lightning(n_heads, layer, n_layers) for layer in layers]
    if not layers:
        return []
    note = (
        [WORDING("of_paper")]
        if config.family in RETENTION
        else _layers_note(layers, n_layers, config)
    )
    form = Decay.of(np.stack(rates), tuple(layers), "head", at_zero_input=False)
    origin = Provenance("config.json", shape=form.rates.shape)
    return [_encoding(stack, _part(stack), form, origin, (WORDING("by_rule"), *note))]


def _encoding(
    stack: Stack, part: str, form: Decay, origin: Provenance, notes: tuple[str, ...]
) -> Encoding[Form]:
    return Encoding(part, SCHEME.key, form, origin, notes, stack.modality, stack.kind, form.layers)


def _part(stack: Stack) -> str:
    """The layers with a state; a hybrid has layers of attention between these, which other schemes
    show.
    """
    return "recurrent layers" if stack.part == "decoder" else f"{stack.part} recurrent layers"


def _lightning_layers(config: ModelConfig, n_layers: int) -> list[int]:
    """Indices of the layers of lightning attention. Empty where the config does not say."""
    kinds = config.layer_types
    if not kinds and config.family in ALTERNATING:
        return list(range(1, n_layers, 2))
    return [layer for layer, kind in enumerate(kinds[:n_layers]) if kind == LINEAR]


def _from_weights(files: Files, stack: Stack) -> Iterator[Encoding[Form]]:
    """One encoding for all layers of a stack whose rates are of one kind."""
    of_layers = {decay.name: decay for decay in layer_decays(files, stack.config)}
    ordered = [of_layers[name] for name in in_order(of_layers)]
    kinds = [list(members) for _, members in groupby(sorted(ordered, key=_kind), key=_kind)]
    for members in kinds:
        first, part = members[0], _part(stack)
        read, notes = first.read, list(first.read.notes)
        rates = np.stack([member.read.rates for member in members])  # (n_layers, n_units)
        layers = tuple(member.layer for member in members)
        form = Decay.of(rates, layers, read.unit, read.at_zero_input)
        if read.at_zero_input:
            notes.append(WORDING("zero_input"))
        if len(kinds) > 1:
            part = f"{part} {first.stack} {read.rates.size}"
        elif n_layers := stack.config.size("n_layers"):
            notes += _layers_note(layers, n_layers, stack.config)
        origin = Provenance.of(files, first.name)
        yield _encoding(stack, part, form, origin, (*notes, WORDING("of_first_layer")))


def _kind(decay: LayerDecay) -> tuple[str, str, int]:
    return decay.stack, decay.read.unit, decay.read.rates.size


def _layers_note(layers: Sequence[int], n_layers: int, config: ModelConfig) -> list[str]:
    """Note on the layers with a decay where others have none, and on those between them where these
    have no encoding.
    """
    if len(layers) >= n_layers:
        return []
    alone = attends_without_encoding(config)
    return [WORDING("layers", layers=layers, n_layers=n_layers, without_encoding=alone)]


SCHEME = Scheme(
    key="decay",
    paper="2305.13048",
    plural="decays",
    also=(
        "forgetting",
        "state space models",
        "linear attention",
        "gated delta networks",
        "lightning attention",
        "retention",
    ),
    acts_in="state",
    after="alibi",
    find=find,
)
