"""What data files and other sites refer to: keys, titles and units of analyses and schemes.
``UPDATE_GOLDEN=1`` rewrites names.json.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from generator.contracts import Analysis, Scheme
from generator.pipeline.evaluate import all_analyses
from generator.pipeline.find import all_schemes
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


def kept(now: Any, then: Any) -> Any:
    """``now``, without the keys that ``then`` has not: what is new breaks no reference."""
    if isinstance(now, list) and isinstance(then, list):
        return [item for item in then if item in now]
    if not (isinstance(now, dict) and isinstance(then, dict)):
        return now
    return {key: kept(now[key], value) for key, value in then.items() if key in now}


def test_what_was_published_keeps_its_names(names: dict[str, Any]) -> None:
    now: dict[str, Any] = {
        analysis.key: of_analysis(analysis) for analysis in all_analyses() if analysis.key in names
    }
    now |= {scheme.key: of_scheme(scheme) for scheme in all_schemes()}
    assert kept(now, names) == names


@pytest.mark.parametrize("analysis", all_analyses(), ids=lambda analysis: analysis.key)
def test_the_key_of_an_analysis_is_its_title(analysis: Analysis) -> None:
    assert analysis.key == analysis.title.lower().replace(" ", "_")
