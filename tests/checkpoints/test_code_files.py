"""The tensors that the code of a family makes for a config, against shapes in print and configs of
other families.
"""

import numpy as np
import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import NoOutlineError, code_files, outline
from generator.checkpoints.model.family_formats import translated
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import given
from generator.checkpoints.model.stacks import resolved
from generator.contracts import Json, ModelConfig
from generator.encodings import PositionTable
from generator.reading.find import look
from tests.support import DictFiles

# Raffel et al. 2020 (arXiv 1910.10683, section 2.1): 32 buckets in both stacks; the small model has
# 8 heads.
T5_SMALL: Json = {
    "model_type": "t5", "d_model": 512, "d_kv": 64, "num_layers": 6, "num_heads": 8,
    "vocab_size": 32128,
}  # fmt: skip
# Liu et al. 2022 (arXiv 2111.09883): windows of 8 × 8, stages of 2, 2, 6 and 2 blocks with 3 to 24
# heads.
SWIN_V2_TINY: Json = {
    "model_type": "swinv2", "window_size": 8, "embed_dim": 96, "depths": [2, 2, 6, 2],
    "num_heads": [3, 6, 12, 24],
}  # fmt: skip
BIAS = "relative_attention_bias.weight"


def unmeasured(settings: Json) -> list[tuple[str, str, tuple[int, ...]]]:
    files = ConfigAlone(settings, "test")
    return [
        (encoding.part, encoding.scheme, encoding.provenance.shape)
        for encoding in look(files).unmeasured
    ]


def test_both_biases_of_t5_are_known_from_its_config_without_their_numbers() -> None:
    assert unmeasured(T5_SMALL) == [
        ("encoder", "t5_bias", (32, 8)),
        ("decoder", "t5_bias", (32, 8)),
    ]


def test_every_block_of_swin_v2_has_a_bias_made_by_a_small_network() -> None:
    found = unmeasured(SWIN_V2_TINY)
    assert len(found) == 12
    assert {scheme for _, scheme, _ in found} == {"window_bias"}
    assert {shape for _, _, shape in found} == {(heads, 512) for heads in (3, 6, 12, 24)}


@pytest.mark.parametrize(
    "settings",
    [{"model_type": "llama"}, {"model_type": "bloom"}, {"model_type": "a family of nobody"}, {}],
)
def test_nothing_is_said_where_the_config_settles_it_or_the_family_is_unknown(
    settings: Json,
) -> None:
    assert unmeasured(settings) == []


def test_what_acts_beside_an_encoding_that_the_config_gives_is_known_too() -> None:
    """Every head of every layer of gpt-oss has a learned sink beside its rotation (OpenAI 2025,
    arXiv 2508.10925, section 2.2).
    """
    sizes = {
        "num_hidden_layers": 2, "num_attention_heads": 64, "hidden_size": 64, "head_dim": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    }  # fmt: skip
    sink = ("layers of attention", "sink", (64,))
    assert unmeasured({"model_type": "gpt_oss", **sizes}) == [sink]


def test_nothing_is_said_of_a_checkpoint_with_weights() -> None:
    files = DictFiles(T5_SMALL, {"another.tensor": np.zeros((2, 2))})
    assert look(files).unmeasured == []


def at_input(family: str) -> dict[str, set[str]]:
    """Schemes that enter at the input of each stack."""
    found = look(files := ConfigAlone({"model_type": family}, "test"))
    schemes = {encoding.key: encoding.scheme for encoding in found.all}
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    return {layer.part: {schemes[key] for key in layer.at_input} for layer in layers}


def test_the_sinusoid_of_whisper_is_that_of_its_code() -> None:
    from transformers.models.whisper.modeling_whisper import sinusoids

    settings = {"model_type": "whisper", "d_model": 32, "max_source_positions": 40}
    (encoding,) = (
        encoding
        for encoding in look(ConfigAlone(settings, "test")).measured
        if encoding.scheme == "sinusoidal"
    )
    assert isinstance(encoding.form, PositionTable)
    np.testing.assert_allclose(encoding.form.vectors, sinusoids(40, 32).numpy(), atol=1e-6)


