"""Families that transformers does not have, as the code of engines reads their configs.

Numbers of Klear, TeleChat 3, Youtu, PLaMo 3 and OpenELM: those by which modules of mlx-lm 0.32.2
turned a unit vector at position 1, made from the same settings; those of others by hand from the
code that the module under test names.
"""

from typing import Any

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.pair_order import pair_order
from generator.contracts import Json
from generator.encodings import NoEncoding, Rotation
from generator.reading import lint
from generator.reading.find import look
from generator.reading.questions import unresolved

SIZES: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 64, "max_position_embeddings": 512,
    "num_attention_heads": 4, "num_hidden_layers": 4, "num_key_value_heads": 2, "vocab_size": 99,
}  # fmt: skip
TURNED: dict[str, Any] = {**SIZES, "rope_theta": 6e5, "rope_scaling": None}
LATENT: dict[str, Any] = {
    **TURNED, "kv_lora_rank": 16, "num_key_value_heads": 4, "q_lora_rank": 16,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
}  # fmt: skip
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "mscale": 1.0}
DEEPSEEK = {**YARN, "type": "deepseek_yarn", "mscale_all_dim": 1.0}
ALL, FIRST = (0, 1, 2, 3), 1.0
EIGHT = (FIRST, 0.189553, 0.0359304)
# Settings, and by layers: components that turn, first frequencies, factor; the order of pairs.
ROTATIONS: list[tuple[Json, dict[tuple[int, ...], Any], str | None]] = [
    ({**TURNED, "model_type": "Klear"}, {ALL: (16, EIGHT, 1.0)}, "halves"),
    (
        {**TURNED, "model_type": "telechat3", "head_dim": 16, "rope_scaling": YARN},
        {ALL: (16, (FIRST, 0.118471, 0.0089826), 1.138629)},
        "halves",
    ),
    (
        {**LATENT, "model_type": "youtu_llm", "rope_interleave": True},
        {ALL: (8, (FIRST, 0.0359304, 0.00129099), 1.0)},
        "adjacent",
    ),
    (
        {**SIZES, "model_type": "plamo3", "head_dim": 16, "window_size": 32, "rope_theta": 1e6,
         "sliding_window_pattern": 2, "rope_local_theta": 1e4},
        {(1, 3): (16, (FIRST, 0.177828, 0.0316228), 1.0), (0, 2): (16, (FIRST, 0.316228), 1.0)},
        "halves",
    ),
    (
        {"model_type": "openelm", "head_dim": 16, "model_dim": 64, "num_transformer_layers": 4,
         "num_query_heads": [2, 2, 4, 4], "num_kv_heads": [1, 1, 2, 2], "vocab_size": 99,
         "max_context_length": 512, "rope_freq_constant": 10_000},
        {ALL: (16, (FIRST, 0.316228, 0.1), 1.0)},
        "halves",
    ),
    ({**TURNED, "model_type": "grove_moe", "head_dim": 16}, {ALL: (16, EIGHT, 1.0)}, "halves"),
    ({**LATENT, "model_type": "plm"}, {ALL: (8, (FIRST, 0.0359304), 1.0)}, None),
    ({**TURNED, "model_type": "sarvam_moe", "head_dim": 16}, {ALL: (16, EIGHT, 1.0)}, "halves"),
    (
        {**LATENT, "model_type": "sarvam_mla", "rope_scaling": DEEPSEEK},
        {ALL: (8, (FIRST,), 1.0)},
        "adjacent",
    ),
    (
        {**TURNED, "model_type": "step3_text", "head_dim": 16, "max_position_embedding": 512},
        {ALL: (16, EIGHT, 1.0)},
        "halves",
    ),
    (
        {**TURNED, "model_type": "smallthinker", "head_dim": 16, "rope_layout": [0, 1, 1, 1],
         "sliding_window_layout": [0, 1, 0, 1], "sliding_window_size": 32},
        {(1, 2, 3): (16, EIGHT, 1.0)},
        "halves",
    ),
    (
        {**TURNED, "model_type": "llada2_moe", "head_dim": 16, "partial_rotary_factor": 0.5},
        {ALL: (8, (FIRST, 0.0359304), 1.0)},
        "halves",
    ),
    ({**TURNED, "model_type": "sdar", "head_dim": 16}, {ALL: (16, EIGHT, 1.0)}, "halves"),
    (
        {**TURNED, "model_type": "zaya", "cca": True, "head_dim": 16, "num_hidden_layers": 8,
         "partial_rotary_factor": 0.5, "rope_scaling": False, "sliding_window": None},
        {(0, 2, 4, 6): (8, (FIRST, 0.0359304), 1.0)},
        "halves",
    ),
    (
        {**TURNED, "model_type": "nanbeige", "head_dim": 16, "num_loops": 2},
        {tuple(range(8)): (16, EIGHT, 1.0)},
        "halves",
    ),
    (
        {**TURNED, "model_type": "nanbeige", "head_dim": 16, "loop_loss_weights": [0.5, 0.5]},
        {tuple(range(12)): (16, EIGHT, 1.0)},
        "halves",
    ),
    (
        {**TURNED, "model_type": "mimo_v2", "head_dim": 16, "hybrid_layer_pattern": [0, 1, 1, 0],
         "sliding_window": 32, "swa_rope_theta": 1e4, "rope_scaling": {"type": "default"}},
        {(0, 3): (16, EIGHT, 1.0), (1, 2): (16, (FIRST, 0.316228, 0.1), 1.0)},
        "halves",
    ),
    # By build_2d_rope of Tencent-Hunyuan/HunyuanImage-3.0 at 1d011c8, run on positions of a text.
    (
        {**TURNED, "model_type": "hunyuan_image_3_moe", "attention_head_dim": 8,
         "rope_scaling": {"type": "custom"}, "use_rotary_pos_emb": True},
        {ALL: (8, (FIRST, 0.0359304, 0.00129099), 1.0)},
        "halves",
    ),
]  # fmt: skip
# Its factor is √(1 + ln(512 / 128) / ln 128), and all frequencies are halved.
LONG = {"long_factor": [2.0] * 8, "short_factor": [2.0] * 8, "rope_type": "longrope",
        "original_max_position_embeddings": 128}  # fmt: skip
