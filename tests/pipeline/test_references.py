"""The sinusoid beside learned tables: each analysis of it runs once for a shape."""

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from generator.contracts import Analysis, Result
from generator.contracts.subjects import subject_of
from generator.encodings import PositionTable, Rotation, sinusoid_table
from generator.errors import NotApplicableError
from generator.pipeline.evaluate import all_analyses
from generator.pipeline.references import Reference, reference_of
from generator.pipeline.store import Store

TABLE = PositionTable(np.ones((40, 8)))
BY_KEY = {analysis.key: analysis for analysis in all_analyses() if PositionTable in analysis.forms}


def reference(folder: Path, code: str = "a", form: PositionTable = TABLE) -> Reference:
    found = reference_of(form, Store(folder, code))
    assert found is not None
    return found


def result_alone(analysis: Analysis, form: PositionTable) -> Result:
    try:
        return analysis.compute(subject_of(form))
    except NotApplicableError as error:
        return Result(reason=str(error))


def failing(analysis: Analysis) -> Analysis:
    def fail(_: object) -> NoReturn:
        raise AssertionError("computed again")

    return replace(analysis, compute=fail)


@pytest.mark.parametrize("analysis", BY_KEY.values(), ids=BY_KEY)
def test_a_cached_result_is_that_of_the_sinusoid(tmp_path: Path, analysis: Analysis) -> None:
    reference(tmp_path).result(analysis)
    cached, expected = (
        reference(tmp_path).result(analysis),
        result_alone(analysis, sinusoid_table(40, 8)),
    )
    assert (cached.metrics, cached.reason) == (expected.metrics, expected.reason)
    for name, array in {**expected.arrays, **expected.derived}.items():
        np.testing.assert_array_equal({**cached.arrays, **cached.derived}[name], array)


def test_an_analysis_runs_once_for_a_shape_and_a_version_of_the_program(tmp_path: Path) -> None:
    analysis = BY_KEY["similarity_of_positions"]
    first = reference(tmp_path).result(analysis)
    assert reference(tmp_path).result(failing(analysis)).metrics == first.metrics
    for other in (
        reference(tmp_path, code="b"),
        reference(tmp_path, form=PositionTable(np.ones((41, 8)))),
    ):
        with pytest.raises(AssertionError, match="computed again"):
            other.result(failing(analysis))


def test_patches_have_another_reference_than_a_sequence_of_their_number(tmp_path: Path) -> None:
    of_patches = reference(tmp_path, form=PositionTable(np.ones((40, 8)), grid=(5, 8)))
    assert (
        reference(tmp_path).result(BY_KEY["similarity_of_positions"]).metrics
        != of_patches.result(BY_KEY["similarity_of_positions"]).metrics
    )


def test_that_an_analysis_does_not_apply_is_cached_too(tmp_path: Path) -> None:
    reason = reference(tmp_path).result(BY_KEY["similarity_of_patches"]).reason
    assert reason
    assert reference(tmp_path).result(failing(BY_KEY["similarity_of_patches"])).reason == reason


def test_the_sinusoid_itself_is_not_on_disk(tmp_path: Path) -> None:
    large = reference(tmp_path, form=PositionTable(np.ones((512, 256))))
    for analysis in BY_KEY.values():
        large.result(analysis)
    assert (
        0 < sum(path.stat().st_size for path in tmp_path.iterdir()) < large.form.numbers.nbytes / 4
    )


def test_a_rotation_has_none() -> None:
    assert reference_of(Rotation(1e4, 8, 8, 64)) is None


def test_without_a_store_everything_is_computed() -> None:
    found = reference_of(TABLE)
    assert found is not None
    assert found.result(BY_KEY["similarity_of_positions"]).value("adjacent") is not None