@pytest.mark.parametrize(
    ("family", "part", "schemes"),
    [
        # Whisper's encoder, and those that start from its weights (Radford et al. 2022, arXiv
        # 2212.04356), have a stored sinusoid that is not trained.
        ("whisper", "encoder", {"sinusoidal"}),
        ("voxtral", "audio encoder", {"sinusoidal"}),
        ("qwen2_audio", "audio encoder", {"sinusoidal"}),
        ("audioflamingo3", "audio encoder", {"sinusoidal"}),
        ("clip", "decoder", {"learned"}),
        ("clap", "encoder", {"learned"}),
        ("siglip2", "encoder", {"learned"}),
        ("audio-spectrogram-transformer", "encoder", {"learned"}),
        ("sam3", "decoder", {"learned"}),
        ("seamless_m4t", "encoder", {"sinusoidal"}),
        ("seamless_m4t", "decoder", {"sinusoidal"}),
        ("speecht5", "decoder", {"sinusoidal"}),
        ("t5", "decoder", set()),
        ("llama", "decoder", set()),
    ],
)
def test_what_enters_at_the_input_is_known_by_the_stack_and_not_by_its_name(
    family: str, part: str, schemes: set[str]
) -> None:
    assert at_input(family)[part] == schemes


@pytest.mark.parametrize(
    ("family", "name", "parts"),
    [
        ("t5", "T5EncoderModel", ["encoder"]),
        ("t5", "T5ForTokenClassification", ["encoder"]),
        ("whisper", "WhisperForAudioClassification", ["encoder"]),
        ("bart", "BartForCausalLM", ["decoder"]),
        ("t5", "T5ForConditionalGeneration", ["encoder", "decoder"]),
        ("bart", "BartForSequenceClassification", ["encoder", "decoder"]),
    ],
)
def test_a_class_with_one_side_has_no_other(family: str, name: str, parts: list[str]) -> None:
    """transformers makes these classes of one stack."""
    files = ConfigAlone({"model_type": family, "architectures": [name]}, "test")
    found = look(files)
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    assert list(dict.fromkeys(layer.part for layer in layers)) == parts
    assert {encoding.stack for encoding in found.all} == set(parts)


@pytest.mark.parametrize(
    ("family", "name", "tower"),
    [
        ("clip", "CLIPTextModel", "clip_text_model"),
        ("clip", "CLIPTextModelWithProjection", "clip_text_model"),
        ("clip", "CLIPVisionModelWithProjection", "clip_vision_model"),
        ("clip", "CLIPForImageClassification", "clip_vision_model"),
        ("siglip", "SiglipVisionModel", "siglip_vision_model"),
        ("clap", "ClapAudioModelWithProjection", "clap_audio_model"),
        ("gemma3", "Gemma3ForCausalLM", "gemma3_text"),
        ("clip", "CLIPModel", "clip"),
        ("llava", "LlavaForConditionalGeneration", "llava"),
    ],
)
def test_a_class_of_one_tower_is_that_tower(family: str, name: str, tower: str) -> None:
    from transformers import CONFIG_MAPPING

    settings = CONFIG_MAPPING[family]().to_dict() | {"architectures": [name]}
    assert ConfigAlone(settings, "test").config.family == tower


@pytest.mark.parametrize(("settings", "before"), [({"sliding_window": 2048}, 2047), ({}, None)])
def test_a_window_is_as_wide_as_the_file_says_or_unknown(
    settings: Json, before: int | None
) -> None:
    """Qwen 3's config class drops the width where ``use_sliding_window`` is absent."""
    listed = {"num_hidden_layers": 2, "layer_types": ["sliding_attention"] * 2}
    files = ConfigAlone({"model_type": "qwen3", **listed, **settings}, "test")
    layers = layer_map(files, look(files).all)
    assert {(layer.before, layer.is_of_unknown_width) for layer in layers} == {
        (before, before is None)
    }


V4 = {"model_type": "deepseek_v4"}


