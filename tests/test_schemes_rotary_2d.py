from importlib import import_module
from typing import Any

import numpy as np
import pytest

from generator.encodings import Rotation
from generator.errors import RowError
from generator.numerics import Floats
from generator.schemes import rotary
from generator.schemes.rotary_2d import SAME, find
from tests.support import DictFiles, form_of

SINGLE = 1e-6  # Models keep their frequencies in single precision; this is relative.
SIZES: dict[str, Any] = {"hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 16}
ENDS = ("_vision_encoder", "_vision_model", "_vision")


def config_of(model_type: str, **options: Any) -> Any:
    from transformers import CONFIG_MAPPING

    return CONFIG_MAPPING[model_type](**options)


def rotations(config: dict[str, Any]) -> dict[str, Rotation]:
    return {encoding.part: form_of(encoding, Rotation) for encoding in find(DictFiles(config))}


def buffer_of(config: Any) -> Floats:
    """What the family's own initialiser makes of the config: (n_pairs,)."""
    module = import_module(type(config).__module__.replace("configuration", "modeling"))
    made = next(value for value in vars(module).values() if hasattr(value, "compute_axial_rope_parameters"))
    return np.asarray(made.compute_axial_rope_parameters(config)[0].double().numpy())


@pytest.mark.parametrize("kind", sorted(SAME))
def test_the_frequencies_are_those_of_the_familys_own_initialiser(kind: str) -> None:
    from transformers import CONFIG_MAPPING

    config = config_of(next(f"{kind}{end}" for end in ENDS if f"{kind}{end}" in CONFIG_MAPPING))
    np.testing.assert_allclose(rotations(config.to_dict())["vision"].frequencies, buffer_of(config), rtol=SINGLE)


@pytest.mark.parametrize("model_type", ["qwen2_vl", "qwen2_5_vl"])
def test_the_frequencies_equal_the_buffer_of_the_model_of_images_within(model_type: str) -> None:
    import torch
    from transformers import AutoModel

    vision = {"depth": 1, "embed_dim": 64, "hidden_size": 64, "num_heads": 2, "out_hidden_size": 64, "intermediate_size": 16}
    with torch.device("meta"):
        shapes = AutoModel.from_config(config_of(model_type, text_config={**SIZES, "num_key_value_heads": 2}, vision_config=vision))
    theirs = type(shapes.visual.rotary_pos_emb)(shapes.config.vision_config).inv_freq.double().numpy()
    np.testing.assert_allclose(rotations(shapes.config.to_dict())["vision"].frequencies, theirs, rtol=SINGLE)


def test_pixtral_deals_out_one_series_by_turns_to_rows_and_columns() -> None:
    from transformers import PixtralVisionModel

    model = PixtralVisionModel(config_of("pixtral", **SIZES, image_size=64, patch_size=8))
    theirs = next(module for name, module in model.named_modules() if hasattr(module, "inv_freq")).inv_freq.double().numpy()
    found = rotations(model.config.to_dict())
    ours = np.concatenate([found["vision rows"].frequencies, found["vision columns"].frequencies])
    np.testing.assert_allclose(ours, theirs, rtol=SINGLE)
    assert found["vision rows"].n_positions == 8


@pytest.mark.parametrize("image_size", [32, [32, 48]])
def test_dinov3_turns_by_what_its_forward_pass_makes_of_neighbouring_patches(image_size: Any) -> None:
    """One patch divided by its neighbour, both taken as points of the unit circle, is the angle between them; the origin drops out."""
    import torch
    from transformers import DINOv3ViTModel

    model = DINOv3ViTModel(config_of("dinov3_vit", **SIZES, image_size=image_size, patch_size=8)).eval()
    height, width = image_size if isinstance(image_size, list) else (image_size, image_size)
    cosine, sine = (part.double().numpy() for part in model.rope_embeddings(torch.zeros(1, 3, height, width)))
    turns = (cosine + 1j * sine).reshape(height // 8, width // 8, 4, -1)  # rows and columns of patches, then row, column and both again
    found = rotations(model.config.to_dict())
    down, across = (found.get(f"vision {along}", found.get("vision")) for along in ("rows", "columns"))
    assert down is not None
    assert across is not None
    np.testing.assert_allclose(
        turns[1:, :, 0] / turns[:-1, :, 0], np.broadcast_to(np.exp(1j * down.frequencies), turns[1:, :, 0].shape), atol=2e-6
    )
    np.testing.assert_allclose(
        turns[:, 1:, 1] / turns[:, :-1, 1], np.broadcast_to(np.exp(1j * across.frequencies), turns[:, 1:, 1].shape), atol=2e-6
    )


def test_the_frequencies_of_dinov3_equal_its_buffer_but_for_the_step() -> None:
    from transformers import DINOv3ViTModel

    model = DINOv3ViTModel(config_of("dinov3_vit", **SIZES, image_size=32, patch_size=8))
    (form,) = rotations(model.config.to_dict()).values()
    np.testing.assert_allclose(form.frequencies / form.step, model.rope_embeddings.inv_freq.double().numpy(), rtol=SINGLE)
    assert (form.base, form.n_positions) == (100.0, 4)
    assert form.step == pytest.approx(np.pi)


def test_an_older_nested_config_that_names_no_base_and_no_family_is_its_outer_familys() -> None:
    config = {
        "model_type": "qwen2_vl",
        "hidden_size": 8192,
        "vocab_size": 9,
        "vision_config": {"embed_dim": 1280, "num_heads": 16, "patch_size": 14},
    }
    form = rotations(config)["vision"]
    assert (form.base, form.head_dim, form.rotary_dim) == (10_000.0, 80, 40)


def test_a_model_of_text_and_images_has_the_rotation_of_images_beside_that_of_text() -> None:
    config = config_of("qwen2_vl").to_dict()
    assert [encoding.part for encoding in rotary.find(DictFiles(config))] == ["decoder"]
    assert list(rotations(config)) == ["vision"]


@pytest.mark.parametrize("model_type", ["llama", "vit", "clip", "siglip", "vjepa2", "qwen2"])
def test_other_families_have_none(model_type: str) -> None:
    assert rotations(config_of(model_type).to_dict()) == {}


BAD: list[dict[str, Any]] = [
    {"hidden_size": "x"},
    {"num_attention_heads": 0, "num_heads": 0},
    {"num_attention_heads": -2},
    {"head_dim": 2},
    {"head_dim": 10**9},
    {"rope_theta": -1},
    {"rope_theta": float("nan")},
]


@pytest.mark.parametrize("wrong", BAD)
def test_what_does_not_fit_is_a_row_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(RowError, match=r"test: .*expected"):
        find(DictFiles({"model_type": "dinov3_vit", "patch_size": 8, "image_size": 32, **SIZES, **wrong}))
