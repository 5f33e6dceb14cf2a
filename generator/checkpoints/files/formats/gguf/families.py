"""Architectures of llama.cpp: the model types of transformers that they stand for, and what their settings mean there.

Sources: convert_hf_to_gguf.py and conversion/ of github.com/ggml-org/llama.cpp, which write the settings, and src/models, which read them.
"""

from collections.abc import Mapping
from types import MappingProxyType

# Architectures whose name in transformers is another; one that is not here keeps its name.
MODEL_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "clip": "mmproj",  # An encoder of images or sound of any kind; "clip" is a model of texts and images in transformers.
        "command-r": "cohere",
        "chatglm": "glm",
        "deci": "nemotron-nas",
        "ernie4_5-moe": "ernie4_5_moe",
        "exaone-moe": "exaone_moe",
        "falcon-h1": "falcon_h1",
        "gemma-embedding": "gemma3_text",
        "gemma3": "gemma3_text",
        "gemma3n": "gemma3n_text",
        "gemma4": "gemma4_text",
        "glm4moe": "glm4_moe",
        "gpt-oss": "gpt_oss",
        "gptneox": "gpt_neox",
        "granitehybrid": "granitemoehybrid",
        "hunyuan-dense": "hunyuan_v1_dense",
        "hunyuan-moe": "hunyuan_v1_moe",
        "jina-bert-v2": "bert",
        "jina-bert-v3": "xlm-roberta-flash",
        "kimi-linear": "kimi_linear",
        "lfm2moe": "lfm2_moe",
        "llama-embed": "llama",
        "llama4": "llama4_text",
        "minimax-m2": "minimax_m2",
        "mistral3": "ministral3",
        "modern-bert": "modernbert",
        "neo-bert": "neobert",
        "nemotron_h_moe": "nemotron_h",
        "nomic-bert": "nomic_bert",
        "phi2": "phi",
        "qwen2moe": "qwen2_moe",
        "qwen2vl": "qwen2_vl_text",
        "qwen3moe": "qwen3_moe",
        "qwen3next": "qwen3_next",
        "qwen3vl": "qwen3_vl_text",
        "qwen3vlmoe": "qwen3_vl_moe_text",
        "qwen35": "qwen3_5_text",
        "qwen35moe": "qwen3_5_moe_text",
        "starcoder": "gpt_bigcode",
    }
)
# Settings by the end of their key, and their names in transformers.
NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "block_count": ("num_hidden_layers",),
        "context_length": ("max_position_embeddings",),
        "embedding_length": ("hidden_size",),
        "attention.head_count": ("num_attention_heads",),
        "attention.head_count_kv": ("num_key_value_heads",),
        "attention.key_length": ("head_dim",),
        "attention.layer_norm_epsilon": ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"),
        "attention.layer_norm_rms_epsilon": ("rms_norm_eps",),
        "attention.relative_buckets_count": ("relative_attention_num_buckets",),
        "feed_forward_length": ("intermediate_size",),
        "full_attention_interval": ("full_attention_interval",),
        "vocab_size": ("vocab_size",),
    }
)
# Other names in the config class of a model type, whose own take the place of those above.
OWN_NAMES: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "falcon": {"attention.key_length": ()},
        "gemma4_text": {"attention.key_length": ("global_head_dim",), "attention.key_length_swa": ("head_dim",)},
        "mamba2": {
            "attention.head_count": (),
            "ssm.time_step_rank": ("num_heads",),
            "ssm.state_size": ("state_size",),
            "ssm.group_count": ("n_groups",),
        },
        "t5": {"attention.key_length": ("d_kv",), "decoder_block_count": ("num_decoder_layers",)},
    }
)
# Encoders of images and sound, whose settings have a part of their own for each.
OF_ENCODERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "image_size": ("image_size",),
        "patch_size": ("patch_size",),
        "num_mel_bins": ("num_mel_bins",),
    }
)
# Their attention has ALiBi though no setting says so: 8 is in the code of llama.cpp.
ALIBI = frozenset({"bloom", "jina-bert-v2", "refact"})
ALIBI_LAYERS_OF_BAICHUAN = 40  # Baichuan with 13B parameters, by whose number of layers llama.cpp tells it from that with 7B.
USUAL_ALIBI = 8.0
# Latent attention: a part of each head is rotated, and the settings give the sizes of the parts (arXiv 2405.04434, section 2.1).
LATENT = frozenset({"deepseek2", "minicpm3", "mistral4", "plm"})
SIGMOID = 2  # Gating of experts by which DeepSeek-V3 differs from V2.
# Full and sliding layers have settings of the rotation each; a file that gives a base for the former alone leaves the other to the code.
BY_KIND = frozenset({"gemma3_text", "gemma3n_text", "gemma4_text", "modernbert"})
INTERLEAVED = frozenset({"qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe"})  # Pairs for time, height and width by turns.
UNTRUNCATED = frozenset({"gpt_oss"})  # YaRN's ramp ends between pairs; in transformers a setting, in GGUF none.
# Words for layers without and with attention, told apart by their number of heads for keys.
WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("lfm2", "lfm2_moe"), ("conv", "full_attention")),
        "granitemoehybrid": ("mamba", "attention"),
    }
)
