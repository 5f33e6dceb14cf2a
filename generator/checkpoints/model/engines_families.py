"""Families that transformers does not have, or had in another format first, in its words, as the
code of engines and of makers reads their configs.

Sources: mlx_lm/models of github.com/ml-explore/mlx-lm; vllm/model_executor/models of
    github.com/vllm-project/vllm; python/sglang/srt/models of github.com/sgl-project/sglang;
    conversion and src/models of github.com/ggml-org/llama.cpp.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from generator.contracts import Json, ModelConfig

MOST_LAYERS = 2_048  # twice those of DeepNet (arXiv 2203.00555); more would take minutes
FULL, WINDOWED, LINEAR = "full_attention", "sliding_attention", "linear_attention"
FIRST_ZAYA = "zaya1"
OF_VOX_CPM, BESIDE_IT = "use_mup", "scale_depth"
OF_MOIRAI, HEAD_OF_MOIRAI = "num_predict_token", 64
# Families whose layers are built like those of another, and what else their code does.
LIKE: Mapping[str, tuple[str, Json]] = MappingProxyType(
    {
        # mlx-lm, Klear.py: d_model / n_heads, whatever else a config says.
        "Klear": ("llama", {"head_dim": None}),
        "telechat3": ("llama", {}),  # mlx-lm, telechat3.py
        # llama.cpp, conversion/grovemoe.py and src/models/grovemoe.cpp
        **dict.fromkeys(("grove_moe", "grovemoe"), ("llama", {})),
        "youtu_llm": ("youtu", {}),  # mlx-lm, youtu_llm.py
        # llama.cpp, src/models/plm.cpp: neighbours, whose rows the converter leaves in place.
        "plm": ("deepseek_v3", {}),
        # vLLM, step3_text.py: all queries share one key.
        "step3_text": ("llama", {"num_key_value_heads": 1}),
    }
)
# Bases where a file has none, by the code of families that are read as another one with another
# base: makers' configuration_yi.py, configuration_arctic.py, configuration_phi3_small.py and
# configuration.py of GTE; vllm/transformers_utils/configs/step3_vl.py; mlx-lm, youtu_llm.py.
BASES: Mapping[str, float] = MappingProxyType(
    {"Yi": 5e6, "yi": 5e6, "arctic": 1e6, "phi3small": 1e6, "new": 1e4, "step3_text": 5e5,
     "youtu_llm": 1.6e6}
)  # fmt: skip
# Of these, the code that was read has no base of its own, and a file has to give it.
WITHOUT_BASE = frozenset({"Klear", "grove_moe", "grovemoe", "plm", "sarvam_mla", "telechat3"})


def own_base(config: ModelConfig) -> Json:
    """The base of the code of a family, where a file for that code gives none."""
    given = config.first("rope_theta", default=config.rope.value("rope_theta"))
    is_of_code = not config.program and given is None and config.family in BASES
    return {"rope_theta": BASES[config.family]} if is_of_code else {}


def under_names(config: ModelConfig, names: Mapping[str, str]) -> Json:
    """Settings under their names in transformers, from their other names; absent ones are left
    out.
    """
    return {
        name: config.value(other)
        for name, other in names.items()
        if config.value(other) is not None
    }


def _n_layers(config: ModelConfig) -> int:
    return min(config.size("n_layers") or 0, MOST_LAYERS)


def _like(config: ModelConfig) -> Json:
    family, settings = LIKE[config.family]
    return {"model_type": family, **settings, **own_base(config)}


def _step_3(config: ModelConfig) -> Json:
    """Its context has a name of its own (vllm/transformers_utils/configs/step3_vl.py)."""
    length = config.first("max_position_embedding", "max_seq_len")
    return {**_like(config), **({"max_position_embeddings": length} if length else {})}


def _sarvam(config: ModelConfig) -> Json:
    """SarvamMoEForCausalLM is BailingMoeForCausalLM, whose heads may turn in part; that with latent
    attention turns neighbours, and its YaRN has vLLM's name (vLLM, sarvam.py and bailing_moe.py).
    """
    if config.family == "sarvam_moe":
        return {}
    rope = {name: value for name, value in config.rope.settings.items() if name != "type"}
    is_yarn = config.rope.first("rope_type", "type") == "deepseek_yarn"
    return {
        "model_type": "deepseek_v3",
        **({"rope_scaling": {**rope, "rope_type": "yarn"}} if is_yarn else {}),
    }


def _hunyuan_image_3(config: ModelConfig) -> Json:
    """HunyuanImage 3 turns whole heads by rope_theta, with halves as pairs; of rope_scaling it
    reads the type alone, and refuses any but "custom" (Tencent-Hunyuan/HunyuanImage-3.0 at
    1d011c8, hunyuan_image_3/hunyuan.py, build_2d_rope and HunyuanImage3SDPAAttention).
    """
    scaling = config.section("rope_scaling")
    is_custom = scaling is not None and scaling.text("type") == "custom"
    if not is_custom or config.flag("use_rotary_pos_emb") is False:
        return {"model_type": "hunyuan_image_3"}  # Which nothing knows.
    names = under_names(config, {"head_dim": "attention_head_dim"})
    return {"model_type": "llama", "rope_scaling": None, **names}


def _block_diffusion(config: ModelConfig) -> Json:  # noqa: ARG001 (the same for each)
    """LLaDA 2 and SDAR (SGLang, llada2.py, sdar.py and sdar_moe.py) know no window, whatever a
    config repeats of the model that they began from.
    """
    return {"sliding_window": None, "use_sliding_window": None, "max_window_layers": None}


def _plamo_3(config: ModelConfig) -> Json:
    """One layer in so many sees all, and has a base of its own (mlx-lm, plamo3.py); YaRN, which has
    no section there, is of that layer alone (llama.cpp, conversion/plamo.py).
    """
    every, window = config.count("sliding_window_pattern"), config.first("sliding_window")
    if config.value("rope_parameters") is not None or not every:
        return {}
    full: dict[str, object] = {"rope_type": "default"}
    if config.value("rope_scaling_factor", 1) != 1:
        full = {
            "rope_type": "yarn",
            "factor": config.value("rope_scaling_factor"),
            "original_max_position_embeddings": config.value("initial_context_length"),
            "truncate": False,
        }
    layers = range(1, _n_layers(config) + 1)
    return {
        "layer_types": [WINDOWED if layer % every else FULL for layer in layers],
        "sliding_window": window or config.value("window_size"),
        "rope_parameters": {
            FULL: {**full, "rope_theta": config.value("rope_theta", 1e6)},
            WINDOWED: {"rope_type": "default", "rope_theta": config.value("rope_local_theta", 1e4)},
        },
        **dict.fromkeys(("window_size", "sliding_window_pattern", "rope_theta"), None),
        **dict.fromkeys(("rope_local_theta", "rope_scaling_factor", "initial_context_length")),
    }


def _small_thinker(config: ModelConfig) -> Json:
    """A 1 for each layer that rotates, and for each that has a window (SGLang, smallthinker.py)."""
    windows = config.listed("sliding_window_layout")
    return {
        "layer_types": [WINDOWED if flag else FULL for flag in windows] or None,
        "no_rope_layers": config.value("rope_layout"),
        "sliding_window": config.value("sliding_window_size") if any(windows) else None,
        **dict.fromkeys(("rope_layout", "sliding_window_layout", "sliding_window_size")),
    }


def _open_elm(config: ModelConfig) -> Json:
    """mlx-lm, openelm.py; the number of heads differs by layer, and their width does not."""
    names = {
        "hidden_size": "model_dim",
        "max_position_embeddings": "max_context_length",
        "num_hidden_layers": "num_transformer_layers",
        "rope_theta": "rope_freq_constant",
    }
    given = under_names(config, names)
    return {**given, **dict.fromkeys((*names.values(), "rope_max_length"))} if given else {}


def _solar_open_2(config: ModelConfig) -> Json:
    """Full attention in listed layers or in one of so many, without a rotation unless a setting
    asks for it, and Kimi's delta attention in the others (vllm/transformers_utils/configs/
    solar_open2.py, and transformers' modular_solar_open2.py).
    """
    listed, every = config.listed("gqa_layers"), config.value("gqa_interval", 3)
    if not isinstance(every, int) or every < 0:
        return {"model_type": None}
    chosen = listed or range(0, MOST_LAYERS, every + 1)
    kinds = [FULL if layer in chosen else LINEAR for layer in range(_n_layers(config))]
    return {
        "layer_types": config.value("layer_types") or kinds,
        "use_rope": config.flag("use_rope") is True,
    }


def _nanbeige(config: ModelConfig) -> Json:
    """Llama's layers, which run one time after another, each time with a cache of its own (mlx-lm,
    nanbeige.py, and Nanbeige.swift of ml-explore/mlx-swift-lm, which refuse those that differ).
    """
    losses = config.listed("loop_loss_weights")
    times = len(losses) + 1 if losses else config.count("num_loops") or 1
    apart = ("loop_share_kv", "enable_double_loop_split", "enable_depth_attention")
    if times * _n_layers(config) > MOST_LAYERS or any(map(config.flag, apart)):
        return {"model_type": None}
    return {"model_type": "llama", "num_hidden_layers": times * _n_layers(config)}


def _zaya(config: ModelConfig) -> Json:
    """ZAYA as first published counts attention and experts as layers by turns, where transformers
    counts pairs of them (SGLang, configs/zaya.py and models/zaya.py); windows, and other turns, are
    not read.
    """
    if config.flag("cca") is None or "swa_layers" in config or "zaya_layers" in config:
        return {}
    return {
        "model_type": FIRST_ZAYA,
        "layers_block_type": ["mlp" if index % 2 else FULL for index in range(_n_layers(config))],
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": config.value("rope_theta", 5e6),
            "partial_rotary_factor": config.value("partial_rotary_factor", 0.5),
        },
    }


def vox_cpm(config: ModelConfig) -> Json:
    """The language model that reads the text in VoxCPM and VoxCPM 2, whose configs name no model
    type (src/voxcpm/modules/minicpm4/model.py of github.com/OpenBMB/VoxCPM): layers of Llama.
    """
    if BESIDE_IT not in config:
        return {}
    return {"model_type": "llama", **({"use_rope": False} if config.flag("no_rope") else {})}


def moirai_2(config: ModelConfig) -> Json:
    """Moirai 2, whose configs name no model type: positions are patches of a series, and half of
    each head turns, in neighbours, as in GLM (uni2ts 2.0.0, model/moirai2/module.py, module/
    transformer.py and module/position/attn_projection.py); variates have a bias of two values.
    """
    size = config.count("d_model")
    if not size or size % HEAD_OF_MOIRAI or config.count("patch_size") is None:
        return {}
    heads = size // HEAD_OF_MOIRAI
    return {
        "model_type": "glm",
        "hidden_size": size,
        "head_dim": HEAD_OF_MOIRAI,
        "intermediate_size": config.value("d_ff"),
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "num_hidden_layers": min(config.count("num_layers") or 0, MOST_LAYERS),
        "max_position_embeddings": config.value("max_seq_len"),
        "partial_rotary_factor": 0.5,
        "rope_theta": 10_000.0,
        **dict.fromkeys(("d_model", "d_ff", "num_layers", "max_seq_len")),
    }


ENGINES: Mapping[str, Callable[[ModelConfig], Json]] = MappingProxyType(
    {
        **dict.fromkeys(LIKE, _like),
        **dict.fromkeys(("llada2_moe", "sdar", "sdar_moe"), _block_diffusion),
        **dict.fromkeys(("sarvam_mla", "sarvam_moe"), _sarvam),
        # In GGUF alone: drafts of blocks (llama.cpp, src/models/dflash.cpp).
        "dflash": lambda _: {},
        "hunyuan_image_3_moe": _hunyuan_image_3,
        "nanbeige": _nanbeige,
        "openelm": _open_elm,
        "plamo3": _plamo_3,
        "smallthinker": _small_thinker,
        "solar_open2": _solar_open_2,
        "step3_text": _step_3,
        "zaya": _zaya,
        FIRST_ZAYA: lambda _: {},
    }
)
