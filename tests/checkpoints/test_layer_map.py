"""The layers of models as they are published; expected are the papers' and model cards' own
words.
"""

from collections import Counter
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Layer
from generator.reading.find import find
from tests.support import DictFiles


def layers_of(config: dict[str, Any], **arrays: Any) -> tuple[Layer, ...]:
    files = DictFiles(config, arrays)
    return layer_map(files, find(files))


SIZES = {"hidden_size": 64, "num_attention_heads": 2, "vocab_size": 100, "head_dim": 32}


def test_gemma_3_sees_all_in_every_sixth_of_its_62_layers() -> None:
    """Gemma 3 (arXiv 2503.19786), section 2: 5 local layers with a span of 1,024 tokens for every
    global one.
    """
    sizes = {"hidden_size": 5376, "num_hidden_layers": 62, "num_attention_heads": 32}
    text = {"model_type": "gemma3_text", **sizes, "sliding_window": 1024}
    layers = layers_of({"model_type": "gemma3", "text_config": text})
    assert [(*layer.mixers, layer.before) for layer in layers] == [
        ("full", None) if number % 6 == 0 else ("sliding", 1023) for number in range(1, 63)
    ]


def test_llama_4_sees_chunks_with_rotation_and_all_without() -> None:
    """The model card of Llama 4 Scout: interleaved attention layers without positional
    embeddings.
    """
    chunks = {"num_hidden_layers": 48, "attention_chunk_size": 8192, "no_rope_layers": []}
    text = {**SIZES, "model_type": "llama4_text", **chunks}
    layers = layers_of({"model_type": "llama4", "text_config": text})
    four = [*[("chunked", True)] * 3, ("full", False)]
    assert [(layer.mixers[0], bool(layer.encodings)) for layer in layers] == four * 12
    assert layers[0].before == 8191


@pytest.mark.parametrize(
    ("family", "mixers"),
    [
        *((family, ("recurrent",)) for family in ("mamba", "mamba2", "falcon_mamba", "rwkv")),
        # Falcon-H1 (arXiv 2507.22448), section 2: attention and SSM heads side by side.
        ("falcon_h1", ("full", "recurrent")),
    ],
)
def test_layers_with_a_state_are_recurrent(family: str, mixers: tuple[str, ...]) -> None:
    layers = layers_of({**SIZES, "model_type": family, "num_hidden_layers": 3})
    assert [layer.mixers for layer in layers] == [mixers] * 3


KINDS = {"sliding_attention": "sliding", "full_attention": "full", "linear_attention": "recurrent"}


@pytest.mark.parametrize(
    "family", ["mistral", "gpt_oss", "modernbert", "gemma2", "cohere2", "qwen3_next"]
)
def test_a_family_has_the_kinds_and_the_window_of_its_config_class(family: str) -> None:
    from transformers import CONFIG_MAPPING

    config, layers = CONFIG_MAPPING[family](), layers_of({"model_type": family})
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"] * config.num_hidden_layers
    assert [layer.mixers for layer in layers] == [(KINDS[kind],) for kind in kinds]
    windows = [config.sliding_window if kind == "sliding_attention" else None for kind in kinds]
    # The window of a decoder holds the query itself, that of an encoder is on each side of it.
    assert [
        layer.before if layer.before is None else layer.before + (layer.after == 0)
        for layer in layers
    ] == windows


@pytest.mark.parametrize(("family", "encoder", "decoder"), [
    ("speech_to_text", "encoder_layers", "decoder_layers"),
    ("dia", "encoder_config.num_hidden_layers", "decoder_config.num_hidden_layers"),
    ("musicgen", "text_encoder.num_layers", "decoder.num_hidden_layers"),
])  # fmt: skip
def test_both_sides_have_the_layers_of_the_config_class(
    family: str, encoder: str, decoder: str
) -> None:
    from transformers import CONFIG_MAPPING

    parts = Counter(layer.part for layer in layers_of({"model_type": family}))
    config = CONFIG_MAPPING[family]()
    assert parts == {"encoder": attrgetter(encoder)(config), "decoder": attrgetter(decoder)(config)}


def test_an_encoder_sees_both_sides_and_a_decoder_the_past() -> None:
    sizes = {"num_layers": 2, "num_decoder_layers": 3, "d_model": 16, "num_heads": 2}
    layers = layers_of({"model_type": "t5", **sizes, "vocab_size": 100})
    expected = [("encoder", None, None)] * 2 + [("decoder", None, 0)] * 3
    assert [(layer.part, layer.before, layer.after) for layer in layers] == expected


