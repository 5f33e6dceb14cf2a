"""Which layers turn their queries and keys, where not all of them do."""

from collections.abc import Mapping, Sequence

from generator.checkpoints.model.config_json import family
from generator.contracts import Json

EVERY_FOURTH = frozenset({"smollm3", "llama4_text", "mistral_large4_text"})  # Leave out one layer in four where the config is silent.
# Families whose layers that see all of the text turn nothing, so long as there are others that see a window.
WINDOW_ONLY = frozenset({"cohere2", "cohere2_moe", "exaone4", "exaone4_5_text", "exaone_moe", "afmoe", "flint", "kolibri1"})
PER_LAYER = frozenset({"granite_swa", "granitemoe_swa"})  # Have a base for each layer, and 0 where there is none.
# Families all of whose layers see a window, if their config has one, and which list no kinds of layers.
WINDOW_EVERYWHERE = frozenset({"mistral", "ministral3", "mixtral", "phi3", "phimoe", "starcoder2"})
SLIDING = "sliding attention"
MOST_NAMED = 24
# What the code of a family does that its config does not say.
OWN_CODE = {
    "qwen2_5_omni_dit": "Only the first head of each layer is turned.",
    "clvp_encoder": "The values are turned as well, in the same way.",
}
LEAST_OF_CLVP = 32  # Components of a head.


def own_code(config: Json) -> tuple[str, ...]:
    """What the code of this family does beside the usual."""
    return (OWN_CODE[family(config)],) if family(config) in OWN_CODE else ()


def own_rotary_dim(config: Json) -> object:
    """How many components the families turn that have a rule of their own for it: CLVP goes by the width of its projection."""
    width, n_heads = config.get("projection_dim"), config.get("num_attention_heads")
    if family(config) != "clvp_encoder" or not isinstance(width, int) or not isinstance(n_heads, int) or n_heads < 1:
        return None
    return max(width // (n_heads * 2), LEAST_OF_CLVP)


def layers_note(config: Json, kind: str) -> tuple[str, ...]:
    """Which layers have this kind of rotation, or which have none, as far as the config says."""
    types = _listed(config.get("layer_types"))
    if kind.startswith("base "):
        own = _listed(config.get("layer_rope_theta"))
        having = [layer for layer, base in enumerate(own) if isinstance(base, int | float) and f"base {base:g}" == kind]
        return (f"{_named(having)} of {len(own)} turn by it.",)
    if kind and types:
        having = [layer for layer, each in enumerate(types) if isinstance(each, str) and each.replace("_", " ") == kind]
        return (f"{_named(having)} of {len(types)} turn by it.",) if having else ()
    still = without(config)
    return (f"{_named(still)} turn nothing: they are told nothing of position.",) if still else ()


def without(config: Json) -> list[int]:
    """The layers that turn nothing. In ``no_rope_layers`` 1 stands for a layer that does turn, whatever its name says."""
    given = _listed(config.get("no_rope_layers"))
    n_layers = config.get("num_hidden_layers")
    if not given and family(config) in EVERY_FOURTH and isinstance(n_layers, int):
        every = config.get("no_rope_layer_interval")
        every = every if isinstance(every, int) and every > 0 else 4
        return [layer for layer in range(min(n_layers, 10_000)) if (layer + 1) % every == 0]
    if family(config) in WINDOW_ONLY and config.get("sliding_window"):
        return [layer for layer, each in enumerate(_listed(config.get("layer_types"))) if each == "full_attention"]
    bases = _listed(config.get("layer_rope_theta"))  # Where a layer's base is 0, it has none.
    return [layer for layer, turns in enumerate(given or bases) if not turns]


def window(config: Json, kind: str) -> int | None:
    """How many positions layers of this kind see to one side, their own among them; None where it is the whole context, or not said."""
    types = _listed(config.get("layer_types"))
    every = all(each == "sliding_attention" for each in types) if types else family(config) in WINDOW_EVERYWHERE
    if kind != SLIDING and (kind or not every):
        return None
    causal, both_sides = config.get("sliding_window"), config.get("local_attention")
    if both_sides is None and config.get("use_bidirectional_attention") is True:
        both_sides = causal
    size = causal if both_sides is None else both_sides
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        return None
    half = size // 2 + (0 if family(config) == "modernbert-decoder" else 1)  # Which looks back alone, by its half.
    return size if both_sides is None else half


def bases_by_layer(config: Json) -> list[float]:
    """The bases of the families in which every layer has its own, the smallest first."""
    listed = _listed(config.get("layer_rope_theta")) if family(config) in PER_LAYER else ()
    return sorted({float(base) for base in listed if isinstance(base, int | float) and not isinstance(base, bool) and base > 0})


def own_head_dim(config: Json, kind: str) -> object:
    """The width of a head in layers of this kind, where it is their own, as in the layers of Gemma 4 that see all of the text."""
    if kind.startswith("full") and config.get("global_head_dim"):
        return config["global_head_dim"]
    own, types = config.get("per_layer_config"), _listed(config.get("layer_types"))
    layer = next((layer for layer, each in enumerate(types) if isinstance(each, str) and each.replace("_", " ") == kind), None)
    said = own.get(f"{layer:02}", own.get(str(layer))) if isinstance(own, Mapping) and layer is not None else None
    return said.get("head_dim") if isinstance(said, Mapping) else None


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _named(layers: Sequence[int]) -> str:
    if len(layers) == 1:
        return f"Layer {layers[0]}"
    shown = ", ".join(str(layer) for layer in layers[:MOST_NAMED])
    return f"Layers {shown}{' …' if len(layers) > MOST_NAMED else ''} ({len(layers)})"
