"""The pictures of schemes: their texts, and the numbers that they show as exact."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator import schemes
from generator.contracts import Numbers, Scheme, discovery
from generator.figures.svg import encode
from generator.numerics.arrays import Array
from generator.site.pictures.scheme_pictures import picture_of
from tests.support import close

MOST_BYTES = 200_000
SCHEMES = {scheme.key: scheme for scheme in discovery.load(schemes, Scheme)}
each_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def of(key: str) -> Numbers:
    return picture_of(SCHEMES[key]).numbers()


def along_diagonals(matrix: Array) -> bool:
    """Whether every diagonal is constant."""
    return bool(np.allclose(matrix[1:, 1:], matrix[:-1, :-1], rtol=0, atol=1e-12))


@each_scheme
def test_a_scheme_has_a_small_picture(scheme: Scheme) -> None:
    picture = picture_of(scheme)
    drawn = encode(picture.draw, picture.numbers())
    assert ET.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 (our own)
    assert len(drawn) <= MOST_BYTES
    assert drawn == encode(picture.draw, picture.numbers())


@each_scheme
def test_a_picture_has_an_alternative_text(scheme: Scheme) -> None:
    texts = [scheme.wording(f"picture_{name}") for name in ("caption", "how_to_read", "alt")]
    assert all(text.endswith((".", ").")) and text.strip() == text for text in texts)
    assert re.search(r"\d", texts[2])
    assert not re.search(r"\b(nan|inf|None)\b", texts[2])


def test_rows_of_both_versions_of_deberta_equal_those_of_transformers() -> None:
    from transformers.models.deberta.modeling_deberta import build_relative_position
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    n = 641
    theirs = torch.clamp(
        build_relative_position(torch.zeros(1, n, 1), torch.zeros(1, n, 1))[0] + 512, 0, 1023
    ).numpy()
    assert_array_equal(of("deberta")["first"], [*theirs[:0:-1, 0], *theirs[0]])
    theirs = make_log_bucket_position(torch.tensor(-of("deberta")["offsets"]), 256, 512) + 256
    assert_array_equal(of("deberta")["later"], torch.clamp(theirs, 0, 511).numpy())


def test_numbers_of_shaw_swin_and_the_sinusoid() -> None:
    """clip(x, k) = max(−k, min(k, x)) with k = 4."""
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias

    expected = [[max(-4, min(4, key - query)) for key in range(12)] for query in range(12)]
    assert_array_equal(of("shaw")["pairs"], expected)
    # Swin counts query minus key, and so from the other end.
    theirs = SwinRelativePositionBias(num_heads=1, window_size=(3, 3)).relative_position_index
    assert_array_equal(of("window_bias")["pairs"], 24 - theirs.numpy().reshape(9, 9))
    close(of("sinusoidal")["cosines"][[1, 10]], [0.97336, 0.680], 5e-4)


def test_numbers_of_rotary_t5_alibi_retnet_and_llama_4() -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    module = LlamaRotaryEmbedding(LlamaConfig(hidden_size=64, num_attention_heads=1))
    theirs, _ = module(torch.zeros(1), torch.arange(12)[None])
    close(of("rotary")["cosines"].T[:12], theirs[0, :, :32])
    # Raffel et al. 2020, section 2.1, and the published code: where buckets of a decoder begin.
    bucket = of("t5_bias")["decoder"][::-1]
    starts = [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
    assert [int(np.argmax(bucket == index)) for index in range(16, 32)] == starts
    # Press et al. 2022, section 3: 1/2, 1/4 … 1/256.
    assert_array_equal(of("alibi")["lines"][:, -2], -(2.0 ** -np.arange(1, 9)))
    # Sun et al. 2023, section 2.2: γ = 1 − 2^(−5 − h).
    left = of("decay")["retention"]
    assert_allclose(left[:, 1], [31 / 32, 63 / 64, 127 / 128, 255 / 256], rtol=1e-12)
    assert [int(np.argmax(line < 0.5)) for line in left] == [22, 45, 89, 178]
    # log1p(floor((p + 1) / 8192)) · 0.1 + 1, in the code of transformers.
    after = of("temperature")["positions"] >= 8191
    assert_array_equal(of("temperature")["factor"][~after], 1.0)
    assert of("temperature")["factor"][after][0] == pytest.approx(1.0 + 0.1 * np.log(2.0))


def test_a_rotation_in_two_dimensions_equals_that_of_qwen2_vl() -> None:
    """Patch (13, 13) of an image against all others, with the frequencies of its module."""
    from transformers.models.qwen2_vl.modeling_qwen2_vl import (
        Qwen2VLVisionConfig,
        Qwen2VLVisionRotaryEmbedding,
    )

    module = Qwen2VLVisionRotaryEmbedding(Qwen2VLVisionConfig(embed_dim=64, num_heads=1))
    angles = np.outer(np.arange(14), module.inv_freq.double().numpy())
    along = np.cos(angles[13] - angles).mean(axis=1)
    close(of("rotary_2d")["all"][:14, :14], (along[:, None] + along) / 2)


def test_inputs_of_a_frame_and_weights_of_alibi() -> None:
    ones = torch.ones(1, 1, 24)
    # The last is dropped where the width is even.
    theirs = torch.nn.functional.conv1d(ones, torch.ones(1, 1, 8), padding=4)[0, 0, :-1]
    assert_array_equal(of("convolution")["heard"], theirs.numpy())
    # Press et al. 2022, section 3: 1/2, 1/4 … 1/256.
    assert_allclose(-np.log(of("decay")["slopes"][:, 1]), 4.0 ** -np.arange(1, 5), rtol=1e-12)


def test_weights_of_a_recurrence_and_under_a_causal_mask() -> None:
    state, states = np.zeros(16), []
    for token in np.eye(16):
        state = 0.8 * state + token
        states.append(state)
    close(np.nan_to_num(of("none")["recurrence"]), states, 1e-15)
    weights = np.nan_to_num(of("none")["attention"])
    close(weights.sum(axis=1), 1.0, 1e-12)
    assert_array_equal(np.count_nonzero(weights, axis=1), np.arange(1, 17))


def test_a_sink_takes_what_a_softmax_gives_to_one_more_logit() -> None:
    """Among as many logits of 0 as there are keys."""
    numbers = of("sink")
    assert (numbers["keys"][0], numbers["keys"][20]) == (1.0, 10.0)
    for logit, shares in zip(numbers["logits"], numbers["shares"], strict=True):
        weights = [
            torch.softmax(torch.tensor([logit, *[0.0] * n], dtype=torch.float64), 0)[0].item()
            for n in (1, 10)
        ]
        assert_allclose(shares[[0, 20]], weights, rtol=1e-12)


def test_terms_of_transformer_xl_and_sums_of_words() -> None:
    numbers = of("transformer_xl")
    assert np.ptp(numbers["content_bias"], axis=0).max() == 0.0
    assert [name for name, each in numbers.items() if along_diagonals(each)] == ["offset_bias"]
    numbers = of("learned")
    assert_array_equal(numbers["words"][0], numbers["words"][3])
    assert_array_equal(numbers["sum"] - numbers["positions"] - numbers["words"] < 1e-15, True)
    assert np.abs(numbers["sum"][0] - numbers["sum"][3]).min() > 0.0
