"""What data files and other sites refer to: keys, titles and units of analyses and schemes.
``UPDATE_GOLDEN=1`` rewrites names.json.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from generator.contracts import Analysis, Scheme
from generator.pipeline.evaluate import all_analyses, all_schemes
from tests.analyses.test_all import CASES, result_of

NAMES = Path(__file__).parent / "names.json"
SMALL = (
    *(
        "table: random",
        "patches",
        "bias of one head",
        "rotation",
        "scaled rotation",
        "vectors by offset",
    ),
    *("window", "convolution", "nothing", "decays", "causal bias", "sinks", "smooth temperature"),
)  # Examples of every form that are quickly computed.


def of_analysis(analysis: Analysis) -> dict[str, Any]:
    """Keys with titles, questions and units of what it gives for SMALL."""
    results = [
        result_of(analysis, name) for other, name in CASES if other is analysis and name in SMALL
    ]
    return {
        "title": analysis.title,
        "question": analysis.question,
        "figures": [spec.key for spec in analysis.figures],
        "metrics": {
            metric.key: f"{metric.title} ({metric.unit})"
            for result in results
            for metric in result.metrics
        },
        "arrays": sorted({name for result in results for name in result.arrays}),
    }


def of_scheme(scheme: Scheme) -> dict[str, Any]:
    return {"title": scheme.title, "also": list(scheme.also), "looked_for": scheme.looked_for}


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """As they were when names.json was written."""
    if os.environ.get("UPDATE_GOLDEN"):
        current = {analysis.key: of_analysis(analysis) for analysis in all_analyses()}
        current |= {scheme.key: of_scheme(scheme) for scheme in all_schemes()}
        NAMES.write_text(json.dumps(current, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    stored: dict[str, Any] = json.loads(NAMES.read_text(encoding="utf-8"))
    return stored


def test_every_extension_has_its_names(names: dict[str, Any]) -> None:
    assert sorted(names) == sorted(
        [*(analysis.key for analysis in all_analyses()), *(scheme.key for scheme in all_schemes())]
    )


@pytest.mark.parametrize("analysis", all_analyses(), ids=lambda analysis: analysis.key)
def test_an_analysis_keeps_its_names(analysis: Analysis, names: dict[str, Any]) -> None:
    assert of_analysis(analysis) == names[analysis.key]


@pytest.mark.parametrize("scheme", all_schemes(), ids=lambda scheme: scheme.key)
def test_a_scheme_keeps_its_names(scheme: Scheme, names: dict[str, Any]) -> None:
    assert of_scheme(scheme) == names[scheme.key]
