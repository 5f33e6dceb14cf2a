"""The kinds of layers that a model has: by which rotation their queries and keys turn, and how far they see."""

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
    """Layers that turn by the same rotation.

    name: "" where all layers are of one kind
    config: of the stack; rope: of the rotation
    layers: their numbers, among the ``n_listed`` layers that the config lists
    """

    name: str
    config: ModelConfig
    rope: ModelConfig
    layers: tuple[int, ...] = ()
    n_listed: int = 0

    @property
    def window(self) -> int | None:
        """How many positions they see to one side, their own among them; None where it is the whole context, or is not given."""
        config, types = self.config, _types(self.config)
        everywhere = all(each == SLIDING for each in types) if types else config.family in WINDOW_EVERYWHERE
        if self.name != SLIDING and (self.name or not everywhere):
            return None
        name = "sliding_window" if config.value("local_attention") is None else "local_attention"
        size = config.count(name)
        if size is None or (name == "sliding_window" and config.flag("use_bidirectional_attention") is not True):
            return size
        return size // 2 + (0 if config.family in HALF_WINDOW else 1)

    @property
    def head_dim(self) -> int:
        """Components of a head, which may be their own, as in the layers of Gemma 4 that see all of the text."""
        if self.name.startswith("full") and (own := self.config.value("global_head_dim")):
            return whole(own, f"{self.config.where}: head_dim")
        overrides = self.config.section("per_layer_config")
        if overrides is not None and self.layers:
            layer = overrides.section(f"{self.layers[0]:02}") or overrides.section(str(self.layers[0]))
            if layer is not None and layer.value("head_dim"):
                return layer.whole("head_dim")
        return self.config.head_dim


def layer_kinds(config: ModelConfig) -> list[LayerKind]:
    """Every kind of layer of a stack that turns, each with its rotation."""
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
        LayerKind(name, config, rope, tuple(layer for layer, each in enumerate(types) if each == name), len(types))
        for name, rope in ropes.items()
    ]


def _kinds_by_base(config: ModelConfig) -> Iterator[LayerKind]:
    """One for each base, the smallest first, in the families that list a base for every layer, or 0."""
    listed = [base if isinstance(base, int | float) and not isinstance(base, bool) else 0 for base in config.listed("layer_rope_theta")]
    bases = sorted({float(base) for base in listed if base > 0})
    for base in bases:
        layers = tuple(layer for layer, each in enumerate(listed) if each == base) if len(bases) > 1 else ()
        yield LayerKind(f"base {base:g}" if len(bases) > 1 else "", config, config.rope.updated({"rope_theta": base}), layers, len(listed))


def layers_without_rotation(config: ModelConfig) -> list[int]:
    """The layers that turn nothing. In ``no_rope_layers`` 1 stands for a layer that does turn, whatever its name says."""
    given, n_layers = config.listed("no_rope_layers"), config.integer("num_hidden_layers")
    if not given and config.family in EVERY_FOURTH and n_layers is not None:
        interval = config.count("no_rope_layer_interval") or 4
        return [layer for layer in range(min(n_layers, MOST_LAYERS)) if (layer + 1) % interval == 0]
    if config.family in WINDOW_ONLY and config.value("sliding_window"):
        return [layer for layer, each in enumerate(config.layer_types) if each == "full_attention"]
    bases = config.listed("layer_rope_theta")  # Where a layer's base is 0, it has none.
    return [layer for layer, turns in enumerate(given or bases) if not turns]


def _types(config: ModelConfig) -> list[str]:
    """The kinds of the layers as their names are shown."""
    return [each.replace("_", " ") for each in config.layer_types]
