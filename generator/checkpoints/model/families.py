"""Model families by what their code does and config.json does not say. What concerns one scheme alone is in the families.py of that scheme."""

# Stacks of layers that are encoders, where nothing but the family shows it.
ENCODERS = frozenset(
    {"modernbert", "esm", "esmc", "nomic_bert", "roformer", "eurobert", "gte", "neomme", "ultrabert", "jina_embeddings_v3",
     "openai_privacy_filter", "wav2vec2-conformer", "wav2vec2-bert", "new", "neobert", "xlm-roberta-flash"}
)  # fmt: skip
AUDIO_ENCODERS = frozenset({"wav2vec2-conformer", "wav2vec2-bert"})  # Of audio, where the name of the family does not say so.
# Decoders that add a stored table; those of other families are taken for encoders unless the tensor's name says which it is.
DECODERS = frozenset({"gpt2", "gpt_neo", "gpt_bigcode", "openai-gpt", "opt", "biogpt"})

# The first row of a stored table that is a position is padding_idx + 1 in these, as in fairseq.
AFTER_PADDING = frozenset(
    {"roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "longformer", "mpnet", "luke", "data2vec-text",
     "roberta-prelayernorm", "xmod", "ibert", "esm", "layoutlmv3", "lilt", "markuplm", "fsmt", "prophetnet", "xlm-prophetnet"}
)  # fmt: skip
# And 2 in these, as in fairseq's learned tables, with as many extra rows.
AFTER_TWO = frozenset({"bart", "mbart", "opt", "biogpt", "plbart", "mvp", "trocr", "nystromformer", "yoso", "mra"})
ANGLES_STORED = frozenset({"roformer"})  # Its table holds the angles of a rotation and is not added to the input.
WORDS_SCALED = "gemma"  # All families whose names begin so multiply word vectors by √d_model.

# Leave out the rotation in one layer of four where the config is silent.
EVERY_FOURTH = frozenset({"smollm3", "llama4_text", "mistral_large4_text"})
# Turn nothing in layers that see all of the text, so long as there are others that see a window.
WINDOW_ONLY = frozenset({"cohere2", "cohere2_moe", "exaone4", "exaone4_5_text", "exaone_moe", "afmoe", "flint", "kolibri1"})
# See a window in all layers, if their config has one, and list no kinds of layers.
WINDOW_EVERYWHERE = frozenset({"mistral", "ministral3", "mixtral", "phi3", "phimoe", "starcoder2"})
HALF_WINDOW = frozenset({"modernbert-decoder"})  # Looks back alone, by half of the window that its config has for both sides.
