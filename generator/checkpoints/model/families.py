"""Model families whose code differs from config.json in a way that concerns several schemes;
families.py of a scheme has those of that scheme.
"""

from collections.abc import Mapping

from generator.contracts import Mixer, ModelConfig

# Encoders that transformers trains neither as masked language models nor for speech, or does not
# have.
ENCODERS = frozenset(
    {"Chronos2Model", "Dream", "llada", "openai_privacy_filter", "new", "neobert", "m2_bert",
     "xlm-roberta-flash", "xlnet", "align_text_model",
     "altclip_text_model",
     "bert-generation", "bridgetower_text_model", "bros", "canine", "chinese_clip_text_model",
     "clap_text_model", "dpr",
     "embedding_gemma2", "embedding_gemma2_text", "flava_text_model", "instructblip_qformer",
     "instructblipvideo_qformer",
     "blip_2_qformer", "layoutlmv2", "layoutlmv3", "layoutxlm", "lilt", "markuplm",
     "moss_transcribe_diarize_audio",
     "nemotron3_5_transcribe_asr_audio", "nemotron3_5_transcribe_word_timestamp",
     "nemotron3_diarization_audio",
     "siglip_text_model", "siglip2_text_model", "splinter", "tipsv2_text_model", "tvp", "vilt",
     "visual_bert"}
)  # fmt: skip
# Models of images whose config has a vocabulary, and of videos whose config has no size of patches.
OF_IMAGES = frozenset(
    {
        "beit",
        "data2vec-vision",
        "deepseek_ocr2_encoder",
        "flava_image_model",
        "ovis2_vision",
        "pe_video_encoder",
    }
)
# Encoders by name that do not look ahead.
CAUSAL_ENCODERS = frozenset(
    {
        "voxtral_realtime_encoder",
        "blt_local_encoder",
        "mimi_encoder",
        "pocket_tts_audio_tokenizer_encoder",
    }
)
# Their layers do what no record of a layer can say: attention to hashed or to staggered blocks,
# several streams, nested cycles, shortened sequences, convolutions in place of attention at the
# ends, attention to the keys of another model; or whether they look ahead depends on the class that
# is made of the config (BLIP), on the step (Diffusion Gemma), on the block (LLaDA 2, SDAR, DFlash)
# or on the position (DeepSeek-OCR 2); or one config is of two stacks (Mimi). Nor are the stacks
# nested in them mapped.
NOT_MAPPED = frozenset(
    {"reformer", "perceiver", "pegasus_x", "prophetnet", "xlm-prophetnet", "hrm_text",
     "fastspeech2_conformer", "vits", "univnet",
     "funnel", "sam3_lite_text_text_model", "groupvit_vision_model", "inkling_vision", "eomt",
     "eomt_dinov3", "blip_text_model",
     "clap_audio_model", "deepseek_ocr2_encoder", "diffusion_gemma_text", "gemma4_assistant",
     "gemma4_unified_assistant",
     "granite_speech5_encoder", "muse_spark_audio", "nemotron_asr_streaming_encoder",
     "nemotron3_5_transcribe_audio",
     "nemotron3_diarization", "pi0", "chatglm", "qwen2_5_omni_dit", "mimi", "neucodec",
     "pocket_tts_audio_tokenizer", "xcodec2", "llada2_moe", "sdar", "sdar_moe", "dflash", "smolvla"}
)  # fmt: skip
# Models of sound without "audio" or "speech" in the name of an encoder's family, codecs, and
# decoders whose positions are those of codes.
OF_SOUND = frozenset(
    {"wav2vec2-conformer", "wav2vec2-bert", "moonshine_streaming_encoder",
     "nemotron3_5_transcribe_word_timestamp", "mimi",
     "mimi_encoder", "mimi_decoder", "neucodec", "pocket_tts_audio_tokenizer",
     "pocket_tts_audio_tokenizer_decoder",
     "qwen2_5_omni_dit", "xcodec2", "csm_depth_decoder_model", "dia_decoder", "moshi_depth",
     "musicgen_decoder", "parler_tts_decoder",
     "musicgen_melody_decoder", "qwen2_5_omni_talker", "qwen3_omni_moe_talker_code_predictor",
     "qwen3_omni_moe_talker_text"}
)  # fmt: skip
# Their base class has no input layer, which that of each task adds.
OF_TASKS = frozenset({"perceiver"})
# Stacks whose positions are no tokens of a vocabulary: patches of bytes.
OF_PATCHES = frozenset({"blt_global_transformer"})
# Nested configs, by family around them, that mean another thing: movements of a robot.
OTHER_SENSES = frozenset({("pi0", "dit_config")})
# Their setting for attention to both sides holds for the prefix of PaliGemma alone, an image and a
# question.
PREFIX_ALONE = frozenset({"gemma", "gemma2"})
# Models of several decoders and of one part that sees both sides, all of one class.
OF_BOTH_KINDS = frozenset({"bark"})
# Names of OpenAI leave out which tower it is but for images.
TWO_TOWERS = frozenset({"clip"})
# Decoders with a stored table; tables of other families belong to an encoder unless the name of the
# tensor contains "decoder".
DECODERS = frozenset({"gpt2", "gpt_neo", "gpt_bigcode", "openai-gpt", "opt", "biogpt"})

