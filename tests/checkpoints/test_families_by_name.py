"""Families whose configs name what has their sizes: another model, or a function that makes theirs.

The configs are rebuilt by hand, with the keys of published ones.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.model.facts import facts
from generator.checkpoints.model.families_by_name import LANGUAGE_MODELS
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.pair_order import pair_order
from generator.contracts import Comparison, Json
from generator.encodings import Rotation
from generator.encyclopedia.known_models import known_model
from generator.reading import lint
from generator.reading.comparison import compared
from generator.reading.evidence import look_closely
from generator.reading.find import look
from generator.reading.questions import unresolved
from generator.reading.sides import Side

SHIPPED = "HuggingFaceTB/SmolVLM2-2.2B-Instruct"
SMOL_VLA: dict[str, Any] = {
    "type": "smolvla", "n_obs_steps": 1,
    "input_features": {"observation.state": {"type": "STATE", "shape": [6]},
                       "observation.image": {"type": "VISUAL", "shape": [3, 256, 256]}},
    "output_features": {"action": {"type": "ACTION", "shape": [6]}},
    "normalization_mapping": {"VISUAL": "IDENTITY", "STATE": "MEAN_STD", "ACTION": "MEAN_STD"},
    "chunk_size": 50, "n_action_steps": 50, "max_state_dim": 32, "max_action_dim": 32,
    "resize_imgs_with_padding": [512, 512], "empty_cameras": 0, "tokenizer_max_length": 48,
    "num_steps": 10, "use_cache": True, "freeze_vision_encoder": True, "train_expert_only": True,
    "vlm_model_name": "HuggingFaceTB/SmolVLM2-500M-Video-Instruct", "load_vlm_weights": True,
    "add_image_special_tokens": False, "attention_mode": "cross_attn", "prefix_length": 0,
    "pad_language_to": "max_length", "num_expert_layers": 0, "num_vlm_layers": 16,
    "self_attn_every_n_layers": 2, "expert_width_multiplier": 0.75, "min_period": 0.004,
    "max_period": 4.0,
}  # fmt: skip
INTERN_VIDEO: dict[str, Any] = {
    "TextEncoders": {
        "bert_large": {"config": "configs/config_bert_large.json", "d_model": 1024,
                       "fusion_layer": 19, "name": "bert_large"},
    },
    "architectures": ["InternVideo2_Stage2"], "max_txt_l": 40, "num_frames": 4,
    "num_frames_test": 4, "origin_num_frames": 4, "size_t": 224,
    "model": {
        "model_cls": "InternVideo2_Stage2", "embed_dim": 512, "temp": 0.07,
        "multimodal": {"enable": True}, "find_unused_parameters": False,
        "text_encoder": {"config": "configs/config_bert_large.json", "d_model": 1024,
                         "fusion_layer": 19, "name": "bert_large"},
        "vision_encoder": {
            "name": "pretrain_internvideo2_1b_patch14_224", "img_size": 224, "num_frames": 4,
            "tubelet_size": 1, "patch_size": 14, "d_model": 1408, "clip_embed_dim": 768,
            "clip_teacher_embed_dim": 3200, "clip_teacher_final_dim": 768, "clip_norm_type": "l2",
            "clip_return_layer": 6, "clip_student_return_interval": 1, "pretrained": None,
            "use_checkpoint": True, "checkpoint_num": 40, "clip_input_resolution": 224,
            "sep_image_video_pos_embed": True, "keep_temporal": False, "only_mask": True,
        },
    },
}  # fmt: skip
UNKNOWN = "The settings name no model type"


def said(settings: Json) -> str:
    files = ConfigAlone(settings, "own")
    found = look(files)
    notes = [note for one in found.all for note in one.notes]
    return " ".join([*unresolved(files, found), *notes])


def test_smol_vla_says_what_its_code_does_and_which_model_has_its_sizes() -> None:
    """Which layers turn what, by which places, and who sees whom: as smolvlm_with_expert.py and
    make_att_2d_masks of lerobot 7427f31801f9 did with models of 4 and of 8 layers.
    """
    files = ConfigAlone(SMOL_VLA, "own")
    assert look(files).all == []
    text = said(SMOL_VLA)
    assert "in the config of HuggingFaceTB/SmolVLM2-500M-Video-Instruct (vlm_model_name)" in text
    assert "whole heads turn, their halves as pairs, by base 10,000, whatever" in text
    assert (
        "in its first 16 layers (in all, if it has fewer) and in those of the action expert" in text
    )
    assert "In layers 0, 2, … 14 (one in 2), each of the 50 actions of a step sees all" in text
    assert "In layers 1, 3, … 15 (one in 2), the actions see no other action" in text
    assert "encoder of images is that of the model named, whose settings were not read" in text
    assert UNKNOWN not in text
    assert "chunk_size" not in text
    assert {one.rule for one in lint.findings(files, look(files))} == {"not-understood"}


def test_smol_vla_has_the_sizes_of_a_model_whose_config_is_shipped() -> None:
    """Turned by apply_rope of lerobot 7427f31801f9, run on a unit vector at position 1."""
    files = ConfigAlone({**SMOL_VLA, "vlm_model_name": SHIPPED}, "own")
    [found] = look_closely(files).all
    assert isinstance(found.form, Rotation)
    assert (found.form.rotary_dim, found.layers) == (64, tuple(range(16)))
    turned = [*found.form.parameters["inverse_frequencies"]]  # type: ignore[misc]
    assert turned[:4] == pytest.approx([1.0, 0.749894, 0.562341, 0.421697], rel=1e-5)
    assert turned[-1] == pytest.approx(0.000133352, rel=1e-5)
    assert found.origins["base"].default_of == "the code of LeRobot"
    assert found.origins["head_dim"].keys == ("vlm_model_name",)
    assert f"Sizes are from the published config of {SHIPPED}" in " ".join(found.notes)
    assert layer_map(files, [found]) == ()
    assert pair_order(files, [found]) == ("halves", False)
    for model, sizes in LANGUAGE_MODELS.items():
        published = known_model(model)
        assert published is not None
        text = published.settings["text_config"]
        assert sizes == {name: text[name] for name in sizes}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"num_vlm_layers": 4}, "in its first 4 layers"),
        ({"num_vlm_layers": 0}, "in all of its layers and"),
        ({"attention_mode": "self_attn"}, "In layers 0–15, each of the 50 actions"),
        ({"self_attn_every_n_layers": -1}, "In layers 0–15, the actions see no other action"),
        ({"chunk_size": 10}, "each of the 10 actions"),
        ({"chunk_size": 1}, "one in 2), the action of a step sees all of these and"),
        ({"num_vlm_layers": 20, "vlm_model_name": SHIPPED}, "takes part in layers 0–19"),
        ({"num_vlm_layers": 99, "vlm_model_name": SHIPPED}, "takes part in layers 0–23"),
        ({"self_attn_every_n_layers": -1, "num_expert_layers": 8}, "0, 2, … 14 (one in 2), the"),
        # As other policies have it, and as the code cannot run it.
        ({"type": "pi0"}, UNKNOWN),
        ({"type": "pi0_fast"}, UNKNOWN),
        ({"num_expert_layers": 8}, UNKNOWN),
        ({"num_expert_layers": 3}, UNKNOWN),
        ({"num_vlm_layers": "16"}, UNKNOWN),
        ({"chunk_size": 0}, UNKNOWN),
        ({"vlm_model_name": None}, UNKNOWN),
    ],
    ids=str,
)
def test_another_setting_of_smol_vla_says_another_thing(changed: Json, expected: str) -> None:
    text = said({**SMOL_VLA, **changed})
    assert expected in text
    assert ("LeRobot" in text) == (expected != UNKNOWN)


def test_defaults_of_smol_vla_are_those_of_its_code() -> None:
    left_out = ("num_vlm_layers", "num_expert_layers", "self_attn_every_n_layers", "chunk_size",
                "attention_mode")  # fmt: skip
    shorter = {name: value for name, value in SMOL_VLA.items() if name not in left_out}
    assert said(shorter) == said(SMOL_VLA)


def test_two_files_of_smol_vla_are_compared_as_far_as_they_tell() -> None:
    known = {**SMOL_VLA, "vlm_model_name": SHIPPED}

    def to(other: Json) -> Comparison:
        files = ConfigAlone(known, "a"), ConfigAlone(other, "b")
        return compared(*map(Side.of, "AB", files))

    same = to(known)
    assert same.differences == ()
    assert any("no map of layers can say it of its family (smolvla)" in one for one in same.untold)
    assert to({**known, "num_vlm_layers": 8}).differences


def of_videos(**changed: Any) -> dict[str, Any]:
    """The config with other settings of its encoder of videos."""
    model = INTERN_VIDEO["model"]
    encoder = {**model["vision_encoder"], **changed}
    return {**INTERN_VIDEO, "model": {**model, "vision_encoder": encoder}}


LARGE = "pretrain_internvideo2_6b_patch14_224"
# As the components of pos_embed differed by place, as that function made it.
PARTS = "a quarter of the components tells the time, three eighths the column and three eighths the"
OWN, MEAN = "An image alone gets a table of its own", "the mean of its rows at all times"


@pytest.mark.parametrize(
    ("changed", "n_layers", "shapes", "expected"),
    [
        ({}, 40, [(1, 1025, 1408), (1, 257, 1408)], (OWN, "at 4 times", PARTS)),
        ({"num_frames": 8, "sep_image_video_pos_embed": False}, 40, [(1, 2049, 1408)],
         (MEAN, "at 8 times")),
        ({"num_frames": 8, "tubelet_size": 2}, 40, [(1, 1025, 1408), (1, 257, 1408)],
         (OWN, "at 4 times, one after another, of 2 frames each")),
        ({"name": LARGE}, 48, [(1, 1025, 3200), (1, 257, 3200)], (OWN, "at 4 times")),
        # Of which that function reads nothing.
        ({"img_size": 448, "patch_size": 16, "d_model": 99}, 40,
         [(1, 1025, 1408), (1, 257, 1408)], ("224 × 224 pixels alone", "with 16 × 16 patches")),
    ],
    ids=str,
)  # fmt: skip
def test_intern_video_2_has_the_tables_that_its_function_makes(
    changed: Json, n_layers: int, shapes: list[tuple[int, ...]], expected: tuple[str, ...]
) -> None:
    """Shapes and depths: of models that these functions of OpenGVLab/InternVideo 3965eef16e2d made
    of the same settings, with blocks that do nothing.
    """
    files = ConfigAlone(of_videos(**changed), "own")
    found = look(files)
    assert not found.measured
    assert [one.provenance.shape for one in found.all] == shapes
    layers = layer_map(files, found.all)
    assert {(layer.type, layer.before, layer.after) for layer in layers} == {
        ("full attention", None, None)
    }
    assert len(layers) == n_layers
    text = said(of_videos(**changed))
    assert all(one in text for one in expected)
    assert "model.text_encoder was not understood" in text
    assert UNKNOWN not in text
    assert {one.rule for one in lint.findings(files, found)} == {"not-understood"}


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "pretrain_internvideo2_1B_patch14_224"},  # Of another folder of the same code.
        {"name": "internvideo2_cat_base_patch14_224"},
        {"name": None},
        {"num_frames": "${num_frames}"},
        {"num_frames": 0},
        {"num_frames": 10**9},
        {"tubelet_size": None},
        {"tubelet_size": 8},
        {"sep_image_video_pos_embed": None},
    ],
    ids=str,
)
def test_of_another_function_or_without_its_settings_nothing_is_taken(changed: Json) -> None:
    files = ConfigAlone(of_videos(**changed), "own")
    assert look(files).all == []
    assert UNKNOWN in said(of_videos(**changed))


def test_a_config_with_a_model_of_another_kind_is_read_as_before() -> None:
    llama = {"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_attention_heads": 4,
             "num_hidden_layers": 2, "vocab_size": 99, "model": {"name": "own"}}  # fmt: skip
    assert [one.scheme for one in look(ConfigAlone(llama, "own")).all] == ["rotary"]
    named = {**INTERN_VIDEO, "model_type": "internvideo2", "model": {"name": "own"}}
    assert "“other internvideo2” is unknown" in said(named)


def test_weights_of_intern_video_2_have_the_same_tables(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    shapes = {"pos_embed": (1, 513, 1408), "img_pos_embed": (1, 257, 1408),
              "clip_pos_embed": (1, 513, 1408), "clip_img_pos_embed": (1, 257, 1408)}  # fmt: skip
    tensors = {
        f"vision_encoder.{name}": generator.normal(size=shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(of_videos(num_frames=2)), "utf-8")
    files = FolderFiles(tmp_path, "own", Choice(name="model.safetensors"))
    found = {str(one.provenance.tensor).rpartition(".")[2]: one for one in look(files).all}
    assert {name: one.form.numbers.shape for name, one in found.items()} == {
        "pos_embed": (512, 1408),
        "img_pos_embed": (256, 1408),
    }
    assert any("at 2 times" in note for note in found["pos_embed"].notes)
    alone = look(ConfigAlone(of_videos(num_frames=2), "own")).all
    assert {one.key for one in alone} == {one.key for one in found.values()}
    assert {name: one.part for name, one in found.items()} == {
        "pos_embed": "vision",
        "img_pos_embed": "image",
    }


@pytest.mark.parametrize(
    ("settings", "family"),
    [
        (SMOL_VLA, "smolvla"),
        (INTERN_VIDEO, "internvideo2"),
        ({**SMOL_VLA, "type": "pi0"}, "unknown"),
        ({"use_mup": True, "scale_depth": 1.4}, "unknown"),
    ],
)
def test_a_page_names_the_family_that_is_known_by_a_name(settings: Json, family: str) -> None:
    [first, *_] = facts(ConfigAlone(settings, "own").resolved, [])
    assert (first.name, first.value) == ("Family", family)


def test_tables_that_were_not_read_are_compared_by_their_shapes() -> None:
    def differing(**changed: Any) -> list[str]:
        files = ConfigAlone(INTERN_VIDEO, "a"), ConfigAlone(of_videos(**changed), "b")
        return [one.text for one in compared(*map(Side.of, "AB", files)).differences]

    assert differing(pretrained="own.pth") == []
    [text] = differing(num_frames=8)
    assert text == "Learned table (vision) has 1,024 × 1,408 numbers in A and 2,048 × 1,408 in B."
    assert differing(name=LARGE)[0] == "The vision has 40 layers in A and 48 layers in B."
