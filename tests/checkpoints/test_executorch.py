"""params.json of ExecuTorch, which is none of Meta's (ModelArgs, rope.py and static_llama.py of
github.com/pytorch/executorch).
"""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.limits import limits
from generator.checkpoints.model.pair_order import stated_orders
from generator.contracts import Encoding, Files
from generator.encodings.rotations import Rotation
from generator.reading.evidence import evidence, look_closely
from generator.reading.questions import unresolved

SIZES: dict[str, Any] = {
    "dim": 256, "n_heads": 2, "n_kv_heads": 1, "n_layers": 6, "vocab_size": 100, "norm_eps": 1e-6,
}  # fmt: skip
HALVES = {**SIZES, "use_hf_rope": True, "attention_qkv_bias": False}
SLIDING, FULL = "sliding_attention", "full_attention"


def read(folder: Path, params: dict[str, Any]) -> tuple[Files, list[Encoding[Any]]]:
    (folder / "params.json").write_text(json.dumps(params), encoding="utf-8")
    files = FolderFiles(folder, "own")
    return files, look_closely(files).measured


def orders(files: Files) -> list[tuple[str, str]]:
    return [stated[1:] for stated in stated_orders(files.config)]


def test_a_share_turns_with_the_order_of_transformers_alone(tmp_path: Path) -> None:
    """CodeGen: hf_precompute_freqs_cis alone takes a share."""
    files, [codegen] = read(tmp_path, {**HALVES, "partial_rotary_factor": 0.5})
    assert (codegen.form.rotary_dim, codegen.form.head_dim, codegen.form.base) == (64, 128, 10_000)
    assert orders(files) == [("use_hf_rope", "halves")]
    assert codegen.origins["base"].default_of == "ExecuTorch"
    assert not codegen.form.is_length_known
    assert evidence(files.config).unread == ()
    files, [other] = read(tmp_path, {**HALVES, "partial_rotary_factor": 0.5, "use_hf_rope": False})
    assert other.form.rotary_dim == 128
    assert orders(files) == [("use_hf_rope", "adjacent")]
    assert dict(evidence(files.config).unread) == {"partial_rotary_factor": 0.5}


def test_layers_have_windows_and_a_base_of_their_own(tmp_path: Path) -> None:
    """Gemma 3, whose list is cut at the number of layers as construct_transformer does."""
    kinds = [SLIDING] * 5 + [FULL, SLIDING]
    bases = {"rope_theta": 1e6, "local_rope_theta": 1e4, "qk_norm_before_rope": True}
    more = {**bases, "sliding_window": 32, "layer_types": kinds}
    files, found = read(tmp_path, {**HALVES, **more})
    rotations = {one.layers: (one.form.base, one.form.window) for one in found}
    assert rotations == {(5,): (1e6, None), (0, 1, 2, 3, 4): (1e4, 32)}
    assert [list(one.origins["base"].keys) for one in found] == [
        ["rope_theta"],
        ["local_rope_theta"],
    ]
    assert unresolved(files, look_closely(files)) == ()


def test_two_lists_are_those_of_longrope(tmp_path: Path) -> None:
    """Phi-4-mini: 96 of 128 components; its factor is √(1 + ln 32 / ln 4,096)."""
    lists = {"rope_scaling_short_factor": [1.0] * 48, "rope_scaling_long_factor": [2.0] * 48}
    lengths = {"original_max_position_embeddings": 4096, "max_position_embeddings": 131072}
    phi = {**HALVES, **lists, **lengths, "partial_rotary_factor": 0.75}
    files, [encoding] = read(tmp_path, phi)
    assert isinstance(encoding.form, Rotation)
    assert (encoding.form.rotary_dim, encoding.form.rope_type) == (96, "longrope")
    assert encoding.form.attention_factor == pytest.approx((1 + 5 / 12) ** 0.5)
    assert {one.key: one.length for one in limits(files, [encoding])} == lengths


@pytest.mark.parametrize(
    ("more", "rotating", "mixers"),
    [
        ({"layer_types": ["linear_attention", "linear_attention", FULL] * 2}, (2, 5), "recurrent"),
        ({"layer_types": ["conv", FULL] * 3}, (1, 3, 5), "convolution"),
        ({"layer_types": ["skip_attention", FULL] * 3}, (1, 3, 5), "none"),
        ({"no_rope_layer_interval": 3}, (0, 1, 3, 4), "full"),
    ],
)
def test_layers_without_a_rotation_have_none(
    tmp_path: Path, more: dict[str, Any], rotating: tuple[int, ...], mixers: str
) -> None:
    """Qwen3.5, LFM2, a model with fewer attentions, SmolLM3."""
    files, [encoding] = read(tmp_path, {**HALVES, **more})
    assert encoding.layers == rotating
    others = [layer for layer in files.resolved.stacks[0].layers if layer.index not in rotating]
    assert {layer.mixers for layer in others} == {(mixers,)}


def test_llama_3_is_scaled_by_its_own_factor(tmp_path: Path) -> None:
    scaled = {**HALVES, "use_hf_rope": False, "use_scaled_rope": True, "rope_scale_factor": 32}
    _, [encoding] = read(tmp_path, scaled)
    assert encoding.form.scaling["factor"] == 32
    _, [unscaled] = read(tmp_path, {**scaled, "use_hf_rope": True})
    assert not unscaled.form.is_rescaled


@pytest.mark.parametrize(
    "more",
    [
        {"rope_parameters": {FULL: {"rope_theta": 5e6}}},
        {"layer_types": [SLIDING]},
        {"layer_types": ["of nobody"] * 6},
        {"attention_type": "of nobody"},
        {"rope_scaling_long_factor": [2.0] * 64},
        {"n_layers": 1.5},
    ],
)
def test_of_what_its_code_does_not_read_nothing_is_said(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    """As in Spark X2.5, which has a section of its own."""
    files, found = read(tmp_path, {**HALVES, "rope_theta": 1e4, **more})
    assert found == []
    said = " ".join(unresolved(files, look_closely(files)))
    assert "rope_theta: 10000.0" in said
    assert "keys of ExecuTorch, but also a key of position or a value" in said
    # Its settings were read, as such of that program.
    assert "no config.json" not in said
    assert "no model type" not in said
