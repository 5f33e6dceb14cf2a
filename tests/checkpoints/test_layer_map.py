"""The layers of models as they are published; expected are the papers' and model cards' own words."""

from typing import Any

import pytest

from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Layer
from generator.pipeline.evaluate import find
from tests.support import DictFiles


def layers_of(config: dict[str, Any], **arrays: Any) -> tuple[Layer, ...]:
    files = DictFiles(config, arrays)
    return layer_map(files, find(files))


def kinds_of(layers: tuple[Layer, ...]) -> list[tuple[str, int | None]]:
    return [("+".join(layer.mixers), layer.before) for layer in layers]


SIZES = {"hidden_size": 64, "num_attention_heads": 2, "vocab_size": 100, "head_dim": 32}


def test_gemma_3_sees_all_in_every_sixth_of_its_62_layers() -> None:
    """Gemma 3 (arXiv 2503.19786), section 2: 5 local layers with a span of 1,024 tokens for every global one."""
    text = {"model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62, "num_attention_heads": 32, "sliding_window": 1024}
    layers = layers_of({"model_type": "gemma3", "text_config": text})
    assert kinds_of(layers) == [("full", None) if number % 6 == 0 else ("sliding", 1023) for number in range(1, 63)]


def test_llama_4_sees_chunks_with_rotation_and_all_without() -> None:
    """The model card of Llama 4 Scout: interleaved attention layers without positional embeddings."""
    text = {**SIZES, "model_type": "llama4_text", "num_hidden_layers": 48, "attention_chunk_size": 8192, "no_rope_layers": []}
    layers = layers_of({"model_type": "llama4", "text_config": text})
    assert [(layer.mixers[0], bool(layer.encodings)) for layer in layers] == [*[("chunked", True)] * 3, ("full", False)] * 12
    assert layers[0].before == 8191


@pytest.mark.parametrize("family", ["mamba", "mamba2", "falcon_mamba", "rwkv"])
def test_a_recurrent_model_has_recurrent_layers_alone(family: str) -> None:
    assert {layer.mixers for layer in layers_of({**SIZES, "model_type": family, "num_hidden_layers": 3})} == {("recurrent",)}


def test_falcon_h1_has_attention_and_a_recurrent_state_in_every_layer() -> None:
    """Falcon-H1 (arXiv 2507.22448), section 2: attention and SSM heads side by side within each block."""
    assert {layer.mixers for layer in layers_of({**SIZES, "model_type": "falcon_h1", "num_hidden_layers": 3})} == {("full", "recurrent")}


def test_an_encoder_sees_both_sides_and_a_decoder_the_past() -> None:
    layers = layers_of({"model_type": "t5", "num_layers": 2, "num_decoder_layers": 3, "d_model": 16, "num_heads": 2, "vocab_size": 100})
    assert [(layer.part, layer.before, layer.after) for layer in layers] == [*[("encoder", None, None)] * 2, *[("decoder", None, 0)] * 3]


def test_the_encodings_of_a_model_without_weights_are_unknown() -> None:
    layers = layers_of({**SIZES, "model_type": "bert", "num_hidden_layers": 2})
    assert [layer.encodings for layer in layers] == [None, None]


def test_a_family_that_is_not_known_has_no_layer_map() -> None:
    assert layers_of({**SIZES, "model_type": "unheard_of", "num_hidden_layers": 2, "rope_theta": 1e4}) == ()


@pytest.mark.parametrize("n_layers", [-1, 0, "many", 10**9])
def test_an_impossible_number_of_layers_gives_no_layer_map(n_layers: object) -> None:
    assert layers_of({**SIZES, "model_type": "gpt2", "n_layer": n_layers}) == ()
