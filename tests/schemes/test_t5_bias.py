from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.encodings import OffsetBias
from generator.encodings.buckets import buckets
from generator.numerics.arrays import Array, Floats
from generator.schemes.t5_bias import find
from tests.listening import WAVES, as_numbers, ids, made, read, returned, same
from tests.support import DictFiles, close, form_of

OFFSETS = np.arange(-300, 301)
SIZES = [(32, 128), (32, 20), (64, 128), (16, 64), (8, 1000), (4, 5), (320, 800)]
NAME = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
DECODER_NAME = NAME.replace("encoder", "decoder")
CROSS_NAME = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
TABLE = np.arange(64.0).reshape(32, 2)


def theirs(offsets: Array, n_buckets: int, max_distance: int, causal: bool) -> Array:
    from transformers.models.t5.modeling_t5 import T5Attention

    bucket = T5Attention._relative_position_bucket(
        torch.from_numpy(offsets), not causal, n_buckets, max_distance
    )
    return np.asarray(bucket.numpy())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_buckets", "max_distance"), SIZES)
def test_buckets_are_those_of_transformers(n_buckets: int, max_distance: int, causal: bool) -> None:
    assert_array_equal(
        buckets(OFFSETS, n_buckets, max_distance, causal),
        theirs(OFFSETS, n_buckets, max_distance, causal),
    )


@pytest.mark.parametrize(("name", "first"), [(NAME, 91), (DECODER_NAME, 113)])
def test_notes_give_the_last_bucket_and_that_which_is_never_used(name: str, first: int) -> None:
    notes = find(DictFiles(arrays={name: TABLE}))[0].notes
    assert f"offsets of {first} positions or more" in notes[0]
    assert any("Bucket 16 " in note for note in notes) == (name == NAME)


def test_the_part_and_the_direction_follow_from_the_name() -> None:
    arrays = dict.fromkeys((NAME, DECODER_NAME, CROSS_NAME), TABLE)  # The latter is unused.
    encodings = find(DictFiles(arrays=arrays))
    directions = [(encoding.part, form_of(encoding, OffsetBias).causal) for encoding in encodings]
    assert directions == [("encoder", False), ("decoder", True)]


N = 40
BOTH = ids(N, "input_ids", "decoder_input_ids")
SIZE: dict[str, Any] = {
    **dict.fromkeys(("d_model", "d_ff"), 16), "vocab_size": 40, "d_kv": 8,
    **dict.fromkeys(("num_layers", "num_decoder_layers", "num_heads"), 2),
}  # fmt: skip
FEW = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 20}
LONG = {**SIZE, **FEW, "local_radius": 6, "global_block_size": 4}
ENCODER: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
                           "intermediate_size": 16, "vocab_size": 40}  # fmt: skip


@pytest.mark.parametrize("name", ["T5Model", "MT5Model", "SwitchTransformersModel"])
def test_encoder_and_decoder_biases_equal_what_the_family_adds(name: str, tmp_path: Path) -> None:
    model = made(name, **SIZE, **FEW)
    encoder, decoder = returned(model, "compute_bias", **BOTH)
    encodings = read(find, model, tmp_path)
    same(encodings["encoder"], encoder[0])
    same(encodings["decoder"], decoder[0])


def test_every_layer_of_umt5_has_the_bias_that_it_adds(tmp_path: Path) -> None:
    model = made("UMT5Model", **SIZE, **FEW)
    theirs = returned(model, "compute_bias", **BOTH)
    encodings = read(find, model, tmp_path)
    for part, bias in zip(
        ("encoder layer 0", "encoder layer 1", "decoder layer 0", "decoder layer 1"),
        theirs,
        strict=True,
    ):
        same(encodings[part], bias[0])


def test_the_bias_of_mpnet_equals_what_the_model_adds_for_every_config(tmp_path: Path) -> None:
    model = made(
        "MPNetModel", **ENCODER, max_position_embeddings=64, relative_attention_max_distance=20
    )
    (bias,) = returned(model, "compute_position_bias", **ids(N))
    same(read(find, model, tmp_path)["encoder"], bias[0])


