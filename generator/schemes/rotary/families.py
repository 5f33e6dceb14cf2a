"""Model families with rotations that config.json does not describe in full."""

from collections.abc import Callable, Mapping

from generator.contracts import ModelConfig

# Have a rotation without any setting of one, by their own code.
ALWAYS = frozenset({"neobert", "open-llama", "roformer"})
# Layers with full attention have no rotation if there are others with a window.
WINDOW_ONLY = frozenset(
    {
        "cohere2",
        "cohere2_moe",
        "exaone4",
        "exaone4_5_text",
        "exaone_moe",
        "afmoe",
        "flint",
        "kolibri1",
    }
)
UNROTATED_ENCODERS = frozenset({"moonshine_streaming"})  # The decoder alone has a rotation.
# Section of the rotation's settings by type of layer, where it has another name.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "deepseek_v4": {
        "sliding attention": "main",
        **dict.fromkeys(
            ("compressed sparse attention", "heavily compressed attention"), "compress"
        ),
    }
}
# Have a rotation only if a setting has this value.
ONLY_WITH: Mapping[str, tuple[str, object]] = {
    "clvp_encoder": ("use_rotary_embedding", True),
    "wav2vec2-conformer": ("position_embeddings_type", "rotary"),
    "wav2vec2-bert": ("position_embeddings_type", "rotary"),
    "esm": ("position_embedding_type", "rotary"),
}
# Settings that replace the factor on sine and cosine, for texts within the original context.
FACTORS: Mapping[str, tuple[str, ...]] = {"phimoe": ("short_mscale",)}
OF_IMAGES = frozenset({"efficientloftr"})  # Image models without a setting of one.
# Notes on code that config.json does not describe.
CODE_NOTES = {
    "qwen2_5_omni_dit": "Only the first head of each layer is rotated.",
    "clvp_encoder": "The values are rotated in the same way.",
    "moonshine_streaming": "The encoder's attention has no rotation.",
    "mistral_large4_text": (
        "The frequencies are shown before the model multiplies each by a learned number."
    ),
}
LEAST_OF_CLVP = 32  # Components of a head.


def _by_projection(config: ModelConfig) -> int | None:
    width, n_heads = config.integer("projection_dim"), config.count("num_attention_heads")
    return None if width is None or n_heads is None else max(width // (n_heads * 2), LEAST_OF_CLVP)


# Number of rotated components by family, where the general rule does not apply.
ROTARY_DIM: Mapping[str, Callable[[ModelConfig], int | None]] = {"clvp_encoder": _by_projection}
