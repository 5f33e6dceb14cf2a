"""The data page: its examples run, and it documents every array."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.contracts import Analysis, Atlas, Encoding, Label, Metric, Outcome, Provenance, Reading, Result
from generator.encodings import NoEncoding, PositionTable
from generator.numerics.arrays import frozen
from generator.pipeline.evaluate import all_analyses
from generator.resources import ROOT
from generator.site import data_files
from generator.site.render import environment_of
from tests.analyses.test_all import applicable_results, computed, each_analysis
from tests.support import checkpoint

PAGE = (ROOT / "templates/pages/data_files.md.jinja").read_text(encoding="utf-8")
FOR_ATLAS, FOR_METRICS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ARRAYS = (ROOT / "templates/pages/data_arrays.md.jinja").read_text(encoding="utf-8")
FOR_TABLE, FOR_PATCHES = re.findall(r"```python\n(.*?)```", ARRAYS, re.DOTALL)
METRICS = (Metric("half", "Half-distance", 2.5, "positions"), Metric("none", "None", None, reason="no word"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with the data of two encodings."""
    results = {"kernel": Result(METRICS, {"matrix": frozen([[1.0, 0.5], [0.5, 1.0]])})}
    encodings = [Encoding(part, "made", NoEncoding("from the config"), Provenance("")) for part in ("encoder", "decoder")]
    readings = tuple(Reading.of(encoding, Label(f"Row · {encoding.part}", "#3d7fd6"), results, {}, {}) for encoding in encodings)
    for path, make in data_files.makers(Atlas((Outcome(checkpoint(), "ok", readings=readings),), (), ())).items():
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
    template: Any = environment_of(ROOT / "templates").get_template(f"analyses/{analysis.key}.md.jinja").module
    return set(re.findall(r"^- `(\w+)` ", str(template.arrays()), re.MULTILINE))


def test_the_first_example_reads_every_array(folder: Path) -> None:
    arrays = run(FOR_ATLAS)["arrays"]
    assert [npz["kernel.matrix"].shape for npz in arrays.values()] == [(2, 2), (2, 2)]
    for npz in arrays.values():
        npz.close()
    assert len(FOR_ATLAS.splitlines()) == 7


def test_the_second_example_reads_a_metric(folder: Path) -> None:
    assert run(FOR_METRICS)["numbers"] == {"Row · encoder": 2.5, "Row · decoder": 2.5}


@each_analysis
def test_every_array_of_an_analysis_is_documented(analysis: Analysis) -> None:
    assert {name for result in applicable_results(analysis) for name in result.arrays} <= documented(analysis)


def test_the_examples_of_the_page_on_arrays_give_what_the_files_leave_out(tmp_path: Path) -> None:
    form = PositionTable(frozen(np.random.default_rng(0).standard_normal((12, 8)).astype(np.float32)), grid=(3, 4))
    understood = [analysis for analysis in all_analyses() if isinstance(form, analysis.forms)]
    results = {analysis.key: result for analysis in understood if (result := computed(analysis, form)).derived}
    published = {"table": Result(arrays={"vectors": form.vectors}), **results}
    reading = Reading.of(Encoding("vision", "made", form, Provenance("")), Label("Row", "#3d7fd6"), published, {}, {})
    (tmp_path / "arrays.npz").write_bytes(data_files.npz(reading))
    given = run(FOR_TABLE.replace("data/<checkpoint>/<encoding>.npz", str(tmp_path / "arrays.npz")) + FOR_PATCHES)
    given["arrays"].close()
    shown = {"cosine": "cosines", "dimension_cosine": "of_dimensions", "dimensions": "curves", "tiles": "tiles"}
    assert set(shown) == set(results)
    for analysis, name in shown.items():
        [array] = results[analysis].derived.values()
        np.testing.assert_allclose(given[name], array, rtol=0, atol=1e-12)
