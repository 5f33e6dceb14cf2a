"""Configs of families whose code transformers does not have, and published formats that its config
classes misread, in its words.

A family that transformers lacks becomes the one whose layers are built alike; what differs for
position is translated.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from generator.checkpoints.model.diffusion_transformers import ROTATED
from generator.checkpoints.model.engines_families import (
    ENGINES,
    MOST_LAYERS,
    OF_MOIRAI,
    OF_VOX_CPM,
    moirai_2,
    own_base,
    under_names,
    vox_cpm,
)
from generator.checkpoints.model.families_by_name import BY_NAME, BY_NAME_TYPED, MAKERS
from generator.checkpoints.model.own_families import own_families
from generator.contracts import Json, ModelConfig
from generator.contracts.model_config import SIZES, TEXT, UNKNOWN
from generator.libraries import config_classes, light_transformers

KINDS_OF_MIMO = {0: "full_attention", 1: "sliding_attention"}
KINDS_OF_ZAMBA = {"m": "linear_attention", "g": "hybrid"}
KINDS_OF_MINIMAX = {0: "linear_attention", 1: "full_attention"}
KINDS_OF_EXAONE = {"L": "sliding_attention", "G": "full_attention"}
# As long as a text: its context, and the convolutions.
OF_HYENA = ("max_position_embeddings", "conv_L_cache")
# Settings of the text model of ERNIE 4.5 VL.
OF_ERNIE = ("hidden_size", "intermediate_size", "max_position_embeddings", "num_attention_heads",
            "num_hidden_layers", "num_key_value_heads", "vocab_size")  # fmt: skip
# Of a model around its text model.
AROUND = frozenset({"model_type", "architectures", "auto_map"})
# Language models in the names of the classes of LLaVA.
OF_LLAVA = {"Qwen": "qwen2", "Mistral": "mistral", "Mpt": "mpt", "Gemma": "gemma"}
# Programs by a key that their files have and no config with a model type needs.
OF_PROGRAMS = {
    "mapping": "TensorRT-LLM",
    "unk_token": "CTranslate2",
    "suppress_ids": "CTranslate2",
    "post_embed_norm": "open_lm",
    "depformer_dim": "Moshi",
}
OF_TENSORRT_LLM = frozenset({"llama", "mistral", "mixtral"})  # Of one class there.
# Its names of what a rotation follows from (TensorRT-LLM, functional.py).
OF_POSITIONS = frozenset(
    {"alibi_with_scale", "chatglm", "learned_absolute", "long_rope", "rope_gpt_neox", "rope_gptj"}
)
# Families whose layers are built like those of another: that one, and what differs in names, theirs
# by those of transformers.
LAYERS = {"num_hidden_layers": "num_layers"}
LIKE: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "aquila",
                "arctic",
                "deepseek",
                "exaone",
                "internlm",
                "internlm2",
                "minicpm",
                "orion",
                "xverse",
                "yi",
                "Yi",
            ),
            ("llama", LAYERS),
        ),
        "ernie_m": ("bert", LAYERS),
        "hunyuan": ("hunyuan_v1_dense", {"head_dim": "attention_head_dim"}),
        "kimi_k2": ("deepseek_v3", LAYERS),
        "mimo": ("qwen2", LAYERS),
        "neobert": ("neobert", {"max_position_embeddings": "max_length"}),
        # Its text model is Phi-3 (modeling_phi3_v.py of microsoft).
        "phi3_v": ("phi3", LAYERS),
        "phi3small": ("llama", {"rope_theta": "rope_embedding_base"}),
        # Falcon before it was a part of transformers.
        **dict.fromkeys(
            ("RefinedWeb", "RefinedWebModel"),
            ("falcon", {"num_hidden_layers": "n_layer", "num_attention_heads": "n_head"}),
        ),
        "stablelm_epoch": ("stablelm", {"partial_rotary_factor": "rope_pct"}),
    }
)


# Have a class since transformers 5.24, which reads them itself.
NEWER = frozenset({"exaone", "sarvam_mla", "sarvam_moe"})


def translated(config: ModelConfig) -> ModelConfig:
    """``config`` in the words of transformers, with the code for which it was written as the
    program where that is of another family; unchanged where it has them already.
    """
    typed = config
    if not config.text("model_type"):
        untyped = next((of for name, of in UNTYPED.items() if name in config), _type_of)
        typed = config.updated(untyped(config) or _type_of(config))
        is_tensorrt = untyped is _tensorrt_llm
        if program := OF_PROGRAMS["mapping"] if is_tensorrt else MAKERS.get(typed.family):
            typed = replace(typed, program=program)
    if (taught := own_families().get(typed.family)) is not None:
        typed = typed.updated(taught.completed(typed))
    translate = FORMATS.get(typed.family)
    has_class = typed.family in NEWER and typed.family in config_classes()
    if translate is not None and not has_class:
        settings, written_for = typed.updated(translate(typed)), typed.family
        is_same = settings.family == written_for
        typed = settings if is_same else replace(settings, program=config.program or written_for)
    return _of_flat_text(typed)


def _of_flat_text(config: ModelConfig) -> ModelConfig:
    """``config`` with a section for the text model of its family, whose settings stand at the top;
    as that model alone where no section describes another part, and unchanged where there is
    such a section.
    """
    if (text := flat_text(config)) is None:
        return config
    nested = config_classes()[config.family].sub_configs
    if all(config.section(name) is None for name in nested):
        return _of_flat_text(config.updated({"model_type": text[1]}))
    around = {name for name in config.settings if name in nested} | AROUND
    inner = {name: value for name, value in config.settings.items() if name not in around}
    outer = {name: value for name, value in config.settings.items() if name in around}
    section = {**inner, "model_type": text[1]}
    return replace(config, settings={**outer, text[0]: section})


def flat_text(config: ModelConfig) -> tuple[str, str] | None:
    """The section that the config class of a family has for its text model, and the model type of
    that, where the number of its layers stands outside; None for any other config. The type is
    UNKNOWN where the class takes text models of all kinds.
    """
    if config.family == UNKNOWN or config.first(*SIZES["n_layers"]) is None:
        return None
    if config.family not in (classes := config_classes()):
        return None
    family = classes[config.family]
    nested = family.sub_configs
    name = next((name for name in TEXT if name in nested and config.section(name) is None), None)
    own = getattr(family, "__dataclass_fields__", {})
    if name is None or any(size in own for size in SIZES["n_layers"]):
        return None
    return name, getattr(nested[name], "model_type", "") or UNKNOWN


def _type_of(config: ModelConfig) -> Json:
    """The model type of a config that names the class of its model alone, as early conversions of
    Llama do.
    """
    named = [name for name in config.listed("architectures") if isinstance(name, str)]
    if not named:
        return {}
    auto = light_transformers("models.auto.modeling_auto")
    types = {
        name: model_type for model_type, name in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items()
    }
    return next(({"model_type": types[name]} for name in named if name in types), {})


def _like(config: ModelConfig) -> Json:
    family, names = LIKE[config.family]
    return {"model_type": family, **own_base(config), **under_names(config, names)}


def _chatglm(config: ModelConfig) -> Json:
    """ChatGLM2, ChatGLM3 and GLM-4 (the authors' modeling_chatglm.py): half of each head is
    rotated, by a base of 10,000 · rope_ratio.

    The first ChatGLM rotates one half by the position in the prompt and the other by that in the
    answer; nothing here reads that.
    """
    if config.flag("position_encoding_2d") is True:
        return {}
    ratio = config.value("rope_ratio", 1)
    base = 10_000.0 * ratio if isinstance(ratio, int | float) else ratio
    names = {
        "num_hidden_layers": "num_layers",
        "vocab_size": "padded_vocab_size",
        "head_dim": "kv_channels",
    }
    rope = {"rope_type": "default", "rope_theta": base, "partial_rotary_factor": 0.5}
    return {
        "model_type": "glm",
        **under_names(config, {**names, "max_position_embeddings": "seq_length"}),
        "rope_parameters": rope,
    }


def _baichuan(config: ModelConfig) -> Json:
    """Baichuan with 7B parameters is rotary and gives max_position_embeddings; that with 13B has
    ALiBi and gives model_max_length.
    """
    return (
        {"alibi": True}
        if config.value("max_position_embeddings") is None
        else {"model_type": "llama"}
    )


def _qwen(config: ModelConfig) -> Json:
    """The first Qwen (the authors' modeling_qwen.py): the base grows with texts longer than
    seq_length.
    """
    grows = (
        {"rope_scaling": {"rope_type": "dynamic", "factor": 1.0}}
        if config.flag("use_dynamic_ntk") is True
        else {}
    )
    names = {
        "rope_theta": "rotary_emb_base",
        "head_dim": "kv_channels",
        "max_position_embeddings": "seq_length",
    }
    return {"model_type": "llama", **under_names(config, names), **grows}


def _glm(config: ModelConfig) -> Json:
    """GLM of 2022 (arXiv 2103.10360) has two learned tables; transformers knows its successors
    alone, under the same name.
    """
    return {"model_type": None} if "block_position_encoding" in config else {}


def _new(config: ModelConfig) -> Json:
    """GTE as first published; with a learned table in place of the rotation it is like no family of
    transformers.
    """
    is_like_none = config.text("position_embedding_type") == "absolute"
    return {} if is_like_none else {"model_type": "gte", **own_base(config)}


def _nomic_bert(config: ModelConfig) -> Json:
    """Nomic Embed as its authors publish it (nomic-ai's modeling_hf_nomic_bert.py), in the names of
    GPT-2. With no share of rotated components it has a learned table, and the code of transformers
    rotates whole heads.
    """
    if "n_embd" not in config or "hidden_size" in config:
        return {}
    factor = config.value("rotary_scaling_factor")
    if config.value("rotary_emb_fraction") != 1:
        return {"model_type": None}
    names = {
        "hidden_size": "n_embd",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
        "max_position_embeddings": "max_trained_positions" if factor else "n_positions",
        "rope_interleave": "rotary_emb_interleaved",
    }
    return {
        **under_names(config, names),
        "rope_parameters": {
            **({"rope_type": "dynamic", "factor": factor} if factor else {"rope_type": "default"}),
            "rope_theta": config.value("rotary_emb_base", 10_000.0),
        },
    }


def _early_phi(config: ModelConfig) -> Json:
    """Phi-1 and Phi-1.5 as first published, with a number of rotated components in place of their
    share.
    """
    width, heads, turned = (config.count(name) for name in ("n_embd", "n_head", "rotary_dim"))
    share = {"partial_rotary_factor": turned * heads / width} if width and heads and turned else {}
    names = {
        "hidden_size": "n_embd",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    }
    return {
        "model_type": "phi",
        **under_names(config, {**names, "max_position_embeddings": "n_positions"}),
        **share,
        "rotary_dim": None,
    }


def _parler(config: ModelConfig) -> Json:
    """The decoder of Parler-TTS (modeling_parler_tts.py of github.com/huggingface/parler-tts) has
    the sinusoid of Musicgen, unless it rotates.
    """
    rotates = config.flag("rope_embeddings") is True
    return {} if rotates else {"model_type": "musicgen_decoder", "rope_theta": None}


def _nemotron_nas(config: ModelConfig) -> Json:
    """Llama-Nemotron (arXiv 2505.00949, section 2): a search has removed the attention of some
    layers.
    """
    blocks = [block for block in config.listed("block_configs") if isinstance(block, Mapping)]
    attentions = [block.get("attention") for block in blocks]
    removed = [
        isinstance(attention, Mapping) and attention.get("no_op") is True
        for attention in attentions
    ]
    kinds = ["mlp" if is_removed else "full_attention" for is_removed in removed]
    return {
        "model_type": "llama",
        "layers_block_type": kinds,
        "intermediate_size": 1,
    }  # Llama demands a width, which differs here by layer.


def _llava(config: ModelConfig) -> Json:
    """LLaVA as its authors publish it (github.com/haotian-liu/LLaVA, LLaVA-VL/LLaVA-NeXT): the
    settings of the language model, in which the tower of images is a name.
    """
    if config.section("text_config") is not None or config.size("n_layers") is None:
        return {}
    named = " ".join(str(name) for name in config.listed("architectures"))
    return {"model_type": next((of for name, of in OF_LLAVA.items() if name in named), "llama")}


def _dbrx(config: ModelConfig) -> Json:
    """The base stands in attn_config, of which the config class of transformers 5 reads nothing."""
    attention = config.section("attn_config")
    return (
        {}
        if attention is None or attention.value("rope_theta") is None
        else {"rope_theta": attention.value("rope_theta")}
    )


def _bert(config: ModelConfig) -> Json:
    """Encoders with ALiBi whose own code calls them BERT: Jina v2 (arXiv 2310.19923) and MosaicBERT
    (arXiv 2312.17482). Monarch Mixer (bert_layers.py of github.com/HazyResearch/m2) keeps the
    setting of the latter, and has long convolutions in place of attention.
    """
    if config.flag("monarch_mixer_sequence_mixing") is True:
        n_layers = min(config.count("num_hidden_layers") or 0, MOST_LAYERS)
        has_table = config.flag("use_positional_encodings") is True
        return {
            "model_type": "bert" if has_table else "m2_bert",
            "layers_block_type": ["conv"] * n_layers,
        }
    asks = (
        config.text("position_embedding_type") == "alibi"
        or config.value("alibi_starting_size") is not None
    )
    return {"alibi": True} if asks else {}


def _ernie_vl(config: ModelConfig) -> Json:
    """ERNIE 4.5 VL as Baidu publishes it: the settings of the text model, around those of images
    (names as in convert_ernie4_5_vl_moe_to_hf.py of transformers).
    """
    vision, by_time = config.section("vision_config"), config.count("freq_allocation")
    width, n_heads = config.count("hidden_size"), config.count("num_attention_heads")
    if config.flag("rope_3d") is not True or not (vision and by_time and width and n_heads):
        return {"model_type": None}
    side = (width // n_heads // 2 - by_time) // 2
    rope = {"rope_type": "default", "mrope_section": [side, side, by_time]}
    return {
        "model_type": "ernie4_5_vl_moe",
        "text_config": {
            "model_type": "ernie4_5_vl_moe_text",
            **under_names(config, {name: name for name in OF_ERNIE}),
            "rope_parameters": {**rope, "rope_theta": config.value("rope_theta", 500_000.0)},
        },
        "vision_config": {**vision.settings, "model_type": "ernie4_5_vl_moe_vision"},
        **dict.fromkeys((*OF_ERNIE, "rope_theta")),
    }


def _exaone_4(config: ModelConfig) -> Json:
    """A pattern of letters, L for a layer with a window and G for one that sees all."""
    pattern, n_layers = config.text("sliding_window_pattern"), config.count("num_hidden_layers")
    if (
        not pattern
        or n_layers is None
        or config.value("layer_types") is not None
        or not set(pattern) <= set(KINDS_OF_EXAONE)
    ):
        return {}
    return {
        "layer_types": [
            KINDS_OF_EXAONE[pattern[layer % len(pattern)]]
            for layer in range(min(n_layers, MOST_LAYERS))
        ]
    }


def _kinds(config: ModelConfig, name: str, kinds: Mapping[int, str]) -> list[str]:
    """Kinds of layers that a config lists by number."""
    numbers = [number for number in config.listed(name) if isinstance(number, int)]
    return [kinds.get(number, "full_attention") for number in numbers]


def _mimo(config: ModelConfig) -> Json:
    """The published format of MiMo V2 Flash: a pattern of 0 and 1 for full and sliding layers, and
    a base of its own for the latter.
    """
    kinds = _kinds(config, "hybrid_layer_pattern", KINDS_OF_MIMO)
    settings: dict[str, object] = (
        {"layer_types": kinds} if kinds and config.value("layer_types") is None else {}
    )
    if config.value("swa_rope_theta") is not None and config.value("rope_parameters") is None:
        shared = {
            "rope_type": "default",
            "partial_rotary_factor": config.value("partial_rotary_factor", 1.0),
        }
        bases = {
            "full_attention": config.value("rope_theta"),
            "sliding_attention": config.value("swa_rope_theta"),
        }
        settings["rope_parameters"] = {
            kind: {**shared, "rope_theta": base} for kind, base in bases.items()
        }
        if "rope_scaling" in config:  # Of no kind, and one for both.
            settings["rope_scaling"] = settings["rope_parameters"]
    return settings


def _zamba_2(config: ModelConfig) -> Json:
    """Letters for the kinds of layers, in the config as first published."""
    kinds = config.listed("layers_block_type")
    return (
        {"layers_block_type": [KINDS_OF_ZAMBA[kind] for kind in kinds]}
        if kinds and set(kinds) <= set(KINDS_OF_ZAMBA)
        else {}
    )


def _minimax(config: ModelConfig) -> Json:
    """MiniMax-Text-01 and M1 (arXiv 2501.08313): lightning attention in most layers, and a number
    of rotated components.
    """
    kinds = _kinds(config, "attn_type_list", KINDS_OF_MINIMAX)
    return {"model_type": "minimax", "layer_types": kinds} if kinds else {}


def _hymba(config: ModelConfig) -> Json:
    """Hymba (arXiv 2411.13676): attention and Mamba beside each other in every layer, with a window
    in all but a few.
    """
    n_layers, full = (
        min(config.count("num_hidden_layers") or 0, MOST_LAYERS),
        config.listed("global_attn_idx"),
    )
    return {
        "layers_block_type": [
            "hybrid" if layer in full else "hybrid_sliding" for layer in range(n_layers)
        ]
    }


def _striped_hyena(config: ModelConfig) -> Json:
    """StripedHyena and Evo (togethercomputer's and evo-design's model.py): Hyena's convolutions but
    for some layers with attention, whose positions may be divided by a factor.
    """
    n_layers = min(config.count("num_layers") or 0, MOST_LAYERS)
    attending = config.listed("attn_layer_idxs")
    kinds = ["full_attention" if layer in attending else "conv" for layer in range(n_layers)]
    rope: dict[str, object] = {"rope_type": "default"}
    if config.flag("use_interpolated_rotary_pos_emb") is True:
        rope = {"rope_type": "linear", "factor": config.value("rotary_emb_scaling_factor", 1.0)}
    return {
        "model_type": "lfm2",
        "layer_types": kinds,
        "rope_parameters": {**rope, "rope_theta": config.value("rotary_emb_base", 10_000.0)},
        **under_names(config, {**LAYERS, **dict.fromkeys(OF_HYENA, "max_seqlen")}),
    }


def _state_spaces(config: ModelConfig) -> Json:
    """Mamba as its authors publish it, without a model type; Bamba is built like the kind with
    attention in some layers (mamba_ssm/modules/mha.py of github.com/state-spaces/mamba).
    """
    settings = config.section("ssm_cfg")
    attention, indices = config.section("attn_cfg"), config.listed("attn_layer_idx")
    if attention is not None and indices:
        head_dim, turned = attention.count("head_dim"), attention.count("rotary_emb_dim")
        share = {"partial_rotary_factor": turned / head_dim} if head_dim and turned else {}
        return {
            "model_type": "bamba",
            "attn_layer_indices": list(indices),
            **under_names(config, {"hidden_size": "d_model", "num_hidden_layers": "n_layer"}),
            **under_names(attention, {"num_attention_heads": "num_heads", "head_dim": "head_dim"}),
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": attention.value("rotary_emb_base", 10_000.0),
                **share,
            },
        }
    return {
        "model_type": (
            "mamba2" if settings is not None and settings.text("layer") == "Mamba2" else "mamba"
        )
    }


def _gpt_oss(config: ModelConfig) -> Json:
    """gpt-oss as OpenAI publishes it (gpt_oss/torch/model.py of github.com/openai/gpt-oss)."""
    names = {
        "factor": "rope_scaling_factor",
        "original_max_position_embeddings": "initial_context_length",
        "beta_slow": "rope_ntk_alpha",
        "beta_fast": "rope_ntk_beta",
        "rope_theta": "rope_theta",
    }
    rope = {"rope_type": "yarn", "truncate": False, **under_names(config, names)}
    length, factor = config.value("initial_context_length"), config.value("rope_scaling_factor", 1)
    return {
        "model_type": "gpt_oss",
        "max_position_embeddings": int(length * factor) if isinstance(length, int) else None,
        "rope_parameters": rope,
    }


def _of_diffusers(config: ModelConfig) -> Json:
    """Blocks of two streams and of one count together."""
    axes = ROTATED[config.family]
    n_layers = axes.n_layers(config)
    return {**({} if n_layers else dict.fromkeys(axes.layers)), "num_hidden_layers": n_layers}


def _of_program(program: str, config: ModelConfig) -> Json:  # noqa: ARG001 (the key is enough)
    """Of a program whose code is not known here."""
    return {"model_type": program}


def _tensorrt_llm(config: ModelConfig) -> Json:
    """Of its class for models like Llama, which knows no window, and has a base of its own where a
    file has none (tensorrt_llm/models/llama/config.py); other files are of code that is not known.
    """
    types = _type_of(config.updated({"architectures": [config.value("architecture")]}))
    is_turned = config.text("position_embedding_type") == "rope_gpt_neox"
    if not is_turned or types.get("model_type") not in OF_TENSORRT_LLM:
        is_its = "mapping" in config or config.text("position_embedding_type") in OF_POSITIONS
        return {"model_type": OF_PROGRAMS["mapping"]} if is_its else {}
    names = {"head_dim": "head_size", "rope_scaling": "rotary_scaling"}
    base = {"rope_theta": config.value("rotary_base", 10_000.0), "position_embedding_type": None}
    return {"model_type": "llama", **base, **under_names(config, names)}


# Of configs that name no model type, by a key that each has.
UNTYPED: Mapping[str, Callable[[ModelConfig], Json]] = MappingProxyType(
    {
        "ssm_cfg": _state_spaces,
        OF_VOX_CPM: vox_cpm,
        OF_MOIRAI: moirai_2,
        "initial_context_length": _gpt_oss,
        "architecture": _tensorrt_llm,
        **{key: partial(_of_program, program) for key, program in OF_PROGRAMS.items()},
        **BY_NAME,
    }
)
FORMATS: Mapping[str, Callable[[ModelConfig], Json]] = MappingProxyType(
    {
        **ENGINES,
        **BY_NAME_TYPED,
        **dict.fromkeys(LIKE, _like),
        **dict.fromkeys(ROTATED, _of_diffusers),
        "chatglm": _chatglm,
        "baichuan": _baichuan,
        "bert": _bert,
        "dbrx": _dbrx,
        "ernie4_5_moe_vl": _ernie_vl,
        "exaone4": _exaone_4,
        # Of which every setting is given in the words of transformers.
        "executorch": lambda _: {},
        "glm": _glm,
        "hymba": _hymba,
        "llava": _llava,
        **dict.fromkeys(("minimax_text_01", "minimax_m1", "MiniMaxM1"), _minimax),
        # Of Monarch Mixer without a table.
        "m2_bert": lambda _: {},
        # XiaomiMiMo's modeling_mimo_v2.py: the same layers.
        "mimo_v2": lambda config: {"model_type": "mimo_v2_flash", **_mimo(config)},
        "mimo_v2_flash": _mimo,
        "nemotron-nas": _nemotron_nas,
        "new": _new,
        "nomic_bert": _nomic_bert,
        "parler_tts_decoder": _parler,
        "phi-msft": _early_phi,
        "qwen": _qwen,
        "stripedhyena": _striped_hyena,
        # transformers had it once, and its names are understood.
        "transfo-xl": lambda _: {},
        "zamba2": _zamba_2,
    }
)
