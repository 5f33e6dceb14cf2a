import numpy as np
import pytest

from generator.analyses.reach_of_the_convolution import compute, energy_within, half_width
from generator.contracts import Result
from generator.encodings import Convolution
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from tests.analyses.on import values_of
from tests.support import subject

OFFSETS = np.arange(-2.0, 3.0)


def result_of(weights: np.ndarray, first: int) -> Result:
    """Of weights (n_channels, n_channels_per_group, width), with offsets from ``first``."""
    return compute(
        subject(Convolution(frozen(weights), frozen(np.arange(first, first + weights.shape[2]))))
    )


def test_strength_by_hand() -> None:
    """√(3² + 4²) at offset −1, √(1 + 0) at 0, 0 at 1."""
    weights = np.array([[[3.0, 1.0, 0.0]], [[4.0, 0.0, 0.0]]])
    assert result_of(weights, -1).arrays["strength"].tolist() == [5.0, 1.0, 0.0]
    assert values_of(result_of(weights, -1))["peak"] == -1.0


@pytest.mark.parametrize(("distance", "expected"), [(0, 4 / 8), (1, 7 / 8), (2, 1.0), (9, 1.0)])
def test_energy_within_a_distance_by_hand(distance: int, expected: float) -> None:
    assert energy_within(np.sqrt([1.0, 1.0, 4.0, 2.0, 0.0]), OFFSETS, distance) == pytest.approx(
        expected
    )


@pytest.mark.parametrize(
    ("energy", "expected"), [([1, 1, 4, 2, 0], 0), ([1, 1, 3, 2, 0], 1), ([4, 0, 0, 0, 4], 2)]
)
def test_half_width_by_hand(energy: list[float], expected: int) -> None:
    assert half_width(np.sqrt(energy), OFFSETS) == expected


def test_equal_weights_have_equal_energy() -> None:
    values = values_of(result_of(np.ones((6, 2, 128)), -64))
    assert (values["width"], values["half"]) == (128, 32)
    assert (values["near"], values["far"]) == pytest.approx((100 * 3 / 128, 100 * 17 / 128))


def test_weights_of_zero_are_not_applicable() -> None:
    with pytest.raises(NotApplicableError, match="all its weights are zero"):
        result_of(np.zeros((4, 2, 3)), -1)