def test_the_bias_of_wavlm_equals_that_of_its_first_layer_before_the_gate(tmp_path: Path) -> None:
    model = made("WavLMModel", **WAVES, num_buckets=20, max_bucket_distance=30)
    bias, *_ = returned(model, "compute_bias", input_values=torch.zeros(1, 1700))
    encoding = read(find, model, tmp_path)["encoder"]
    same(encoding, bias)
    assert any("multiplies these values by 2 + a (b c" in note for note in encoding.notes)


def blocked(values: Floats, block: int) -> Floats:
    """LongT5's bias of the first query of a block: (n_heads, n_offsets), from −(block − 1) on."""
    return np.asarray(values[0, 0, :, 0, 1 : 2 * block])


def test_the_biases_of_longt5_equal_what_it_adds(tmp_path: Path) -> None:
    model = made("LongT5Model", encoder_attention_type="local", **LONG)
    encoder, decoder = returned(model, "compute_bias", **BOTH)
    encodings = read(find, model, tmp_path)
    form = form_of(encodings["encoder"], OffsetBias)
    assert form.offsets.tolist() == list(range(-6, 7))
    close(form.values, blocked(encoder, 7))
    same(encodings["decoder"], decoder[0])
    model = made("LongT5Model", encoder_attention_type="transient-global", **LONG)
    local, side, _ = returned(model, "compute_bias", "compute_side_bias", **BOTH)
    encodings = read(find, model, tmp_path)
    close(form_of(encodings["encoder"], OffsetBias).values, blocked(local, 7))
    same(encodings["encoder blocks"], side[0][:, ::4])


def test_the_bias_of_pix2struct_equals_what_its_decoder_adds(tmp_path: Path) -> None:
    sizes = {"d_kv": 8, "d_ff": 16, "hidden_size": 16}
    text = {**sizes, **FEW, "vocab_size": 40, "num_layers": 1, "num_heads": 2,
            "initializer_range": 0.1}  # fmt: skip
    vision = {**sizes, "patch_embed_hidden_size": 16, "num_hidden_layers": 1,
              "num_attention_heads": 2}  # fmt: skip
    model = made(
        "Pix2StructForConditionalGeneration",
        text_config=text,
        vision_config={**vision, "seq_len": 16},
        initializer_range=0.1,
    )
    (encoding,) = read(find, model, tmp_path).values()
    (bias,) = returned(model.decoder, "compute_bias", **ids(N))
    same(encoding, bias[0])


