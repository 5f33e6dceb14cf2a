"""Rotations among the tensors, beside a config and without one, against transformers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from safetensors.torch import save_file

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.encodings import Rotation
from generator.numerics.arrays import Array
from generator.schemes.rotary import find
from tests.support import DictFiles, form_of

LLAMA = {"model_type": "llama", "hidden_size": 128, "num_attention_heads": 4,
         "max_position_embeddings": 256}  # fmt: skip
NAME = "model.layers.0.self_attn.rotary_emb.inv_freq"


def module(**settings: Any) -> Any:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    return LlamaRotaryEmbedding(LlamaConfig(**{**LLAMA, **settings}))


def frequencies(**settings: Any) -> Array:
    return np.asarray(module(**settings).inv_freq.numpy())


def first_note(settings: dict[str, Any], stored: Array, name: str = NAME) -> str:
    [encoding] = find(DictFiles(settings, {name: stored}))
    return encoding.notes[0]


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("base", [1e4, 5e5])
def test_a_note_says_that_the_config_has_the_same_frequencies(base: float, kind: type[Any]) -> None:
    note = first_note({**LLAMA, "rope_theta": base}, frequencies(rope_theta=base).astype(kind))
    assert note.startswith(
        f"The file stores the same frequencies in “{NAME}”; all 32 components of each query and key"
        " head are rotated"
    )


def test_frequencies_in_bfloat16_are_the_same_but_for_its_rounding(tmp_path: Path) -> None:
    """Its 8 bits of precision round by up to one part in 512."""
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "rope_theta": 5e5}))
    save_file({NAME: module(rope_theta=5e5).inv_freq.bfloat16()}, tmp_path / "model.safetensors")
    [encoding] = find(FolderFiles(tmp_path, "test"))
    assert encoding.notes[0].startswith("The file stores the same frequencies")


def test_other_frequencies_are_noted_or_not_compared() -> None:
    note = first_note({**LLAMA, "rope_theta": 5e5}, frequencies(rope_theta=1e4))
    assert note.startswith(
        f"The frequencies shown follow from config.json and differ from those in “{NAME}” (1 to"
        " 0.0001778 radians per position); all 32"
    )
    for name in (
        "visual.rotary_pos_emb.inv_freq",
        "pos_emb.inv_freq",
        "inv_freq_of_words",
        "audio_tower.rotary_emb.inv_freq",
    ):
        note = first_note({**LLAMA, "rope_theta": 5e5}, frequencies(), name)
        assert note.startswith("No tensor is stored; all 32 components")


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("base", [1e4, 5e5, 1e6])
def test_without_a_config_the_stored_rotation_is_shown(base: float, kind: type[Any]) -> None:
    stored = frequencies(rope_theta=base)
    [encoding] = find(DictFiles({}, {NAME: stored.astype(kind)}))
    assert_allclose(
        form_of(encoding, Rotation).frequencies, stored, rtol=1e-6 if kind is np.float32 else 5e-3
    )
    assert form_of(encoding, Rotation).base == base
    assert encoding.provenance.tensor == NAME
    assert "2,048 positions are shown" in encoding.notes[0]


SCALED = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}  # fmt: skip
NO_POWERS: dict[str, Array] = {
    "rescaled": frequencies(rope_parameters={**SCALED, "rope_theta": 5e5}),
    "one number": np.ones(1),
    "none": np.ones(0),
    "not falling": np.ones(16),
    "negative": -frequencies(),
    "not numbers": np.full(16, np.nan),
}


@pytest.mark.parametrize("stored", NO_POWERS.values(), ids=NO_POWERS)
def test_frequencies_that_are_no_powers_of_one_base_are_not_shown(stored: Array) -> None:
    assert find(DictFiles({}, {NAME: stored})) == []


def cached(n_positions: int, **settings: Any) -> dict[str, Array]:
    """Cosines and sines of the module, of all components: (1, n_positions, head_dim)."""
    cosines, sines = module(**settings)(torch.zeros(1), torch.arange(n_positions)[None])
    return {"rotary_emb.cos_cached": cosines.numpy(), "rotary_emb.sin_cached": sines.numpy()}


def test_cached_cosines_of_transformers_say_the_base_and_the_number_of_positions() -> None:
    tensors = cached(2048, rope_theta=5e5)
    for base, beginning in (
        (5e5, "The file stores the same frequencies in"),
        (2e4, "The frequencies shown follow from config.json"),
    ):
        [encoding] = find(DictFiles({**LLAMA, "rope_theta": base}, tensors))
        assert encoding.notes[0].startswith(beginning)
    [encoding] = find(DictFiles({}, tensors))
    form = form_of(encoding, Rotation)
    assert (form.base, form.n_positions) == (5e5, 2048)
    del tensors["rotary_emb.sin_cached"]
    assert find(DictFiles({}, tensors)) == []


def turns(base: float, divisor: float = 1.0) -> torch.Tensor:
    """Complex numbers for 512 positions and 16 pairs, as precompute_freqs_cis of gemma_pytorch."""
    angles = torch.outer(torch.arange(512), base ** -(torch.arange(16) / 16) / divisor)
    return torch.polar(torch.ones_like(angles), angles)


def pickled(folder: Path, **tensors: torch.Tensor) -> FolderFiles:
    torch.save({"model_state_dict": tensors}, folder / "model.ckpt")
    return FolderFiles(folder, "own", Choice(name="model.ckpt", pickle=True))


@pytest.mark.parametrize("base", [1e4, 1e6])
def test_complex_turns_of_every_position_say_the_base(tmp_path: Path, base: float) -> None:
    [encoding] = find(pickled(tmp_path, freqs_cis=turns(base)))
    form = form_of(encoding, Rotation)
    assert (form.base, form.rotary_dim, form.n_positions) == (base, 32, 512)
    assert encoding.provenance.tensor == "freqs_cis"


@pytest.mark.parametrize(
    "tensors",
    [{"freqs_cis": turns(1e4).flip(0)}, {"freqs_cis": turns(1e4, 8.0)},
     {"freqs_cis": turns(1e4)[0]},
     {"local_freqs_cis": turns(1e4), "global_freqs_cis": turns(1e6, 8.0)}],
)  # fmt: skip
def test_complex_numbers_that_are_no_turns_by_powers_of_one_base_are_not_shown(
    tmp_path: Path, tensors: dict[str, torch.Tensor]
) -> None:
    """Among them the two tables of Gemma 3, which are for different layers."""
    assert find(pickled(tmp_path, **tensors)) == []
