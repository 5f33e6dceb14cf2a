"""What ``lint`` says of one program, and of keys that one alone reads."""

from importlib import import_module

import pytest
import torch

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.encodings import Rotation
from generator.encyclopedia.known_models import known_model
from generator.reading.evidence import look_closely
from generator.reading.find import find
from generator.reading.questions import unresolved
from tests.reading.test_rules import LLAMA, LONG, LONGROPE, YARN, Settings, found, rules, scaled


def test_a_program_that_loses_a_scaling_loses_the_factor_of_all_logits() -> None:
    """mlx-lm's deepseek_v3.py looks in rope_scaling alone: (0.1 · ln 64 + 1)² = 2.0047."""
    latent = {
        **LLAMA, "model_type": "deepseek_v3", "qk_rope_head_dim": 16, "qk_nope_head_dim": 32,
        "v_head_dim": 16, "kv_lora_rank": 8, "max_position_embeddings": 4096,
    }  # fmt: skip
    block = {**YARN, "factor": 64.0, "mscale": 1.0, "mscale_all_dim": 1.0}
    said = rules({**latent, "rope_parameters": {**block, "rope_theta": 1e6}})["readers"]
    assert "also multiplies all attention logits by 2.005 (mscale_all_dim), and mlx-lm" in said
    assert "logits" not in rules(scaled(latent, **block)).get("readers", "")


def test_a_factor_by_default_of_the_class_is_no_factor_of_the_file() -> None:
    """GptOssConfig has YaRN by 32 where the file has no scaling."""
    lengths = {"original_max_position_embeddings": 64, "max_position_embeddings": 4096}
    silent = {**LLAMA, **lengths, "model_type": "gpt_oss", "head_dim": 64}
    assert "older-releases" not in rules(silent)
    stated = scaled(silent, **{**YARN, "factor": 32.0})
    assert "and not 32 as the file says" in rules(stated)["older-releases"]


@pytest.mark.parametrize(
    ("model_type", "said"), [("phi3", "all tokens of the decoder by other angles"),
                             ("phimoe", "by the list of factors for short texts, also beyond 64")],
)  # fmt: skip
def test_longrope_switches_where_the_code_of_a_family_does(model_type: str, said: str) -> None:
    settings = scaled(
        {**LONG, "model_type": model_type, "original_max_position_embeddings": 64},
        **LONGROPE, short_mscale=1.0, long_mscale=1.0,
    )  # fmt: skip
    assert said in rules(settings)["longrope-switch"]
    module = import_module(f"transformers.models.{model_type}.modeling_{model_type}")
    configs = import_module(f"transformers.models.{model_type}.configuration_{model_type}")
    prefix = {"phi3": "Phi3", "phimoe": "Phimoe"}[model_type]
    config = getattr(configs, f"{prefix}Config")(**{**settings, "num_key_value_heads": 4})
    rotation = getattr(module, f"{prefix}RotaryEmbedding")(config)
    at = [rotation(torch.zeros(1), torch.arange(n)[None])[0][0, 1] for n in (64, 65)]
    assert torch.equal(*at) == (model_type == "phimoe")
    [encoding] = find(ConfigAlone(settings, "own"))
    assert isinstance(encoding.form, Rotation)
    assert (encoding.form.short, encoding.form.reach) == {"phi3": (64, 64), "phimoe": (None, 256)}[
        model_type
    ]
    kept = "Longer texts than 64 positions keep these frequencies in transformers"
    assert any(kept in note for note in encoding.notes) == (model_type == "phimoe")


def test_a_share_of_glm_is_known_by_the_model_type_of_the_file() -> None:
    """modeling_chatglm.py of THUDM/glm-4-9b rotates half of each head."""
    glm = {"model_type": "chatglm", "num_layers": 2, "hidden_size": 64, "kv_channels": 16,
           "num_attention_heads": 4, "seq_length": 64, "padded_vocab_size": 99, "rope_ratio": 1,
           "multi_query_attention": True, "multi_query_group_num": 2}  # fmt: skip
    assert rules(glm)["share"].endswith("a program has to know it by the family chatglm.")


def test_what_is_always_seen_in_sparse_layers_is_said_by_its_family() -> None:
    """modeling_minimax_m3_vl.py scores the last blocks before a query above all others."""
    config = known_model("MiniMaxAI/MiniMax-M3")
    assert config is not None
    [question] = unresolved(config.files, look_closely(config.files))
    assert "the blocks that end with the query's own are always among its keys" in question


