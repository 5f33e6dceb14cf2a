import json
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import Arrangement, OffsetBias, PositionTable, Rotation, sinusoid
from generator.encodings.rotations import plain
from generator.errors import NotApplicableError, RowError
from generator.numerics.arrays import Floats, frozen
from tests.support import close

LONGROPE = {"rope_type": "longrope", "short_factor": (1.0, 2.0), "odd": {"of": [None, np.nan]}}
ARRANGEMENTS: tuple[Arrangement, ...] = ("interleaved", "halves", "tensor2tensor")
SHAPES = [(512, 64), (40, 768), (5, 7), (1, 4)]
FLOAT32_ANGLES = 1e-4  # An angle of 512 radians in float32 is exact to 3e-5.

LLAMA_2 = Rotation(1e4, 128, 128, 4096)
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096}
BY_LENGTH = {"rope_type": "longrope", "short_factor": [1.0, 1.0, 2.0, 4.0],
             "long_factor": [1.0, 2.0, 4.0, 8.0],
             "original_max_position_embeddings": 1024}  # fmt: skip
LLAMA_3_1 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
             "original_max_position_embeddings": 8192}  # fmt: skip
TURNING = [
    *(Rotation(base, 32, 32, 64) for base in (1e4, 5e5, 160_000.0)),
    Rotation(1e4, 128, 128, 16384, LINEAR),
    Rotation(1e4, 128, 128, 8192, {"rope_type": "dynamic", "factor": 2.0}),
    Rotation(1e4, 128, 128, 65536, YARN),
    Rotation(1e4, 8, 8, 4096, BY_LENGTH),
    Rotation(5e5, 128, 128, 131_072, LLAMA_3_1),
]


def test_settings_of_a_rotation_are_published_as_json_can_hold_them() -> None:
    stored = json.loads(json.dumps(plain(LONGROPE), allow_nan=False))
    assert stored == {**LONGROPE, "short_factor": [1.0, 2.0], "odd": {"of": [None, "nan"]}}


@pytest.mark.parametrize("size", [1e-200, 1e-12, 1e12, 1e200])
def test_components_of_a_table_have_no_unit_and_equal_rows_none(size: float) -> None:
    rows = np.random.default_rng(0).normal(size=(12, 5))
    plainly, scaled = (PositionTable(frozen(factor * rows)).components for factor in (1.0, size))
    assert_allclose(scaled.values, plainly.values)
    with pytest.raises(NotApplicableError, match="all positions have the same vector"):
        _ = PositionTable(frozen(size * np.ones((12, 5)))).components


@pytest.mark.parametrize("layout", ARRANGEMENTS)
@given(st.integers(1, 40), st.integers(1, 20))
def test_every_vector_has_norm_sqrt_n_pairs(layout: Any, n_positions: int, pairs: int) -> None:
    """sin² + cos² = 1 for each of the pairs."""
    table = sinusoid(n_positions, 2 * pairs, layout)
    assert_allclose(np.linalg.norm(table, axis=1), np.sqrt(pairs), rtol=1e-12)


@pytest.mark.parametrize("layout", ARRANGEMENTS)
def test_products_of_sinusoid_vectors_depend_on_their_offset_alone(layout: Arrangement) -> None:
    """sin a sin b + cos a cos b = cos(a − b)."""
    table = sinusoid(30, 16, layout)
    products = table @ table.T
    close(products[1:, 1:], products[:-1, :-1], 1e-12)


def test_a_sinusoid_by_hand() -> None:
    slow = 10_000**-0.5
    expected = [[0, 1, 0, 1], [np.sin(1), np.cos(1), np.sin(slow), np.cos(slow)]]
    close(sinusoid(2, 4), expected, 1e-15)


def distilbert_table(n_positions: int, d_model: int) -> Floats:
    """The table (n_positions, d_model) by transformers."""
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    table = torch.zeros(n_positions, d_model)
    create_sinusoidal_embeddings(n_positions, d_model, table)
    return np.asarray(table.double().numpy())


def marian_table(n_positions: int, d_model: int) -> Floats:
    """The table (n_positions, d_model) by transformers."""
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    return np.asarray(
        MarianSinusoidalPositionalEmbedding(n_positions, d_model).create_weight().double().numpy()
    )


def m2m_100_table(n_positions: int, d_model: int) -> Floats:
    """The table (n_positions, d_model) by transformers."""
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding

    return np.asarray(
        M2M100SinusoidalPositionalEmbedding.get_embedding(n_positions, d_model).double().numpy()
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("layout", "theirs"),
    [("interleaved", distilbert_table), ("halves", marian_table), ("tensor2tensor", m2m_100_table)],
)
def test_layouts_are_those_of_transformers(
    layout: Any, theirs: Any, shape: tuple[int, int]
) -> None:
    close(sinusoid(*shape, layout), theirs(*shape), FLOAT32_ANGLES)


