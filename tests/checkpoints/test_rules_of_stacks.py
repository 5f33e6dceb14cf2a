"""The tables that say what a stack is and of which types its layers are: each row is reached, and
their order decides where several hold.
"""

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.layers import KINDS
from generator.checkpoints.model.resolved import completed_by_class
from generator.checkpoints.model.stacks import MODALITIES, STACKS, resolved
from generator.contracts import Json, ModelConfig, Stack
from generator.reading.find import find

T5, BART = {"model_type": "t5"}, {"model_type": "bart"}
FLUX = {"_class_name": "FluxTransformer2DModel", "patch_size": 1}
OF_T5 = {"model_type": "musicgen", "text_encoder": T5}
DEFAULTS_OF = {
    family: {"model_type": family}
    for family in (
        "bert", "blt", "granite_speech", "llama", "mimi_encoder", "mllama", "omdet-turbo",
        "vision-encoder-decoder", "vit", "voxtral_realtime", "whisper", "xlstm",
    )
}  # fmt: skip
WINDOWED = {"model_type": "mistral", "sliding_window": 8, "num_hidden_layers": 2}
BLOCKS = {"model_type": "big_bird", "attention_type": "block_sparse"}
PHI = {"model_type": "phi3small", "num_hidden_layers": 2, "dense_attention_every_n_layers": 2}
CAUSAL_PART = DEFAULTS_OF["voxtral_realtime"]
# The last stack of a config, by the rule that makes it.
OF_RULES: dict[str, tuple[Json, tuple[str, str]]] = {
    "the named class is the encoder alone": (
        {**T5, "architectures": ["T5EncoderModel"]}, ("encoder", "encoder")),
    "the named class is the decoder alone": (
        {**BART, "architectures": ["BartForCausalLM"]}, ("decoder", "decoder")),
    "another model has its encoder": (OF_T5, ("encoder", "encoder")),
    "an encoder and a decoder": (T5, ("encoder and decoder", "decoder")),
    "a transformer of diffusers": (FLUX, ("transformer", "encoder")),
    "a model of images": (DEFAULTS_OF["vit"], ("vision", "encoder")),
    "an encoder of images": (
        {"model_type": "x", "encoder": DEFAULTS_OF["vit"]}, ("encoder", "encoder")),
    "a model that looks ahead": (
        {"model_type": "qwen2", "is_causal": False}, ("encoder", "encoder")),
    "a part that looks ahead": (
        {"talker_config": {"is_causal": False}}, ("talker", "encoder")),
    "an encoder that does not look ahead": (
        DEFAULTS_OF["mimi_encoder"], ("encoder", "decoder")),
    "a part that does not look ahead": (CAUSAL_PART, ("audio encoder", "decoder")),
    "a family of encoders": (DEFAULTS_OF["bert"], ("encoder", "encoder")),
    "a part named encoder": (
        {"audio_config": {"model_type": "x"}}, ("audio encoder", "encoder")),
    "any other": (DEFAULTS_OF["llama"], ("decoder", "decoder")),
}  # fmt: skip
# The modality of the last stack of a config, by the condition that says it.
OF_MODALITIES: dict[str, tuple[Json, str]] = {
    "an encoder and a decoder, or one of them": (DEFAULTS_OF["whisper"], "text"),
    "a model of images": (DEFAULTS_OF["vit"], "image"),
    "a model of sound": ({"model_type": "wav2vec2-bert"}, "audio"),
    "an encoder with the name of sound": (DEFAULTS_OF["granite_speech"], "audio"),
}
# The types of the first layers of the last stack, by the rule that says that of the first.
OF_KINDS: dict[str, tuple[Json, list[str]]] = {
    "a family of recurrent layers": (DEFAULTS_OF["xlstm"], ["recurrent"]),
    "a family that attends to chunks": (DEFAULTS_OF["granite_speech"], ["chunked attention"]),
    "between layers that attend to all": (PHI, ["block sparse attention", "full attention"]),
    "a layer for images": (
        {"model_type": "mllama_text_model", "num_hidden_layers": 2, "cross_attention_layers": [0]},
        ["cross attention", "full attention"]),
    "attention to chosen blocks": (BLOCKS, ["block sparse attention"]),
    "a window": (WINDOWED, ["sliding attention"]),
    "any other": (DEFAULTS_OF["llama"], ["full attention"]),
}  # fmt: skip
# Rules of which both hold, with the config and the part that the earlier one decides.
IN_ORDER = [
    ("the named class is the encoder alone", "an encoder and a decoder",
     {**T5, "architectures": ["T5EncoderModel"]}, "decoder"),
    ("another model has its encoder", "an encoder and a decoder", T5, "encoder"),
    ("an encoder and a decoder", "a model of images", DEFAULTS_OF["omdet-turbo"], "decoder"),
    ("an encoder and a decoder", "a family of encoders", BART, "decoder"),
    ("a transformer of diffusers", "a model of images", FLUX, "decoder"),
    ("a model of images", "a family of encoders", DEFAULTS_OF["vit"], "decoder"),
    ("a model that looks ahead", "any other", {"is_causal": False}, "decoder"),
    ("an encoder that does not look ahead", "a family of encoders",
     DEFAULTS_OF["mimi_encoder"], "decoder"),
    ("a part that does not look ahead", "a part named encoder",
     {"model_type": "blt_local_encoder"}, "encoder"),
]  # fmt: skip


