"""transformers 4, whose config classes know no ``rope_parameters``."""

from collections.abc import Mapping
from typing import Any

from generator.checkpoints.model.resolved import defaults
from generator.contracts import ConfigReader, Json
from generator.reading.reader_defaults import reader_defaults

ROPE, SCALING = "rope_parameters", "rope_scaling"
BASES = frozenset(
    {"rope_theta", "rotary_emb_base", "rope_local_base_freq", "global_rope_theta",
     "local_rope_theta"}
)  # fmt: skip
# Settings of a rotation that it reads at the top alone.
BESIDE_BLOCK = ("rope_theta", "partial_rotary_factor")
BASE = "rope_theta"
FULL, SLIDING = "full_attention", "sliding_attention"
NOT_SCALED = {"rope_type": "default"}


def takes(settings: Json) -> Json | None:
    """Its words mean the same to transformers 5; what its class takes by default is written out."""
    known = reader_defaults("transformers4").get(str(settings.get("model_type")))
    if known is None or (settings.keys() & BASES and not known["arguments"].keys() & BASES):
        return None  # Other code knows the base.
    return _of_class(settings, known)


def _of_class(settings: Json, known: Mapping[str, Any]) -> Json:
    own, family = known["arguments"], str(settings.get("model_type"))
    kept = {
        name: value
        for name, value in settings.items()
        if name != ROPE and (name not in BASES or name in own)
    }
    kept |= {
        name: default
        for name, default in own.items()
        if name not in settings and default is not None
    }
    if SCALING in own and not kept.get(SCALING):
        kept[SCALING] = NOT_SCALED
    elif isinstance(block := kept.get(SCALING), Mapping):
        kept[SCALING] = {name: value for name, value in block.items() if name not in BESIDE_BLOCK}
    if own.keys() & BASES == {BASE} and FULL in (defaults(family).get(ROPE) or {}):
        base, scaling = {BASE: kept.pop(BASE)}, kept.pop(SCALING)  # Of both kinds of layers.
        kept[ROPE] = {FULL: {**scaling, **base}, SLIDING: {**NOT_SCALED, **base}}
    for name, value in settings.items():
        if name.endswith("_config") and isinstance(value, Mapping):
            of_part = value.get("model_type", known["parts"].get(name))
            part = reader_defaults("transformers4").get(str(of_part))
            if part is not None:
                kept[name] = _of_class(value, part)
    return kept


READER = ConfigReader(
    key="transformers4",
    name="transformers",
    version="4.57.6",
    read_on="2026-11-29",
    source="the arguments of each class in src/transformers/models/*/configuration_*.py",
    is_run=True,
    takes=takes,
)
