import json
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from transformers import CONFIG_MAPPING

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.resolved import given, quietly
from generator.encodings import Rotation
from generator.encyclopedia.known_models import KnownModel, known_model, known_models
from generator.numerics.arrays import Floats
from generator.reading.find import look
from generator.schemes import rotary
from generator.schemes.rotary_2d import find
from generator.schemes.rotary_2d.families import ROWS_AND_COLUMNS
from tests.support import DictFiles, form_of

SINGLE = 1e-6  # Relative; models have frequencies in single precision.
SIZES: dict[str, Any] = {"hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 1,
                         "intermediate_size": 16}  # fmt: skip
ENDS = ("_vision_encoder", "_vision_model", "_vision")


def config_of(model_type: str, **options: Any) -> Any:
    from transformers import CONFIG_MAPPING

    return CONFIG_MAPPING[model_type](**options)


def rotations(config: Mapping[str, Any]) -> dict[str, Rotation]:
    return {encoding.part: form_of(encoding, Rotation) for encoding in find(DictFiles(config))}


def buffer_of(config: Any) -> Floats:
    """The frequencies from the initialiser of the family: (n_pairs,)."""
    module = import_module(type(config).__module__.replace("configuration", "modeling"))
    made = next(
        value for value in vars(module).values() if hasattr(value, "compute_axial_rope_parameters")
    )
    return np.asarray(made.compute_axial_rope_parameters(config)[0].double().numpy())


# Has no such initialiser, and a separate test.
@pytest.mark.parametrize("kind", sorted(ROWS_AND_COLUMNS - {"llama4"}))
def test_the_frequencies_equal_those_of_the_initialiser_of_the_family(kind: str) -> None:
    from transformers import CONFIG_MAPPING

    config = config_of(next(f"{kind}{end}" for end in ENDS if f"{kind}{end}" in CONFIG_MAPPING))
    assert_allclose(
        rotations(config.to_dict())["vision"].frequencies, buffer_of(config), rtol=SINGLE
    )


@pytest.mark.parametrize("kind", ["qwen2_vl", "qwen2_5_vl"])
def test_the_frequencies_equal_the_buffer_of_a_nested_image_model(kind: str) -> None:
    from transformers import AutoModel

    vision = {**dict.fromkeys(("embed_dim", "hidden_size", "out_hidden_size"), 64), "depth": 1,
              "num_heads": 2, "intermediate_size": 16}  # fmt: skip
    text = {**SIZES, "num_key_value_heads": 2}
    with torch.device("meta"):
        model = AutoModel.from_config(config_of(kind, text_config=text, vision_config=vision))
    theirs = type(model.visual.rotary_pos_emb)(model.config.vision_config).inv_freq
    ours = rotations(model.config.to_dict())["vision"].frequencies
    assert_allclose(ours, theirs.double().numpy(), rtol=SINGLE)


def test_rows_and_columns_of_pixtral_alternate_in_one_series() -> None:
    from transformers import PixtralVisionModel

    model = PixtralVisionModel(config_of("pixtral", **SIZES, image_size=64, patch_size=8))
    theirs = (
        next(module for name, module in model.named_modules() if hasattr(module, "inv_freq"))
        .inv_freq.double()
        .numpy()
    )
    by_part = rotations(model.config.to_dict())
    ours = np.concatenate([by_part[f"vision {along}"].frequencies for along in ("rows", "columns")])
    assert_allclose(ours, theirs, rtol=SINGLE)
    assert by_part["vision rows"].n_positions == 8