# Their code keeps nothing: each further token computes all keys and values again
# (modeling_openai.py); vLLM, SGLang, mlx-lm and llama.cpp have none for it.
WITHOUT_CACHE = frozenset({"openai-gpt"})

# Position 0 has the row padding_idx + 1 of a stored table, as in fairseq.
AFTER_PADDING = frozenset(
    {"roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "longformer", "mpnet", "luke",
     "data2vec-text",
     "roberta-prelayernorm", "altclip", "altclip_text_model", "bridgetower",
     "bridgetower_text_model", "clap", "clap_text_model",
     "xmod", "ibert", "esm", "layoutlmv3", "lilt", "markuplm", "fsmt", "prophetnet",
     "xlm-prophetnet"}
)  # fmt: skip
# Of these, max_position_embeddings has all rows; FSMT makes a table that is longer.
COUNTED_AS_ROWS = AFTER_PADDING - {"fsmt"}
# Position 0 has row 2, as in learned tables of fairseq.
AFTER_TWO = frozenset(
    {"bart", "mbart", "opt", "biogpt", "plbart", "mvp", "trocr", "nystromformer", "yoso", "mra",
     "pp_formulanet", "pp_formulanet_text"}
)  # fmt: skip
# Their code encodes position by what no scheme reads; templates/wording/questions.jinja says how.
UNREAD = frozenset(
    {
        "bagel",
        "bros",
        "chatglm",
        "cvt",
        "decision_transformer",
        "granite_docling",
        "inkling2_loop_text",
        "inkling2_text",
        "minimax_m3_vl_text",
        "mistral_large4_text",
        "deepseek_v4",
        "musicflamingo",
        "mmproj_of_unknown_kind",
        "retnet",
        "smolvla",
    }
)
# The table is of the angles of a rotation and not added to the input.
ANGLES_STORED = frozenset({"roformer"})
# All positions get the first row of the stored table (its time is another input).
FIRST_ROW_ALONE = frozenset({"decision_transformer"})
WORDS_SCALED = "gemma"  # Families with this prefix multiply word vectors by √d_model.

