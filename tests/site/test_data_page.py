"""The data page: its examples run, and it documents every array."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator import ROOT
from generator.contracts import (
    Analysis,
    Atlas,
    Encoding,
    Label,
    Metric,
    Outcome,
    Provenance,
    Reading,
    Result,
)
from generator.encodings import (
    NoEncoding,
    PositionTable,
    SinusoidFormula,
    sinusoid,
    sinusoid_formula,
    whole_turn_formula,
)
from generator.numerics.arrays import frozen
from generator.pipeline.evaluate import all_analyses
from generator.site.data import downloads as data_files
from generator.site.render import environment_of
from tests.analyses.test_all import applicable_results, computed, each_analysis
from tests.support import checkpoint

PAGE = (ROOT / "templates/pages/data_files.md.jinja").read_text(encoding="utf-8")
FOR_ATLAS, FOR_METRICS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ARRAYS = (ROOT / "templates/pages/data_arrays.md.jinja").read_text(encoding="utf-8")
FOR_TABLE, FOR_COMPONENTS, FOR_PLACES, FOR_LINE, FOR_KERNEL, FOR_INPUT, FOR_PATCHES = re.findall(
    r"```python\n(.*?)```", ARRAYS, re.DOTALL
)
GRID = FOR_TABLE + FOR_COMPONENTS + FOR_PLACES + FOR_INPUT + FOR_PATCHES
LINE = FOR_TABLE + FOR_COMPONENTS + FOR_PLACES + FOR_LINE + FOR_KERNEL
SHOWN = {  # Names in the examples, by those of the analyses.
    "whole_table.vectors": "vectors",
    "anatomy_of_the_input.positions": "positions",
    "anatomy_of_the_input.sum": "total",
    "anatomy_of_the_input.table": "vectors",
    "single_positions.vectors": "single",
    "single_dimensions.curves": "curves",
    "similarity_of_positions.cosines": "cosines",
    "similarity_of_dimensions.cosines": "of_dimensions",
    "decay_with_distance.matrix": "kernel",
    "similarity_of_patches.tiles": "tiles",
    **{f"vector_norms.{name}": name for name in ("norms", "dimension_norms")},
    **{f"principal_components.{name}": name for name in ("coordinates", "shares", "shares_within")},
    **{f"rank.{name}": name for name in ("energy", "energy_centred")},
}
ALONG = {  # Where positions are in a line.
    "seams.adjacent": "adjacent",
    **{f"similarity_by_distance.{name}": name for name in ("profile", "spread")},
    **{f"spectrum.{name}": name for name in ("periods", "mean", "quartiles", "control")},
}
METRICS = (
    Metric("half", "Distance half way to its far level", 2.5, "positions"),
    Metric("none", "None", None, reason="no word"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with the data of two encodings."""
    results = {"decay_with_distance": Result(METRICS, {"profile": frozen([1.0, 0.5])})}
    encodings = [
        Encoding(part, "made", NoEncoding("from the config"), Provenance(""))
        for part in ("encoder", "decoder")
    ]
    readings = tuple(
        Reading.of(encoding, Label(f"Row · {encoding.part}", "#3d7fd6"), results, {}, {})
        for encoding in encodings
    )
    atlas = Atlas((Outcome(checkpoint(), "ok", readings=readings),), (), ())
    for path, make in data_files.makers(atlas).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(make())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(example: str) -> dict[str, Any]:
    """Names that ``example`` defines."""
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 (our own page)
    return names


def documented(analysis: Analysis) -> set[str]:
    """Names of the arrays in the analysis's template."""
    environment = environment_of(ROOT / "templates")
    template: Any = environment.get_template(f"analyses/{analysis.key}.md.jinja").module
    return set(re.findall(r"^- `(\w+)` ", str(template.arrays()), re.MULTILINE))


