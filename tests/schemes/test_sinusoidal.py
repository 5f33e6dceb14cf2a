from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.contracts import Encoding
from generator.encodings import Arrangement, Form, PositionTable, sinusoid
from generator.numerics.arrays import Array, Floats
from generator.schemes import learned
from generator.schemes.sinusoidal import SCHEME
from tests import tiny
from tests.support import DictFiles, close, form_of, found_by

ARRANGEMENTS: tuple[Arrangement, ...] = ("interleaved", "halves", "tensor2tensor")
# Families that compute a table when they run; the reference is their module.
MADE: list[tuple[str, dict[str, Any]]] = [
    ("marian", {"pad_token_id": 1, "decoder_start_token_id": 1}),
    ("pegasus", {}),
    ("m2m_100", {}),
    ("nllb-moe", {"num_experts": 2}),
    ("xglm", {"attention_heads": 2}),
    ("fsmt", {"tie_word_embeddings": False}),
    ("pegasus_x", {"block_size": 4, "num_global_tokens": 2}),
]
SIZE = {"max_position_embeddings": 24, "hidden_size": 8}
ASKING: list[dict[str, object]] = [
    {"position_embedding_type": "sinusoidal"},
    {"sinusoidal_pos_embds": True},
    {"sinusoidal_embeddings": True},
    {"model_type": "pegasus-like", "static_position_embeddings": True},
]


def found(config: dict[str, Any], **arrays: Array) -> list[Encoding[Form]]:
    return found_by(SCHEME, DictFiles(config, arrays))


def vectors_of(encoding: Encoding[Form]) -> Floats:
    return form_of(encoding, PositionTable).vectors


