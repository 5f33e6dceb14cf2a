"""Settings of ExecuTorch's language models in params.json, whose names are those of Meta's file and
more (ModelArgs and rope.py in examples/models/llama of github.com/pytorch/executorch).

Layers with a window, and layers without rotation, are those of its static_llama.py.
"""

from collections.abc import Sequence
from typing import Any

from generator.checkpoints.model import keys
from generator.checkpoints.model.engines_families import MOST_LAYERS
from generator.contracts import Json

PROGRAM = "ExecuTorch"
FAMILY = "executorch"
# Of ModelArgs, and of neither Meta's nor Mistral's file.
MARKS = frozenset(
    {"use_hf_rope", "partial_rotary_factor", "rope_freq_base", "local_rope_theta",
     "no_rope_layer_interval", "layer_types", "rope_scale_factor", "high_freq_factor",
     "rope_scaling_short_factor", "rope_scaling_long_factor", "qk_norm_before_rope",
     "attention_qkv_bias", "attention_type", "apply_embedding", "model_architecture"}
)  # fmt: skip
OTHERS = frozenset(
    {"rope_theta", "use_scaled_rope", "sliding_window", "original_max_position_embeddings",
     "max_position_embeddings", "rope_scaling_attention_factor"}
)  # fmt: skip
SIZES = {
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "vocab_size": "vocab_size",
}
COUNTS = ("dim", "n_layers", "n_heads")
BASE, FACTOR, HIGH = 10_000.0, 8, 4  # Defaults of ModelArgs.
OF_LLAMA_3 = {"rope_type": "llama3", "low_freq_factor": 1, "original_max_position_embeddings": 8192}
ATTENTION = frozenset({"mha", "static", "static_mha"})
KINDS = {
    **{kind: kind for kind in ("full_attention", "sliding_attention", "linear_attention", "conv")},
    "skip_attention": "mlp",
}
WIDTH = 3  # positions of a short convolution


def settings_of(whole: Json) -> Json:
    """Its settings in the words of transformers; sizes alone where a key of position, or a value,
    is none that ExecuTorch reads.
    """
    given = {name: value for name, value in whole.items() if value is not None}
    sizes = {known: given[name] for name, known in SIZES.items() if name in given}
    of_position = {name for name in given if keys.concerns_position((name,))}
    if not of_position <= MARKS | OTHERS or any(type(given[name]) is not int for name in COUNTS):
        return sizes
    kinds, long = _kinds(given), _long(given)
    if kinds is None or long is None or given["n_heads"] < 1:
        return sizes
    turns_halves = given.get("use_hf_rope") is True
    rope = {"rope_type": "default", "rope_theta": _base(given), **(long if turns_halves else {})}
    if not turns_halves and given.get("use_scaled_rope") is True:
        factors = given.get("rope_scale_factor", FACTOR), given.get("high_freq_factor", HIGH)
        rope |= {**OF_LLAMA_3, **dict(zip(("factor", "high_freq_factor"), factors, strict=True))}
    length = given.get("max_position_embeddings", given.get("max_seq_len"))
    return {
        **sizes,
        **_of_layers(given, kinds),
        "model_type": FAMILY,
        "head_dim": given.get("head_dim", given["dim"] // given["n_heads"]),
        "rope_parameters": rope,
        # Neither of these two is a setting of an encoding.
        "turns_halves": turns_halves,
        "normalized_first": given.get("qk_norm_before_rope"),
        **({"max_position_embeddings": length} if length else {}),
        **(
            {"partial_rotary_factor": given["partial_rotary_factor"]}
            if turns_halves and "partial_rotary_factor" in given
            else {}
        ),
    }


def _base(given: Json) -> Any:
    return given.get("rope_theta", given.get("rope_freq_base", BASE))


def _kinds(given: Json) -> Sequence[str] | None:
    """What each layer is, empty where all attend to all; None where that is not known."""
    listed, n_layers = given.get("layer_types") or [], given["n_layers"]
    attention = str(given.get("attention_type", "mha"))
    if attention not in ATTENTION or not isinstance(listed, list):
        return None
    # Those behind the last layer are not read.
    kinds = [KINDS.get(str(kind)) for kind in listed[: min(n_layers, MOST_LAYERS)]]
    is_whole = len(kinds) == n_layers and None not in kinds
    return [str(kind) for kind in kinds] if is_whole or not listed else None


def _of_layers(given: Json, kinds: Sequence[str]) -> Json:
    interval, found = given.get("no_rope_layer_interval"), dict[str, Any]()
    if kinds:
        found |= {"layer_types": kinds, "num_hidden_layers": None}
    if isinstance(interval, int) and interval > 0:
        n_layers = min(given["n_layers"], MOST_LAYERS)
        found["no_rope_layers"] = [int((layer + 1) % interval > 0) for layer in range(n_layers)]
    if "sliding_attention" in kinds:
        names = {"sliding_window": "sliding_window", "local_rope_theta": "rope_local_base_freq"}
        found |= {known: given[name] for name, known in names.items() if name in given}
    if "conv" in kinds:
        found["conv_L_cache"] = WIDTH
    return found


def _long(given: Json) -> Json | None:
    """The scaling by two lists; empty without one, None where it is not whole."""
    lists = [given.get(f"rope_scaling_{each}_factor") for each in ("short", "long")]
    trained, factor = (
        given.get(name)
        for name in ("original_max_position_embeddings", "rope_scaling_attention_factor")
    )
    if lists == [None, None]:
        return None if factor else {}
    if None in lists or trained is None:
        return None
    return {
        "rope_type": "longrope",
        "short_factor": lists[0],
        "long_factor": lists[1],
        "original_max_position_embeddings": trained,
        **({"attention_factor": factor} if factor else {}),
    }
