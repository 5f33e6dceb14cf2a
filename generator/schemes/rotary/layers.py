"""Which layers of a stack rotate queries and keys, and by which settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generator.checkpoints.model.layers import FULL, SLIDING, assumed
from generator.checkpoints.model.resolved import OTHER_BASES
from generator.checkpoints.model.stacks import has_code
from generator.contracts import Layer, ModelConfig, Stack
from generator.contracts.model_config import whole
from generator.schemes.rotary.families import (
    ONE_BASE,
    SECTIONS,
    UNROTATED_ENCODERS,
    WINDOW_ONLY,
)
from generator.text import as_json

# The second base of Gemma 3 and of ModernBERT, in older configs.
LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")
# What is left of the settings of layers to which the scaling does not apply.
SCALES = ("rope_theta", "partial_rotary_factor")


@dataclass(frozen=True)
class RotatedLayers:
    """Layers with the same rotation.

    name: distinguishes them from others of the stack, "" for the only ones
    layers: empty where the number of layers is unknown; all_layers: of the stack
    """

    name: str
    config: ModelConfig
    rope: ModelConfig
    layers: tuple[Layer, ...]
    all_layers: tuple[Layer, ...]

    @property
    def window(self) -> int | None:
        """Positions visible to one side, the query's included, where all of these layers have a
        limit; else None.
        """
        if not (has_code(self.config.family) or assumed(self.config)):
            return None  # What a setting of that name means is unknown.
        reaches = [layer.before for layer in self.layers]
        return (
            None
            if not reaches or None in reaches
            else max(reach for reach in reaches if reach is not None) + 1
        )

    @property
    def head_dim(self) -> int:
        """Components of a head, for which full attention may have a setting of its own (Gemma 4).

        errors: RowError for an invalid size
        """
        types = {layer.type for layer in self.layers}
        if (
            types == {FULL}
            and len({layer.type for layer in self.all_layers}) > 1
            and (size := self.config.value("global_head_dim"))
        ):
            return whole(size, f"{self.config.where}: head_dim")
        return (self.config.of_layer(self.layers[0].index) if self.layers else self.config).head_dim


def rotated_layers(stack: Stack) -> list[RotatedLayers]:
    """The layers of a stack that rotate, by their settings, in the order of their names."""
    config, all_layers = stack.config, stack.layers
    if not all_layers:
        return [RotatedLayers(name, config, rope, (), ()) for name, rope in _unnumbered(config)]
    found: dict[str, tuple[ModelConfig, list[Layer]]] = {}
    for layer, rope in zip(all_layers, ropes_of(config, all_layers), strict=True):
        if rope is not None:
            key = json.dumps(
                [rope.settings, _head_dim_key(config, layer)], sort_keys=True, default=str
            )
            found.setdefault(key, (rope, []))[1].append(layer)
    return _named(
        [
            RotatedLayers("", config, rope, tuple(layers), all_layers)
            for rope, layers in found.values()
        ]
    )


def _head_dim_key(config: ModelConfig, layer: Layer) -> str:
    return layer.type if "global_head_dim" in config or "per_layer_config" in config else ""


def ropes_of(config: ModelConfig, all_layers: Sequence[Layer]) -> list[ModelConfig | None]:
    """Settings of the rotation in each layer of a stack; None where it rotates nothing."""
    is_of_windows = (
        config.family in WINDOW_ONLY
        and bool(config.value("sliding_window"))
        and any("sliding" in layer.mixers for layer in all_layers)
    )
    bases = () if config.family in ONE_BASE else config.listed("layer_rope_theta")
    by_type = {kind: _by_type(config, kind) for kind in {layer.type for layer in all_layers}}
    return [
        _rope_of(config, layer, by_type[layer.type], bases)
        if _rotates(config, layer)
        and ("sliding" in layer.mixers or not is_of_windows or _is_dense_prefix(config, layer))
        else None
        for layer in all_layers
    ]


def _is_dense_prefix(config: ModelConfig, layer: Layer) -> bool:
    """Whether a layer has no experts, in a family where such layers rotate too unless a pattern of
    windows is theirs (modeling_cohere2_moe.py of transformers).
    """
    kinds = config.listed("mlp_layer_types")
    is_dense = "dense" in kinds[layer.index : layer.index + 1]
    return is_dense and config.value("prefix_dense_sliding_window_pattern") == 1


def _rotates(config: ModelConfig, layer: Layer) -> bool:
    is_of_encoder = layer.part == "encoder" and config.family in UNROTATED_ENCODERS
    return layer.attends and not is_of_encoder and _is_flagged(config, layer)


def _rope_of(
    config: ModelConfig, layer: Layer, rope: ModelConfig | None, bases: Sequence[Any]
) -> ModelConfig | None:
    """rope: settings for the type of the layer; bases: of each layer, where there are any"""
    if layer.index < len(bases):
        return config.rope.updated({"rope_theta": bases[layer.index]})
    if rope is not None and has_null_base(rope, config):
        return None
    scaled = config.listed("rope_scaling_layers")
    if rope is not None and scaled and layer.index not in scaled:
        return replace(rope, settings={name: rope.value(name) for name in SCALES if name in rope})
    return rope


def has_null_base(rope: ModelConfig, config: ModelConfig) -> bool:
    """Whether the base is null, which stands for no rotation (modeling_olmo_hybrid.py of
    transformers) or for a file that no code reads.
    """
    names = ("rope_theta", *OTHER_BASES, *LOCAL_BASES)
    return "rope_theta" in rope and rope.value("rope_theta") is None and not config.first(*names)


def _is_flagged(config: ModelConfig, layer: Layer) -> bool:
    """Whether lists by layer say that it rotates; in ``no_rope_layers``, 1 is a layer with rotation
    in spite of the name.
    """
    for name in ("no_rope_layers", "layer_rope_theta"):
        flags = config.listed(name)
        if layer.index < len(flags) and not flags[layer.index]:
            return False
    return True


def _by_type(config: ModelConfig, layer_type: str) -> ModelConfig | None:
    """Settings for a type of layer: those nested under its name, or those of all layers; None where
    they are null.
    """
    named = {
        name: name.replace("_", " ")
        for name, value in config.rope.settings.items()
        if isinstance(value, Mapping) or value is None
    }
    sections = {title: config.rope.section(name) for name, title in named.items()}
    if any(sections.values()):
        alias = SECTIONS.get(config.family, {}).get(layer_type, layer_type)
        return sections.get(alias, next(iter(sections.values())) if len(sections) == 1 else None)
    local = config.first(*LOCAL_BASES)
    if local is None:
        return config.rope
    if layer_type == SLIDING:
        return ModelConfig({"rope_theta": local}, config.where)
    base = (
        {"rope_theta": config.value("global_rope_theta")} if "global_rope_theta" in config else {}
    )
    return config.rope.updated(base)


def _unnumbered(config: ModelConfig) -> list[tuple[str, ModelConfig]]:
    """Rotations of a stack whose layers are not known, by name."""
    sections = {name.replace("_", " "): rope for name, rope in config.rope.sections.items()}
    if sections:
        return list(sections.items())
    if config.first(*LOCAL_BASES) is None:
        return [("", config.rope)]
    return [
        (name, rope) for name in (FULL, SLIDING) if (rope := _by_type(config, name)) is not None
    ]


def _named(groups: list[RotatedLayers]) -> list[RotatedLayers]:
    """``groups`` with names: the type of their layers where it tells them apart, else the base,
    else their number.
    """
    if len(groups) < 2:
        return groups
    type_sets = [{layer.type for layer in group.layers} for group in groups]
    is_by_type = len(set().union(*type_sets)) == sum(map(len, type_sets))
    types = [" and ".join(sorted(names)) for names in type_sets] if is_by_type else []
    bases = [_base_name(group.rope.value("rope_theta")) for group in groups]
    names = next(
        (names for names in (types, bases) if len(set(names)) == len(groups)),
        [f"rotation {n}" for n in range(1, len(groups) + 1)],
    )
    by_name = sorted(zip(names, groups, strict=True), key=lambda pair: pair[0])
    return [replace(group, name=name) for name, group in by_name]


def _base_name(base: object) -> str:
    return f"base {base:g}" if isinstance(base, int | float) else f"base {as_json(base, 20)}"