def test_the_examples_read_every_array_and_a_metric(folder: Path) -> None:
    arrays = run(FOR_ATLAS)["arrays"]
    assert [npz["decay_with_distance.profile"].shape for npz in arrays.values()] == [(2,), (2,)]
    for npz in arrays.values():
        npz.close()
    assert run(FOR_METRICS)["numbers"] == {"Row · encoder": 2.5, "Row · decoder": 2.5}


@each_analysis
def test_every_array_of_an_analysis_is_documented(analysis: Analysis) -> None:
    names = {name for result in applicable_results(analysis) for name in result.arrays}
    assert names <= documented(analysis)


def derived(form: PositionTable, examples: str, path: Path) -> dict[str, tuple[Any, Any]]:
    """What the files leave out of the results of ``form``, and what ``examples``, run on a file at
    ``path``, have for it.
    """
    understood = [analysis for analysis in all_analyses() if isinstance(form, analysis.forms)]
    results = {analysis.key: computed(analysis, form) for analysis in understood}
    encoding = Encoding("vision", "made", form, Provenance(""))
    reading = Reading.of(encoding, Label("Row", "#3d7fd6"), results, {}, {})
    following = {f"{analysis.key}.{name}" for analysis in understood for name in analysis.follows}
    path.write_bytes(data_files.npz(reading, understood))
    given = run(examples.replace("data/<checkpoint>/<encoding>.npz", str(path)))
    assert following.isdisjoint(given["arrays"])
    given["arrays"].close()
    arrays = {
        f"{key}.{name}": array
        for key, result in results.items()
        for name, array in {**result.arrays, **result.derived}.items()
    }
    derived = {f"{key}.{name}" for key, result in results.items() for name in result.derived}
    left_out = [name for name in arrays if name in following | derived]
    return {name: (arrays[name], given.get({**SHOWN, **ALONG}[name])) for name in left_out}


def test_the_examples_of_the_page_on_arrays_give_what_the_files_leave_out(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((12, 8)).astype(np.float32)
    found = derived(PositionTable(frozen(rows), grid=(3, 4)), GRID, tmp_path / "grid.npz")
    assert set(found) == set(SHOWN)
    for name, (array, given) in found.items():
        if name != "decay_with_distance.matrix":  # The next test has that.
            # Words are in single precision.
            rounding = 1e-6 if name == "anatomy_of_the_input.sum" else 1e-12
            np.testing.assert_allclose(given, array, rtol=0, atol=rounding)


@pytest.mark.parametrize("n_positions", [40, 150])
def test_the_examples_for_a_line_are_those_of_a_line(n_positions: int, tmp_path: Path) -> None:
    rows = sinusoid(n_positions, 16).copy()
    rows[[7, n_positions - 1]] *= 50.0
    found = derived(PositionTable(frozen(rows)), LINE, tmp_path / "line.npz")
    assert set(ALONG) <= set(found)
    assert np.isnan(found["decay_with_distance.matrix"][0][7]).all()
    for name in ("decay_with_distance.matrix", *ALONG):
        array, given = found[name]
        np.testing.assert_allclose(given, array, rtol=0, atol=1e-6, err_msg=name)


OF_FORMULAS = (
    (sinusoid_formula(600, 18, "tensor2tensor", first=2), None, LINE),
    (replace(sinusoid_formula(40, 8, "halves"), scale=0.3), None, LINE),
    (whole_turn_formula((3, 4), 8), (3, 4), GRID),
)


@pytest.mark.parametrize(("formula", "grid", "examples"), OF_FORMULAS)
def test_the_examples_compute_tables_that_no_tensor_stores(
    formula: SinusoidFormula, grid: tuple[int, int] | None, examples: str, tmp_path: Path
) -> None:
    found = derived(PositionTable(formula, grid=grid), examples, tmp_path / "formula.npz")
    np.testing.assert_allclose(found["whole_table.vectors"][1], formula.table, rtol=0, atol=1e-15)
    with np.load(tmp_path / "formula.npz") as arrays:
        assert formula.table.size not in {array.size for array in arrays.values()}
