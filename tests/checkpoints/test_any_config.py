"""config.json with any values: encodings and a map of layers, or a reason why the row fails, in
sentences without the names that Python has for types and errors.
"""

import json
import math
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.checkpoints.model import keys
from generator.checkpoints.sources.folder import SOURCE
from generator.cli.inspection import document
from generator.errors import RowError
from generator.pipeline.inspect import inspect
from generator.reading.find import find
from generator.reading.plan import Task
from tests.built import ROOT
from tests.support import checkpoint
from tests.synthetic import write_folder

FOLDER = ROOT / "generator/encyclopedia/models"
PUBLISHED = [
    json.loads(path.read_text(encoding="utf-8"))["config"] for path in sorted(FOLDER.glob("*.json"))
]
LARGE = st.sampled_from(
    [-1, 0, 1, 2, 3, 7, 2**31, 2**63, 10**12, 10**30, True, 0.0, 0.5, -1.5, 1e308]
)
WORDS = st.sampled_from(["yarn", "llama3", "longrope", "linear", "dynamic"])
TEXTS = st.text(max_size=9)
VALUES = st.recursive(
    st.none() | LARGE | WORDS | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)

OF_PYTHON = re.compile(
    r"[a-z]Error\b|NoneType|<class|'(int|float|str|bool|list|dict)'|\b(nan|inf)\b"
)


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """A published config in which up to three values, nested ones too, are replaced or missing."""
    config: dict[str, Any] = json.loads(json.dumps(draw(st.sampled_from(PUBLISHED))))
    for _ in range(draw(st.integers(1, 3))):
        section = config
        name = draw(st.sampled_from(sorted(section)))
        while isinstance(section[name], dict) and section[name] and draw(st.booleans()):
            section = section[name]
            name = draw(st.sampled_from(sorted(section)))
        section[name] = draw(VALUES)
    return config


def sentences(task: Task) -> tuple[str, ...]:
    """On what is open, and of lint; or why there are none."""
    try:
        outcome = inspect(task).outcome
    except RowError as error:
        return (str(error),)
    return (*outcome.unresolved, *(one.text for one in outcome.lint))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(config=configs())
def test_any_config_has_encodings_or_a_row_error(
    tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any]
) -> None:
    folder = write_folder(
        tmp_path_factory.mktemp("config"), {"config.json": json.dumps(config).encode()}
    )
    task = Task(checkpoint(place=str(folder)), offline=True)
    assert [text for text in sentences(task) if OF_PYTHON.search(text)] == []
    with suppress(RowError):
        for encoding in find(SOURCE.open(task.checkpoint, offline=True)):
            assert encoding.form.kernel(8).ndim == 3


@pytest.mark.parametrize(
    ("model", "path", "value"),
    [
        ("deepseek-ai--deepseek-vl2-tiny", ("projector_config", "model_type"), ["x"]),
        ("microsoft--Phi-3.5-MoE-instruct", ("rope_scaling", "short_mscale"), -math.inf),
        ("allenai--olmOCR-2-7B-1025", ("rope_theta",), "😀" * 500),
        ("01-ai--Yi-6B", ("architectures",), -1),
        ("google--gemma-3-4b-it", ("architectures",), {"a": [1]}),
        ("allenai--olmOCR-2-7B-1025", ("rope_scaling", "rope_type"), "é" * 3000),
    ],
)
def test_what_a_setting_holds_breaks_no_sentence(
    tmp_path: Path, model: str, path: keys.Path, value: object
) -> None:
    """Each was found by mutation: an error of Python, a number that JSON lacks, endless lines."""
    config = json.loads((FOLDER / f"{model}.json").read_text(encoding="utf-8"))["config"]
    hostile = json.dumps(keys.with_value(config, path, value)).encode()
    task = Task(
        checkpoint(place=str(write_folder(tmp_path / "x", {"config.json": hostile}))), offline=True
    )
    every = sentences(task)
    assert [text for text in every if OF_PYTHON.search(text) or len(text) > 1000] == []
    with suppress(RowError):
        json.dumps(document(inspect(task)), allow_nan=False, default=str)
