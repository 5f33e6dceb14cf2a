"""What data files, other sites and programs refer to: keys, titles and units of analyses and
schemes, and the names of the module for programs in Python.
``UPDATE_GOLDEN=1`` rewrites names.json.
"""

import ast
import inspect
import json
import os
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import position_atlas
from generator import ROOT
from generator.checkpoints.model import own_families
from generator.contracts import (
    Analysis,
    Encoding,
    Examined,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Picture,
    Provenance,
    Result,
    Rule,
    Scheme,
    Subject,
    own_records,
)
from generator.pipeline.evaluate import all_analyses
from generator.pipeline.use import all_measures
from generator.reading.find import all_schemes
from tests.analyses.test_all import CASES, result_of
from tests.analyses.use.stacks import N_WORDS, RandomText, model, stack_of
from tests.analyses.use.test_oracles import LLAMA

NAMES = Path(__file__).parent / "names.json"
GUIDED = {*re.findall(r"`(\w+)", (ROOT / "site_src/guide/python.md").read_text(encoding="utf-8"))}
# Of the records of extensions.
PARTS = (Encoding, FigureSpec, Finding, Headline, Metric, Picture, Provenance, Result, Subject)
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


def of_analyses() -> dict[str, Any]:
    """By key, what analyses give for SMALL, and measures of models for a small one."""
    found = {}
    for analysis in all_analyses():
        fitting = [name for other, name in CASES if other is analysis and name in SMALL]
        found[analysis.key] = described(analysis, [result_of(analysis, name) for name in fitting])
    words = RandomText(np.arange(1, N_WORDS))
    stack = stack_of(model("llama", head=True, **LLAMA), vocabulary=words)
    found |= {use.key: described(use, [use.compute(stack)]) for use in all_measures()}
    return found


def described(analysis: Analysis, results: list[Result]) -> dict[str, Any]:
    """Keys with titles, questions and units of what it gives."""
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


def of_python() -> dict[str, list[str]]:
    """By name in ``position_atlas``, the arguments of a function, or those attributes of a record
    that the guide names.
    """
    found = {}
    for name in position_atlas.__all__:
        value = getattr(position_atlas, name)
        if inspect.isfunction(value):
            found[name] = [*inspect.signature(value).parameters]
        else:
            of_record = [one.name for one in fields(value)] if is_dataclass(value) else []
            found[name] = sorted({*of_record, *vars(value)} & GUIDED)
    return found


def of_extensions() -> dict[str, Any]:
    """The interface of those beside a list: its version, the fields of its records, and what the
    example atlas imports.
    """
    records = {
        one.__name__: [field.name for field in fields(one) if field.name not in own_records.OURS]
        for one in (Analysis, Scheme, Rule, Examined, *PARTS)
    }
    imported = {
        f"{node.module}.{one.name}"
        for path in (ROOT / "examples").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("generator.")
        for one in node.names
        if find_spec(str(node.module)) and hasattr(import_module(str(node.module)), one.name)
    }
    families = [*own_families.KNOWN]
    return {
        "version": own_records.VERSION, "records": records, "imports": sorted(imported),
        "words": {one.__name__: [*words] for one, words in own_records.WORDS.items()},
        "families": families,
    }  # fmt: skip


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """As they were when names.json was written."""
    if os.environ.get("UPDATE_GOLDEN"):
        current = of_analyses()
        current |= {scheme.key: of_scheme(scheme) for scheme in all_schemes()}
        current["position_atlas"], current["extensions"] = of_python(), of_extensions()
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
    now = {key: names_now for key, names_now in of_analyses().items() if key in names}
    now |= {scheme.key: of_scheme(scheme) for scheme in all_schemes()}
    now["position_atlas"], now["extensions"] = of_python(), of_extensions()
    assert kept(now, names) == names


@pytest.mark.parametrize("analysis", all_analyses(), ids=lambda analysis: analysis.key)
def test_the_key_of_an_analysis_is_its_title(analysis: Analysis) -> None:
    assert analysis.key == analysis.title.lower().replace(" ", "_")
