"""Model families with rotations that config.json does not describe in full."""

from collections.abc import Callable, Mapping

from generator.contracts import ModelConfig

# Have a rotation without any setting of one, by their own code.
ALWAYS = frozenset({"neobert", "open-llama", "roformer"})
# Layers with full attention have no rotation if there are others with a window.
WINDOW_ONLY = frozenset(
    {"cohere2", "cohere2_moe", "exaone4", "exaone4_5_text", "exaone_moe", "afmoe", "flint",
     "kolibri1", "lara_mini"}
)  # fmt: skip
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
    "esm": ("position_embedding_type", "rotary"),
}
# Settings that replace the factor on sine and cosine, for texts within the original context.
FACTORS: Mapping[str, tuple[str, ...]] = {"phimoe": ("short_mscale",)}
# Their code in transformers takes LongRoPE's factors for short texts in texts of any length.
ALWAYS_SHORT = frozenset({"phimoe"})
# Their code takes the list of bases by layer for whether a layer rotates alone, and the base from
# rope_parameters (modeling_muse_spark.py and modeling_muse_glimmer.py of transformers).
ONE_BASE = frozenset({"muse_glimmer_text", "muse_spark_text"})
OF_IMAGES = frozenset({"efficientloftr"})  # Image models without a setting of one.
# Name of the sentence on what the rotated components are, where they are no part of their own.
ROTATED_PARTS = {"deepseek_v4": "slice_of_projection"}
# Names of notes on code that config.json does not describe, by family, or by that for which the
# config was written where it is read as another.
CODE_NOTES = {
    "hunyuan_image_3_moe": "images_in_pairs",
    "qwen2_5_omni_dit": "first_head_alone",
    "clvp_encoder": "values_too",
    "moonshine_streaming": "unrotated_encoder",
    "mistral_large4_text": "before_learned_factors",
}
# The sentence on sections for time, height and width.
PLAIN_SPLIT = "split"
# Sentences on other orders of the sections, with the numbers of axes that the code takes
# (modeling_ernie4_5_vl_moe.py and modeling_hunyuan_vl.py of transformers).
OWN_SPLITS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "ernie4_5_vl_moe_text": ("split_rows_first", (3,)),
    "hunyuan_vl_text": ("split_components", (3, 4)),
}
# Indexers, which choose the keys of sparse attention, rotate queries and keys of their own by the
# angles of attention: which components make a pair in attention, and which in the indexer (code of
# each family in transformers). That of GLM-5 Next does not rotate.
INDEXERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("axk2", "deepseek_v32"), ("adjacent", "halves")),
    **dict.fromkeys(
        ("deepseek_v4", "dots3_note_text", "glm_moe_dsa", "hy_v4_vl_text", "mistral_large4_text"),
        ("adjacent", "adjacent"),
    ),
    **dict.fromkeys(("hy_v4", "minimax_m3_vl_text", "qwen4_exp_text"), ("halves", "halves")),
}
INDEX_HEADS = ("index_head_dim", "indexer_head_dim")  # Components of one.
LEAST_OF_CLVP = 32  # Components of a head.


def _by_projection(config: ModelConfig) -> int | None:
    width, n_heads = config.integer("projection_dim"), config.count("num_attention_heads")
    return None if width is None or n_heads is None else max(width // (n_heads * 2), LEAST_OF_CLVP)


# Number of rotated components by family, where the general rule does not apply.
ROTARY_DIM: Mapping[str, Callable[[ModelConfig], int | None]] = {"clvp_encoder": _by_projection}
