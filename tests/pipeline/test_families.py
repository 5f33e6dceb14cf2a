"""The table of model types, against the config classes and the models of transformers."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from transformers import CONFIG_MAPPING, AutoModel

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.contracts import Encoding, Files
from generator.encodings import Form
from generator.pipeline import families

ROTARY = ("llama", "gpt_neox", "phi", "smollm3")


def stacks(model_type: str) -> list[dict[str, Any]]:
    return list(families.family(model_type)["stacks"])


def only(model_type: str) -> dict[str, Any]:
    """The only stack of a type."""
    [stack] = stacks(model_type)
    return stack


def with_key(stack: dict[str, Any], name: str) -> list[Any]:
    """A member of the group of each layer, in the order of the layers."""
    values = {index: group[name] for group in stack["groups"] for index in group["layers"]}
    return [values[index] for index in range(stack["n_layers"])]


def small_model(model_type: str, **settings: object) -> Any:
    """The model of a config without storage."""
    with torch.device("meta"):
        return AutoModel.from_config(CONFIG_MAPPING[model_type](**settings))


@pytest.mark.parametrize(
    "model_type", ["mistral", "gpt_oss", "modernbert", "gemma2", "cohere2", "qwen3_next"]
)
def test_layers_are_of_the_types_and_the_window_of_the_config_class(model_type: str) -> None:
    config, stack = CONFIG_MAPPING[model_type](), only(model_type)
    types = getattr(config, "layer_types", None) or ["sliding_attention"] * config.num_hidden_layers
    assert with_key(stack, "type") == [kind.replace("_", " ") for kind in types]
    limits = [limit and limit["value"] for limit in with_key(stack, "limit")]
    assert limits == [
        config.sliding_window if kind == "sliding_attention" else None for kind in types
    ]


@pytest.mark.parametrize("model_type", ROTARY)
def test_a_rotation_has_the_pairs_and_the_base_of_the_module_of_the_model(model_type: str) -> None:
    frequencies = _module(CONFIG_MAPPING[model_type]()).inv_freq
    [encoding] = families.family(model_type)["encodings"]
    n_rotated = 2 * len(frequencies)
    assert encoding["parameters"]["rotary_dim"] == n_rotated
    assert frequencies[1].item() == pytest.approx(
        encoding["parameters"]["base"] ** (-2 / n_rotated)
    )


def _module(config: Any) -> Any:
    """The module that rotates, from the family's own code, in a model with one head of the same
    size.
    """
    sizes = {
        "hidden_size": config.hidden_size // config.num_attention_heads,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
    }
    small = {"num_hidden_layers": 1, "vocab_size": 8, "intermediate_size": 8, "pad_token_id": None}
    model = AutoModel.from_config(type(config)(**sizes, **small))
    return next(module for name, module in model.named_modules() if name.endswith("rotary_emb"))


def test_layers_are_said_not_to_rotate_where_the_config_class_has_it_so() -> None:
    told = [bool(keys) for keys in with_key(only("smollm3"), "encodings")]
    assert told == [bool(flag) for flag in CONFIG_MAPPING["smollm3"]().no_rope_layers]
    assert set(told) == {True, False}


@pytest.mark.parametrize(
    ("model_type", "stored"),
    [("bert", "position_embeddings"), ("gpt2", "wpe"), ("t5", "relative_attention_bias")],
)
def test_what_the_weights_hold_is_unknown_and_never_denied(model_type: str, stored: str) -> None:
    assert any(stored in name for name, _ in small_model(model_type).named_parameters())
    assert families.family(model_type)["encodings"] == []
    assert all(
        keys is None for stack in stacks(model_type) for keys in with_key(stack, "encodings")
    )


def test_no_encoding_is_said_of_a_family_whose_code_has_none_and_of_no_other() -> None:
    assert [encoding["scheme"] for encoding in families.family("mamba")["encodings"]] == ["none"]
    assert not any(
        "pos" in name or "rotary" in name
        for name, _ in small_model("mamba", num_hidden_layers=1).named_modules()
    )


def test_both_sides_of_a_model_have_a_row_each_with_their_numbers_of_layers() -> None:
    config = CONFIG_MAPPING["speech_to_text"]()
    rows = {stack["part"]: stack["n_layers"] for stack in stacks("speech_to_text")}
    assert rows == {"encoder": config.encoder_layers, "decoder": config.decoder_layers}


def test_a_sinusoid_that_the_model_computes_is_told_at_the_input() -> None:
    assert [
        [key.partition("-")[2] for key in stack["input"]] for stack in stacks("speech_to_text")
    ] == [["sinusoidal"]] * 2


@pytest.mark.parametrize("model_type", ["fnet", "big_bird", "longformer", "wav2vec2-conformer"])
def test_mixing_that_only_the_code_decides_is_left_open(model_type: str) -> None:
    """FNet mixes by a Fourier transform, Conformers by a convolution as well; the others limit
    attention by hashes, chunks, blocks or windows.
    """
    assert {str(kinds) for kinds in with_key(only(model_type), "kinds")} == {"None"}


@pytest.mark.parametrize(("model_type", "module"), [("falcon_h1", "mamba"), ("zaya", "")])
def test_a_hybrid_layer_is_recurrent_only_beside_a_module_that_is(
    model_type: str, module: str
) -> None:
    layer = small_model(model_type, num_hidden_layers=1).layers[0]
    has_state = any(
        "mamba" in name or "A_log" in name
        for name, _ in [*layer.named_modules(), *layer.named_parameters()]
    )
    assert has_state == bool(module)
    assert {str(kinds) for kinds in with_key(only(model_type), "kinds")} == {
        "['full', 'recurrent']" if has_state else "['full']"
    }


def test_the_windowed_encoder_of_led_has_a_decoder_that_is_left_open() -> None:
    kinds = {stack["part"]: with_key(stack, "kinds") for stack in stacks("led")}
    assert (kinds["encoder"][0], kinds["decoder"][0]) == (["sliding"], None)


def test_a_config_class_that_refuses_its_own_defaults_is_listed_with_its_reason() -> None:
    with pytest.raises(Exception, match="hidden_size_per_layer_input must be 0") as refused:
        CONFIG_MAPPING["gemma4_assistant"]()
    row = families.family("gemma4_assistant")
    assert (row["reason"].partition(":")[0], row["stacks"]) == (refused.type.__name__, [])


def test_a_nested_config_overrides_the_outer_one() -> None:
    config = CONFIG_MAPPING["dia"]()
    rows = {stack["part"]: stack["n_layers"] for stack in stacks("dia")}
    assert rows == {
        "encoder": config.encoder_config.num_hidden_layers,
        "decoder": config.decoder_config.num_hidden_layers,
    }


def test_the_encoder_of_a_nested_t5_is_not_taken_for_the_decoder_beside_it() -> None:
    config = CONFIG_MAPPING["musicgen"]()
    stacks = {stack["part"]: stack["n_layers"] for stack in families.family("musicgen")["stacks"]}
    assert stacks == {
        "encoder": config.text_encoder.num_layers,
        "decoder": config.decoder.num_hidden_layers,
    }


def test_an_error_in_one_type_leaves_the_rows_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def find(files: Files) -> Sequence[Encoding[Form]]:
        if files.config.family == "llama":
            raise ZeroDivisionError("a bug")
        return []

    monkeypatch.setattr(families, "find", find)
    rows = {
        row["model_type"]: row
        for row in json.loads(families.table(["bert", "llama", "gpt2"]))["families"]
    }
    assert rows["llama"]["reason"] == "ZeroDivisionError: a bug"
    assert (len(rows["bert"]["stacks"]), len(rows["gpt2"]["stacks"])) == (1, 1)


@pytest.mark.parametrize(
    "model_type", ["swin", "sam_vision_model", "mllama_vision_model", "resnet", "inkling_vision"]
)
def test_an_image_model_with_windows_stages_or_without_attention_has_no_stack_and_no_reason(
    model_type: str,
) -> None:
    assert (families.family(model_type)["stacks"], families.family(model_type)["reason"]) == (
        [],
        None,
    )


def test_a_config_alone_has_no_tensor_and_no_file() -> None:
    files = ConfigAlone({"model_type": "bert"}, "bert")
    assert (len(files.tensors), files.read("vocab.txt"), files.config.family) == (0, None, "bert")
    with pytest.raises(KeyError):
        files.tensor("embeddings.position_embeddings.weight")


def test_the_program_imports_no_transformers_before_a_table_is_made() -> None:
    code = "import sys, generator.pipeline.build; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