def test_the_reference_of_a_table_and_the_kernel_of_a_bias_by_hand() -> None:
    assert_array_equal(PositionTable(np.ones((6, 5))).make_reference().numbers, sinusoid(6, 5))
    bias = OffsetBias(
        frozen([[-2, -1, 0, 10, 20]]), frozen(np.arange(-2, 3)), causal=False, beyond="constant"
    )
    assert_array_equal(bias.kernel(3), [[[0, 10, 20], [-1, 0, 10], [-2, -1, 0]]])
    bias = OffsetBias(
        frozen([[-2, -1, 0], [-4, -2, 0]]), frozen([-2, -1, 0]), causal=True, beyond="linear"
    )
    nan = np.nan
    assert_array_equal(bias.kernel(2), [[[0, nan], [-1, 0]], [[0, nan], [-2, 0]]])


@pytest.mark.parametrize("ours", TURNING, ids=lambda ours: f"{ours.rope_type} {ours.base:g}")
def test_frequencies_and_factors_equal_those_of_transformers_llama(ours: Rotation) -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    sizes = {"hidden_size": ours.head_dim, "num_attention_heads": 1,
             "max_position_embeddings": ours.n_positions}  # fmt: skip
    rope = {"rope_type": "default", "rope_theta": ours.base, **ours.scaling}
    theirs = LlamaRotaryEmbedding(LlamaConfig(rope_parameters=rope, **sizes))
    assert_allclose(ours.frequencies, theirs.inv_freq.double().numpy(), rtol=1e-6)
    assert ours.attention_factor == pytest.approx(theirs.attention_scaling)


def test_yarn_and_fixed_ntk_slow_the_pairs_of_their_papers() -> None:
    rotation = Rotation(1e4, 128, 128, 65536, YARN)
    slowed = rotation.unscaled_frequencies / rotation.frequencies
    assert_allclose(slowed[:21], 1.0, rtol=1e-6)
    assert np.all(np.diff(slowed[20:47]) > 0.01)
    assert_allclose(slowed[46:], 16.0, rtol=1e-6)
    # Su Jianlin 2023 (https://kexue.fm/archives/9706), equation 6: d = 8, 16^(1/4) = 2.
    rotation = Rotation(1e4, 8, 8, 64, {"rope_type": "ntk", "factor": 16.0})
    assert_allclose(rotation.frequencies, [1 / 2, 0.1 / 4, 0.01 / 8, 0.001 / 16])


@pytest.mark.parametrize(
    "broken",
    [
        {"factor": 0.0},
        {"factor": "two"},
        {"rope_type": "linear", "factor": [2, 3]},
        {},
        {"factor": 2.0, "mixed_b": 0.6},
    ],
)
def test_a_fixed_ntk_that_is_not_known_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(RowError, match="rotary scaling") as caught:
        _ = Rotation(1e4, 8, 8, 64, {"rope_type": "ntk", **broken}).frequencies
    assert "Error" not in str(caught.value)


def test_what_a_scaling_lacks_is_named_in_the_same_order_by_every_process() -> None:
    lacking = "'long_factor', 'original_max_position_embeddings', 'short_factor'; expected"
    with pytest.raises(RowError, match=lacking):
        _ = Rotation(1e4, 8, 8, 64, {"rope_type": "longrope"}).frequencies


def test_scalings_of_no_kind_older_keys_and_proportional_ones() -> None:
    rotation = Rotation(1e4, 8, 8, 64, {"factor": 4.0})
    assert_array_equal(rotation.frequencies, rotation.unscaled_frequencies)
    assert rotation.attention_factor == 1.0
    newer = Rotation(1e4, 128, 128, 16384, LINEAR)
    older = Rotation(1e4, 128, 128, 16384, {"type": "linear", "factor": 4.0})
    assert_array_equal(older.frequencies, newer.frequencies)
    # The rule of transformers: exponents span the whole head, only the first pairs rotate.
    rotation = Rotation(1e4, 4, 16, 64, {"rope_type": "proportional"})
    assert_allclose(rotation.frequencies, [1.0, 10_000 ** (-2 / 16)], rtol=1e-6)


def test_the_kernel_of_a_rotation_equals_the_product_of_rotated_vectors() -> None:
    """Su et al. 2021, equation 16: of equal pairs, q·k is Σ cos(offset · frequency)."""
    rotation = Rotation(100.0, 6, 6, 12)
    rotated = np.exp(1j * np.arange(12)[:, None] * 100.0 ** (-np.arange(0, 6, 2) / 6))
    products = (rotated @ rotated.conj().T).real / 3
    close(rotation.kernel(12)[0], products, 1e-12)
    assert_array_equal(LLAMA_2.by_offset(20), LLAMA_2.kernel(20)[0, 0])