def test_a_window_as_long_as_what_a_program_serves_is_not_missing() -> None:
    """Without a length, vLLM and SGLang serve 2,048 positions, and RecurrentGemma sees as many."""
    config = known_model("google/recurrentgemma-2b")
    assert config is not None
    assert "window" not in rules(config.settings).get("readers", "")


def test_a_draft_of_speculators_is_named() -> None:
    said = rules({"speculators_model_type": "eagle3", "transformer_layer_config": LLAMA})
    assert "no model type but that of a speculator, “eagle3”, so" in said["not-understood"]


def test_a_copy_without_a_null_window_gets_that_of_the_class() -> None:
    """MistralConfig has sliding_window 4096."""
    text = rules({**LLAMA, "model_type": "mistral", "sliding_window": None})
    assert "a copy that drops the key gets 4,096 in transformers" in text["window-without-effect"]


def test_context_of_an_encoder_counts_no_rows_of_a_table_that_it_lacks() -> None:
    """EsmConfig's length has padding_idx + 1 rows before those of positions."""
    settings = {"model_type": "esm", "hidden_size": 64, "num_attention_heads": 4, "pad_token_id": 1,
                "num_hidden_layers": 2, "vocab_size": 33, "max_position_embeddings": 1026,
                "position_embedding_type": "rotary"}  # fmt: skip
    assert rules(settings)["base-and-context"].endswith("within the context of 1,024.")
    assert "base-and-context" not in rules({**LLAMA, "rope_theta": 100.0, "rope_type": "ntk"})
    assert "that was as far as" in rules({**LLAMA, "rope_theta": 100.0})["base-and-context"]


@pytest.mark.parametrize(("settings", "said"), [
    ({"model_type": "of_nobody", "architectures": ["LlamaForCausalLM"]}, "LlamaForCausalLM, is that"
     " of llama in transformers, whose AutoModel goes by the model type and so does not load the"
     " file: the model type has to be llama, not “of_nobody”."),
    ({"model_type": "of_nobody", "architectures": ["XLMRobertaModel"]}, "has to be xlm-roberta,"),
    ({"model_type": "ernie_m"}, "transformers 5 no longer has ernie_m; transformers 4.57.6 has"),
    ({"model_type": "of_nobody", "architectures": ["NobodyModel"]}, ""),
    # This atlas has its code.
    ({"model_type": "aquila", "architectures": ["LlamaForCausalLM"]}, ""),
    ({"architectures": ["LlamaForCausalLM"]}, ""),
])  # fmt: skip
def test_what_another_model_type_or_version_would_make_known(settings: Settings, said: str) -> None:
    texts = [one.text for one in found(ConfigAlone({**LLAMA, **settings}, "own"))]
    of_classes = [one for one in texts if "AutoModel" in one or "no longer has" in one]
    assert [said in one for one in of_classes] == ([True] if said else [])