@pytest.mark.parametrize(
    ("settings", "mixers", "chosen", "positions_per_key"),
    [
        ({"model_type": "deepseek_v32"}, ("sparse",), 2048, None),
        ({"model_type": "glm_moe_dsa"}, ("sparse",), 2048, None),
        ({**V4, "layer_types": ["compressed_sparse_attention"]}, ("sparse", "compressed"), 512, 4),
        ({**V4, "layer_types": ["heavily_compressed_attention"]}, ("compressed",), None, 128),
        ({"model_type": "big_bird", "attention_type": "block_sparse"}, ("sparse",), 8 * 64, None),
    ],
)
def test_attention_to_chosen_or_compressed_keys_has_its_number(
    settings: Json, mixers: tuple[str, ...], chosen: int | None, positions_per_key: int | None
) -> None:
    """Defaults of the config classes: an indexer chooses 2,048 keys (arXiv 2512.02556, section
    2.1); BigBird attends to 3 + 2 + 3 blocks of 64 (arXiv 2007.14062).
    """
    (stack,) = ConfigAlone({"num_hidden_layers": 1, **settings}, "test").resolved.stacks
    (layer,) = stack.layers
    assert (layer.mixers, layer.chosen) == (mixers, chosen)
    assert layer.positions_per_key == positions_per_key


def test_only_the_encoder_of_bigbird_pegasus_attends_to_blocks() -> None:
    """Its decoder attends to all: arXiv 2007.14062, section 4.1, and modeling_bigbird_pegasus.py of
    transformers.
    """
    settings = {"model_type": "bigbird_pegasus", "attention_type": "block_sparse"}
    sizes = {"encoder_layers": 2, "decoder_layers": 1}
    stacks = ConfigAlone({**settings, **sizes}, "test").resolved.stacks
    mixers = [layer.mixers for stack in stacks for layer in stack.layers]
    assert mixers == [("sparse",), ("sparse",), ("full",)]


def test_odd_kinds_in_a_part_that_no_class_reads_are_no_window() -> None:
    odd: tuple[object, ...] = (5, "sliding_attention", {}, None)
    for kinds in odd:
        part = {"sliding_window": 8, "layer_types": kinds}
        config = ConfigAlone({"model_type": "qwen3", "unheard_of": part}, "test").config
        assert resolved(config).config.value("unheard_of") == part