def last_stack(settings: Json) -> Stack:
    return resolved(ModelConfig(settings, "x")).stacks[-1]


def test_every_row_of_the_tables_has_a_case() -> None:
    assert [rule.reason for rule in STACKS] == [*OF_RULES]
    assert [*MODALITIES] == [*OF_MODALITIES]
    assert [rule.reason for rule in KINDS] == [*OF_KINDS]


@pytest.mark.parametrize("reason", OF_RULES)
def test_a_stack_is_what_the_first_rule_says(reason: str) -> None:
    settings, expected = OF_RULES[reason]
    stack = last_stack(settings)
    assert (stack.part, stack.kind) == expected


@pytest.mark.parametrize("reason", OF_MODALITIES)
def test_positions_are_of_what_the_first_condition_says(reason: str) -> None:
    settings, modality = OF_MODALITIES[reason]
    assert last_stack(settings).modality == modality


@pytest.mark.parametrize("reason", OF_KINDS)
def test_a_layer_has_the_type_of_the_first_rule(reason: str) -> None:
    settings, types = OF_KINDS[reason]
    assert [layer.type for layer in last_stack(settings).layers[: len(types)]] == types


@pytest.mark.parametrize(("earlier", "later", "settings", "part"), IN_ORDER)
def test_the_earlier_of_two_rules_decides(
    earlier: str, later: str, settings: Json, part: str
) -> None:
    config = resolved(ModelConfig(settings, "x")).config
    first, *others = [rule for rule in STACKS if rule.holds(config, part)]
    second = next(rule for rule in others if rule.reason == later)
    assert first.reason == earlier
    assert (first.part or part, first.kind) != (second.part or part, second.kind)


def test_a_window_gives_way_to_chosen_blocks() -> None:
    config = ModelConfig({**BLOCKS, "sliding_window": 3}, "x")
    assert [rule.reason for rule in KINDS if rule.holds(config, "encoder")] == [
        "attention to chosen blocks", "a window", "any other",
    ]  # fmt: skip


def test_a_stack_has_the_class_of_its_defaults_and_whether_its_code_is_known() -> None:
    both = resolved(ModelConfig({"text_config": {"model_type": "llama"}}, "x"))
    assert [(one.default_of, one.has_code) for one in both.stacks] == [
        ("", False), ("LlamaConfig", True),
    ]  # fmt: skip
    assert (both.default_of("decoder full attention"), both.family_of("x")) == (
        "LlamaConfig", "unknown",
    )  # fmt: skip


def test_a_config_is_resolved_once_for_all_schemes(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ModelConfig] = []

    def counted(readable: ModelConfig) -> tuple[ModelConfig, str, tuple[str, ...]]:
        made.append(readable)
        return completed_by_class(readable)

    monkeypatch.setattr("generator.checkpoints.model.stacks.completed_by_class", counted)
    assert find(ConfigAlone(WINDOWED, "x"))
    assert len(made) == 1