def page(n_words: int, size: int) -> Any:
    """Boxes of words on a page of ``size``; left and lower edges increase by 1 per word."""
    edge = torch.arange(n_words)
    return torch.stack([edge, edge, edge + 1, edge], dim=-1)[None] * (size // 100)


LAYOUT = {"rel_pos_bins": 8, "max_rel_pos": 20, "rel_2d_pos_bins": 16, "max_rel_2d_pos": 30,
          "coordinate_size": 3, "shape_size": 2}  # fmt: skip


def test_the_biases_of_layoutlmv3_equal_what_reaches_the_logit(tmp_path: Path) -> None:
    model = made("LayoutLMv3Model", **ENCODER, **LAYOUT, max_position_embeddings=64)
    encodings, scale = read(find, model, tmp_path), 8**-0.5
    same(
        encodings["encoder"],
        scale * as_numbers(model.encoder._cal_1d_pos_emb(torch.arange(N)[None]))[0],
    )
    both = scale * as_numbers(model.encoder._cal_2d_pos_emb(page(N, 100)))[0]
    ours = [
        form_of(encodings[f"encoder {side} the page"], OffsetBias).kernel(N)
        for side in ("across", "down")
    ]
    close(ours[0] + ours[1], both[:, :31, :31])


def test_layoutlmv3_divides_the_bias_with_the_logit(tmp_path: Path) -> None:
    """The attention itself: without content, the logit is the bias alone."""
    sizes = {**ENCODER, **LAYOUT, "max_position_embeddings": 64}
    model = made("LayoutLMv3Model", **sizes, attn_implementation="eager")
    attention = model.encoder.layer[0].attention.self
    for projection in (attention.query, attention.key):
        torch.nn.init.zeros_(projection.weight), torch.nn.init.zeros_(projection.bias)
    model.encoder.has_spatial_attention_bias = False
    bias = model.encoder._compute_position_bias(torch.arange(9)[None], None)
    weights = as_numbers(attention(torch.zeros(1, 9, 16), position_bias=bias)[1])[0]
    ours = form_of(read(find, model, tmp_path)["encoder"], OffsetBias).kernel(9)
    close(weights, torch.tensor(ours).softmax(dim=-1))


UDOP = {**SIZE, "max_2d_position_embeddings": 64, "image_size": 8, "patch_size": 4,
        "tie_word_embeddings": False}  # fmt: skip
LISTED = [
    {"type": "1d", "max_distance": 20},
    {"type": "horizontal", "scaling_factor": 64},
    {"type": "vertical", "scaling_factor": 64, "relative_attention_num_buckets": 16},
]


def test_the_biases_of_the_encoder_of_udop_equal_those_of_its_modules(tmp_path: Path) -> None:
    model = made("UdopModel", **UDOP, relative_bias_args=LISTED)
    encodings = read(find, model, tmp_path)
    sides = ("", " across the page", " down the page")
    assert sorted(encodings) == ["decoder", *(f"encoder{side}" for side in sides)]
    along, across, down = model.encoder.relative_bias.biases
    same(encodings["encoder"], as_numbers(along(torch.ones(1, N)))[0])
    same(encodings["encoder across the page"], as_numbers(across(bbox=page(N, 100) / 64))[0])
    same(encodings["encoder down the page"], as_numbers(down(bbox=page(N, 100) / 64))[0])


def test_the_decoder_of_udop_adds_its_first_blocks_bias(tmp_path: Path) -> None:
    model = made("UdopModel", **UDOP)
    (decoder,) = returned(model, "compute_bias", **BOTH, bbox=page(N, 100) / 100)
    same(read(find, model, tmp_path)["decoder"], decoder[0])


def test_a_tied_bias_of_udop_is_read_from_block_0() -> None:
    page_bias = "encoder.relative_bias.biases.1.relative_attention_bias.weight"
    encodings = find(DictFiles({"model_type": "udop"}, {NAME: TABLE, page_bias: TABLE}))
    assert [(encoding.part, encoding.provenance.tensor) for encoding in encodings] == [
        ("encoder", NAME),
        ("encoder across the page", page_bias),
    ]


def test_the_bias_of_cpmant_equals_what_it_adds_within_a_segment(tmp_path: Path) -> None:
    buckets_of = {"position_bias_num_buckets": 8, "position_bias_max_distance": 20}
    sizes = {"dim_head": 8, "dim_ff": 16, "segment_types": 3, "vocab_size": 40}
    widths = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = made("CpmAntModel", **sizes, **widths, **buckets_of)
    position, segment = torch.arange(N)[None], torch.ones(1, N, dtype=torch.long)
    (encoding,) = read(find, model, tmp_path).values()
    same(encoding, as_numbers(model.position_bias(position, position, segment, segment))[0])


def test_the_bias_of_phi_4_multimodal_has_one_row_for_each_offset() -> None:
    from transformers.models.phi4_multimodal.modeling_phi4_multimodal import (
        Phi4MultimodalAudioConfig,
        Phi4MultimodalAudioRelativeAttentionBias,
    )

    module = Phi4MultimodalAudioRelativeAttentionBias(
        Phi4MultimodalAudioConfig(bias_max_distance=10, num_attention_heads=2)
    )
    name = "audio_embed.encoder.relative_attention_bias_layer.bias_values.weight"
    config = {"audio_config": {"bias_max_distance": 10}}
    (encoding,) = find(DictFiles(config, {name: module.bias_values.weight.detach().numpy()}))
    assert encoding.part == "audio encoder"
    bias = as_numbers(module(torch.zeros(1, N, 1)))[0]
    close(form_of(encoding, OffsetBias).kernel(N), bias[:, :11, :11])


def test_sizes_are_read_from_a_nested_config() -> None:
    (encoding,) = find(DictFiles({"text_config": FEW}, {NAME: TABLE[:8]}))
    assert form_of(encoding, OffsetBias).offsets.tolist() == list(range(-20, 21))
