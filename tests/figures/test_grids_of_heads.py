"""Pictures of the heads of a model: where the values of each are."""

import numpy as np
import pytest

from generator.figures import grids_of_heads
from generator.numerics.arrays import Floats


@pytest.mark.parametrize("shape", [(2, 3, 1, 8), (3, 2, 5, 5)])
def test_the_values_of_a_head_are_at_its_place_with_a_gap_beside_them(
    shape: tuple[int, ...],
) -> None:
    """A gap is a fifth of a head."""
    n_layers, n_heads, n_rows, n_columns = shape
    values = np.arange(1.0, np.prod(shape) + 1.0).reshape(shape)
    values /= values.max(axis=(2, 3), keepdims=True)
    drawn = (
        grids_of_heads.strips(values[:, :, 0], 1.0, "x")
        if n_rows == 1
        else grids_of_heads.pictures(values)
    )
    shown: Floats = np.ma.filled(np.ma.asarray(drawn.axes[0].images[0].get_array()), np.nan)
    rows, columns = (round(1.2 * size) if size > 1 else 1 for size in (n_rows, n_columns))
    assert shown.shape == (n_layers * rows, n_heads * columns)
    cut = shown.reshape(n_layers, rows, n_heads, columns).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(cut[:, :, :n_rows, :n_columns], values)
    assert np.count_nonzero(np.isfinite(shown)) == values.size
    places = [axis.get_ticklocs().tolist() for axis in (drawn.axes[0].yaxis, drawn.axes[0].xaxis)]
    middles = [(n_rows - 1) / 2 + rows * np.arange(n_layers)]
    middles += [(n_columns - 1) / 2 + columns * np.arange(n_heads)]
    assert places == [middle.tolist() for middle in middles]


def test_the_number_of_a_head_is_below_the_value_that_is_named() -> None:
    drawn = grids_of_heads.strips(np.ones((2, 3, 8)), 1.0, "x", "head, above it offset 0", 6.0)
    assert drawn.axes[0].xaxis.get_ticklocs().tolist() == [6.0, 16.0, 26.0]
    assert drawn.axes[0].get_xlabel() == "head, above it offset 0"
