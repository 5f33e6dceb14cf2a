"""Kernels by distance at the smallest sizes."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import PositionTable
from generator.encodings.kernels import log_spaced, profile_of


def test_kernels_of_one_position_and_distances_up_to_the_last() -> None:
    profile = profile_of(PositionTable(np.ones((1, 4)), 0, None), 16, of_patches=False)
    assert_array_equal(profile.distances, [0])
    assert_allclose(profile.values, [[1.0]])
    assert np.isnan(profile.halves).all()
    assert [log_spaced(last, 12)[-1] for last in (0, 1, 2, 1000)] == [0, 1, 2, 1000]
