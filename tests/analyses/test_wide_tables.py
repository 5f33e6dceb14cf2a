"""Tables that are worked on in blocks: the same numbers, and little memory beside the table."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from generator.contracts import Analysis, Result
from generator.encodings import PositionTable, tables
from generator.errors import NotApplicableError
from generator.numerics import arrays
from generator.pipeline.evaluate import all_analyses
from tests.support import subject

OF_TABLES = [analysis for analysis in all_analyses() if PositionTable in analysis.forms]
SHAPES = {"tall": ((40, 24), None), "wide": ((24, 40), None), "of patches": ((36, 24), (6, 6))}
# The shape of a table, and how many values are worked on at once: as much less than in a build as
# the table is smaller than those of the largest models.
SMALL, WIDE = ((512, 3072), 2**15, 2**18), ((1024, 6144), 2**17, 2**20)
# What they compute of 512 positions, or for pairs of some dimensions, does not shrink with the
# table.
OF_ONE_SIZE = ("position_probe", "similarity_of_dimensions", "order_probe")
# times the table; with the table itself and its reference that is less than the four times that a
# study may take
MOST = 1.75


def result_of(analysis: Analysis, table: PositionTable) -> Result:
    try:
        return analysis.compute(subject(table))
    except NotApplicableError as error:
        return Result(reason=str(error))


@pytest.mark.parametrize("analysis", OF_TABLES, ids=lambda analysis: analysis.key)
@pytest.mark.parametrize(("shape", "grid"), SHAPES.values(), ids=SHAPES)
def test_blocks_change_no_number(analysis: Any, shape: Any, grid: Any, monkeypatch: Any) -> None:
    vectors = np.random.default_rng(0).standard_normal(shape)
    vectors[3] *= 50.0  # An outlier.
    at_once = result_of(analysis, PositionTable(vectors, grid=grid))
    monkeypatch.setattr(arrays, "BLOCK", 128)
    monkeypatch.setattr(tables, "MOST_VALUES", 0)
    in_blocks = result_of(analysis, PositionTable(vectors, grid=grid))
    assert in_blocks.reason == at_once.reason
    for one, other in zip(at_once.metrics, in_blocks.metrics, strict=True):
        assert (other.value is None) == (one.value is None), one.key
        assert other.value is None or other.value == pytest.approx(one.value, 1e-7, 1e-9), one.key


@pytest.mark.parametrize("analysis", OF_TABLES, ids=lambda analysis: analysis.key)
def test_an_analysis_takes_little_memory(analysis: Analysis, monkeypatch: Any) -> None:
    shape, block, most_values = WIDE if analysis.key in OF_ONE_SIZE else SMALL
    monkeypatch.setattr(arrays, "BLOCK", block)
    monkeypatch.setattr(tables, "MOST_VALUES", most_values)
    table = PositionTable(np.random.default_rng(0).standard_normal(shape))
    tracemalloc.start()
    try:
        result_of(analysis, table)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST * table.vectors.nbytes