VOX_CPM = {
    "residual_lm_num_layers": 8, "encoder_config": {"hidden_dim": 64, "num_layers": 2},
    "lm_config": {**SIZES, "kv_channels": 16, "rope_scaling": LONG, "rope_theta": 1e4,
                  "scale_depth": 1.4, "use_mup": False},
}  # fmt: skip
KIMI = {"head_dim": 16, "num_heads": 4, "num_kv_heads": None, "short_conv_kernel_size": 4}
SOLAR = {**SIZES, "model_type": "solar_open2", "head_dim": 16, "linear_attn_config": KIMI}


def family(settings: Json) -> str:
    return str(settings["model_type"])


@pytest.mark.parametrize(
    "changed", [{"rope_scaling": {"type": "linear", "factor": 2.0}}, {"use_rotary_pos_emb": False}]
)
def test_what_the_code_of_hunyuan_image_3_refuses_is_not_read(changed: Json) -> None:
    settings = next(one for one, *_ in ROTATIONS if family(one) == "hunyuan_image_3_moe")
    found = look(ConfigAlone(settings, "own")).all
    assert any("by the row of a token" in note for one in found for note in one.notes)
    files = ConfigAlone({**settings, **changed}, "own")
    assert any("is unknown" in one for one in unresolved(files, look(files)))


def test_what_the_code_of_hunyuan_image_3_does_not_read_is_no_question() -> None:
    settings = next(one for one, *_ in ROTATIONS if family(one) == "hunyuan_image_3_moe")
    scaling = {"type": "custom", "alpha": 1000.0, "beta_fast": 32, "factor": 1.0}
    files = ConfigAlone({**settings, "rope_type": "2d", "rope_scaling": scaling}, "own")
    assert not any("alpha" in one or "rope_type" in one for one in unresolved(files, look(files)))
    assert all(one.rule != "unread-key" for one in lint.findings(files, look(files)))