def test_the_encodings_of_a_model_without_weights_are_unknown() -> None:
    layers = layers_of({**SIZES, "model_type": "bert", "num_hidden_layers": 2})
    assert [layer.encodings for layer in layers] == [None, None]


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "unheard_of", "num_hidden_layers": 2, "rope_theta": 1e4},
        *({"model_type": "gpt2", "n_layer": n_layers} for n_layers in (-1, 0, "many", 10**9)),
        {"model_type": "qwen3", "layer_types": ["full_attention"] * 10_001},
    ],
)
def test_an_unknown_family_and_an_impossible_number_of_layers_give_no_map(
    config: dict[str, Any],
) -> None:
    assert layers_of({**SIZES, **config}) == ()


def test_layers_have_windows_of_their_own() -> None:
    """NeoMME, as its config class of transformers fills it in: short and long windows by turns, and
    all in every sixth layer and the last.
    """
    sizes = {**SIZES, "num_hidden_layers": 8, "num_key_value_heads": 2}
    layers = layers_of({"model_type": "neomme", **sizes})
    assert [layer.before for layer in layers] == [256, 1024, 256, 1024, 256, None, 1024, None]


def test_the_encoder_of_moonshine_streaming_sees_what_the_mask_of_its_code_shows() -> None:
    from transformers.models.moonshine_streaming.modeling_moonshine_streaming import (
        sliding_window_mask_function,
    )

    windows, middle = ([16, 4], [16, 0], [3, 9]), 50
    masks = [
        [sliding_window_mask_function(window)(0, 0, middle, key) for key in range(100)]
        for window in windows
    ]
    expected = [
        (middle - mask.index(True), max(key for key in range(100) if mask[key]) - middle)
        for mask in masks
    ]
    sizes = {"num_hidden_layers": 3, "sliding_windows": windows, "vocab_size": 100}
    encoder = {"model_type": "moonshine_streaming_encoder", **sizes}
    whole = {"model_type": "moonshine_streaming", "num_hidden_layers": 2, "vocab_size": 100}
    layers = layers_of({**whole, "encoder_config": encoder})
    assert [(layer.before, layer.after) for layer in layers if layer.part == "encoder"] == expected
    assert [bool(layer.encodings) for layer in layers] == [False] * 3 + [True] * 2


def test_the_audio_encoder_of_gemma_4_sees_what_its_code_passes_on() -> None:
    """By the derivatives of the output at one frame, in a small layer of attention."""
    import torch
    from transformers import Gemma4AudioConfig
    from transformers.models.gemma4.modeling_gemma4 import Gemma4AudioModel

    audio = Gemma4AudioConfig(
        hidden_size=64, num_attention_heads=4, num_hidden_layers=1, attention_context_left=9,
        attention_context_right=3, attn_implementation="eager",
    )  # fmt: skip
    torch.manual_seed(0)
    model, frame = Gemma4AudioModel(audio).eval(), 30
    given: dict[str, Any] = {}
    attention = model.layers[0].self_attn
    keep = attention.register_forward_pre_hook(
        lambda _, args, options: given.update(args=args, options=options), with_kwargs=True
    )
    model(torch.randn(1, 240, 128), torch.ones(1, 240, dtype=torch.bool))
    keep.remove()
    (hidden, *rest) = given["args"] or (given["options"].pop("hidden_states"),)
    hidden = hidden.detach().requires_grad_()
    output, *_ = attention(hidden, *rest, **given["options"])
    (passed,) = torch.autograd.grad(output[0, frame].sum(), hidden)
    reached = passed[0].abs().sum(-1).nonzero().flatten().tolist()
    text = {**SIZES, "model_type": "gemma4_text", "num_hidden_layers": 1}
    whole = {"model_type": "gemma4", "text_config": text, "audio_config": audio.to_dict()}
    _, layer = layers_of(whole)
    assert layer.mixers == ("sliding", "convolution")
    assert (layer.before, layer.after) == (frame - reached[0], reached[-1] - frame)


def test_blocks_of_an_encoder_limit_both_sides() -> None:
    """The model card of Granite Speech 3.3: attention within blocks of 4 seconds, which are 200
    frames.
    """
    sizes = {"num_layers": 2, "context_size": 200}
    layers = layers_of({"model_type": "granite_speech_encoder", **sizes})
    assert {(layer.mixers, layer.before, layer.after) for layer in layers} == {
        (("chunked", "convolution"), 199, 199)
    }


