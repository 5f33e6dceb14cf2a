"""Whatever a row holds, the others are built."""

import json
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.contracts import Atlas, Outcome, Result
from generator.errors import RowError
from generator.pipeline import evaluate, local_pool, worker
from generator.pipeline.executor import result_of
from generator.reading import plan
from generator.site.data import lesson_numbers
from tests import inline
from tests.synthetic import ROTATION, TABLE, write_folder, write_list

ODD: dict[str, Callable[[Any], Any]] = {
    "infinite": lambda array: np.full_like(array, np.inf),
    "nan": lambda array: np.full_like(array, np.nan),
    "huge": lambda array: np.full_like(array, 1e308),
    "empty": lambda array: array[:0],
}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """The folder of a list of two rows."""
    for name, files in {"odd": TABLE, "other": ROTATION}.items():
        write_folder(tmp_path / name, files)
    write_list(tmp_path, [{"folder": "odd"}, {"folder": "other"}])
    return tmp_path


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    document = json.loads((folder / "out/site/data/atlas.json").read_text(encoding="utf-8"))
    return {row["slug"]: row for row in document["checkpoints"]}


def test_a_row_of_which_no_page_can_be_made_fails_and_the_log_says_where(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = lesson_numbers.script

    def script(atlas: Atlas) -> bytes:
        if any(outcome.checkpoint.slug == "odd" for outcome, _ in atlas.encodings):
            raise ValueError("no such lesson")
        return made(atlas)

    monkeypatch.setattr(lesson_numbers, "script", script)
    done = inline.build(two, "--log", str(two / "log"))
    assert (done.returncode, done.stderr) == (1, "")
    reason = "its pages cannot be made: unexpected ValueError: no such lesson"
    assert (rows(two)["odd"]["reason"], rows(two)["other"]["status"]) == (reason, "ok")
    assert f"    missing  odd: {reason}" in done.stdout.splitlines()
    assert "Traceback (most recent call last)" in (two / "log").read_text(encoding="utf-8")


def test_a_fault_that_is_not_of_a_row_ends_the_build(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lesson_numbers, "script", lambda _: 1 / 0)
    done = inline.build(two)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("unexpected ZeroDivisionError at test_isolation.py:")
    assert done.stderr.endswith("; the last site remains\n")


@pytest.mark.parametrize(
    ("fault", "said"),
    [(MemoryError, "memory: too little; expected more"), (BrokenExecutor, "no process could")],
)
def test_too_little_memory_is_the_fault_of_no_row(
    fault: type[Exception], said: str, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(_: Atlas) -> bytes:
        raise fault

    write_list(two, [{"folder": "odd"}])
    monkeypatch.setattr(lesson_numbers, "script", script)
    done = inline.build(two)
    assert (done.returncode, "odd" in done.stdout.replace("ok  odd", "")) == (2, False)
    assert done.stderr.startswith(said)


@pytest.mark.parametrize(
    "rendered", [False, pytest.param(True, marks=pytest.mark.thorough)], ids=["data", "all"]
)
def test_odd_results_of_every_analysis_leave_the_other_rows_as_they_are(
    rendered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*ODD, "other"):
        write_folder(tmp_path / name, TABLE)
    write_list(tmp_path, [{"folder": name} for name in (*ODD, "other")])
    monkeypatch.setattr(worker, "outcome_of", _evaluated)
    assert inline.build(tmp_path, rendered=rendered).returncode in (0, 1)
    assert rows(tmp_path)["other"]["status"] == "ok"


def _evaluated(task: plan.Task, *more: Any) -> Outcome:
    """The outcome of a row, whose numbers are odd where its slug is a kind of these."""
    outcome = evaluate.outcome_of(task, *more)
    if (change := ODD.get(task.checkpoint.slug)) is None:
        return outcome
    readings = tuple(
        replace(
            reading,
            results={key: _changed(result, change) for key, result in reading.results.items()},
        )
        for reading in outcome.readings
    )
    return replace(outcome, readings=readings)


def _changed(result: Result, change: Callable[[Any], Any]) -> Result:
    number = float(change(np.ones(1)).sum())
    return replace(
        result,
        arrays={
            name: change(array) if array.dtype.kind == "f" and array.ndim else array
            for name, array in result.arrays.items()
        },
        metrics=tuple(replace(metric, value=number) for metric in result.metrics),
    )


@pytest.mark.parametrize("error", ["RuntimeError", "EOFError", "ImportError"])
def test_a_call_that_a_process_cannot_import_ends_with_the_reason(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first two, Pebble would wait for ever."""
    source = (
        "import multiprocessing\nif multiprocessing.parent_process():\n"
        f"    raise {error}('not here')\ndef work(): pass\n"
    )
    (tmp_path / f"of_{error}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    work = import_module(f"of_{error}").work
    with (
        local_pool.processes(jobs=1, preload=("generator.errors",)) as executor,
        pytest.raises(RowError, match=f"own: unexpected {error}: not here"),
    ):
        result_of(executor, work, where="own: ")
