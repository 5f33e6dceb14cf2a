from typing import Any

import numpy as np
import pytest

from generator.encodings import PositionTable, SinusoidLayout, sinusoid
from generator.errors import RowError
from generator.numerics import Floats
from generator.schemes import learned
from generator.schemes.sinusoidal import find
from tests import tiny
from tests.support import DictFiles, form_of

LAYOUTS: tuple[SinusoidLayout, ...] = ("interleaved", "halves", "tensor2tensor")
FLOAT32 = 1e-6  # of tables that transformers makes in single precision, for angles up to 32
# Families whose table is made when the model runs; their modules are the oracle.
MADE: list[tuple[str, dict[str, Any]]] = [
    ("marian", {"pad_token_id": 1, "decoder_start_token_id": 1}),
    ("pegasus", {}),
    ("m2m_100", {}),
    ("nllb-moe", {"num_experts": 2}),
    ("xglm", {"attention_heads": 2}),
    ("fsmt", {"tie_word_embeddings": False}),
]
SIZE = {"max_position_embeddings": 24, "hidden_size": 8}
ASKING: list[dict[str, object]] = [
    {"position_embedding_type": "sinusoidal"},
    {"sinusoidal_pos_embds": True},
    {"sinusoidal_embeddings": True},
    {"model_type": "pegasus-like", "static_position_embeddings": True},
]
SILENT: list[dict[str, object]] = [{}, {"position_embedding_type": "absolute"}, {"sinusoidal_pos_embds": False}, {"model_type": "bert"}]
BAD: list[dict[str, object]] = [
    {"max_position_embeddings": None},
    {"max_position_embeddings": -1},
    {"max_position_embeddings": "x"},
    {"max_position_embeddings": 1e12},
    {"max_position_embeddings": float("nan")},
    {"max_position_embeddings": 2**31},
    {"hidden_size": None},
    {"hidden_size": 0},
    {"hidden_size": 2**31},
]


def vectors_of(files: DictFiles) -> Floats:
    (encoding,) = find(files)
    return form_of(encoding, PositionTable).vectors


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_stored_sinusoid_is_known_in_each_layout(layout: SinusoidLayout, dtype: type[np.floating[Any]]) -> None:
    stored = sinusoid(24, 16, layout).astype(dtype)
    np.testing.assert_array_equal(vectors_of(DictFiles(arrays={"embed_positions.weight": stored})), stored)


@pytest.mark.parametrize(("layout", "words"), [("interleaved", "by turns"), ("halves", "first half"), ("tensor2tensor", "exponent")])
def test_the_layout_of_a_stored_sinusoid_is_said(layout: SinusoidLayout, words: str) -> None:
    (encoding,) = find(DictFiles(arrays={"embed_positions.weight": sinusoid(24, 16, layout)}))
    assert words in encoding.notes[-1]


def test_a_table_that_differs_from_the_sinusoid_in_one_value_is_not_one() -> None:
    table = np.array(sinusoid(24, 16))
    table[20, 3] += 2e-4
    assert find(DictFiles(arrays={"wpe.weight": table})) == []


def test_a_stored_sinusoid_that_counts_from_the_padding_row_is_known() -> None:
    """As fairseq makes it: the padding row is zero, and position 0 has the angles of the row after it."""
    table = np.array(sinusoid(24, 16, "tensor2tensor"))
    table[1] = 0.0
    files = DictFiles({"model_type": "fsmt", "pad_token_id": 1}, {"encoder.embed_positions.weight": table})
    np.testing.assert_array_equal(vectors_of(files), table[2:])


def test_the_encoder_of_whisper_is_a_sinusoid_and_its_decoder_is_learned() -> None:
    model = tiny.build("whisper", pad_token_id=1, bos_token_id=1, eos_token_id=1, decoder_start_token_id=1, num_mel_bins=4)
    files = DictFiles(model.config.to_dict(), tiny.arrays(model))
    assert [encoding.part for encoding in find(files)] == ["encoder"]
    assert [encoding.part for encoding in learned.find(files)] == ["decoder"]


@pytest.mark.parametrize(("family", "options"), MADE)
def test_a_table_made_at_run_time_equals_what_the_model_adds(family: str, options: dict[str, Any]) -> None:
    model = tiny.build(family, **options)
    table = vectors_of(DictFiles(model.config.to_dict()))
    for said in tiny.heard(model, "embed_positions").values():
        np.testing.assert_allclose(table[: len(tiny.IDS)], said, rtol=0, atol=FLOAT32)


def test_the_table_of_ctrl_equals_the_models_buffer() -> None:
    model = tiny.build("ctrl")
    theirs = model.pos_encoding.double().numpy()
    np.testing.assert_allclose(vectors_of(DictFiles(model.config.to_dict())), theirs, rtol=0, atol=FLOAT32)


def test_speech_to_text_has_as_many_positions_as_its_source() -> None:
    config = {"model_type": "speech_to_text", "max_source_positions": 40, "d_model": 8}
    assert vectors_of(DictFiles(config)).shape == (40, 8)


@pytest.mark.parametrize("config", ASKING)
def test_a_config_that_asks_for_a_sinusoid_gets_the_printed_one(config: dict[str, object]) -> None:
    np.testing.assert_array_equal(vectors_of(DictFiles({**SIZE, **config})), sinusoid(24, 8))


@pytest.mark.parametrize("config", SILENT)
def test_a_config_that_does_not_ask_gets_none(config: dict[str, object]) -> None:
    assert find(DictFiles({**SIZE, **config})) == []


def test_a_stored_learned_table_outweighs_what_the_family_makes_at_run_time() -> None:
    table = np.random.default_rng(0).normal(size=(24, 8))
    assert find(DictFiles({"model_type": "pegasus", **SIZE}, {"model.encoder.embed_positions.weight": table})) == []


@pytest.mark.parametrize(("family", "part"), [("ctrl", "decoder"), ("xglm", "decoder"), ("m2m_100", "encoder")])
def test_the_part_is_the_one_that_the_family_has(family: str, part: str) -> None:
    assert [encoding.part for encoding in find(DictFiles({"model_type": family, **SIZE}))] == [part]


@pytest.mark.parametrize("size", BAD)
def test_a_size_that_is_none_is_a_row_error(size: dict[str, object]) -> None:
    with pytest.raises(RowError, match=r"test.*expected"):
        find(DictFiles({"position_embedding_type": "sinusoidal", **SIZE, **size}))