@pytest.mark.parametrize("image_size", [32, [32, 48]])
def test_the_angles_of_dinov3_equal_those_between_neighbours_as_it_runs(image_size: Any) -> None:
    """The quotient of neighbours on the unit circle is their angle, whatever the origin."""
    from transformers import DINOv3ViTModel

    model = DINOv3ViTModel(
        config_of("dinov3_vit", **SIZES, image_size=image_size, patch_size=8)
    ).eval()
    height, width = image_size if isinstance(image_size, list) else (image_size, image_size)
    cosine, sine = (
        part.double().numpy() for part in model.rope_embeddings(torch.zeros(1, 3, height, width))
    )
    # rows and columns of patches, then row, column and both again
    turns = (cosine + 1j * sine).reshape(height // 8, width // 8, 4, -1)
    by_part = rotations(model.config.to_dict())
    down, across = (
        by_part.get(f"vision {axis}", by_part.get("vision")) for axis in ("rows", "columns")
    )
    assert down is not None
    assert across is not None
    for form, n_patches in ((down, height // 8), (across, width // 8)):
        theirs = model.rope_embeddings.inv_freq.double().numpy()
        assert_allclose(form.frequencies / form.step, theirs, rtol=SINGLE)
        assert (form.base, form.n_positions) == (100.0, n_patches)
        # Coordinates from −1 to 1, times 2π.
        assert form.step == pytest.approx(4.0 * np.pi / n_patches)
    assert_allclose(
        turns[1:, :, 0] / turns[:-1, :, 0],
        np.broadcast_to(np.exp(1j * down.frequencies), turns[1:, :, 0].shape),
        atol=1e-6,
    )
    assert_allclose(
        turns[:, 1:, 1] / turns[:, :-1, 1],
        np.broadcast_to(np.exp(1j * across.frequencies), turns[:, 1:, 1].shape),
        atol=1e-6,
    )


@pytest.mark.parametrize("model_type", ["sam2_video", "edgetam_video", "sam3_tracker_video"])
def test_the_frequencies_of_a_video_memory_equal_those_of_the_family(model_type: str) -> None:
    config = config_of(model_type)
    form = rotations(config.to_dict())[
        next(part for part in rotations(config.to_dict()) if part.endswith("memory"))
    ]
    assert_allclose(form.frequencies, buffer_of(config), rtol=SINGLE)
    assert form.n_positions == config.memory_attention_rope_feat_sizes[0]


def test_the_base_of_a_memory_is_read_from_older_configs() -> None:
    sizes = {"memory_attention_hidden_size": 64, "memory_attention_rope_theta": 50.0}
    (form,) = rotations({"model_type": "sam2_video", **sizes}).values()
    assert (form.base, form.head_dim) == (50.0, 64)


def test_sam3_has_one_rotation_in_windows_and_one_over_the_image() -> None:
    from transformers.models.sam3.modeling_sam3 import Sam3ViTLayer

    config = config_of("sam3_vit_model", **SIZES, image_size=96, patch_size=8, window_size=4)
    by_part = rotations(config.to_dict())
    for part, window in (("vision in windows", 4), ("vision of the whole image", 0)):
        across = Sam3ViTLayer.precompute_positions(config, window)[:, 0].unique().double().numpy()
        assert by_part[part].n_positions == len(across)
        assert_allclose(
            by_part[part].frequencies, np.diff(across)[0] * buffer_of(config), rtol=SINGLE
        )


def test_the_angles_of_llama_4_between_neighbouring_patches_are_the_frequencies() -> None:
    from transformers.models.llama4.modeling_llama4 import Llama4VisionRotaryEmbedding

    config = config_of("llama4_vision_model", **SIZES, image_size=64, patch_size=8)
    turns = (
        Llama4VisionRotaryEmbedding(config)
        .freqs_ci[:-1, 0]
        .to(torch.complex128)
        .numpy()
        .reshape(8, 8, 2, -1)
    )
    by_one = np.exp(1j * rotations(config.to_dict())["vision"].frequencies)
    assert_allclose(turns[:, 1:, 0] / turns[:, :-1, 0], np.tile(by_one, (8, 7, 1)), atol=1e-6)
    assert_allclose(turns[1:, :, 1] / turns[:-1, :, 1], np.tile(by_one, (7, 8, 1)), atol=1e-6)
    assert np.allclose(turns[:, 1:, 1], turns[:, :-1, 1])


def test_minimax_m3_rotates_a_third_of_a_head_in_its_published_file_too() -> None:
    config = config_of("minimax_m3_vl_vision")
    (form,) = rotations(config.to_dict()).values()
    assert_allclose(form.frequencies, buffer_of(config), rtol=SINGLE)
    assert (form.head_dim, form.rotary_dim, form.n_positions) == (80, 26, 144)
    published = known_model("MiniMaxAI/MiniMax-M3")
    assert published is not None
    assert published.settings["vision_config"]["model_type"] == "clip_vision_model"
    (form,) = rotations(published.settings).values()
    assert_allclose(form.frequencies, buffer_of(config_of("minimax_m3_vl_vision")), rtol=SINGLE)


def test_encoder_and_predictor_of_vjepa2_have_the_frequencies_of_their_modules() -> None:
    """A pair (1, 0) gives the cosine of its first component's angle, (0, 1) of its second's."""
    from transformers.models.vjepa2.modeling_vjepa2 import rotate_queries_or_keys

    config = config_of("vjepa2")
    by_part = rotations(config.to_dict())
    assert {part: form.head_dim for part, form in by_part.items()} == {
        "vision": 64,
        "vision predictor": 32,
    }
    for form in by_part.values():
        pairs = torch.eye(2).repeat(1, form.rotary_dim // 2)[None, None]  # (1, 1, 2, rotary_dim)
        first, second = rotate_queries_or_keys(pairs, torch.ones(1, 1, 2)).double().numpy()[0, 0]
        cosines = np.stack([first[::2], second[1::2]], axis=-1).ravel()
        assert_allclose(cosines, np.tile(np.cos(form.frequencies), 2), atol=1e-6)


def test_efficient_loftr_rotates_its_whole_width() -> None:
    from transformers.models.efficientloftr.modeling_efficientloftr import (
        EfficientLoFTRRotaryEmbedding,
    )

    config = config_of("efficientloftr")
    (form,) = rotations(config.to_dict()).values()
    assert_allclose(
        form.frequencies,
        EfficientLoFTRRotaryEmbedding(config).inv_freq.double().numpy(),
        rtol=SINGLE,
    )


def test_nested_configs_and_both_rotations() -> None:
    vision = {"embed_dim": 1280, "num_heads": 16, "patch_size": 14}
    outer = {"model_type": "qwen2_vl", "hidden_size": 8192, "vocab_size": 9}
    form = rotations({**outer, "vision_config": vision})["vision"]
    assert (form.base, form.head_dim, form.rotary_dim) == (10_000.0, 80, 40)
    config = config_of("qwen2_vl").to_dict()
    assert [encoding.part for encoding in rotary.find(DictFiles(config))] == ["decoder"]
    assert list(rotations(config)) == ["vision"]


def test_words_in_the_section_of_images_hide_no_rotation() -> None:
    """Defaults of Mistral3Config give its vision model a size of a vocabulary."""
    settings = json.loads(json.dumps(CONFIG_MAPPING["mistral3"]().to_dict(), default=str))
    assert "vocab_size" in settings["vision_config"]
    assert [one.key for one in look(ConfigAlone(settings, "own")).all] == [
        "vision-rows-rotary_2d", "vision-columns-rotary_2d", "decoder-rotary",
    ]  # fmt: skip


def _with_images() -> list[KnownModel]:
    """Published models whose class has a model of images, one for each form of its config."""
    found = {}
    for model in known_models():
        resolved = model.files.resolved
        has_images = resolved.config.section("vision_config") is not None
        if has_images and resolved.readable.family in CONFIG_MAPPING:
            own = resolved.readable.section("vision_config")
            keys = None if own is None else tuple(sorted(own.settings))
            found[resolved.readable.family, keys] = model
    return list(found.values())


def _turns_patches(model: KnownModel) -> bool:
    """Whether the modules of transformers have one for it."""
    from transformers import AutoModel

    whole = model.files.resolved.readable
    with quietly(), torch.device("meta"):
        made = AutoModel.from_config(CONFIG_MAPPING[whole.family](**given(whole.settings)))
    return any(re.search(r"Vision\w*Rotary", type(one).__name__) for one in made.modules())


def test_published_models_rotate_patches_where_their_code_has_such_a_module() -> None:
    models = _with_images()
    assert len(models) > 30
    others = [one.id for one in models if bool(find(one.files)) != _turns_patches(one)]
    assert others == []
