"""Kinds of layers of a model, by the rotation of queries and keys and by the attention window."""

from collections.abc import Iterator
from dataclasses import dataclass

from generator.checkpoints.model.families import EVERY_FOURTH, HALF_WINDOW, WINDOW_EVERYWHERE, WINDOW_ONLY
from generator.contracts import ModelConfig
from generator.contracts.model_config import whole

LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")  # The second base of Gemma 3 and of ModernBERT, in older configs.
FULL, SLIDING = "full attention", "sliding attention"
MOST_LAYERS = 10_000


@dataclass(frozen=True)
class LayerKind:
    """Layers with the same rotation.

    name: "" for the only kind of a model
    config: of the stack; rope: of the rotation
    layers: indices of these layers; n_listed: number of layers in the config's list of layer types, 0 without one
    """

    name: str
    config: ModelConfig
    rope: ModelConfig
    layers: tuple[int, ...] = ()
    n_listed: int = 0

    @property
    def window(self) -> int | None:
        """Positions that a query attends to on one side, itself included; None for the whole context or without a setting."""
        config, types = self.config, _types(self.config)
        everywhere = all(layer_type == SLIDING for layer_type in types) if types else config.family in WINDOW_EVERYWHERE
        if self.name != SLIDING and (self.name or not everywhere):
            return None
        name = "sliding_window" if config.value("local_attention") is None else "local_attention"
        size = config.count(name)
        if size is None or (name == "sliding_window" and config.flag("use_bidirectional_attention") is not True):
            return size
        return size // 2 + (0 if config.family in HALF_WINDOW else 1)

    @property
    def head_dim(self) -> int:
        """Components of a head; layers with full attention may have a separate setting (Gemma 4).

        errors: RowError for an invalid size
        """
        if self.name.startswith("full") and (size := self.config.value("global_head_dim")):
            return whole(size, f"{self.config.where}: head_dim")
        overrides = self.config.section("per_layer_config")
        if overrides is not None and self.layers:
            layer = overrides.section(f"{self.layers[0]:02}") or overrides.section(str(self.layers[0]))
            if layer is not None and layer.value("head_dim"):
                return layer.whole("head_dim")
        return self.config.head_dim


def layer_kinds(config: ModelConfig) -> list[LayerKind]:
    """Every kind of layer of a stack that has a rotation."""
    if bases := list(_kinds_by_base(config)):
        return bases
    types = _types(config)
    ropes = {name.replace("_", " "): rope for name, rope in config.rope.sections.items()}
    local = config.first(*LOCAL_BASES)
    if not ropes and local is None:
        return [LayerKind("", config, config.rope)]
    if not ropes:
        base = {"rope_theta": config.value("global_rope_theta")} if "global_rope_theta" in config else {}
        ropes = {FULL: config.rope.updated(base), SLIDING: ModelConfig({"rope_theta": local}, config.where)}
    elif used := {name: rope for name, rope in ropes.items() if name in types}:
        ropes = used
    return [
        LayerKind(name, config, rope, tuple(layer for layer, layer_type in enumerate(types) if layer_type == name), len(types))
        for name, rope in ropes.items()
    ]


def _kinds_by_base(config: ModelConfig) -> Iterator[LayerKind]:
    """Kinds by base, the smallest first, for a config with a list of bases, 0 for layers without rotation."""
    base_of_layer = [
        base if isinstance(base, int | float) and not isinstance(base, bool) else 0 for base in config.listed("layer_rope_theta")
    ]
    bases = sorted({float(base) for base in base_of_layer if base > 0})
    for base in bases:
        layers = tuple(layer for layer, layer_base in enumerate(base_of_layer) if layer_base == base) if len(bases) > 1 else ()
        yield LayerKind(
            f"base {base:g}" if len(bases) > 1 else "", config, config.rope.updated({"rope_theta": base}), layers, len(base_of_layer)
        )


def layers_without_rotation(config: ModelConfig) -> list[int]:
    """Indices of layers without rotation; in ``no_rope_layers``, 1 is a layer with rotation in spite of the name."""
    flags, n_layers = config.listed("no_rope_layers"), config.integer("num_hidden_layers")
    if not flags and config.family in EVERY_FOURTH and n_layers is not None:
        interval = config.count("no_rope_layer_interval") or 4
        return [layer for layer in range(min(n_layers, MOST_LAYERS)) if (layer + 1) % interval == 0]
    if config.family in WINDOW_ONLY and config.value("sliding_window"):
        return [layer for layer, layer_type in enumerate(config.layer_types) if layer_type == "full_attention"]
    bases = config.listed("layer_rope_theta")  # A base of 0 means no rotation.
    return [layer for layer, rotates in enumerate(flags or bases) if not rotates]


def _types(config: ModelConfig) -> list[str]:
    """Layer types with spaces for underscores, as pages show them."""
    return [layer_type.replace("_", " ") for layer_type in config.layer_types]
