"""Kernels by distance at the smallest sizes."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import Form, PositionTable, Rotation, sinusoid_formula
from generator.encodings.kernels import are_same, cosines_of, log_spaced, profile_of
from generator.numerics.arrays import frozen


def test_kernels_of_one_position_and_distances_up_to_the_last() -> None:
    profile = profile_of(PositionTable(np.ones((1, 4)), 0, None), 16, of_patches=False)
    assert_array_equal(profile.distances, [0])
    assert_allclose(profile.values, [[1.0]])
    assert np.isnan(profile.halves).all()
    assert [log_spaced(last, 12)[-1] for last in (0, 1, 2, 1000)] == [0, 1, 2, 1000]


def test_a_rotation_and_a_sinusoid_of_one_base_are_the_same_cosines() -> None:
    """P[p] · P[q] = Σ cos(θ (p − q)), as of a rotation by θ; the kernels differ by how many θ."""
    whisper = PositionTable(sinusoid_formula(448, 384, "tensor2tensor"))
    gemma, llama = Rotation(1e4, 256, 256, 1024), Rotation(1e4, 128, 128, 4096)
    other = Rotation(5e5, 128, 128, 4096)
    random = PositionTable(frozen(np.random.default_rng(0).normal(size=(448, 384))))
    grid = PositionTable(sinusoid_formula(256, 64), grid=(16, 16))

    def same(first: Form, second: Form) -> bool:
        return are_same(cosines_of(first), cosines_of(second))

    assert (same(gemma, whisper), same(llama, whisper), same(gemma, llama)) == (True, True, True)
    assert np.abs(gemma.kernel(128) - whisper.kernel(128)).max() < 0.05
    assert [form for form in (other, random) if same(form, whisper)] == []
    assert np.abs(other.kernel(128) - whisper.kernel(128)).max() > 0.1
    assert same(Rotation(2e4, 128, 128, 4096), llama) is False
    assert cosines_of(random) is None
    assert cosines_of(grid) is not None  # Numbered in reading order.
