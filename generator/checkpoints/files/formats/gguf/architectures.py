"""Architectures of llama.cpp: the model types of transformers that they stand for, and what their
settings mean there.

Sources: convert_hf_to_gguf.py and conversion/ of github.com/ggml-org/llama.cpp, which write the
    settings, and src/models, which read them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from generator.checkpoints.files.formats.gguf.header import Header, positive

Settings = Mapping[str, Any]
# Architectures whose name in transformers is another; one that is not here keeps its name.
MODEL_TYPES: Mapping[str, str] = MappingProxyType(
    {
        # Encoders of images or sound; "clip" is a model of texts and images in transformers.
        "clip": "mmproj",
        "command-r": "cohere",
        "chatglm": "glm",
        "deci": "nemotron-nas",
        "deepseek2": "deepseek_v2",
        "deepseek32": "deepseek_v32",
        # The drafts of EAGLE-3, of the converter's class for Llama.
        "eagle3": "llama",
        "ernie4_5-moe": "ernie4_5_moe",
        "exaone-moe": "exaone_moe",
        "falcon-h1": "falcon_h1",
        "gemma-embedding": "gemma3_text",
        "gemma3": "gemma3_text",
        "gemma3n": "gemma3n_text",
        **dict.fromkeys(("gemma4", "gemma4-assistant"), "gemma4_text"),
        "glm-dsa": "glm_moe_dsa",
        "glm4moe": "glm4_moe",
        "glm5-next": "glm5_next_text",
        "gpt-oss": "gpt_oss",
        "gptneox": "gpt_neox",
        "granitehybrid": "granitemoehybrid",
        "hunyuan-dense": "hunyuan_v1_dense",
        "hunyuan-moe": "hunyuan_v1_moe",
        "hunyuan_vl": "hunyuan_vl_text",
        "jina-bert-v2": "bert",
        "jina-bert-v3": "jina_embeddings_v3",
        **dict.fromkeys(("kimi-k3", "kimi-linear"), "kimi_linear"),
        "lfm2moe": "lfm2_moe",
        "llama-embed": "llama",
        "llama4": "llama4_text",
        "mimo2": "mimo_v2_flash",
        "minimax-m2": "minimax_m2",
        "minimax-m3": "minimax_m3_vl_text",
        "mistral3": "ministral3",
        "modern-bert": "modernbert",
        "muse-glimmer": "muse_glimmer_text",
        "neo-bert": "neobert",
        "nemotron_h_moe": "nemotron_h",
        "nomic-bert": "nomic_bert",
        "nomic-bert-moe": "nomic_bert",
        "paddleocr": "paddleocr_vl_text",
        "phi2": "phi",
        "qwen2moe": "qwen2_moe",
        "qwen2vl": "qwen2_vl_text",
        "qwen3moe": "qwen3_moe",
        "qwen3next": "qwen3_next",
        "qwen3vl": "qwen3_vl_text",
        "qwen3vlmoe": "qwen3_vl_moe_text",
        "qwen35": "qwen3_5_text",
        "qwen35moe": "qwen3_5_moe_text",
        "qwen4exp": "qwen4_exp_text",
        "starcoder": "gpt_bigcode",
        "t5encoder": "t5",
        "step35": "step3p5",
    }
)
# Latent attention: a part of each head is rotated, and the settings give the sizes of the parts
# (arXiv 2405.04434, section 2.1).
LATENT = frozenset(
    {"deepseek2", "deepseek32", "glm-dsa", "glm5-next", "minicpm3", "mistral4", "plm"}
)
# They read yarn_log_multiplier (load_arch_hparams in src/models of llama.cpp); the converter has
# multiplied it by 0.1 but for one.
LOG_MULTIPLIED = frozenset({"deepseek2", "deepseek32", "mistral3", "mistral4"})
PLAINLY_MULTIPLIED = frozenset({"mistral3"})
# What else a file says of YaRN counts for these alone; the others have the whole ramp and RAMP,
# whatever it says. yarn_attn_factor counts for none (the same; src/llama-context.cpp).
READ_OF_YARN: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "grok": frozenset({"yarn_beta_fast", "yarn_beta_slow", "yarn_ext_factor"}),
        "mistral3": frozenset({"yarn_beta_fast", "yarn_beta_slow"}),
    }
)
RAMP: Mapping[str, float] = MappingProxyType({"beta_fast": 32.0, "beta_slow": 1.0})
# Architectures for which transformers knows how rows were reordered, and those whose tensors are as
# transformers has them (llama.cpp, convert_hf_to_gguf.py).
REORDERED = frozenset({"llama", "gpt2", "bloom", "t5", "gemma2", "gemma3"})
AS_THEY_ARE = frozenset({"qwen2", "qwen3", "phi3", "starcoder2"})
# Names in the config class of an architecture that take the place of the usual ones; () for a
# setting that means another thing.
OWN_NAMES: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **{architecture: {"attention.key_length": ()} for architecture in (*LATENT, "falcon")},
        "t5": {"attention.key_length": ("d_kv",), "decoder_block_count": ("num_decoder_layers",)},
        "t5encoder": {"attention.key_length": ("d_kv",)},
        **{
            architecture: {
                "attention.key_length": ("global_head_dim",),
                "attention.key_length_swa": ("head_dim",),
            }
            for architecture in ("gemma4", "gemma4-assistant")
        },
        "mamba2": {
            "ssm.time_step_rank": ("num_heads",),
            "ssm.state_size": ("state_size",),
            "ssm.group_count": ("n_groups",),
        },
        # conversion/granite.py
        "granitehybrid": {
            "ssm.time_step_rank": ("mamba_n_heads",),
            "ssm.state_size": ("mamba_d_state",),
            "ssm.group_count": ("mamba_n_groups",),
        },
        # conversion/minimax.py
        "minimax-m3": {
            "attention.indexer.block_size": ("index_block_size",),
            "attention.indexer.head_count": ("index_n_heads",),
            "attention.indexer.key_length": ("index_head_dim",),
            "attention.indexer.local_blocks": ("index_local_blocks",),
            "attention.indexer.top_k": ("index_topk_blocks",),
            "rope.dimension_count": ("rotary_dim",),
        },
        "modern-bert": {
            "attention.sliding_window": ("local_attention",),
            "attention.sliding_window_pattern": ("global_attn_every_n_layers",),
        },
    }
)
# Full and sliding layers have settings of the rotation each; a file that gives a base for the
# former alone leaves the other to the code.
BY_KIND = frozenset(
    {"gemma3", "gemma3n", "gemma4", "gemma4-assistant", "gemma-embedding", "modern-bert"}
)
# Layers with a window, if there are any, are not scaled; their base where a file gives none, None
# for that of the other layers (load_arch_hparams in src/models).
UNSCALED_WINDOWS: Mapping[str, float | None] = MappingProxyType(
    {"laguna": None, "olmo2": None, **dict.fromkeys(("mimo2", "plamo3", "step35"), 10_000.0)}
)
# Layers without a window turn half of the components that the file says (src/models/step35.cpp).
HALF_TURNED = frozenset({"step35"})
# Their files have to say that whole heads are rotated, if they say how much (llama-model.cpp).
TURNED_WHOLE = frozenset({"llama", "llama-embed", "deci", "falcon"})
# One layer in so many has no window, where a file has windows and no list or number of its own: the
# last of each group, and of DENSE_FIRST the first (set_swa_pattern in src/llama-hparams.cpp).
PERIODS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("gpt-oss", "gemma2"), 2),
        **dict.fromkeys(
            ("afmoe", "cohere2", "exaone4", "exaone-moe", "laguna", "muse-glimmer", "olmo2"), 4
        ),
        "gemma3n": 5,
        **dict.fromkeys(("gemma3", "gemma-embedding"), 6),
        "plamo3": 8,
    }
)
# The window where a file gives none, 0 for none; others of these need the setting (src/models).
WINDOWS: Mapping[str, int] = MappingProxyType(
    {"gemma2": 4096, **dict.fromkeys(("exaone4", "gemma3", "olmo2"), 0)}
)
DENSE_FIRST = frozenset({"laguna"})
# The window that their files say is not applied (src/models/phi3.cpp, phimoe.cpp).
WITHOUT_WINDOWS = frozenset({"phi3", "phimoe"})
# Names by which the config class takes the magnitude of LongRoPE, which is one in a file.
MAGNITUDES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"phimoe": ("short_mscale", "long_mscale")}
)
# Pairs for time, height and width by turns.
INTERLEAVED = frozenset({"qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe", "qwen4exp"})
# What no setting says: it is in the code of llama.cpp.
UNSAID: Mapping[str, Settings] = MappingProxyType(
    {
        **{name: {"is_causal": False} for name in ("dream", "llada", "llada-moe", "rnd1")},
        "jina-bert-v2": {"alibi": True},
        "refact": {"alibi": True},
        "gemma-embedding": {"use_bidirectional_attention": True},
        "t5encoder": {"architectures": ["T5EncoderModel"]},
    }
)
# Encoders of images that rotate queries and keys, by the type of their projector: model types, and
# names of their own (tools/mtmd/clip.cpp, and tools/mtmd/models for each).
QWEN = MappingProxyType({"num_hidden_layers": "depth", "num_attention_heads": "num_heads"})
ROTATED_ENCODERS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "pixtral": ("pixtral", {}),
        "lightonocr": ("pixtral", {}),
        "llama4": ("llama4_vision_model", {}),
        "qwen2vl_merger": ("qwen2_vl_vision", {**QWEN, "hidden_size": "embed_dim"}),
        **dict.fromkeys(("qwen2.5vl_merger", "qwen2.5o"), ("qwen2_5_vl_vision", QWEN)),
        "qwen3vl_merger": ("qwen3_vl_vision", QWEN),
    }
)
# Of these, most layers see the patches of a window.
WINDOWED = frozenset({"qwen2_5_vl_vision"})
# Types of projectors whose encoder knows positions from a table alone; a file without one has an
# encoder of LLaVA.
TABLE_ALONE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "vision": frozenset(
            {"", "adapter", "cogvlm", "gemma3", "idefics3", "internvl", "janus_pro", "ldp", "ldpv2",
             "lfm2", "mlp", "phi4"}
        ),
        "audio": frozenset({"qwen2.5o", "qwen2a", "ultravox", "voxtral"}),
    }
)  # fmt: skip
MOST_LAYERS = 10_000
WINDOW_OF_SMALL_THINKER = 4096
# By which llama.cpp tells it, with ALiBi, from Baichuan with 7B parameters, which is rotary.
LAYERS_OF_BAICHUAN_13B = 40
SIGMOID = 2  # Gating of experts by which DeepSeek-V3 differs from V2.


def _baichuan(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    return (
        {"alibi": True}
        if settings.get("num_hidden_layers") == LAYERS_OF_BAICHUAN_13B
        else {"model_type": "llama"}
    )


def _jamba(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """Jamba (arXiv 2403.19887, section 3.1) has one layer with attention in so many; its file says
    which have heads for keys.
    """
    heads = header.settings.get("jamba.attention.head_count_kv")
    counts = heads if isinstance(heads, tuple) else ()
    layers = [layer for layer, count in enumerate(counts) if count]
    if not layers:
        return {}
    first, period = layers[0], layers[1] - layers[0] if len(layers) > 1 else len(counts)
    if layers != [*range(first, len(counts), period)] or first >= period:
        return {}
    return {"attn_layer_offset": first, "attn_layer_period": period}


def _mamba_2(header: Header, settings: Settings) -> dict[str, Any]:
    inner, heads, width = (
        positive(value)
        for value in (
            header.integer("mamba2.ssm.inner_size"),
            settings.get("num_heads"),
            settings.get("hidden_size"),
        )
    )
    return (
        {"head_dim": inner // heads, "expand": inner // width} if inner and heads and width else {}
    )


def _mpt(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    steepest = positive(header.settings.get("mpt.attention.max_alibi_bias"))
    return {
        "attn_config": (
            {
                "alibi": True,
                "alibi_bias_max": int(steepest) if float(steepest).is_integer() else steepest,
            }
            if steepest
            else {"alibi": False}
        )
    }


def _deci(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """Llama-Nemotron (arXiv 2505.00949, section 2): layers without heads have no attention."""
    heads = header.settings.get("deci.attention.head_count_kv")
    blocks = (
        [{"attention": {"no_op": not count}} for count in heads] if isinstance(heads, tuple) else []
    )
    return {"block_configs": blocks} if blocks else {"model_type": "llama"}


def _deepseek(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    return (
        {"model_type": "deepseek_v3"}
        if header.integer("deepseek2.expert_gating_func") == SIGMOID
        else {}
    )


def _granite(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """The setting that says whether a scaling was trained switches the rotation itself
    (src/models/granite.cpp).
    """
    key = f"{header.text('general.architecture')}.rope.scaling.finetuned"
    return {} if header.settings.get(key) is not False else {"position_embedding_type": "nope"}


def _granite_hybrid(header: Header, settings: Settings) -> dict[str, Any]:
    kinds = _kinds("mamba", "attention")(header, settings)
    return {**kinds, "position_embedding_type": "rope", **_granite(header, settings)}


def _llama_4(header: Header, settings: Settings) -> dict[str, Any]:
    """MobileLLM, which has neither chunks nor layers without rotation, says a window of 0
    (src/models/llama4.cpp).
    """
    n_layers = settings.get("num_hidden_layers")
    if header.integer("llama4.attention.sliding_window") != 0 or not isinstance(n_layers, int):
        return {}
    return {
        "attention_chunk_size": None,
        "attn_temperature_tuning": False,
        "no_rope_layers": [1] * min(n_layers, MOST_LAYERS),
    }


def _olmo_2(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """Olmo 3 has windows."""
    return {"model_type": "olmo3"} if settings.get("sliding_window") else {}


def _glm_5_next(header: Header, settings: Settings) -> dict[str, Any]:
    """Latent attention is stored as of one head for keys (conversion/glm.py)."""
    kinds = _kinds("linear_attention", "deepseek_sparse_attention")(header, settings)
    n_layers = settings.get("num_hidden_layers")
    layers = kinds.get("layer_types", [])[: n_layers if isinstance(n_layers, int) else 0]
    return {"layer_types": layers, "num_key_value_heads": settings.get("num_attention_heads")}


def _nanbeige(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """How often the layers run one time after another (src/models/nanbeige.cpp)."""
    times = header.integer("nanbeige.num_loops")
    return {} if times is None else {"num_loops": times}


def _minimax_m3(header: Header, settings: Settings) -> dict[str, Any]:
    """Layers after those without experts choose blocks of keys (src/models/minimax-m3.cpp)."""
    n_layers = settings.get("num_hidden_layers")
    n_dense = header.integer("minimax-m3.leading_dense_block_count") or 0
    layers = range(min(n_layers, MOST_LAYERS) if isinstance(n_layers, int) else 0)
    kinds = ["minimax_m3_sparse" if layer >= n_dense else "full_attention" for layer in layers]
    return {"layer_types": kinds} if kinds else {}


def _qwen_4_exp(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """Layers that add vectors of the last few tokens, counted from 0, and what the class asks for
    with them (conversion/qwen4exp.py).
    """
    layers = header.settings.get("qwen4exp.ple.layers")
    if not isinstance(layers, tuple):
        return {"ple_layer_ids": []}
    numbers = {"ple_conv_kernel_size": "conv_kernel", "eos_token_id": "eos_token_id"}
    read = {name: header.integer(f"qwen4exp.ple.{end}") for name, end in numbers.items()}
    given = {name: number for name, number in read.items() if number is not None}
    counted = [layer + 1 for layer in layers if isinstance(layer, int)]
    return {"ple_layer_ids": counted, **given}


def _small_thinker(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """The first of each four layers has no window and does not rotate, and the window is one of the
    code's own, unless a file has none at all (src/models/smallthinker.cpp).
    """
    n_layers, window = settings.get("num_hidden_layers"), settings.get("sliding_window")
    if not positive(window) or not isinstance(n_layers, int):
        return {}
    flags = [int(layer % 4 > 0) for layer in range(min(n_layers, MOST_LAYERS))]
    return {
        "rope_layout": flags,
        "sliding_window_layout": flags,
        "sliding_window_size": WINDOW_OF_SMALL_THINKER,
        "sliding_window": None,
    }


def _t5(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """UMT5 has a bias in every layer (arXiv 2304.09151, section 3)."""
    return {"model_type": "umt5"} if "enc.blk.1.attn_rel_b.weight" in header.spans else {}


def _kinds(without: str, attention: str) -> Callable[[Header, Settings], dict[str, Any]]:
    """Which layers have attention: those whose number of heads for keys is not 0.

    ``without`` and ``attention`` are the family's words for the two kinds of layer.
    """

    def kinds(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
        heads = header.settings.get(
            f"{header.text('general.architecture')}.attention.head_count_kv"
        )
        return (
            {"layer_types": [attention if count else without for count in heads]}
            if isinstance(heads, tuple)
            else {}
        )

    return kinds


def _nemotron_h(header: Header, settings: Settings) -> dict[str, Any]:  # noqa: ARG001
    """Nemotron-H (arXiv 2504.03624): a letter for attention, for a network alone or for Mamba."""
    architecture = header.text("general.architecture")
    heads, widths = (
        header.settings.get(f"{architecture}.{name}")
        for name in ("attention.head_count_kv", "feed_forward_length")
    )
    if not isinstance(heads, tuple) or not isinstance(widths, tuple) or len(heads) != len(widths):
        return {}
    network = "E" if architecture.endswith("moe") else "-"
    without_attention = (network if width else "M" for width in widths)
    letters = (
        "*" if count else letter for count, letter in zip(heads, without_attention, strict=True)
    )
    return {"hybrid_override_pattern": "".join(letters)}


# What the settings of an architecture mean beside those that all have, from its header and the
# settings found so far.
OWN: Mapping[str, Callable[[Header, Settings], dict[str, Any]]] = MappingProxyType(
    {
        **dict.fromkeys(("lfm2", "lfm2moe"), _kinds("conv", "full_attention")),
        **dict.fromkeys(("nemotron_h", "nemotron_h_moe"), _nemotron_h),
        "baichuan": _baichuan,
        "deci": _deci,
        "deepseek2": _deepseek,
        **dict.fromkeys(("granite", "granitemoe"), _granite),
        "granitehybrid": _granite_hybrid,
        "glm5-next": _glm_5_next,
        **dict.fromkeys(("kimi-k3", "kimi-linear"), _kinds("linear_attention", "full_attention")),
        "jamba": _jamba,
        "mamba2": _mamba_2,
        "llama4": _llama_4,
        "minimax-m3": _minimax_m3,
        "mpt": _mpt,
        "nanbeige": _nanbeige,
        "olmo2": _olmo_2,
        "qwen4exp": _qwen_4_exp,
        "smallthinker": _small_thinker,
        "t5": _t5,
    }
)