# All layers are recurrent; their config lists no kinds.
RECURRENT = frozenset({"mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"})
# The decoder of these models for speech is an LSTM, which predicts the next token.
LSTM = frozenset({"parakeet_rnnt", "parakeet_tdt", "nemotron_asr_streaming", "nemotron3_5_asr"})
# Their setting of a window limits nothing: all codebooks of a frame are fewer.
WITHOUT_WINDOW = frozenset({"moshi_depth"})
# Settings of the keys on the left of a query, of which its code leaves out one beside the query
# itself, and on its right, of which it leaves out one.
CONTEXT: Mapping[str, tuple[str, str]] = {
    "gemma4_audio": ("attention_context_left", "attention_context_right"),
}
# Setting of the size of chunks; n_window_infer counts frames, of which 2 · n_window become
# POSITIONS_OF_FRAMES.
CHUNKED: Mapping[str, str] = {
    **dict.fromkeys(("granite_speech_encoder", "granite_speech_plus_encoder"), "context_size"),
    **dict.fromkeys(("qwen3_asr_encoder", "qwen3_omni_moe_audio_encoder"), "n_window_infer"),
    "qwen2_5_omni_audio_encoder": "n_window",
}
POSITIONS_OF_FRAMES = 13
INKLING = ("inkling_text", "inkling2_text", "inkling2_loop_text")
# Kinds of layers that mean another thing in the code of a family.
MIXERS: Mapping[tuple[str, str], tuple[Mixer, ...]] = {
    ("fnet", "full attention"): ("fourier",),
    ("zaya", "hybrid"): ("full",),
    ("zaya", "hybrid sliding"): ("sliding",),
    **{(family, "hybrid"): ("full", "convolution") for family in INKLING},
    **{(family, "hybrid sliding"): ("sliding", "convolution") for family in INKLING},
}
# Every layer has a convolution beside attention, as in Conformer (arXiv 2005.08100, section 2.2)
# and SAN-M (arXiv 2006.01713).
BESIDE: Mapping[str, tuple[Mixer, ...]] = dict.fromkeys(
    ("wav2vec2-conformer", "wav2vec2-bert", "granite_speech_encoder", "granite_speech_plus_encoder",
     "parakeet_encoder", "lasr_encoder",
     "fun_asr_nano_encoder", "gemma4_audio"),
    ("convolution",),
)  # fmt: skip
# Add vectors of the last few tokens in some layers, with a convolution (modeling_qwen4_exp.py).
OF_N_GRAMS = frozenset({"qwen4_exp_text"})
# Attention to a window of blocks, global ones and random ones.
IN_BLOCKS = frozenset({"big_bird", "bigbird_pegasus"})
HALVED = frozenset({"t5gemma2_text"})  # Encoders whose window is that of both sides together.
# Beginnings of families of encoders that count the query in the window of each side.
EXCLUSIVE = ("gemma", "diffusion_gemma")
# Layers of attention between recurrent ones have no encoding of position.
MIXED = frozenset({"jamba", "zamba", "nemotron_h", "kimi_linear"})
# Also mixed, unless a setting has this value.
UNLESS: Mapping[str, tuple[str, object]] = {
    "zamba2": ("use_mem_rope", True),
    "granitemoehybrid": ("position_embedding_type", "rope"),
    "solar_open2": ("use_rope", True),
}
# Model types in GGUF of which llama.cpp turns neighbours (llama_model_rope_type in src/
# llama-model.cpp); its converter reorders rows that transformers has in halves.
TURN_NEIGHBOURS_IN_GGUF = frozenset(
    {"arcee", "arctic", "baichuan", "bailingmoe", "chameleon", "cohere", "cohere2", "deepseek",
     "deepseek2-ocr", "deepseek_v2", "deepseek_v3", "deepseek_v32", "ernie4_5", "ernie4_5_moe",
     "glm", "glm_moe_dsa", "granite", "granitemoe", "granitemoehybrid", "internlm2", "llada",
     "llama", "llama4_text", "maincoder", "minicpm", "ministral3", "mistral4",
     "muse_glimmer_text", "nanbeige", "nemotron-nas", "neobert", "olmo", "plm", "smollm3",
     "xverse"}
)  # fmt: skip
# Of these, transformers turns halves (rotate_half in modeling_llama.py and others), and so does
# llama.cpp but for those in TURN_NEIGHBOURS_IN_GGUF.
TURN_HALVES = frozenset(
    {"esm", "gemma", "gemma2", "gemma3_text", "gpt_neox", "granite", "llama", "mistral", "mixtral",
     "modernbert", "olmo", "olmo2", "olmo3", "phi", "phi3", "qwen2", "qwen2_moe", "qwen3",
     "qwen3_moe", "seed_oss", "smollm3", "stablelm", "starcoder2",
     # And of these, mlx-lm, vLLM, SGLang or their own code (engines_families.py), and llama.cpp
     # as it says.
     "Klear", "grove_moe", "grovemoe", "hunyuan_image_3_moe", "llada2_moe", "nanbeige", "openelm",
     "plamo3", "sarvam_moe", "sdar", "sdar_moe", "smallthinker", "step3_text", "telechat3",
     # And of these, whose small model does not run or whose config is not known well enough.
     "glm4_moe", "idefics", "zaya"}
)  # fmt: skip
# Of these, which transformers does not have under this name, other code turns halves: rotate_half
# of modeling_baichuan.py, modeling_internlm2.py, modeling_phi3.py of InternVL, modeling_hymba.py,
# chunk(2) of modeling_mixformer_sequential.py (phi-msft), get_rope without is_neox_style=False in
# vLLM (aquila and internlm as Llama, RefinedWeb as Falcon, new in bert_with_rope.py), apply_rope
# of smolvlm_with_expert.py (LeRobot), and the module jina_embeddings_v3 of transformers for
# xlm-roberta with a rotation.
HALVES_BY_OTHER_CODE = frozenset(
    {"RefinedWeb", "RefinedWebModel", "aquila", "arctic", "baichuan", "hymba", "internlm",
     "internlm2", "mimo_v2", "minimax_m1", "minimax_text_01", "new", "orion", "phi-msft",
     "phi3_v", "smolvla", "xlm-roberta"}
)  # fmt: skip
TURN_HALVES |= HALVES_BY_OTHER_CODE
# Of these, the makers' own code turns neighbours (apply_rotary_pos_emb in modeling_chatglm.py).
TURN_NEIGHBOURS = frozenset({"chatglm"})
# Model types that the converter of llama.cpp writes as another one in GGUF, by its runs in
# tests/fixtures/conversions, and those of which no architecture of llama.cpp is known.
TYPES_IN_GGUF: Mapping[str, str] = {
    **dict.fromkeys(("mistral", "mixtral"), "llama"),
    **dict.fromkeys(("deepseek_v3", "kimi_k2"), "deepseek_v2"),
    "bamba": "granitemoehybrid", "chatglm": "glm", "olmo3": "olmo2",
}  # fmt: skip
NOT_IN_GGUF = frozenset(
    {"Klear", "aquila", "esm", "hunyuan_image_3_moe", "hymba", "idefics", "internlm", "llada2_moe",
     "new", "phi-msft", "phi3_v", "sdar", "sdar_moe", "smolvla", "step3_text", "telechat3", "zaya"}
)  # fmt: skip
# Further ones that the converter of llama.cpp knows, whose architecture turns halves, in axes or
# not, or neighbours (llama_model_rope_type, without sections for axes).
HALVES_IN_GGUF = frozenset(
    {"afmoe", "apertus", "bitnet", "dbrx", "dots1", "exaone", "exaone4", "exaone4_5_text", "falcon",
     "falcon_h1", "gemma4_text", "gemma4_unified_text", "glm4v_moe_text", "glm4v_text", "gpt_oss",
     "hunyuan_v1_dense", "hunyuan_v1_moe", "hy_v3", "laguna", "lfm2", "lfm2_moe", "mellum",
     "mimo_v2_flash", "minicpm3", "minimax_m2", "minimax_m3_vl_text", "nemotron", "nomic_bert",
     "olmoe", "paddleocr_vl", "phimoe", "qwen", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_vl",
     "qwen3_5_moe_text", "qwen3_5_text", "qwen3_next", "qwen3_vl_moe_text", "qwen3_vl_text",
     "qwen4_exp_text"}
)  # fmt: skip
NEIGHBOURS_IN_GGUF = frozenset(
    {"bailing_hybrid", "cohere2_moe", "deepseek_v4", "glm4", "glm4_moe_lite"}
)
# Keys of position that the code of a family reads nowhere, or for no encoding, though its published
# files have them (Tencent-Hunyuan/HunyuanImage-3.0 at 1d011c8, hunyuan_image_3/hunyuan.py;
# families_by_name.py, of the number of actions).
READ_BY_NO_CODE: Mapping[str, frozenset[str]] = {
    "hunyuan_image_3_moe": frozenset({"rope_scaling.alpha", "rope_type"}),
    "smolvla": frozenset({"chunk_size"}),
}
# In the indexer of these, transformers turns neighbours, whatever a key says.
TURN_NEIGHBOURS_IN_INDEXER = frozenset({"glm_moe_dsa"})
# Pairs that rotate by time, by height and by width where config.json has no mrope_section
# (transformers' code of each family), and whether they take turns.
SECTIONS_OF_CODE: Mapping[str, tuple[tuple[int, int, int], bool]] = {
    family: (sections, takes_turns)
    for sections, takes_turns, families in (
        ((16, 24, 24), False, {"qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text",
                               "qwen2_5_omni_talker", "paddleocr_vl_text"}),
        ((8, 12, 12), False, {"glm4v_text", "glm4v_moe_text", "glm_image_text", "glm_ocr_text"}),
        ((24, 20, 20), True, {"qwen3_vl_text", "qwen3_vl_moe_text", "qwen3_omni_moe_text",
                              "qwen3_omni_moe_talker_text", "cosmos3_edge_text",
                              "cohere_compass_text"}),
        ((22, 22, 20), False, {"ernie4_5_vl_moe_text"}),
        ((11, 11, 10), True, {"qwen3_5_text", "qwen3_5_moe_text", "qwen4_exp_text"}),
    )
    for family in families
}  # fmt: skip


def attends_without_encoding(config: ModelConfig) -> bool:
    """Whether the layers of attention between recurrent layers have no encoding of position."""
    setting, value = UNLESS.get(config.family, ("", None))
    return config.family in MIXED or (config.family in UNLESS and config.value(setting) != value)


# Without a base by default in mlx-lm up to 0.31.3 (mlx_lm/models/*.py), and whose rotary_dim
# transformers reads since 5.18 (configuration_minimax_m2.py).
OLDER_WITHOUT_BASE, OLDER_WITHOUT_SIZE = frozenset({"qwen3", "granitemoehybrid"}), "minimax_m2"
# Of windows that leave the query out, the key by family, as its config class and SGLang have it
# (RadixAttention). mlx-lm (models/mimo_v2_flash.py; base.py, create_causal_mask) and vLLM
# (models/mimo_v2_flash.py; the window of an Attention) count the query with them.
WITHOUT_QUERY = {"mimo_v2_flash": "sliding_window_size"}
