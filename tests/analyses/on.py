"""Results of analyses on tables that tests make."""

from typing import Any

import numpy as np

from generator.contracts import Result
from generator.encodings import PositionTable
from generator.numerics.arrays import Floats, frozen
from tests.support import subject


def result_of(module: Any, table: Any, grid: tuple[int, int] | None = None) -> Result:
    """The result of an analysis, its module, for a table (n_positions, d_model)."""
    result: Result = module.compute(subject(PositionTable(frozen(table), grid=grid)))
    return result


def values_of(result: Result) -> dict[str, float | None]:
    """The metrics, by key."""
    return {metric.key: metric.value for metric in result.metrics}


def texts_of(result: Result) -> list[str]:
    """The findings."""
    return [finding.text for finding in result.findings]


def drifting(n_positions: int, cosine: float, width: int = 400, seed: int = 0) -> Floats:
    """A stationary walk, whose cosines fall as ``cosine`` to the power of the distance:
    (n_positions, width).
    """
    steps = np.random.default_rng(seed).normal(size=(n_positions, width))
    rows = [steps[0]]
    for step in steps[1:]:
        rows.append(cosine * rows[-1] + np.sqrt(1.0 - cosine**2) * step)
    return np.array(rows)
