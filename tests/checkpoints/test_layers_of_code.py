"""Layer maps of families that are hard to run whole, against the masks, modules and layers of their
code in transformers.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from transformers import CONFIG_MAPPING, DynamicCache
from transformers.masking_utils import create_sliding_window_causal_mask

from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.stacks import resolved
from generator.contracts import Layer, ModelConfig
from generator.reading.find import find
from tests.support import DictFiles

N = 40
CODECS = tuple(
    f"{codec}_{side}" for codec in ("mimi", "pocket_tts_audio_tokenizer")
    for side in ("encoder", "decoder")
)  # fmt: skip
SMALL = {
    "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 8, "num_hidden_layers": 2,
}  # fmt: skip


def layers_of(config: dict[str, Any]) -> tuple[Layer, ...]:
    files = DictFiles(config)
    return layer_map(files, find(files))


def code(family: str, folder: str = "") -> Any:
    return import_module(f"transformers.models.{folder or family}.modeling_{folder or family}")


def reach(sees: torch.Tensor) -> tuple[int, int]:
    """Largest distances before and after at which ``sees``, (n_positions, n_positions), is true."""
    offsets = np.subtract.outer(range(len(sees)), range(len(sees)))[sees.numpy()]
    return int(offsets.max()), int(-offsets.min())


def influence(output: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """Which of 6 inputs of width 16 change which outputs: (n_positions, n_positions), outputs
    first.
    """
    random = torch.Generator().manual_seed(0)
    hidden, weights = torch.randn(1, 6, 16, generator=random), torch.randn(16, generator=random)
    jacobian: Any = torch.autograd.functional.jacobian
    rows: torch.Tensor = jacobian(lambda states: output(states)[0] @ weights, hidden)
    return rows[:, 0].abs().sum(-1) > 1e-9


@pytest.mark.parametrize("frames", [800, 400])
@pytest.mark.parametrize(
    ("family", "folder"),
    [("qwen3_asr_encoder", "qwen3_asr"), ("qwen3_omni_moe_audio_encoder", "qwen3_omni_moe")],
)
def test_qwen_3_hears_in_chunks_of_so_many_frames(family: str, folder: str, frames: int) -> None:
    chunks, length = torch.full((20,), 100), torch.tensor([2000])
    bounds = code(family, folder).get_audio_cu_seqlens(chunks, length, frames, 50).diff()
    layers = layers_of({"model_type": family, "encoder_layers": 2, "n_window_infer": frames})
    chunk = int(bounds[0]) - 1
    assert {(*layer.mixers, layer.before, layer.after) for layer in layers} == {
        ("chunked", chunk, chunk)
    }


@pytest.mark.parametrize("half", [100, 30])
def test_qwen_2_5_omni_hears_in_chunks_of_two_windows_of_frames(half: int) -> None:
    bounds = code("qwen2_5_omni").get_audio_cu_seqlens(torch.full((3,), 2 * half)).diff()
    sizes = {"encoder_layers": 2, "n_window": half}
    layers = layers_of({"model_type": "qwen2_5_omni_audio_encoder", **sizes})
    chunk = int(bounds[0]) - 1
    assert {(layer.before, layer.after) for layer in layers} == {(chunk, chunk)}


@pytest.mark.parametrize(
    ("family", "settings", "parts"),
    [
        ("blt", {"local_attention_window_len": 7}, ("encoder_config", ["decoder", "encoder"])),
        *((family, {"sliding_window": 7}, ("", [family.split("_")[-1]])) for family in CODECS),
    ],
)
def test_local_encoders_and_decoders_do_not_look_ahead(
    family: str, settings: dict[str, Any], parts: tuple[str, list[str]]
) -> None:
    name, expected = parts
    config = CONFIG_MAPPING[family](**settings)
    masked = getattr(config, name) if name else config
    masked._attn_implementation = "eager"
    mask = create_sliding_window_causal_mask(
        masked, torch.zeros(1, N, 4), None, None, position_ids=torch.arange(N)[None]
    )
    every_layer = layers_of({"model_type": family, **settings})
    layers = [layer for layer in every_layer if layer.part in expected]
    assert sorted({layer.part for layer in layers}) == expected
    assert {(layer.before, layer.after) for layer in layers} == {reach(mask[0, 0] == 0)} == {(6, 0)}


@pytest.mark.parametrize(
    ("family", "folder", "encoder"),
    [("tvp", "tvp", "TvpEncoder"), ("layoutxlm", "layoutlmv2", "LayoutLMv2Encoder")],
)
def test_encoders_of_text_and_image_see_both_sides(family: str, folder: str, encoder: str) -> None:
    config = CONFIG_MAPPING[family](
        **SMALL, has_relative_attention_bias=False, has_spatial_attention_bias=False
    )
    layers = getattr(code(family, folder), encoder)(config).eval()
    assert influence(lambda states: layers(states, torch.zeros(1, 1, 1, 6))[0]).all()
    assert {
        (layer.part, layer.before, layer.after)
        for layer in layers_of({"model_type": family, **SMALL})
    } == {("encoder", None, None)}


def test_words_are_timed_by_an_encoder_of_sound() -> None:
    config = CONFIG_MAPPING["nemotron3_5_transcribe_word_timestamp"](**SMALL, upsampling_factor=1)
    timing = (
        code("", "nemotron3_5_transcribe").Nemotron3_5TranscribeWordTimestampModel(config).eval()
    )
    assert influence(lambda states: timing(states, torch.ones(1, 6)).last_hidden_state).all()
    (stack,) = resolved(
        ModelConfig({"model_type": "nemotron3_5_transcribe_word_timestamp", **SMALL}, "x")
    ).stacks
    assert (stack.part, stack.kind, stack.modality) == ("encoder", "encoder", "audio")


@pytest.mark.parametrize(
    ("family", "folder", "decoder"),
    [("dia_decoder", "dia", "DiaDecoder"), ("canary_decoder", "canary", "CanaryDecoder")],
)
def test_a_decoder_that_says_it_is_encoder_and_decoder_has_one_stack(
    family: str, folder: str, decoder: str
) -> None:
    config = CONFIG_MAPPING[family]()
    assert config.is_encoder_decoder
    with torch.device("meta"):
        n_layers = len(getattr(code(family, folder), decoder)(config).layers)
    layers = layers_of({"model_type": family})
    assert [(layer.part, layer.after) for layer in layers] == [("decoder", 0)] * n_layers


def test_layers_of_fun_asr_have_a_convolution_beside_attention_to_both_sides() -> None:
    config = CONFIG_MAPPING["fun_asr_nano_encoder"](
        **SMALL, num_mel_bins=4, num_timestamp_prediction_layers=1
    )
    layer = code("", "fun_asr_nano").FunAsrNanoEncoderLayer(config).eval()
    attention, width = layer.self_attn, layer.self_attn.fsmn.conv.kernel_size[0]
    assert influence(
        lambda states: attention(states, input_features_mask=torch.ones(1, 6))[0]
    ).all()
    assert width > 1
    layers = layers_of({"model_type": "fun_asr_nano_encoder", "num_hidden_layers": 2})
    assert {(layer.mixers, layer.before, layer.after) for layer in layers} == {
        (("full", "convolution"), None, None)
    }


@pytest.mark.parametrize("index", [0, 2])
def test_heads_of_dots_3_are_as_wide_as_their_kind_of_layer_has_them(index: int) -> None:
    config = CONFIG_MAPPING["dots3_note_text"]()
    with torch.device("meta"):
        attention = code("", "dots3_note").Dots3NoteTextAttention(config, index)
    encodings = [
        encoding
        for encoding in find(DictFiles({"model_type": "dots3_note_text"}))
        if index in (encoding.layers or ())
    ]
    (parameters,) = [encoding.record.parameters for encoding in encodings]
    assert (parameters["head_dim"], parameters["rotary_dim"]) == (
        attention.qk_head_dim,
        attention.qk_rope_head_dim,
    )


def test_without_kinds_of_layers_those_of_lfm_2_with_experts_are_not_known() -> None:
    assert CONFIG_MAPPING["lfm2_moe"]().layer_types is None
    assert layers_of({"model_type": "lfm2_moe"}) == ()
    assert [layer.mixers for layer in layers_of({"model_type": "lfm2_moe", "num_hidden_layers": 2,
        "layer_types": ["conv", "full_attention"]})] == [
        ("convolution",), ("full",),
    ]  # fmt: skip


def test_how_far_frames_of_a_streaming_encoder_see_depends_on_their_place_in_a_chunk() -> None:
    sees = code("", "nemotron_asr_streaming").chunked_limited_mask_function(4, 1)
    rows = [
        [bool(sees(0, 0, torch.tensor(query), torch.tensor(key))) for key in range(8)]
        for query in (6, 7)
    ]
    # 4 before and 1 after; 5 before and none after.
    assert rows == [[False, False, True, True, True, True, True, True]] * 2
    assert layers_of({"model_type": "nemotron_asr_streaming_encoder"}) == ()


@pytest.mark.parametrize(
    "family",
    ["gemma4_unified_assistant", "nemotron3_diarization", "nemotron3_5_transcribe_audio", "pi0",
     "blip", "diffusion_gemma"],
)  # fmt: skip
def test_the_stacks_within_a_family_that_is_not_mapped_are_not_mapped(family: str) -> None:
    found = resolved(ModelConfig({"model_type": family}, "x")).stacks
    assert any(stack.config.count("num_hidden_layers") for stack in found)
    assert layers_of({"model_type": family}) == ()


def test_muse_spark_hears_with_convolutions_alone() -> None:
    config = CONFIG_MAPPING["muse_spark_audio"]()
    with torch.device("meta"):
        names = {
            type(module).__name__
            for module in code("", "muse_spark").MuseSparkAudioModel(config).modules()
        }
    assert "MuseSparkAudioCausalConv1d" in names
    assert not any("Attention" in name for name in names)
    assert {layer.part for layer in layers_of({"model_type": "muse_spark"})} == {"decoder"}


@pytest.mark.parametrize("family", ["deepseek_ocr2_encoder", "deepseek_ocr2_vision"])
def test_the_encoder_of_images_of_deepseek_ocr_2_is_not_shown_as_one_of_text(family: str) -> None:
    whole = resolved(ModelConfig({"model_type": family}, "x")).stacks
    assert [
        stack.modality for stack in whole if stack.config.family == "deepseek_ocr2_encoder"
    ] == ["image"]
    assert layers_of({"model_type": family}) == ()


@pytest.mark.parametrize(
    ("family", "model"),
    [
        ("mimi", "Mimi"),
        ("neucodec", "NeuCodec"),
        ("pocket_tts_audio_tokenizer", "PocketTTSAudioTokenizer"),
        ("xcodec2", "Xcodec2"),
    ],
)
def test_a_codec_of_two_stacks_is_of_sound_and_not_mapped(family: str, model: str) -> None:
    assert "audio" in getattr(code(family), f"{model}Model").input_modalities
    assert {encoding.modality for encoding in find(DictFiles({"model_type": family}))} == {"audio"}
    assert layers_of({"model_type": family}) == ()


def test_the_movements_of_a_robot_are_not_shown_as_sound() -> None:
    assert {
        stack.modality for stack in resolved(ModelConfig({"model_type": "pi0"}, "x")).stacks
    } == {"text"}


@pytest.mark.parametrize(
    ("family", "part"),
    [("qwen2_5_omni", "talker"), ("qwen3_omni_moe", "talker"), ("dia", "decoder"), ("csm",
      "depth decoder"), ("moshi", "depth decoder"),
     ("csm_depth_decoder_model", "decoder"), ("musicgen_decoder", "decoder"),
      ("qwen3_omni_moe_talker_code_predictor", "decoder")],
)  # fmt: skip
def test_a_decoder_of_codes_of_sound_makes_sound(family: str, part: str) -> None:
    made = [
        stack
        for stack in resolved(ModelConfig({"model_type": family}, "x")).stacks
        if stack.part == part and "vocab_size" in stack.config
    ]
    assert {stack.modality for stack in made} == {"audio"}


def test_the_positions_of_decision_transformer_get_one_row_of_its_table() -> None:
    config = CONFIG_MAPPING["decision_transformer"](
        **SMALL, n_layer=1, n_head=2, max_position_embeddings=9, state_dim=2, act_dim=2
    )
    model = code("decision_transformer").DecisionTransformerModel(config).eval()
    states, times = torch.ones(1, 3, 2), torch.arange(3)[None]
    inputs = dict.fromkeys(("states", "actions"), states) | {
        "rewards": None, "returns_to_go": states[..., :1], "timesteps": times,
    }  # fmt: skip
    with torch.no_grad():
        before = model(**inputs).action_preds
        model.encoder.wpe.weight[1:] += 1.0
        assert torch.equal(model(**inputs).action_preds, before)
    arrays = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    config = {"model_type": "decision_transformer", "n_layer": 1, "hidden_size": 16}
    assert find(DictFiles(config, arrays)) == []


def test_kyutai_hears_a_stream_through_a_window() -> None:
    """A whole sequence at once is not limited in transformers; step by step, as in a stream, its
    cache holds the window.
    """
    settings = {
        "hidden_size": 16, "num_attention_heads": 2, "ffn_dim": 8, "num_hidden_layers": 1,
        "sliding_window": 3, "vocab_size": 9, "num_codebooks": 1, "codebook_vocab_size": 9,
        "pad_token_id": 0, "audio_bos_token_id": 1, "audio_pad_token_id": 2,
    }  # fmt: skip
    config = CONFIG_MAPPING["kyutai_speech_to_text"](**settings)
    model = code("kyutai_speech_to_text").KyutaiSpeechToTextModel(config).eval()

    def stream(states: torch.Tensor) -> torch.Tensor:
        cache = DynamicCache(config=config)
        steps = [
            model(None, None, None, cache, states[:, [step]]).last_hidden_state
            for step in range(states.shape[1])
        ]
        return torch.cat(steps, dim=1)

    layers = layers_of({"model_type": "kyutai_speech_to_text", **settings})
    assert (
        {(layer.before, layer.after) for layer in layers} == {reach(influence(stream))} == {(2, 0)}
    )