@pytest.mark.parametrize(("beside", "base"), [({}, 25_000), ({"hidden_act": "relu2"}, 10_000)])
def test_a_text_model_that_names_its_family_alone_has_the_settings_around_it(
    beside: Json, base: float
) -> None:
    """As of Fuyu, whose config class would take the defaults of the family."""
    text = {"model_type": "persimmon", **beside}
    around = {"num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 4}
    config = ModelConfig(
        {"model_type": "fuyu", "rope_theta": 25_000, **around, "text_config": text}, "test"
    )
    assert resolved(config).config.text_model.rope.value("rope_theta") == base


def test_kinds_of_layers_that_the_config_class_refuses_are_unknown() -> None:
    """Kimi Linear with a list of kinds for three of twenty layers."""
    refused = {"num_hidden_layers": 20, "layer_types": ["linear_attention"] * 3}
    files = ConfigAlone({"model_type": "kimi_linear", **refused}, "test")
    assert files.resolved.refused
    assert layer_map(files, look(files).all) == ()


def test_a_config_that_its_code_refuses_has_no_tensors() -> None:
    settings = {"model_type": "bert", "hidden_size": 7, "num_attention_heads": 2}
    with pytest.raises(NoOutlineError, match="multiple of the number of attention heads"):
        code_files(resolved(ModelConfig(settings, "test")))
    found = look(ConfigAlone(settings, "test"))
    assert not found.is_complete
    assert found.question.endswith("multiple of the number of attention heads (2)).")


def test_parts_are_looked_through_where_one_part_needs_a_library_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Gemma 3n's images need timm; its audio is a Conformer with relative positions (transformers'
    Gemma3nAudioRelativePositionEmbedding).
    """
    import transformers.models.timm_wrapper.modeling_timm_wrapper as images

    monkeypatch.setattr(images, "is_timm_available", lambda: False)
    audio = {"model_type": "gemma3n_audio"}
    found = look(ConfigAlone({"model_type": "gemma3n", "audio_config": audio}, "test"))
    assert {
        (encoding.part.split(" layer")[0], encoding.scheme) for encoding in found.unmeasured
    } == {("audio encoder", "transformer_xl")}
    assert not found.is_complete
    assert "timm" in found.question


def test_tensors_without_values_are_zeros_in_their_shape() -> None:
    files = code_files(resolved(ModelConfig(T5_SMALL, "test")))
    assert files is not None
    name = next(name for name in files.tensors if name.endswith(BIAS))
    assert (files.tensor(name).shape, files.rows(name, [3]).shape) == ((32, 8), (1, 8))
    assert not files.tensor(name).any()


def test_layers_without_weights_are_known_where_the_code_of_the_family_was_looked_at() -> None:
    """NLLB's sinusoids are added at the input, and its code has nothing in attention (transformers'
    m2m_100).
    """
    sizes = {
        "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "vocab_size": 50,
    }  # fmt: skip
    files = ConfigAlone({"model_type": "m2m_100", **sizes}, "test")
    found = look(files)
    known = found.measured
    assert [encoding.scheme for encoding in known] == ["sinusoidal", "sinusoidal"]
    assert (found.unmeasured, found.is_complete) == ([], True)
    assert {layer.encodings for layer in layer_map(files, known, is_complete=True)} == {()}
    assert {layer.encodings for layer in layer_map(files, known)} == {None}


# Their config classes compute the kinds of their layers, and let nobody set them.
COMPUTING = ("bamba", "falcon_h1", "falcon_mamba", "jamba", "mamba2")


@pytest.mark.parametrize("family", COMPUTING)
def test_recurrent_layers_of_a_config_alone_have_the_decay_of_their_code(family: str) -> None:
    files = ConfigAlone({"model_type": family, "num_hidden_layers": 8}, "test")
    found = look(files)
    assert found.is_complete
    keys = {encoding.key for encoding in found.unmeasured if encoding.scheme == "decay"}
    recurrent = [
        layer
        for layer in layer_map(files, found.all, is_complete=True)
        if "recurrent" in layer.mixers
    ]
    assert recurrent
    assert [layer for layer in recurrent if keys.isdisjoint(layer.encodings or ())] == []


def test_layers_are_unknown_where_the_code_of_the_family_could_not_be_looked_through() -> None:
    settings = {"model_type": "mamba2", "num_hidden_layers": 3}
    layers = layer_map(ConfigAlone(settings, "test"), [], is_complete=False)
    assert [layer.encodings for layer in layers] == [None, None, None]


@pytest.mark.thorough
def test_every_family_that_transformers_makes_has_an_outline_of_the_same_tensors() -> None:
    """From the settings of its default config, against the model that transformers makes of it."""
    import torch
    from transformers import CONFIG_MAPPING, MODEL_MAPPING, AutoModel

    without, n_made = {}, 0
    for family, config_class in CONFIG_MAPPING.items():
        if config_class not in MODEL_MAPPING:
            continue
        try:
            with torch.device("meta"):
                theirs = AutoModel.from_config(config_class())
        except Exception:  # noqa: BLE001, S112 (they lack a library, or their defaults fit no model)
            continue
        n_made += 1
        try:
            ours = outline(resolved(ModelConfig({"model_type": family}, "test")))
        except NoOutlineError as error:
            without[family] = str(error)
            continue
        if ours is None or list(ours.state_dict()) != list(theirs.state_dict()):
            without[family] = "other tensors"
    assert n_made > 300
    assert without == {}


@pytest.mark.thorough
def test_every_config_class_is_made_from_what_its_outline_is_given() -> None:
    from transformers import CONFIG_MAPPING

    refused = {}
    for family in CONFIG_MAPPING:
        config = ModelConfig({"model_type": family}, "test")
        if not resolved(config).refused:
            try:
                CONFIG_MAPPING[family](**given(translated(config).settings))
            except Exception as error:  # noqa: BLE001 (classes validate in many ways)
                refused[family] = repr(error)
    assert refused == {}


def test_a_config_alone_has_no_tensor_and_no_file() -> None:
    files = ConfigAlone({"model_type": "bert"}, "bert")
    assert (len(files.tensors), files.read("vocab.txt"), files.config.family) == (0, None, "bert")
    with pytest.raises(KeyError):
        files.tensor("embeddings.position_embeddings.weight")
