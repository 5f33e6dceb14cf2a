"""What measures are where there is nothing to find, and what is told apart from it."""

from typing import Any

import numpy as np
import pytest

from generator.analyses.rank import components_for, components_of_noise
from generator.contracts import Analysis, Chance, Headline, Metric, Result
from generator.encodings import Form, PositionTable, WindowBias, sinusoid
from generator.pipeline.evaluate import all_analyses
from tests.support import subject

TABLES = [
    (analysis, headline)
    for analysis in all_analyses()
    for headline in analysis.shown
    if headline.chance and PositionTable in analysis.forms and analysis.key != "positions_and_words"
]
LARGER = ((508, 384), (128, 512), (1024, 768), (197, 768))


def on(analysis: Analysis, form: Form) -> Result:
    return analysis.compute(subject(form))


def noise(*shape: int, seed: int = 0) -> PositionTable:
    return PositionTable(np.random.default_rng(seed).normal(size=shape))


@pytest.mark.parametrize(("shape", "known"), list(zip(LARGER, (222, 97, 446, 149), strict=True)))
def test_noise_needs_the_components_of_marchenko_and_pastur(
    shape: tuple[int, int], known: int
) -> None:
    table = noise(*shape).vectors
    drawn = np.linalg.svd(table - table.mean(axis=0), compute_uv=False)
    assert abs(components_of_noise(*shape, 0.9) - components_for(drawn, 0.9)) <= 1
    assert components_of_noise(*shape, 0.9) == known


@pytest.mark.parametrize(("analysis", "headline"), TABLES, ids=[one.key for one, _ in TABLES])
def test_random_numbers_get_the_chance_level(analysis: Analysis, headline: Headline) -> None:
    """Within a tenth of the way from there to the best value; patches have a grid."""
    found = []
    for seed in range(3):
        table = noise(196, 96, seed=seed)
        if analysis.key == "similarity_of_patches":
            table = PositionTable(table.vectors, grid=(14, 14))
        placed = headline.placed(on(analysis, table))
        assert placed is not None
        assert placed.chance is not None
        assert headline.chance is not None
        found.append((placed.value - placed.chance) / abs(headline.chance.best - placed.chance))
    assert abs(np.mean(found)) < 0.1


def test_a_table_without_order_has_no_place_by_its_order_errors() -> None:
    [probe] = (one for one in all_analyses() if one.key == "order_probe")
    [errors] = probe.headlines
    for table, is_apart in ((noise(96, 32), False), (PositionTable(sinusoid(96, 32)), True)):
        result = on(probe, table)
        placed = errors.placed(result)
        assert placed is not None
        assert placed.is_apart == bool(result.findings) == is_apart


def test_shuffled_steps_are_as_rough_as_expected() -> None:
    [analysis] = (one for one in all_analyses() if one.key == "single_dimensions")
    table = sinusoid(128, 64) + 1.0
    expected = on(analysis, PositionTable(table)).value("roughness_shuffled")
    drawn: list[Any] = [
        on(analysis, PositionTable(np.random.default_rng(seed).permutation(table))).value(
            "roughness"
        )
        for seed in range(40)
    ]
    assert np.sqrt(np.mean(np.square(drawn))) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("is_mirrored", "expected"), [(False, 9 / 25), (True, 4 / 9)])
def test_heads_that_peak_near_by_chance(is_mirrored: bool, expected: float) -> None:
    [analysis] = (one for one in all_analyses() if one.key == "bias_by_patch_offset")
    values = np.random.default_rng(0).normal(size=(2000, 5, 5))
    if is_mirrored:
        down, across = np.abs(np.indices((5, 5)) - 2)
        values = values[:, down, across]
    result = on(analysis, WindowBias(values))
    assert result.value("near_chance") == pytest.approx(100 * expected)
    assert result.value("near_heads") == pytest.approx(100 * expected, abs=4.0)


ERRORS = Chance("chance", 0.0, ("spread", 4), ("spread_chance", 1))


@pytest.mark.parametrize(
    ("chance", "value", "share", "is_apart", "error"),
    [
        (Chance("chance"), 10.0, 0.25, True, None),
        (Chance("chance"), 39.0, 0.975, False, None),
        (Chance("chance", 100.0), 70.0, 0.5, True, None),
        (Chance("chance", 100.0), 25.0, -0.25, True, None),
        (ERRORS, 30.0, 0.75, False, 1.0),  # 10 is less than 3 · 4 · √(1/4 + 1).
        (ERRORS, 20.0, 0.5, True, 1.0),
        (Chance("missing"), 10.0, 10.0, False, None),
        (Chance("chance", 40.0), 10.0, 10.0, False, None),
    ],
)
def test_a_value_is_placed_beside_its_chance_level(
    chance: Chance, value: float, share: float, is_apart: bool, error: float | None
) -> None:
    keys = {"size": value, "chance": 40.0, "spread": 2.0, "spread_chance": 4.0}
    result = Result(tuple(Metric(key, key, number) for key, number in keys.items()))
    placed = Headline("size", chance=chance).placed(result)
    assert placed is not None
    assert placed.share == pytest.approx(share)
    assert (placed.is_apart, placed.error) == (is_apart, error)


@pytest.mark.parametrize(("near", "is_apart"), [(3, False), (4, True)])
def test_a_share_of_few_heads_is_placed_by_the_binomial_test(near: int, is_apart: bool) -> None:
    """Of 6 heads with 3 of 31 each, 3 or more come about in 1.45 of 100 cases and 4 in 0.11: three
    standard errors by chance would take both for more than chance.
    """
    values = {"near": 100.0 * near / 6.0, "by_chance": 300.0 / 31.0, "heads": 6.0}
    result = Result(tuple(Metric(key, key, number) for key, number in values.items()))
    placed = Headline("near", chance=Chance("by_chance", 100.0, total="heads")).placed(result)
    assert placed is not None
    assert placed.is_apart == is_apart
