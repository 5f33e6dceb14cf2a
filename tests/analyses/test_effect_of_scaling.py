from typing import Any

import numpy as np
import pytest

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
LINEAR = Rotation(1e4, 128, 128, 16_384, {"rope_type": "linear", "factor": 4.0})
DYNAMIC = Rotation(1e4, 128, 128, 4096, {"rope_type": "dynamic", "factor": 2.0})
# Computed by Llama 3.1's published code for its own configuration.
BETWEEN = [1.2075, 1.5534, 2.0263, 2.6945, 3.6843, 5.2573]


def result_of(form: Rotation) -> Result:
    return compute(subject(form))


def values(form: Rotation, *keys: str) -> list[Any]:
    metrics = {metric.key: metric.value for metric in result_of(form).metrics}
    return [metrics[key] for key in keys]


def test_llama_3_1_leaves_29_pairs_slows_29_by_8_and_6_by_less() -> None:
    assert values(LLAMA_3_1, "unchanged", "full", "between") == [29, 29, 6]
    assert values(LLAMA_3_1, "largest", "attention_factor") == pytest.approx([8.0, 1.0], rel=1e-6)


def test_the_six_pairs_between_have_the_published_ratios() -> None:
    arrays = result_of(LLAMA_3_1).arrays
    np.testing.assert_allclose(
        arrays["ratios"][~arrays["unchanged"] & ~arrays["full"]], BETWEEN, rtol=0, atol=5e-5
    )


def test_yarn_leaves_pairs_0_to_20_and_slows_46_to_63_fully() -> None:
    arrays = result_of(YARN).arrays
    assert np.flatnonzero(arrays["unchanged"]).tolist() == list(range(21))
    assert np.flatnonzero(arrays["full"]).tolist() == list(range(46, 64))


def test_yarn_has_its_attention_factor() -> None:
    """0.1 ln 16 + 1 (Peng et al. 2023, section 3.4)."""
    assert values(YARN, "attention_factor") == pytest.approx([1.277259], abs=1e-6)


def test_linear_scaling_slows_all_pairs_equally() -> None:
    assert values(LINEAR, "unchanged", "full", "between") == [0, 64, 0]
    assert values(LINEAR, "largest") == pytest.approx([4.0], rel=1e-6)


def test_dynamic_scaling_changes_nothing_within_the_context() -> None:
    assert values(DYNAMIC, "unchanged", "full", "between") == [64, 0, 0]
    assert "leaves all 64 pairs unchanged" in result_of(DYNAMIC).findings[0].text


def test_wavelengths_before_scaling_are_those_of_the_base() -> None:
    np.testing.assert_allclose(
        result_of(LLAMA_3_1).arrays["before"], 2 * np.pi * 5e5 ** (np.arange(64) / 64), rtol=1e-12
    )


def test_a_proportional_rotation_slows_all_pairs_by_its_factor_and_applies_only_with_one() -> None:
    """Of a head of 64, 8 pairs turn as fast as the first 8 of 32, divided by the factor."""
    slowed = Rotation(1e4, 16, 64, 4096, {"rope_type": "proportional", "factor": 4.0})
    assert values(slowed, "unchanged", "full", "largest") == pytest.approx([0, 8, 4.0], rel=1e-6)
    np.testing.assert_allclose(
        result_of(slowed).arrays["before"], 2 * np.pi * 1e4 ** (np.arange(8) / 32), rtol=1e-6
    )
    with pytest.raises(NotApplicableError, match="turns 8 of 32 pairs and slows none"):
        result_of(Rotation(1e4, 16, 64, 4096, {"rope_type": "proportional"}))


@pytest.mark.parametrize("kind", ["linear", "dynamic"])
def test_only_scaling_by_length_leaves_pairs_as_they_are_up_to_a_length(kind: str) -> None:
    form = Rotation(1e4, 128, 128, 4096, {"rope_type": kind, "factor": 1.0})
    assert ("up to the configured length" in result_of(form).findings[0].text) == (
        kind == "dynamic"
    )


@pytest.mark.parametrize("scaling", [{}, {"rope_type": "default"}, {"type": "default"}])
def test_a_rotation_without_scaling_is_not_applicable(scaling: dict[str, object]) -> None:
    with pytest.raises(NotApplicableError, match="no scaling"):
        result_of(Rotation(1e4, 128, 128, 4096, scaling))