WORDS = {"interleaved": "interleaved", "halves": "first half", "tensor2tensor": "exponent"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("layout", ARRANGEMENTS)
def test_a_stored_sinusoid_has_any_layout(layout: Arrangement, dtype: Any) -> None:
    stored = sinusoid(24, 16, layout).astype(dtype)
    (encoding,) = found({}, **{"embed_positions.weight": stored})
    assert_array_equal(vectors_of(encoding), stored)
    assert WORDS[layout] in encoding.notes[-1]
    assert learned.find(DictFiles({}, {"embed_positions.weight": stored})) == []


def test_a_table_with_one_other_value_is_learned_but_for_its_padding_row() -> None:
    table = np.array(sinusoid(24, 16))
    table[20, 3] += 2e-4
    assert found({}, **{"wpe.weight": table}) == []
    # As in fairseq: the padding row is zero, and position 0 has the angles of the next row.
    table = np.array(sinusoid(24, 16, "tensor2tensor"))
    table[1] = 0.0
    config = {"model_type": "fsmt", "pad_token_id": 1}
    (encoding, *_) = found(config, **{"encoder.embed_positions.weight": table})
    assert_array_equal(vectors_of(encoding), table[2:])


def test_the_encoder_of_whisper_is_a_sinusoid_and_its_decoder_is_learned() -> None:
    tokens = dict.fromkeys(
        ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 1
    )
    model = tiny.build("whisper", **tokens, num_mel_bins=4)
    files = DictFiles(model.config.to_dict(), tiny.arrays(model))
    assert [encoding.part for encoding in found_by(SCHEME, files)] == ["encoder"]
    assert [encoding.part for encoding in learned.find(files)] == ["decoder"]


@pytest.mark.parametrize(("family", "options"), MADE)
def test_a_computed_sinusoid_equals_what_the_model_adds(family: str, options: Any) -> None:
    model = tiny.build(family, **options)
    tables = {encoding.part: vectors_of(encoding) for encoding in found(model.config.to_dict())}
    outputs = tiny.heard(model, "embed_positions")
    assert len(outputs) == len(tables)
    for name, expected in outputs.items():
        table = tables["encoder" if "encoder" in name else "decoder"]
        close(table[: len(tiny.IDS)], expected)


def test_the_table_of_ctrl_equals_the_models_buffer() -> None:
    model = tiny.build("ctrl")
    (encoding,) = found(model.config.to_dict())
    theirs = model.pos_encoding.double().numpy()
    close(vectors_of(encoding), theirs)
    assert encoding.part == "decoder"


@pytest.mark.parametrize("config", ASKING)
def test_a_setting_for_a_sinusoid_gives_the_interleaved_one(config: dict[str, object]) -> None:
    (encoding,) = found({**SIZE, **config})
    assert_array_equal(vectors_of(encoding), sinusoid(24, 8))


def test_a_stored_learned_table_overrides_the_sinusoid_of_its_part_alone() -> None:
    table = np.random.default_rng(0).normal(size=(24, 8))
    name = "model.encoder.embed_positions.weight"
    assert found({"model_type": "pegasus", **SIZE}, **{name: table}) == []
    text = {"model_type": "kosmos_2_text_model", "embed_dim": 8, "max_position_embeddings": 24}
    of_images = {"vision_model.embeddings.position_embedding.weight": table}
    (encoding,) = found({"model_type": "kosmos-2", "text_config": text}, **of_images)
    assert encoding.part == "decoder"


# A family's sinusoidal module, what it is built with, and how the atlas hears of the same: a
# config, and which part.
NESTED_PARTS = {"max_position_embeddings": 24, "hidden_size": 8}
MODULES: list[tuple[str, str, tuple[int, ...], dict[str, Any]]] = [
    ("musicgen", "MusicgenSinusoidalPositionalEmbedding", (24, 8),
     {"decoder": {"model_type": "musicgen_decoder", **NESTED_PARTS}}),
    (
        "musicgen_melody",
        "MusicgenMelodySinusoidalPositionalEmbedding",
        (24, 8),
        {"model_type": "musicgen_melody", "decoder": {"model_type": "musicgen_melody_decoder",
         **NESTED_PARTS}},
    ),
    ("kosmos2", "Kosmos2TextSinusoidalPositionalEmbedding", (24, 8, 1),
     {"text_config": {"model_type": "kosmos_2_text_model", "embed_dim": 8,
     "max_position_embeddings": 24}}),
    (
        "kosmos2_5",
        "Kosmos2_5TextSinusoidalPositionalEmbedding",
        (24, 8, 1),
        {"text_config": {"model_type": "kosmos_2_5_text_model", "embed_dim": 8,
         "max_position_embeddings": 24}},
    ),
    ("seamless_m4t", "SeamlessM4TSinusoidalPositionalEmbedding", (24, 8, 0),
     {"model_type": "seamless_m4t", "pad_token_id": 0, **NESTED_PARTS}),
    ("speecht5", "SpeechT5SinusoidalPositionalEmbedding", (24, 8, 1), {"model_type": "speecht5",
     "pad_token_id": 1, "max_text_positions": 24, "hidden_size": 8}),
    ("trocr", "TrOCRSinusoidalPositionalEmbedding", (24, 8, 1), {"model_type": "trocr",
     "use_learned_position_embeddings": False, **NESTED_PARTS}),
    ("speech_to_text", "Speech2TextSinusoidalPositionalEmbedding", (24, 8, 1),
     {"model_type": "speech_to_text", "max_target_positions": 24, "d_model": 8}),
    (
        "qwen2_5_omni",
        "SinusoidsPositionEmbedding",
        (24, 8),
        {"thinker_config": {"audio_config": {"model_type": "qwen2_5_omni_audio_encoder",
         "max_source_positions": 24, "d_model": 8}}},
    ),
    ("informer", "InformerSinusoidalPositionalEmbedding", (24, 8), {"model_type": "informer",
     "context_length": 20, "prediction_length": 4, "d_model": 8}),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "name", "sizes", "config"), MODULES)
def test_a_nested_part_has_its_sinusoid(folder: str, name: str, sizes: Any, config: Any) -> None:
    import importlib

    module = getattr(
        importlib.import_module(f"transformers.models.{folder}.modeling_{folder}"), name
    )(*sizes)
    made = getattr(module, "weights", getattr(module, "positional_embedding", None))
    theirs = (module.create_weight() if made is None else made).double().numpy()
    encoding, *_ = found(config)
    form, first = form_of(encoding, PositionTable), getattr(module, "padding_idx", None)
    close(form.vectors[: 24 - form.first_row], theirs[form.first_row : 24])
    assert form.first_row == (0 if len(sizes) < 3 or first is None else first + 1)
    if form.first_row:  # What it adds to tokens, none of which is padding.
        added = module(torch.tensor([tiny.IDS]))
        close(form.vectors[: len(tiny.IDS)], added.reshape(len(tiny.IDS), -1))


