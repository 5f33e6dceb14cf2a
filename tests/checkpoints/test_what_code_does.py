"""What the code of a family does with settings, or without them, against that code."""

import json
import math
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.patch_grid import lattice_of
from generator.contracts import Encoding, Json, ModelConfig
from generator.encodings import Form, PositionTable, Rotation, Temperature
from generator.errors import RowError
from generator.pipeline.evaluate import outcome_of
from generator.reading.find import look
from generator.reading.plan import plan
from tests.support import checkpoint

SIZES: Json = {
    "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 50,
}  # fmt: skip


def measured(settings: Json) -> list[Encoding[Form]]:
    return look(ConfigAlone(settings, "test")).measured


def notes(settings: Json) -> str:
    return " ".join(note for encoding in measured(settings) for note in encoding.notes)


def test_the_first_qwen_sharpens_attention_by_the_logarithm_of_the_position() -> None:
    """Its code has 1 up to seq_length, then log(position, seq_length), counted from 1 (the authors'
    modeling_qwen.py).
    """
    sizes = {"kv_channels": 16, "seq_length": 2048}
    settings: Json = {"model_type": "qwen", **SIZES, **sizes, "use_logn_attn": True}
    forms = [encoding.form for encoding in measured(settings)]
    (form,) = (form for form in forms if isinstance(form, Temperature))
    positions = np.array([0.0, 2047.0, 2048.0, 8191.0, 32767.0])
    expected = [max(math.log(position + 1, 2048), 1.0) for position in positions]
    np.testing.assert_allclose(form.factor(positions), expected)
    others = measured({**settings, "use_logn_attn": False})
    assert not any(isinstance(encoding.form, Temperature) for encoding in others)


@pytest.mark.parametrize(
    ("family", "module", "interleaved"),
    [
        ("qwen3_vl_text", "qwen3_vl", True),
        ("qwen2_5_vl_text", "qwen2_5_vl", False),
        ("glm4v_text", "glm4v", False),
        ("qwen3_5_text", "qwen3_5", True),
    ],
)
def test_sections_of_a_multimodal_rotation_are_those_of_the_code(
    family: str, module: str, interleaved: bool
) -> None:
    spec = find_spec(f"transformers.models.{module}")
    assert spec is not None
    code = Path(str(spec.origin)).with_name(f"modeling_{module}.py").read_text()
    found = re.search(r'"mrope_section", \[(\d+), (\d+), (\d+)\]', code)
    assert found is not None
    time, height, width = found.groups()
    head_dim = 2 * (int(time) + int(height) + int(width))
    settings: Json = {
        "model_type": family, "head_dim": head_dim, "hidden_size": 2 * head_dim,
        "num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 4,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1},
    }  # fmt: skip
    text = notes(settings)
    assert f"{time} pairs rotate by time, {height} by height and {width} by width" in text
    assert ("interleaved" in text) == interleaved
    assert "it is the default of the family's code" in text


@pytest.mark.parametrize("name", ["partial_rotary_factor", "rotary_pct", "rotary_emb_fraction"])
def test_a_share_of_nothing_is_no_rotation_and_an_impossible_one_is_named(name: str) -> None:
    settings = {"model_type": "nobody", "rope_theta": 1e4, **SIZES}
    assert measured({**settings, name: 0}) == []
    with pytest.raises(RowError, match=f"{name} is -1"):
        measured({**settings, name: -1})


def test_settings_of_an_unknown_family_say_so_and_lead_no_page(tmp_path: Path) -> None:
    """With windows in some layers, by a name of its own, no number is given."""
    settings = {
        "model_type": "baichuan_m9", "rope_theta": 1e6, "max_position_embeddings": 4096, **SIZES,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(settings))
    [task] = plan([checkpoint(place=str(tmp_path))], offline=True)
    outcome = outcome_of(task)
    (reading,) = outcome.readings
    assert any("family “baichuan_m9” is unknown" in question for question in outcome.unresolved)
    assert [result.findings for result in reading.results.values() if result.findings] == []
    assert reading.encoding.parameters["window"] is None
    assert outcome.layers == ()
    assert measured({**settings, "sliding_window": 64, "sliding_window_layers": [1]}) == []


