"""Every metric of the default list follows from the arrays that the site publishes, but for those
that are named here.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.built import every_row
from tests.recomputed import (
    biases,
    cosines,
    kernels,
    order,
    others,
    probes,
    seams,
    values,
    windows,
)
from tests.recomputed.published import Encoding, Metrics, encodings
from tests.recomputed.table import Table, table_of

pytestmark = pytest.mark.samples

NOT_RECOMPUTED = {
    "anatomy_of_the_input.module_difference": "It compares with the code of transformers.",
    "attention_from_the_bias_alone.shuffled": "Its random orders have a seed that no page gives.",
    "attention_from_the_bias_alone.shuffled_spread": "It is of the same random orders.",
    "positions_and_words.vocabulary": "The word matrix is not published.",
    "whole_table.tail": "It rests on tests for random numbers, whose limits no page gives.",
}
# Values that are compared: those of the list, rounded down.
FEWEST = {"few_rows": 950, "every_row": 1700}
RELATIVE = 1e-6
ABSOLUTE = 1e-11  # for zeros but for rounding
OF_SOLVER = 0.15  # points of order errors: a fit stops where few predictions still change
SMALL = 128  # positions up to which the order probe is quick

OfTable: TypeAlias = Callable[[Table], Metrics]
OfEncoding: TypeAlias = Callable[[Encoding], Metrics]
TABLES: dict[str, OfTable] = {
    "whole_table": values.whole_table,
    "single_positions": values.single_positions,
    "vector_norms": values.vector_norms,
    "single_dimensions": values.single_dimensions,
    "rank": values.rank,
    "principal_components": values.principal_components,
    "spectrum": values.spectrum,
    "positions_and_words": values.positions_and_words,
    "similarity_of_positions": cosines.similarity_of_positions,
    "similarity_by_distance": cosines.similarity_by_distance,
    "similarity_of_dimensions": cosines.similarity_of_dimensions,
    "similarity_of_patches": cosines.similarity_of_patches,
    "seams": seams.seams,
    "position_probe": probes.position_probe,
    "decay_with_distance": kernels.of_table,
}
OTHERS: dict[str, dict[str, OfEncoding]] = {
    "OffsetBias": {
        "bias_by_offset": biases.bias_by_offset,
        "attention_from_the_bias_alone": biases.attention_from_the_bias_alone,
        "exponential_decay": others.exponential_decay,
        "decay_with_distance": kernels.of_bias,
    },
    "WindowBias": {
        "bias_by_patch_offset": windows.bias_by_patch_offset,
        "attention_from_the_bias_alone": windows.attention_from_the_bias_alone,
        "decay_with_distance": windows.decay_with_distance,
    },
    "RelativeTable": {"vectors_by_offset": others.vectors_by_offset},
    "Rotation": {
        "rotation_by_offset": others.rotation_by_offset,
        "effect_of_scaling": others.effect_of_scaling,
        "decay_with_distance": others.decay_of_rotation,
    },
    "Decay": {
        "exponential_decay": others.exponential_decay,
        "decay_with_distance": others.decay_of_states,
    },
    "Temperature": {"temperature_by_position": others.temperature_by_position},
}


@dataclass(frozen=True)
class Compared:
    """A metric as published and as recomputed; ``tolerance`` is absolute."""

    encoding: str
    metric: str
    published: float | None
    recomputed: float | None
    tolerance: float

    @property
    def is_equal(self) -> bool:
        if self.published is None or self.recomputed is None:
            return self.published is self.recomputed
        return bool(abs(self.published - self.recomputed) <= self.tolerance)


@pytest.fixture(scope="module")
def published(of_each_list: Path) -> list[Encoding]:
    return encodings(of_each_list / "site")


@pytest.fixture(scope="module")
def compared(published: list[Encoding]) -> list[Compared]:
    """All but the order probe of long tables."""
    return [each for encoding in published for each in _compared(encoding, _recomputed(encoding))]


def _recomputed(encoding: Encoding) -> Metrics:
    anatomy = _named("anatomy_of_the_input", others.anatomy_of_the_input(encoding))
    if encoding.form != "PositionTable":
        parts = [_named(key, of(encoding)) for key, of in OTHERS[encoding.form].items()]
        return anatomy | _joined(parts)
    table = table_of(encoding)
    metrics = anatomy | _joined(_named(key, of(table)) for key, of in TABLES.items())
    return metrics | _of_order(table) if len(table.vectors) <= SMALL else metrics


def _of_order(table: Table) -> Metrics:
    return _named("order_probe", order.order_probe(table))


def _named(analysis: str, metrics: Metrics) -> Metrics:
    return {f"{analysis}.{key}": value for key, value in metrics.items()}


def _joined(parts: Iterable[Metrics]) -> Metrics:
    return {key: value for part in parts for key, value in part.items()}


def _compared(encoding: Encoding, recomputed: Metrics) -> list[Compared]:
    """What is not published has no place among the metrics, and is an error."""
    return [
        Compared(encoding.name, key, encoding.metrics[key], value, _tolerance(key, value))
        for key, value in recomputed.items()
    ]


def _tolerance(key: str, value: float | None) -> float:
    return OF_SOLVER if key.startswith("order_probe.") else RELATIVE * abs(value or 0) + ABSOLUTE


def test_metrics_follow_from_the_published_arrays(compared: list[Compared]) -> None:
    assert [each for each in compared if not each.is_equal] == []


def test_each_metric_is_recomputed_or_there_is_a_reason(
    published: list[Encoding], compared: list[Compared]
) -> None:
    left = {(encoding.name, key) for encoding in published for key in encoding.metrics}
    left -= {(each.encoding, each.metric) for each in compared}
    assert {key for _, key in left if not key.startswith("order_probe.")} == set(NOT_RECOMPUTED)
    of_order = {each.metric for each in compared if each.metric.startswith("order_probe.")}
    assert {key for _, key in left} <= of_order | set(NOT_RECOMPUTED)


def test_every_analysis_is_recomputed_of_some_encoding(compared: list[Compared]) -> None:
    every = {*TABLES, "order_probe", "anatomy_of_the_input"}.union(*OTHERS.values())
    assert {each.metric.partition(".")[0] for each in compared} == every


def test_most_metrics_of_the_list_are_compared(
    of_each_list: Path, compared: list[Compared]
) -> None:
    fewest = FEWEST[of_each_list.parent.name]
    assert len(compared) >= fewest
    assert sum(each.published is not None for each in compared) >= 0.9 * fewest


def test_nothing_of_the_program_is_imported() -> None:
    for path in Path(__file__).parent.glob("*.py"):
        assert re.findall(r"^\s*(?:from|import) generator", path.read_text("utf-8"), re.M) == []


@pytest.mark.thorough
@pytest.mark.parametrize("of_each_list", [every_row], indirect=True)
def test_the_order_probe_of_every_table_follows_from_its_vectors(published: list[Encoding]) -> None:
    probed = [encoding for encoding in published if "order_probe.error" in encoding.metrics]
    assert len(probed) >= 9
    compared = [
        each for encoding in probed for each in _compared(encoding, _of_order(table_of(encoding)))
    ]
    assert [each for each in compared if not each.is_equal] == []