def test_the_sinusoids_of_canary_and_fun_asr_equal_those_of_their_modules() -> None:
    from transformers.models.canary.modeling_canary import CanaryPositionalEmbedding
    from transformers.models.fun_asr_nano.modeling_fun_asr_nano import FunAsrNanoPositionEmbedding

    theirs = CanaryPositionalEmbedding(24, 8)(torch.arange(24)).double().numpy()
    decoder = {"model_type": "canary_decoder", **NESTED_PARTS}
    (encoding,) = found({"model_type": "canary", "decoder_config": decoder})
    close(vectors_of(encoding), theirs)
    assert (encoding.part, "divided by the square root" in encoding.notes[0]) == ("decoder", True)
    theirs = FunAsrNanoPositionEmbedding(24, 12)(torch.zeros(1, 23, 12)).double().numpy()
    sizes = {"num_mel_bins": 4, "num_stacked_frames": 3, "max_position_embeddings": 24}
    audio = {"model_type": "fun_asr_nano_encoder", **sizes}
    (encoding,) = found({"model_type": "fun_asr_nano", "audio_config": audio})
    close(vectors_of(encoding), theirs)
    assert (encoding.part, encoding.modality) == ("audio encoder", "audio")


OMNI = {"model_type": "qwen2_5_omni_audio_encoder", "max_source_positions": 24, "d_model": 8}


@pytest.mark.parametrize("half", [100, 30])
def test_positions_of_sound_are_counted_anew_in_every_chunk(half: int) -> None:
    from transformers.models.qwen2_5_omni.modeling_qwen2_5_omni import chunk_and_pad_features

    _, lengths = chunk_and_pad_features(torch.zeros(4, 500), torch.tensor([500]), half)
    (encoding,) = found({**OMNI, "n_window": half})
    assert f"restart every {int(lengths[0])} frames" in encoding.notes[0]


def speaking() -> Any:
    """SpeechT5 for text to speech, with two factors other than 1."""
    from transformers import SpeechT5Config, SpeechT5ForTextToSpeech

    sizes = {
        f"{side}_{name}": size
        for side in ("encoder", "decoder")
        for name, size in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 8))
    }
    config = SpeechT5Config(
        vocab_size=40,
        hidden_size=8,
        max_speech_positions=20,
        max_text_positions=24,
        speech_decoder_prenet_units=8,
        **sizes,
    )
    model = SpeechT5ForTextToSpeech(config).eval()
    for name, side in (("encoder", 1.5), ("decoder", -0.25)):
        torch.nn.init.constant_(getattr(model.speecht5, name).prenet.encode_positions.alpha, side)
    return model


def test_the_sinusoids_of_speecht5_equal_the_scaled_ones_of_its_modules() -> None:
    model = speaking()
    tables = {
        encoding.part: vectors_of(encoding)
        for encoding in found(model.config.to_dict(), **tiny.arrays(model))
    }
    sides = {"text encoder": model.speecht5.encoder, "speech decoder": model.speecht5.decoder}
    assert {part: len(table) for part, table in tables.items()} == dict(
        zip(sides, (24, 20), strict=True)
    )
    for part, side in sides.items():
        theirs = side.prenet.encode_positions(torch.zeros(1, 12, 8)).detach().double().numpy()[0]
        close(tables[part][:12], theirs)


def test_a_side_of_speecht5_without_a_factor_has_the_plain_sinusoid() -> None:
    sizes = {"hidden_size": 8, "max_speech_positions": 20, "max_text_positions": 24}
    factor = {"speecht5.decoder.prenet.encode_positions.alpha": np.array(2.0)}
    encodings = found({"model_type": "speecht5", **sizes}, **factor)
    assert [encoding.part for encoding in encodings] == ["speech encoder", "speech decoder"]
    assert [encoding.record.is_of_words for encoding in encodings] == [False, False]
