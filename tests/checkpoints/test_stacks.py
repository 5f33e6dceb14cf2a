import pytest

from generator.checkpoints.model.resolved import completed, defaults
from generator.checkpoints.model.stacks import resolved
from generator.checkpoints.model.tensor_names import in_order, modality, parts, stack
from generator.contracts import Json, ModelConfig, Stack

LAYERS = ["decoder.layers.0.bias", "encoder.layers.10.bias", "encoder.layers.2.bias"]
STACKS = {
    "encoder.layers.0.bias": "encoder", "wte.weight": "encoder",
    "text_decoder.layers.0.bias": "decoder",
    "speech_encoder.encoder.layers.0.bias": "speech encoder",
    "audio_embed.encoder.bias": "audio encoder", "decoderless.bias": "encoder",
}  # fmt: skip


def of(config: Json) -> tuple[Stack, ...]:
    return resolved(ModelConfig(config, "x")).stacks


def test_stacks_are_those_of_the_config_and_of_nested_ones() -> None:
    inner = {"text_config": {"a": 1}, "audio_config": {"a": 2}, "vision_config": {"a": 3}}
    config = {"thinker_config": inner}
    assert [(stack.part, stack.config.value("a")) for stack in of(config)] == [
        ("decoder", None), ("decoder", None), ("decoder", 1), ("audio encoder", 2),
    ]  # fmt: skip


def test_a_config_nested_in_the_first_of_two_is_a_stack() -> None:
    config = {"thinker_config": {"audio_config": {"a": 1}}, "talker_config": {"a": 2}}
    assert [stack.config.value("a") for stack in of(config)] == [None, None, 2, 1]


def test_a_nested_config_has_the_defaults_of_its_family() -> None:
    whole = completed(ModelConfig({"model_type": "llama", "hidden_size": 64}, "x"))
    assert (whole.value("hidden_size"), whole.value("num_attention_heads")) == (64, 32)


@pytest.mark.parametrize("family", ["unheard of", "", "encoder-decoder"])
def test_an_unknown_family_has_no_defaults(family: str) -> None:
    assert "hidden_size" not in defaults(family)


def test_layers_are_in_numerical_order_and_the_decoder_last() -> None:
    assert in_order(LAYERS) == [
        "encoder.layers.2.bias",
        "encoder.layers.10.bias",
        "decoder.layers.0.bias",
    ]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        # The layer is named only if several tensors have one title, and the tensor if that is so
        # within a layer.
        (LAYERS, ["decoder", "encoder layer 10", "encoder layer 2"]),
        (
            ["a.layers.2.bias", "b.layers.2.bias", "a.layers.3.bias"],
            ["encoder a.layers.2.bias", "encoder b.layers.2.bias", "encoder layer 3"],
        ),
    ],
)
def test_parts_are_told_apart(names: list[str], expected: list[str]) -> None:
    assert list(parts({name: stack(name) for name in names}).values()) == expected


def test_a_stack_is_identified_by_a_word_of_the_name() -> None:
    assert {name: stack(name) for name in STACKS} == STACKS


@pytest.mark.parametrize(
    ("config", "modalities"),
    [
        ({"speech_config": {"a": 1}, "text_config": {"a": 1}}, ["text", "text", "audio"]),
        ({"model_type": "wav2vec2-bert"}, ["audio"]),
        ({"encoder_config": {"model_type": "granite_speech_encoder"}}, ["text", "audio"]),
        ({"model_type": "granite_speech"}, ["text", "text", "audio"]),
    ],
)
def test_a_stack_of_speech_has_the_modality_audio(config: Json, modalities: list[str]) -> None:
    assert [stack.modality for stack in of(config)] == modalities


def test_the_modality_of_a_tensor_is_a_whole_word_of_its_name() -> None:
    names = {"speech_encoder.a": "audio", "audio_tower.decoder.a": "audio", "speecht5.a": "text",
             "semantic_model.a": "audio"}  # fmt: skip
    assert {name: modality(name) for name in names} == names


def test_a_config_class_cannot_ask_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import get_session
    from transformers import LlamaConfig

    monkeypatch.setattr(
        LlamaConfig, "__init__", lambda *_, **__: get_session().get("http://127.0.0.1:9/")
    )
    assert (
        "offline mode is enabled"
        in resolved(ModelConfig({"model_type": "llama", "hidden_size": 4711}, "x")).refused
    )
