"""Model families whose code differs from config.json in a way that concerns several schemes; families.py of a scheme has those of that scheme."""

from collections.abc import Mapping

from generator.contracts import ModelConfig

# Encoders by their family alone.
ENCODERS = frozenset(
    {"modernbert", "esm", "esmc", "nomic_bert", "roformer", "eurobert", "gte", "neomme", "ultrabert", "jina_embeddings_v3",
     "openai_privacy_filter", "wav2vec2-conformer", "wav2vec2-bert", "new", "neobert", "xlm-roberta-flash"}
)  # fmt: skip
AUDIO_ENCODERS = frozenset(
    {"wav2vec2-conformer", "wav2vec2-bert"}
)  # Encoders of audio without "audio" or "speech" in the name of the family.
# Decoders with a stored table; tables of other families belong to an encoder unless the name of the tensor contains "decoder".
DECODERS = frozenset({"gpt2", "gpt_neo", "gpt_bigcode", "openai-gpt", "opt", "biogpt"})

# Position 0 has the row padding_idx + 1 of a stored table, as in fairseq.
AFTER_PADDING = frozenset(
    {"roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "longformer", "mpnet", "luke", "data2vec-text",
     "roberta-prelayernorm", "xmod", "ibert", "esm", "layoutlmv3", "lilt", "markuplm", "fsmt", "prophetnet", "xlm-prophetnet"}
)  # fmt: skip
# Position 0 has row 2, as in learned tables of fairseq.
AFTER_TWO = frozenset({"bart", "mbart", "opt", "biogpt", "plbart", "mvp", "trocr", "nystromformer", "yoso", "mra"})
ANGLES_STORED = frozenset({"roformer"})  # The table is of the angles of a rotation and not added to the input.
WORDS_SCALED = "gemma"  # Families with this prefix multiply word vectors by √d_model.

# Every fourth layer has no rotation, unless the config says otherwise.
EVERY_FOURTH = frozenset({"smollm3", "llama4_text", "mistral_large4_text"})
# Layers with full attention have no rotation if there are others with a window.
WINDOW_ONLY = frozenset({"cohere2", "cohere2_moe", "exaone4", "exaone4_5_text", "exaone_moe", "afmoe", "flint", "kolibri1"})
# All layers have the window of the config, which has no list of layer types.
WINDOW_EVERYWHERE = frozenset({"mistral", "ministral3", "mixtral", "phi3", "phimoe", "starcoder2"})
HALF_WINDOW = frozenset({"modernbert-decoder"})  # Causal; its window is half of that in the config, which is for both sides.

# Families without an encoding of position: all layers are recurrent, or layers of attention between these are told nothing.
RECURRENT = frozenset({"mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"})
MIXED = frozenset({"jamba", "zamba", "nemotron_h", "kimi_linear"})
# Also mixed, unless a setting has this value.
UNLESS: Mapping[str, tuple[str, object]] = {"zamba2": ("use_mem_rope", True), "granitemoehybrid": ("position_embedding_type", "rope")}


def is_told_nothing(config: ModelConfig) -> bool:
    """Whether the layers of attention between recurrent layers are told nothing of position."""
    setting, value = UNLESS.get(config.family, ("", None))
    return config.family in MIXED or (config.family in UNLESS and config.value(setting) != value)