@pytest.mark.parametrize(
    ("settings", "expected", "order"), ROTATIONS, ids=[family(one[0]) for one in ROTATIONS]
)
def test_rotations_are_those_of_the_code_of_engines(
    settings: Json, expected: dict[tuple[int, ...], Any], order: str | None
) -> None:
    files = ConfigAlone(settings, "own")
    found = look(files)
    by_layers = {one.layers: one.form for one in found.all if isinstance(one.form, Rotation)}
    assert set(by_layers) == set(expected)
    for layers, (size, frequencies, factor) in expected.items():
        form = by_layers[layers]
        assert form.rotary_dim == size
        turned = [*form.parameters["inverse_frequencies"]][: len(frequencies)]  # type: ignore[misc]
        assert turned == pytest.approx(frequencies, rel=1e-5)
        assert form.attention_factor == pytest.approx(factor, rel=1e-6)
    assert pair_order(files, found.all) == (order, False)
    assert not any("is unknown" in one for one in unresolved(files, found))


@pytest.mark.parametrize(
    ("settings", "before"),
    [
        (ROTATIONS[3][0], [31, None, 31, None]),
        (ROTATIONS[10][0], [None, 31, None, 31]),
        *(({**TURNED, "model_type": name, "head_dim": 16, "sliding_window": 32}, [])
          for name in ("llada2_moe", "sdar", "sdar_moe")),
    ],
)  # fmt: skip
def test_windows_are_those_of_the_code_and_blocks_of_diffusion_are_not_mapped(
    settings: Json, before: list[int | None]
) -> None:
    files = ConfigAlone(settings, "own")
    assert [layer.before for layer in layer_map(files, look(files).all)] == before


@pytest.mark.parametrize(
    ("given", "recurrent", "rotates"),
    [
        ({"gqa_layers": [0, 2]}, {1, 3}, False),
        ({"gqa_interval": 3}, {1, 2, 3}, False),
        ({"gqa_interval": 1, "use_rope": True, "rope_theta": 1e4}, {1, 3}, True),
    ],
)
def test_solar_open_2_rotates_only_where_a_setting_asks(
    given: Json, recurrent: set[int], rotates: bool
) -> None:
    files = ConfigAlone({**SOLAR, **given}, "own")
    found = look(files).all
    layers = layer_map(files, found)
    assert {layer.index for layer in layers if "recurrent" in layer.mixers} == recurrent
    forms = {type(one.form) for one in found}
    assert (Rotation in forms) == rotates
    assert forms <= {Rotation, NoEncoding}


def test_half_of_each_head_of_moirai_2_turns() -> None:
    """Turned by QueryKeyProjection of uni2ts 2.0.0, run on unit vectors at position 1."""
    series = {"d_ff": 1024, "d_model": 384, "max_seq_len": 512, "num_layers": 6,
              "num_predict_token": 4, "patch_size": 16, "scaling": True}  # fmt: skip
    files = ConfigAlone(series, "own")
    [form] = [one.form for one in look(files).all]
    assert isinstance(form, Rotation)
    assert (form.rotary_dim, len(layer_map(files, look(files).all))) == (32, 6)
    turned = [*form.parameters["inverse_frequencies"]]  # type: ignore[misc]
    assert turned[:4] == pytest.approx([1.0, 0.562341, 0.316228, 0.177828], rel=1e-5)
    assert turned[-1] == pytest.approx(0.000178, rel=1e-2)


def test_the_language_model_of_vox_cpm_is_read_and_its_encoder_is_not() -> None:
    files = ConfigAlone(VOX_CPM, "own")
    found = look(files)
    [form] = [one.form for one in found.all]
    assert isinstance(form, Rotation)
    turned = [*form.parameters["inverse_frequencies"]][:2]  # type: ignore[misc]
    assert turned == pytest.approx([0.5, 0.158114], rel=1e-5)
    assert form.attention_factor == pytest.approx(1.133893, rel=1e-6)
    assert any("encoder_config was not understood" in one for one in unresolved(files, found))
