"""Run with pytest in the folder of the list."""

import math
from pathlib import Path

import numpy as np

from generator.contracts import own, subject_of
from generator.encodings import OffsetBias
from generator.numerics.arrays import frozen

own.use(Path(__file__).parent.parent)


def test_the_bias_at_a_distance_of_three() -> None:
    from generator.schemes import kerple

    values = kerple.bias(np.array([2.0]), np.array([1.0]), np.array([3.0]))
    assert math.isclose(values[0, 0], -2.0 * math.log(4.0))


def test_the_range_of_a_bias_that_falls_is_the_difference_of_its_ends() -> None:
    from generator.analyses import bias_range

    form = OffsetBias(
        frozen([[-3.0, -1.0, 0.0]]), frozen([-2.0, -1.0, 0.0]), causal=True, beyond="constant"
    )
    assert bias_range.compute(subject_of(form)).value("most") == 3.0
