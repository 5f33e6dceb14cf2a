from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from generator.analyses.effect_of_scaling import compute
from generator.contracts import Result
from generator.encodings import Rotation
from generator.errors import NotApplicableError
from tests.support import subject

LLAMA_3_1 = Rotation(
    5e5, 128, 128, 131_072,
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 8192},
)  # fmt: skip
YARN = Rotation(
    1e4,
    128,
    128,
    65_536,
    {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096},
)


def result_of(form: Rotation) -> Result:
    return compute(subject(form))


def values(form: Rotation, *keys: str) -> list[Any]:
    metrics = {metric.key: metric.value for metric in result_of(form).metrics}
    return [metrics[key] for key in keys]


def test_yarn_leaves_pairs_0_to_20_and_slows_46_to_63_fully() -> None:
    arrays = result_of(YARN).arrays
    assert np.flatnonzero(arrays["unchanged"]).tolist() == list(range(21))
    assert np.flatnonzero(arrays["full"]).tolist() == list(range(46, 64))
    assert_allclose(
        result_of(LLAMA_3_1).arrays["before"], 2 * np.pi * 5e5 ** (np.arange(64) / 64), rtol=1e-12
    )


def test_a_proportional_rotation_slows_all_pairs_by_its_factor_and_applies_only_with_one() -> None:
    """Of a head of 64, 8 pairs turn as fast as the first 8 of 32, divided by the factor."""
    slowed = Rotation(1e4, 16, 64, 4096, {"rope_type": "proportional", "factor": 4.0})
    assert values(slowed, "unchanged", "full", "largest") == pytest.approx([0, 8, 4.0], rel=1e-6)
    assert_allclose(
        result_of(slowed).arrays["before"], 2 * np.pi * 1e4 ** (np.arange(8) / 32), rtol=1e-6
    )
    with pytest.raises(NotApplicableError, match="turns 8 of 32 pairs and slows none"):
        result_of(Rotation(1e4, 16, 64, 4096, {"rope_type": "proportional"}))


@pytest.mark.parametrize("scaling", [{}, {"rope_type": "default"}, {"type": "default"}])
def test_a_rotation_without_scaling_is_not_applicable(scaling: dict[str, object]) -> None:
    with pytest.raises(NotApplicableError, match="no scaling"):
        result_of(Rotation(1e4, 128, 128, 4096, scaling))


def test_the_factors_of_long_texts_are_told_beside_those_of_short_ones() -> None:
    """LongRoPE: within 4,096 positions one list holds, beyond them the other."""
    scaling = {
        "rope_type": "longrope", "original_max_position_embeddings": 4096,
        "short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.25, 4.0, 16.0, 64.84],
    }  # fmt: skip
    result = result_of(Rotation(1e4, 8, 8, 131_072, scaling))
    assert result.value("largest") == pytest.approx(2.5)
    assert result.value("largest_long") == 64.84
    assert result.findings[-1].text == (
        "In texts beyond 4,096 tokens, a second list of factors applies, which slows pairs by 1.25"
        " to 64.8 times."
    )
    alone = result_of(Rotation(1e4, 8, 8, 4096, {"rope_type": "linear", "factor": 4.0}))
    assert alone.value("largest_long") == alone.value("largest") == pytest.approx(4.0)
