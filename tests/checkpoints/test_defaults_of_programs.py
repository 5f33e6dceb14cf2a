"""Settings that are null or of another type than a config class takes, and lengths that nothing
gives.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Files, Origin
from generator.encodings import Rotation
from generator.reading.evidence import look_closely
from generator.reading.find import find
from generator.reading.questions import unresolved

SIZES: dict[str, Any] = {
    "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4, "vocab_size": 100,
}  # fmt: skip
LING: dict[str, Any] = {
    **SIZES, "model_type": "bailing_hybrid", "layer_group_size": 4, "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8, "kv_lora_rank": 16, "max_position_embeddings": 512,
}  # fmt: skip


def files(settings: dict[str, Any]) -> Files:
    return ConfigAlone(settings, "own")


def asked(of: Files) -> str:
    return " ".join(unresolved(of, look_closely(of)))


def rotated(of: Files) -> list[Any]:
    return [one for one in find(of) if one.scheme == "rotary"]


@pytest.mark.parametrize("given", [{"rope_theta": None}, {"rope_parameters": {"rope_theta": None}}])
def test_a_base_of_null_is_no_base(given: dict[str, Any]) -> None:
    """modeling_olmo_hybrid.py makes a rotation only where the base is not None."""
    kinds = ["linear_attention", "full_attention"] * 2
    hybrid = files({**SIZES, **given, "model_type": "olmo_hybrid", "layer_types": kinds})
    assert rotated(hybrid) == []
    assert "null" not in asked(hybrid)
    other = files({**SIZES, **given, "model_type": "llama"})
    assert rotated(other) == []
    assert "The base in config.json is null" in asked(other)


def test_a_setting_of_another_type_is_read_as_that_type() -> None:
    """The reader of JSON makes -5 of -5.0, which the class of Ling 3.0 rejects."""
    whole, real = files({**LING, "kda_lower_bound": -5}), files({**LING, "kda_lower_bound": -5.0})
    assert whole.resolved.stacks[0].layers == real.resolved.stacks[0].layers
    assert [one.attends for one in whole.resolved.stacks[0].layers] == [False] * 3 + [True]
    assert "kda_lower_bound in config.json has another type" in asked(whole)
    assert "another type" not in asked(real)


def test_a_length_under_another_name_is_the_context_and_none_is_not_2048() -> None:
    [encoding] = rotated(files({**LING, "kda_lower_bound": -5.0}))
    assert (encoding.form.n_positions, encoding.form.is_length_known) == (512, True)
    [encoding] = rotated(files({**SIZES, "model_type": "nobody", "rope_theta": 1e4}))
    assert not encoding.form.is_length_known


@pytest.mark.parametrize(
    ("given", "program"),
    [
        ({"architecture": "LlamaForCausalLM", "mapping": {"tp_size": 1}}, "TensorRT-LLM"),
        ({"unk_token": "<unk>", "layer_norm_epsilon": 1e-5}, "CTranslate2"),
        ({"suppress_ids": [1], "alignment_heads": []}, "CTranslate2"),
        ({"post_embed_norm": False, "positional_embedding_type": "rotary"}, "open_lm"),
        ({"depformer_dim": 64, "positional_embedding": "rope"}, "Moshi"),
        (
            {"architecture": "GPTJForCausalLM", "position_embedding_type": "rope_gptj"},
            "TensorRT-LLM",
        ),
    ],
)
def test_a_program_whose_code_is_not_known_is_named(given: dict[str, Any], program: str) -> None:
    of = files({"num_layers": 2, **given})
    assert rotated(of) == []
    assert f"The family “{program}” is unknown" in asked(of)


def test_a_tower_of_eva_clip_is_not_understood_beside_one_of_clip(tmp_path: Path) -> None:
    """EVA02-B-16.json of open_clip, whose images timm encodes; its text is that of CLIP."""
    text = {"context_length": 77, "vocab_size": 49408, "width": 512, "heads": 8, "layers": 12}
    images = {"image_size": 224, "timm_model_name": "eva02_base_patch16_clip_224"}
    model = {"embed_dim": 512, "vision_cfg": images, "text_cfg": text, "custom_text": True}
    config = tmp_path / "open_clip_config.json"
    config.write_text(json.dumps({"model_cfg": model}), encoding="utf-8")
    of = FolderFiles(tmp_path, "own")
    assert "vision_config (model type “timm eva02_base_patch16_clip_224”)" in asked(of)
    assert [len(stack.layers) for stack in of.resolved.stacks] == [0, 12]
    assert rotated(of) == []


def test_every_part_of_a_model_of_open_clip_is_named(tmp_path: Path) -> None:
    """coca_ViT-B-32.json of open_clip has a third tower."""
    model = {name: {"width": 512, "layers": 12} for name in ("text_cfg", "vision_cfg")}
    whole = {"model_cfg": {**model, "multimodal_cfg": {"width": 512, "layers": 12}}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps(whole), encoding="utf-8")
    assert "multimodal_config (model type “open_clip”)" in asked(FolderFiles(tmp_path, "own"))


NEMO = """
target: nemo.collections.nlp.models.language_modeling.megatron_gpt_model.MegatronGPTModel
position_embedding_type: rope
rotary_percentage: 0.5
num_layers: 24
tokenizer: {library: sentencepiece}
"""


def test_a_file_of_nemo_is_named_and_not_understood(tmp_path: Path) -> None:
    (tmp_path / "model_config.yaml").write_text(NEMO, encoding="utf-8")
    of = FolderFiles(tmp_path, "own")
    assert find(of) == []
    assert "The family “NeMo” is unknown" in asked(of)
    assert "rotary_percentage: 0.5" in asked(of)


# The defaults of makers' config classes, and of RotaryEmbedding of xverse, aquila and baichuan.
BASES = {
    "Yi": 5e6, "yi": 5e6, "arctic": 1e6, "phi3small": 1e6, "step3_text": 5e5, "aquila": 1e4,
    "new": 1e4, "youtu_llm": 1.6e6, "baichuan": 1e4, "chatglm": 1e4, "internlm2": 1e4,
    "kimi_k2": 1e4, "xverse": 1e4,
}  # fmt: skip


@pytest.mark.parametrize("family", BASES)
def test_the_default_of_a_base_is_that_of_the_code_of_the_family(family: str) -> None:
    sizes = {**SIZES, "num_layers": 4, "kv_channels": 16, "max_position_embeddings": 512}
    latent = {"qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "kv_lora_rank": 16, "v_head_dim": 8}
    settings = {**sizes, **latent, "model_type": family}
    [encoding] = look_closely(files(settings)).measured
    assert encoding.form.base == BASES[family]  # type: ignore[attr-defined]
    assert encoding.origins["base"] == Origin((), f"the code of {family}")
    if family not in ("baichuan", "chatglm", "phi3small"):  # Theirs has other names or none.
        [given] = rotated(files({**settings, "rope_theta": 2e4}))
        assert given.form.base == 2e4


def test_a_part_has_the_default_of_its_own_code() -> None:
    part = {**SIZES, "model_type": "Yi"}
    [encoding] = look_closely(files({"model_type": "nobody", "llm_config": part})).measured
    assert encoding.record.parameters["base"] == 5e6
    assert encoding.origins["base"] == Origin((), "the code of Yi")


@pytest.mark.parametrize("family", ["Klear", "telechat3"])
def test_a_base_that_code_demands_is_no_default_of_it(family: str) -> None:
    """mlx_lm/models/Klear.py and telechat3.py: rope_theta has no default."""
    [encoding] = look_closely(files({**SIZES, "model_type": family})).measured
    assert encoding.origins["base"] == Origin((), None)


def test_a_base_that_no_key_gives_is_assumed_where_the_class_rejects_the_file() -> None:
    """DeepSeek-VL2 has no latent attention, and null for its rank."""
    refused = {**SIZES, "model_type": "deepseek_v2", "kv_lora_rank": None, "use_mla": False}
    of = files({"model_type": "deepseek_vl_v2", "language_config": refused})
    [encoding] = look_closely(of).measured
    assert encoding.origins["base"] == Origin((), None)
    assert encoding.record.parameters["head_dim"] == 16


NOMIC: dict[str, Any] = {
    "model_type": "nomic_bert", "n_embd": 1024, "n_head": 8, "n_layer": 3, "n_positions": 8192,
    "max_trained_positions": 2048, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0,
    "rotary_emb_interleaved": False, "rotary_scaling_factor": None, "vocab_size": 100,
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "sizes", "length"),
    [
        ({}, (128, 128), 8192),
        ({"rotary_emb_fraction": 0.5}, None, None),
        ({"rotary_scaling_factor": 2}, (128, 128), 2048),
        ({"rotary_emb_fraction": 0.0}, None, None),
    ],
)
def test_nomic_bert_is_read_under_its_authors_names(
    given: dict[str, Any], sizes: tuple[int, int] | None, length: int | None
) -> None:
    """NomicBertAttention of modeling_hf_nomic_bert.py: rotary_emb_dim = head_dim · fraction."""
    found = look_closely(files({**NOMIC, **given})).measured
    forms = [one.form for one in found if isinstance(one.form, Rotation)]
    assert [(form.rotary_dim, form.head_dim) for form in forms] == [sizes] * (sizes is not None)
    assert [form.n_positions for form in forms] == [length] * (length is not None)
    for one in found:
        assert one.origins["head_dim"] == Origin(("n_embd", "n_head"), None)
        assert one.part == "encoder"
