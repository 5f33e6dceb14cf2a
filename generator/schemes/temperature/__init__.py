"""Attention temperature: logits that grow with the position of the query, to keep attention sharp
in long texts.
"""

import math
from collections.abc import Mapping

from generator.contracts import Encoding, Files, ModelConfig, Provenance, Scheme, Stack
from generator.contracts.wording import Wording
from generator.encodings import Form, Temperature

WORDING = Wording("schemes/temperature.md.jinja")
# log(1 + ⌊(p + 1) / floor_scale⌋), in layers without a rotation.
BY_FLOOR = frozenset({"llama4_text"})
# log(1 + ⌊p / original_max_position_embeddings⌋), in all layers.
BY_BETA = frozenset({"ministral3", "mistral4"})
# (1 + (p + 1) / 2048)^0.1, in layers without a rotation.
BY_POWER: Mapping[str, tuple[float, float]] = {"beam": (0.1, 2048.0)}
# log(max((p + 1) / log_scaling_n_floor, 1)), in layers that see all of the text; with the default
# of that setting.
BY_LOGARITHM = {"inkling_text": None, "inkling2_text": 128_000, "inkling2_loop_text": 8192}
# log(p + 1) / log(seq_length) beyond that length, in the first Qwen (arXiv 2309.16609, section
# 2.4), whose code has a list of so many factors.
LONGEST_OF_QWEN = 32_768
# Defaults of floor_scale, and of attn_scale and log_scaling_alpha.
FLOOR_SCALE, STRENGTH = 8192, 0.1

ALL_POSITIONS = 131_072  # Where a config does not say how many.


def find(files: Files) -> list[Encoding[Form]]:
    """The factor on the logits of the last stack whose family has one; none without such a stack.

    errors: RowError when a setting is invalid
    """
    found = [
        (stack, *rule) for stack in files.resolved.stacks if (rule := _rule(stack)) is not None
    ]
    return [_encoding(*stack_and_rule) for stack_and_rule in found[-1:]]


def _encoding(stack: Stack, form: Temperature, settings: tuple[str, ...]) -> Encoding[Form]:
    layers = form.layers
    notes = (WORDING("by_settings", settings=settings), WORDING("in_layers", layers=layers))
    part = "layers of attention" if stack.part == "decoder" else f"{stack.part} layers of attention"
    origin, modality = Provenance("config.json", shape=(1,)), stack.modality
    return Encoding(part, SCHEME.key, form, origin, notes, modality, stack.kind, layers or None)


def _rule(stack: Stack) -> tuple[Temperature, tuple[str, ...]] | None:
    """The factor by the rule of the family, and the settings that it follows from; None where there
    is none.
    """
    config = stack.config
    n_positions = config.size("n_positions") or ALL_POSITIONS
    if config.family in BY_FLOOR:
        return _by_floor(config, n_positions)
    if config.family in BY_BETA:
        return _by_beta(config, n_positions)
    if config.family in BY_LOGARITHM:
        return _by_logarithm(stack, n_positions)
    if config.flag("use_logn_attn") is True and (start := config.count("seq_length") or 0) > 1:
        form = Temperature(1 / math.log(start), start, 1, "smooth", (), LONGEST_OF_QWEN)
        return form, ("use_logn_attn", "seq_length")
    if config.family in BY_POWER:
        rope = config.rope.settings
        of_type = [(layer.index, layer.type.replace(" ", "_")) for layer in stack.layers]
        unrotated = tuple(index for index, name in of_type if rope.get(name, {}) is None)
        form = Temperature(*BY_POWER[config.family], 1, "power", unrotated, n_positions)
        return (form, ("rope_parameters",)) if unrotated else None
    return None


def _by_floor(config: ModelConfig, n_positions: int) -> tuple[Temperature, tuple[str, ...]] | None:
    unrotated = tuple(
        layer for layer, rotates in enumerate(config.listed("no_rope_layers")) if not rotates
    )
    if not config.value("attn_temperature_tuning", True) or not unrotated:
        return None
    strength = config.positive("attn_scale", STRENGTH)
    start = config.positive("floor_scale", FLOOR_SCALE)
    form = Temperature(strength, start, 1, "steps", unrotated, n_positions)
    return form, ("attn_scale", "floor_scale")


def _by_beta(config: ModelConfig, n_positions: int) -> tuple[Temperature, tuple[str, ...]] | None:
    beta, trained = "llama_4_scaling_beta", "original_max_position_embeddings"
    # Where the former is 0, the factor is 1.
    if config.rope.value(beta) in (None, 0) or config.rope.value(trained) is None:
        return None
    strength, start = config.rope.positive(beta), config.rope.positive(trained)
    return Temperature(strength, start, 0, "steps", (), n_positions), (beta, trained)


def _by_logarithm(stack: Stack, n_positions: int) -> tuple[Temperature, tuple[str, ...]] | None:
    config = stack.config
    floor = config.value("log_scaling_n_floor", BY_LOGARITHM.get(config.family))
    if floor is None:
        return None
    full = tuple(layer.index for layer in stack.layers if "sliding" not in layer.mixers)
    strength = config.positive("log_scaling_alpha", STRENGTH)
    start = config.positive("log_scaling_n_floor", floor)
    form = Temperature(strength, start, 1, "smooth", full, n_positions)
    return form, ("log_scaling_alpha", "log_scaling_n_floor")


SCHEME = Scheme(
    key="temperature",
    paper="2202.12172",
    also=("temperature tuning", "log-n scaling"),
    acts_in="logits",
    after="sink",
    find=find,
    tells_position=False,
    by_formula=True,
)
