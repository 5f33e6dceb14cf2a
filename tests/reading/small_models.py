"""Settings of small models, for tests that change one of them."""

from typing import Any

Settings = dict[str, Any]
LLAMA: Settings = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4,
    "vocab_size": 100, "max_position_embeddings": 256, "rope_theta": 1e6,
}  # fmt: skip
GGUF: Settings = {
    "block_count": 4, "context_length": 256, "embedding_length": 64, "attention.head_count": 4,
    "rope.freq_base": 1e6, "vocab_size": 100,
}  # fmt: skip
YARN: Settings = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