@pytest.mark.parametrize(("settings", "said"), [
    ({"rotary_emb_scaling": 16}, "rotary_emb_scaling: 16 is not read by transformers."),
    # Of a family that is not known, that is all there is to say.
    ({"model_type": "nobody", "rotary_emb_scaling": 16}, ""),
    # They are no position's.
    ({"prefill_chunk_size": 16, "num_nextn_predict_layers": 1, "max_window_layers": 3}, ""),
    # Read as Llama, and of no class of transformers.
    ({"model_type": "aquila", "rope_thetas": 16}, "rope_thetas: 16 is not read by this atlas."),
    ({"model_type": "gemma3", "vision_config": {"model_type": "nobody", "rope_thetas": 16}},
     "vision_config.rope_thetas: 16 is not read by this atlas."),
    # A number is no hint for a word.
    ({"position_embedding_type": "gptj"},
     'position_embedding_type: "gptj" is not read by transformers.'),
    # It says what is so anyway, or belongs to what is off.
    *(({name: value}, "") for name, value in (
        ("position_embedding_type", "rope_gptj"), ("rotary_pct", 1.0), ("rotary_emb_base", 1e6),
        ("max_trained_positions", LLAMA["max_position_embeddings"]),
        ("static_position_embeddings", True), ("use_pos_enc", True), ("offset_alibi", 100))),
    ({"alibi": False, "alibi_bias_max": 8.0}, ""),
    ({"alibi_bias_max": 8.0}, "alibi_bias_max: 8.0 is not read by transformers."),
    ({"rotary_pct": 0.5}, "rotary_pct: 0.5 is not read by transformers."),
    ({"rotary_emb_base": 1e4}, "rotary_emb_base: 10000.0 is not read by transformers."),
    ({"rope_type": "default"}, ""),
    ({"rope_type": "yarn"}, 'rope_type: "yarn" is not read by transformers. It names a kind of'
     " scaling, which is not applied to the angles here."),
    # modeling_hymba.py multiplies the base by it.
    ({"model_type": "hymba", "rope_type": "ntk"}, 'rope_type: "ntk" is not read by this atlas. It'
     " names a kind of scaling, which is not applied to the angles here."),
    # vLLM's chatglm.py, bamba.py, deepseek_v2.py, qwen2.py and kimi_linear.py; mlx-lm's
    # deepseek_v32.py; llama.cpp's conversion/granite.py.
    ({"model_type": "chatglm", "original_rope": True}, ""),
    ({"original_rope": True}, "original_rope: true is not read by transformers."),
    ({"model_type": "bamba", "attn_rotary_emb": 8}, "attn_rotary_emb: 8 is not read by"
     " transformers, but llama.cpp's converter 0c1e5709 and vLLM 0cd57848 read it: it gives how"
     " many components of a head are rotated."),
    ({"model_type": "glm_moe_dsa", "indexer_rope_interleave": True}, ""),
    ({"model_type": "deepseek_v32", "indexer_rope_interleave": True},
     "indexer_rope_interleave: true is not read by transformers, but mlx-lm 0.32.2 and vLLM"
     " 0cd57848 read it: it decides which components make a pair in the indexer."),
    ({"model_type": "qwen2", "dual_chunk_attention_config": {"chunk_size": 16, "local_size": 8}},
     "dual_chunk_attention_config is not read by transformers, but vLLM 0cd57848 reads it: it gives"
     " the chunks in which positions of long texts are counted."),
    # configuration_minimax_m3_vl.py takes it for index_local_blocks.
    ({"model_type": "minimax_m3_vl_text", "sparse_attention_config": {"sparse_local_block": 1}},
     ""),
    # modeling_nemotron_h.py has no rotation.
    ({"model_type": "nemotron_h"}, "No layer of nemotron_h is rotated in transformers, so"
     " rope_theta: 1000000.0 does nothing."),
    # Another rule says what it says.
    ({"rope_interleave": True}, ""),
    # Its class makes the part, whatever that names, and the text model has the base.
    ({"model_type": "qwen2_5_vl", "text_config": {**LLAMA, "model_type": "qwen2_5_vl_text"},
      "vision_config": {"model_type": "qwen2_5_vl", "window_size": 112}}, ""),
])  # fmt: skip
def test_a_key_that_is_not_read(settings: Settings, said: str) -> None:
    given = found(ConfigAlone({**LLAMA, **settings}, "own"))
    assert [one.text for one in given if one.rule == "unread-key"] == ([said] if said else [])
    is_of_pairs = any("rope_interleave says" in one.text for one in given)
    assert is_of_pairs == ("rope_interleave" in settings)
    is_unknown = settings.get("model_type") == "nobody"
    assert not is_unknown or [one.rule for one in given] == ["not-understood"]


def test_a_finding_marks_the_key_that_it_is_about() -> None:
    """Not the base, which stands beside it."""
    gemma = {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16}
    for settings, text, key in (
        (gemma, "gives no layer a window", "sliding_window"),
        (scaled(LLAMA, rope_type="linear", factor=2.0), "Limits differ", "max_position_embeddings"),
        # modeling_exaone4.py rotates in layers with windows alone.
        ({**LLAMA, "model_type": "exaone4", "sliding_window": 8, "sliding_window_pattern": 4},
         "No key that transformers reads in config.json says that they have none", "model_type"),
        ({**LLAMA, "model_type": "smollm3", "no_rope_layers": [1, 1, 1, 0]}, "have no rotation: 3.",
         "no_rope_layers"),
    ):  # fmt: skip
        [one] = [each for each in found(ConfigAlone(settings, "own")) if text in each.text]
        assert one.keys == (key,)
        assert one.level == ("fact" if key in ("no_rope_layers", "model_type") else "note")
