from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import Convolution
from generator.numerics.arrays import Floats
from generator.schemes.convolution import find
from tests.listening import WAVES, as_numbers, made, read
from tests.support import DictFiles, close, form_of

N = 20
STEM = "encoder.pos_conv_embed.conv."
WIDTHS = [5, 6]
MODELS = ["Wav2Vec2Model", "HubertModel", "WavLMModel", "UniSpeechModel", "UniSpeechSatModel"]


def convolved(form: Convolution, frames: Floats) -> Floats:
    """The convolution by its formula, with zero padding; frames: (channels, n)."""
    n_channels, of_group, _ = form.weights.shape
    group = np.arange(n_channels) // (n_channels * of_group // frames.shape[0])
    out = np.zeros((n_channels, frames.shape[1]))
    for position in range(frames.shape[1]):
        for index, offset in enumerate(form.offsets):
            if 0 <= (there := position + int(offset)) < frames.shape[1]:
                of_groups = frames[:, there].reshape(-1, of_group)[group]  # (n_channels, of_group)
                out[:, position] += np.sum(form.weights[:, :, index] * of_groups, axis=1)
    return out


def agrees(form: Convolution, layer: Any) -> None:
    """Compare with transformers in double precision, before non-linearity and constant."""
    torch.manual_seed(1)
    frames = torch.randn(1, 16, N, dtype=torch.float64)
    layer.double()
    with torch.no_grad():
        theirs = layer.padding(layer.conv(frames))[0] - layer.conv.bias[:, None]
    close(convolved(form, as_numbers(frames[0])), theirs, 1e-12)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MODELS)
def test_the_convolution_equals_the_models_own(name: str, width: int, tmp_path: Path) -> None:
    model = made(name, **{**WAVES, "num_conv_pos_embeddings": width})
    (encoding,) = read(find, model, tmp_path).values()
    assert encoding.part == "encoder"
    agrees(form_of(encoding, Convolution), model.encoder.pos_conv_embed)


def test_the_weights_of_sew_are_those_that_its_module_uses(tmp_path: Path) -> None:
    model = made("SEWModel", **WAVES, squeeze_factor=1)
    (encoding,) = read(find, model, tmp_path).values()
    close(
        form_of(encoding, Convolution).weights,
        model.double().encoder.pos_conv_embed.conv.weight,
        1e-12,
    )


def test_each_convolution_of_data2vec_equals_the_models_own(tmp_path: Path) -> None:
    model = made("Data2VecAudioModel", **{**WAVES, "num_conv_pos_embeddings": 3})
    encodings = read(find, model, tmp_path)
    assert list(encodings) == [f"encoder convolution {number}" for number in range(3)]
    for encoding, layer in zip(
        encodings.values(), model.encoder.pos_conv_embed.layers, strict=True
    ):
        agrees(form_of(encoding, Convolution), layer)


def test_old_and_new_names_of_a_normalised_weight_give_equal_weights() -> None:
    rng = np.random.default_rng(0)
    length, direction = rng.normal(size=(1, 1, 3)), rng.normal(size=(4, 2, 3))
    older = DictFiles(arrays={f"{STEM}weight_g": length, f"{STEM}weight_v": direction})
    newer = DictFiles(
        arrays={
            f"{STEM}parametrizations.weight.original{index}": array
            for index, array in enumerate((length, direction))
        }
    )
    forms = [form_of(find(files)[0], Convolution) for files in (older, newer)]
    assert_array_equal(forms[0].weights, forms[1].weights)
    # What is left of a normed direction is its length.
    assert_allclose(forms[0].strength, np.abs(length[0, 0]), rtol=1e-12)


def test_the_convolution_of_the_conformer_changes_nothing_and_is_ignored(tmp_path: Path) -> None:
    """Other weights leave the output unchanged."""
    model = made("Wav2Vec2ConformerModel", **{**WAVES, "conv_depthwise_kernel_size": 3})
    assert read(find, model, tmp_path) == {}
    sound = torch.randn(1, 900)
    with torch.no_grad():
        before = model(sound).last_hidden_state
        model.encoder.pos_conv_embed.conv.bias += 10.0
        assert torch.equal(before, model(sound).last_hidden_state)
