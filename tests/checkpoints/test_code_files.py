"""The tensors that the code of a family makes for a config, against shapes in print and configs of
other families.
"""

import numpy as np
import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import code_files
from generator.checkpoints.model.family_formats import translated
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import given, resolved
from generator.contracts import Json, ModelConfig
from generator.pipeline.evaluate import find, find_unmeasured
from tests.support import DictFiles

# Raffel et al. 2020 (arXiv 1910.10683, section 2.1): 32 buckets in both stacks; the small model has
# 8 heads.
T5_SMALL: Json = {
    "model_type": "t5",
    "d_model": 512,
    "d_kv": 64,
    "num_layers": 6,
    "num_heads": 8,
    "vocab_size": 32128,
}
# Liu et al. 2022 (arXiv 2111.09883): windows of 8 × 8, stages of 2, 2, 6 and 2 blocks with 3 to 24
# heads.
SWIN_V2_TINY: Json = {
    "model_type": "swinv2",
    "window_size": 8,
    "embed_dim": 96,
    "depths": [2, 2, 6, 2],
    "num_heads": [3, 6, 12, 24],
}
BIAS = "relative_attention_bias.weight"


def unmeasured(settings: Json) -> list[tuple[str, str, tuple[int, ...]]]:
    files = ConfigAlone(settings, "test")
    return [
        (encoding.part, encoding.scheme, encoding.provenance.shape)
        for encoding in find_unmeasured(files, find(files)) or ()
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
        "num_hidden_layers": 2,
        "num_attention_heads": 64,
        "hidden_size": 64,
        "head_dim": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    assert unmeasured({"model_type": "gpt_oss", **sizes}) == [
        ("layers of attention", "sink", (64,))
    ]


def test_nothing_is_said_of_a_checkpoint_with_weights() -> None:
    files = DictFiles(T5_SMALL, {"another.tensor": np.zeros((2, 2))})
    assert find_unmeasured(files, []) == []


def test_a_stored_sinusoid_is_not_called_learned() -> None:
    """Whisper's encoder has the sinusoid of tensor2tensor as a parameter that is not trained
    (Radford et al. 2022, arXiv 2212.04356).
    """
    assert [part for part, _, _ in unmeasured({"model_type": "whisper"})] == ["decoder"]


def test_a_config_that_its_code_refuses_has_no_tensors() -> None:
    assert (
        code_files(
            ModelConfig({"model_type": "bert", "hidden_size": 7, "num_attention_heads": 2}, "test")
        )
        is None
    )


def test_tensors_without_values_are_zeros_in_their_shape() -> None:
    files = code_files(ModelConfig(T5_SMALL, "test"))
    assert files is not None
    name = next(name for name in files.tensors if name.endswith(BIAS))
    assert (
        files.tensor(name).shape,
        files.rows(name, [3]).shape,
        float(abs(files.tensor(name)).max()),
    ) == ((32, 8), (1, 8), 0.0)


def test_layers_without_weights_are_known_where_the_code_of_the_family_was_looked_at() -> None:
    """NLLB's sinusoids are added at the input, and its code has nothing in attention (transformers'
    m2m_100).
    """
    sizes = {
        "d_model": 8,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "vocab_size": 50,
    }
    files = ConfigAlone({"model_type": "m2m_100", **sizes}, "test")
    known = find(files)
    assert [encoding.scheme for encoding in known] == ["sinusoidal", "sinusoidal"]
    assert find_unmeasured(files, known) == []
    assert {layer.encodings for layer in layer_map(files, known, is_complete=True)} == {()}
    assert {layer.encodings for layer in layer_map(files, known)} == {None}


# Their config classes compute the kinds of their layers, and let nobody set them.
COMPUTING = ("bamba", "falcon_h1", "falcon_mamba", "jamba", "mamba", "mamba2")


@pytest.mark.parametrize("family", COMPUTING)
def test_recurrent_layers_of_a_config_alone_have_the_decay_of_their_code(family: str) -> None:
    files = ConfigAlone({"model_type": family, "num_hidden_layers": 8}, "test")
    found = find(files)
    unread = find_unmeasured(files, found)
    assert unread is not None
    keys = {encoding.key for encoding in unread if encoding.scheme == "decay"}
    recurrent = [
        layer
        for layer in layer_map(files, [*found, *unread], is_complete=True)
        if "recurrent" in layer.mixers
    ]
    assert recurrent
    assert [layer for layer in recurrent if keys.isdisjoint(layer.encodings or ())] == []


def test_layers_are_unknown_where_the_code_of_the_family_could_not_be_looked_through() -> None:
    settings = {"model_type": "mamba2", "num_hidden_layers": 3}
    layers = layer_map(ConfigAlone(settings, "test"), [], is_complete=False)
    assert [layer.encodings for layer in layers] == [None, None, None]


@pytest.mark.thorough
def test_every_config_class_is_made_from_what_its_outline_is_given() -> None:
    from transformers import CONFIG_MAPPING

    refused = {}
    for family in CONFIG_MAPPING:
        config = ModelConfig({"model_type": family}, "test")
        if not resolved(config).refused:
            try:
                CONFIG_MAPPING[family](**given(translated(config)))
            except Exception as error:  # noqa: BLE001 (classes validate in many ways)
                refused[family] = repr(error)
    assert refused == {}