@pytest.mark.parametrize("family", ["parakeet_rnnt", "nemotron_asr_streaming"])
def test_an_lstm_that_predicts_tokens_is_recurrent(family: str) -> None:
    encoder = {"model_type": "parakeet_encoder", "num_hidden_layers": 1}
    whole = {"model_type": family, "num_decoder_layers": 2, "vocab_size": 100}
    layers = layers_of({**whole, "encoder_config": encoder})
    assert [layer.mixers for layer in layers if layer.part == "decoder"] == [("recurrent",)] * 2


OF_IMAGES = {
    "hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 2, "image_size": 32,
    "patch_size": 16,
}  # fmt: skip


@pytest.mark.parametrize("family", ["beit", "data2vec-vision", "flava_image_model"])
def test_an_image_model_with_a_vocabulary_is_no_model_of_text(family: str) -> None:
    layers = layers_of({**SIZES, **OF_IMAGES, "model_type": family})
    assert [(layer.part, layer.before, layer.after) for layer in layers] == [
        ("vision", None, None)
    ] * 2


@pytest.mark.parametrize(
    "setting", ["window_block_indices", "global_attn_indexes", "fullatt_block_indexes"]
)
def test_an_image_model_with_windows_has_no_layer_map(setting: str) -> None:
    vit = {"model_type": "vitdet", **OF_IMAGES}
    assert layers_of(vit)
    assert layers_of({**vit, setting: [1]}) == ()


def test_an_encoding_acts_in_the_layers_of_its_own_stack_alone() -> None:
    layers = layers_of({"model_type": "blt", "vocab_size": 100})
    assert {layer.encodings for layer in layers if layer.part == "decoder"} == {("decoder-rotary",)}


def test_the_text_model_of_pix2struct_is_a_decoder_alone() -> None:
    sizes = {"num_layers": 2, "num_heads": 2, "hidden_size": 16, "vocab_size": 100}
    text = {"model_type": "pix2struct_text_model", **sizes, "is_decoder": True}
    whole = {"model_type": "pix2struct", "is_encoder_decoder": True}
    layers = layers_of({**whole, "text_config": text})
    assert [(layer.part, layer.after) for layer in layers] == [("decoder", 0)] * 2


def test_the_biases_of_an_image_model_act_in_the_layer_that_their_names_say() -> None:
    ends = [f"{layer}.attention.rel_pos_{axis}" for layer in range(2) for axis in "hw"]
    arrays = {f"model.encoder.layers.{end}": np.ones((3, 2)) for end in ends}
    layers = layers_of({**OF_IMAGES, "hidden_size": 4, "model_type": "seggpt"}, **arrays)
    assert [len(layer.encodings or ()) for layer in layers] == [2, 2]
    assert set(layers[0].encodings or ()).isdisjoint(layers[1].encodings or ())


# Donut (arXiv 2111.15664), section 4.1: the decoder has the first four layers of mBART, whose
# config keeps twelve for the encoder.
MBART = {"decoder_layers": 4, "encoder_layers": 12, "d_model": 64, "vocab_size": 100}


@pytest.mark.parametrize(
    ("encoder", "decoder", "n_layers"),
    [
        ({"model_type": "vit", **OF_IMAGES}, {**SIZES, "model_type": "gpt2", "n_layer": 1}, 1),
        ({"model_type": "donut-swin"}, {"model_type": "mbart", **MBART}, 4),
    ],
)
def test_of_a_model_of_images_and_words_the_decoder_has_its_own_layers(
    encoder: dict[str, Any], decoder: dict[str, Any], n_layers: int
) -> None:
    whole = {"model_type": "vision-encoder-decoder", "encoder": encoder, "decoder": decoder}
    assert [(layer.part, layer.after) for layer in layers_of(whole)] == [("decoder", 0)] * n_layers


def test_neobert_turns_in_all_layers_and_sees_both_sides() -> None:
    """NeoBERT (arXiv 2502.19587), section 3: RoPE, and 28 layers of width 768."""
    sizes = {**SIZES, "num_hidden_layers": 28, "max_length": 4096}
    layers = layers_of({"model_type": "neobert", **sizes})
    assert {(layer.part, layer.after, layer.encodings) for layer in layers} == {
        ("encoder", None, ("encoder-rotary",))
    }
