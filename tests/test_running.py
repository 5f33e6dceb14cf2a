"""How the tests are run: what dies ends the run, and what is near to a change is found."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import mutants
from tests import near
from tests.built import ROOT

# As where it is not installed.
WITHOUT_PLAYWRIGHT = "import sys; sys.modules['playwright'] = None; import pytest; pytest.main()"
LIMITED = "import sys; from tests.__main__ import run; sys.exit(run(sys.argv[1:], 1.5))"


@pytest.mark.thorough
def test_a_process_that_dies_ends_the_run_which_names_the_test(tmp_path: Path) -> None:
    for name, body in {"a": "__import__('os')._exit(3)", "b": "pass"}.items():
        (tmp_path / f"test_{name}.py").write_text(f"def test_that_ends():\n    {body}\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    options = ("-p", "no:cacheprovider", "-c", str(tmp_path / "pytest.ini"), str(tmp_path))
    command = [sys.executable, "-c", LIMITED, *options]
    done = subprocess.run(
        command, cwd=ROOT, env=alone, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "test_a.py::test_that_ends" in done.stdout


def test_a_test_has_a_guard_that_leaves_its_process_alive(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) > 0
    assert pytestconfig.getini("timeout_method") == "signal"


def test_tests_without_a_browser_need_no_playwright() -> None:
    command = [sys.executable, "-c", WITHOUT_PLAYWRIGHT, "tests/test_text.py"]
    own = os.environ | {"CI": ""}  # Where it is set, a browser is needed.
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert "browser: Playwright is not installed" in done.stdout
    assert re.search(r"=== \d+ passed in", done.stdout)
    importing = re.compile("^(from|import) .*playwright", re.MULTILINE)
    others = {*(ROOT / "tests").rglob("*.py")} - {*(ROOT / "tests/browser").rglob("*.py")}
    assert [path for path in others if importing.search(path.read_text("utf-8"))] == []


def test_the_tests_of_a_module_are_the_nearest_and_a_text_affects_those_that_name_it() -> None:
    found = near.near(["generator/analyses/seams.py"])
    assert found[0] == "tests/analyses/test_seams.py"
    assert "tests/site/test_golden.py" in found
    assert near.near(["templates/analyses/seams.md.jinja"])[0] == found[0]
    assert "tests/test_documents.py" in near.near(["README.md"])


def test_first_are_those_that_detected_faults_in_a_module_that_many_import() -> None:
    killers = json.loads(near.KILLERS.read_text(encoding="utf-8"))
    names = {file for files in killers.values() for file in files} | {*map(near.file_of, killers)}
    assert [name for name in names if not (ROOT / name).is_file()] == []
    module = "generator.numerics.arrays"
    assert near.file_of(module) in {path.relative_to(ROOT).as_posix() for path in near.central()}
    assert near.near([near.file_of(module)])[: len(killers[module])] == killers[module]


def test_files_are_by_how_many_faults_they_detected() -> None:
    verdicts = ("killed by tests/a.py::test_1", *2 * ("killed by tests/b.py::test_2",), "survived")
    results = [{"path": "generator/text.py", "verdict": verdict} for verdict in verdicts]
    assert mutants.killers(results) == {"generator.text": ["tests/b.py", "tests/a.py"]}