def test_components_of_deepseek_v4_are_a_slice_whose_key_is_the_value() -> None:
    text = notes({"model_type": "deepseek_v4"})
    assert "a slice of one projection" in text
    assert "separate part" not in text
    assert "separate part" in notes({"model_type": "deepseek_v3"})


BY_THREE = {16: "axis 1", 56: "axes 2 and 3"}
BRIA = {
    "_class_name": "BriaTransformer2DModel", "axes_dims_rope": [0, 48, 48], "rope_theta": 5e3,
}  # fmt: skip
WAN = {"_class_name": "WanTransformer3DModel", "attention_head_dim": 128}
HIDREAM = {"_class_name": "HiDreamImageTransformer2DModel", "axes_dims_rope": [64, 32, 32]}


@pytest.mark.parametrize(
    ("settings", "axes", "base"),
    [
        ({"_class_name": "FluxTransformer2DModel"}, BY_THREE, 1e4),
        (BRIA, {48: "axes 2 and 3"}, 5e3),
        (WAN, {44: "axis 1", 42: "axes 2 and 3"}, 1e4),
        ({"_class_name": "HunyuanVideoTransformer3DModel"}, BY_THREE, 256.0),
        (HIDREAM, {64: "axis 1", 32: "axes 2 and 3"}, 1e4),
    ],
)
def test_transformers_of_diffusers_rotate_along_axes(
    settings: Json, axes: dict[int, str], base: float
) -> None:
    """Defaults and rules of the classes in diffusers 0.42."""
    found = measured(settings)
    forms = {encoding.part: encoding.form for encoding in found}
    assert set(forms) == {f"transformer {name}" for name in axes.values()}
    for size, name in axes.items():
        form = forms[f"transformer {name}"]
        assert isinstance(form, Rotation)
        expected = base ** (-np.arange(0, size, 2, dtype=float) / size)
        np.testing.assert_allclose(form.frequencies, expected)
    assert not any(encoding.is_guess for encoding in found)


def test_the_table_of_stable_diffusion_3_is_cropped_to_its_middle() -> None:
    """``get_2d_sincos_pos_embed`` of diffusers 0.42: columns first, each index times base size over
    grid size, sines before cosines.
    """
    settings: Json = {
        "_class_name": "SD3Transformer2DModel", "pos_embed_max_size": 12, "sample_size": 8,
        "patch_size": 2, "num_attention_heads": 2, "attention_head_dim": 8,
    }  # fmt: skip
    (encoding,) = measured(settings)
    assert isinstance(encoding.form, PositionTable)
    places = (np.arange(12) * 4 / 12)[4:8]
    angles = places[:, None] * 1e4 ** (-np.arange(4) / 4)
    wave = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    expected = np.concatenate([np.tile(wave, (4, 1)), np.repeat(wave, 4, axis=0)], axis=1)
    np.testing.assert_allclose(encoding.form.vectors, expected, atol=1e-12)


def test_a_folder_without_config_names_the_one_that_has_it(tmp_path: Path) -> None:
    for folder in ("0_Transformer", "1_Pooling"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text("{}")
    with pytest.raises(RowError, match="as in 0_Transformer and 1_Pooling: name that folder"):
        FolderFiles(tmp_path, "test")
    modules = [{"idx": 0, "path": "0_Transformer"}, {"idx": 1, "path": "1_Pooling"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(RowError, match="as in 0_Transformer: name that folder"):
        FolderFiles(tmp_path, "test")


def test_a_table_that_contradicts_the_config_names_both() -> None:
    """577 rows are [CLS] and 24 by 24 patches; 224 pixels in patches of 16 are 14 by 14."""
    config = ModelConfig({"image_size": 224, "patch_size": 16}, "test")
    lattice = lattice_of("embeddings.position_embeddings", 577, config)
    assert (lattice.before, lattice.grid) == (1, (24, 24))
    assert lattice.source == "assumed square, where config.json gives 14 by 14"


def test_a_nested_config_without_a_type_has_that_of_its_class() -> None:
    settings = {"model_type": "siglip", "vision_config": {"model_type": ""}, "text_config": {}}
    config = ConfigAlone(settings, "test").config
    sections = [config.section(name) for name in ("vision_config", "text_config")]
    families = [section.family for section in sections if section is not None]
    assert families == ["siglip_vision_model", "siglip_text_model"]
