"""Change points of series whose medians and runs can be told by hand."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from generator.numerics import change_points
from generator.numerics.change_points import NORMAL, RUN, SMALLEST, significant_breaks, variation


def test_the_variation_is_a_scaled_median_deviation() -> None:
    """From the median, 3, of 1 … 5 the deviations are 2, 1, 0, 1 and 2."""
    assert_allclose(variation(np.arange(1.0, 6.0)), NORMAL, rtol=1e-12)
    assert_array_equal(variation(np.array([np.nan, 2.0, np.nan])), SMALLEST)


def test_runs_and_seams_by_hand() -> None:
    """Its last pair alone would not be."""
    depth = np.zeros(60)
    depth[30 : 30 + RUN] = np.array([4.0, 4.0, 4.0, 0.5]) * SMALLEST
    significant = significant_breaks(depth, least=0.1 * SMALLEST, cutoff=2.5)
    assert list(np.flatnonzero(significant)) == [*range(30, 30 + RUN)]
    assert not significant_breaks(depth, least=0.1 * SMALLEST, cutoff=4.5).any()
    depth = np.zeros(80)
    depth[[20, 24, 60]] = 1.0, 0.9, 2.0
    assert change_points.seams(depth, depth > 0.5) == [(60, 60), (20, 20)]
