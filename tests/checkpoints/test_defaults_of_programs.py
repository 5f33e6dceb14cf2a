"""Settings that are null or of another type than a config class takes, and lengths that nothing
gives.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Files
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
