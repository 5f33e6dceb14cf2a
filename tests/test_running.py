"""How the tests are run: what hangs or dies ends the run and is named, and what is near to a change
is found.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import near
from tests.built import ROOT

DIES = "import os\n\ndef test_that_dies():\n    os._exit(3)\n"
PASSES = (
    "import pytest\n\n@pytest.mark.parametrize('n', range(20))\ndef test_that_passes(n):\n   "
    " pass\n"
)
HANGS = "import time\n\ndef test_that_hangs():\n    time.sleep(600)\n"
LIMITED = (
    "import sys; from tests.__main__ import run; sys.exit(run(sys.argv[2:], float(sys.argv[1])))"
)


def run(
    folder: Path, files: dict[str, str], *options: str, minutes: float = 1.5
) -> subprocess.CompletedProcess[str]:
    """The tests ``files`` as ``make test`` runs ours."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [
        sys.executable,
        "-c",
        LIMITED,
        str(minutes),
        "-p",
        "no:cacheprovider",
        "-c",
        str(folder / "pytest.ini"),
        str(folder),
        *options,
    ]
    return subprocess.run(
        command, cwd=ROOT, env=alone, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_process_that_dies_ends_the_run_which_names_the_test(tmp_path: Path) -> None:
    done = run(
        tmp_path, {"test_a.py": DIES, "test_b.py": PASSES, "test_c.py": PASSES, "test_d.py": PASSES}
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "test_a.py::test_that_dies" in done.stdout


def test_a_test_that_hangs_fails_by_itself_and_the_others_go_on(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        {"test_a.py": HANGS, "test_b.py": PASSES},
        "-o",
        "timeout=2",
        "-o",
        "timeout_method=signal",
    )
    assert "1 failed, 20 passed" in done.stdout
    assert "Timeout" in done.stdout


def test_a_run_that_takes_too_long_is_ended_and_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, {"test_a.py": HANGS}, minutes=0.1)
    assert done.returncode == 124
    assert (
        done.stderr.splitlines()[-1]
        == "The tests were ended after 0.1 minutes; expected them to end by themselves"
    )


def test_a_test_has_a_guard_that_leaves_its_process_alive(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) > 0
    assert pytestconfig.getini("timeout_method") == "signal"


@pytest.mark.parametrize(
    "changed",
    [
        "generator/analyses/seams.py",
        "templates/analyses/seams.md.jinja",
        "tests/analyses/test_seams.py",
    ],
)
def test_the_tests_of_the_module_that_changed_are_the_nearest(changed: str) -> None:
    assert near.near([changed])[0] == "tests/analyses/test_seams.py"


def test_a_test_that_imports_a_module_by_way_of_another_is_farther() -> None:
    found = near.near(["generator/analyses/seams.py"])
    assert found.index("tests/analyses/test_seams.py") < found.index("tests/site/test_golden.py")


def test_a_file_that_no_module_imports_affects_the_tests_that_name_it(tmp_path: Path) -> None:
    assert "tests/test_documents.py" in near.near(["README.md"])
    assert near.near([f"{tmp_path.name}/{tmp_path.name}"]) == []


def test_what_pytest_imports_for_a_folder_affects_its_tests_alone() -> None:
    found = near.near(["tests/browser/conftest.py"])
    assert found
    assert all(test.startswith("tests/browser/") for test in found)


def test_the_tests_near_a_change_end_when_the_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "test_b.py").write_text(PASSES, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    code = (
        "import sys, pytest; from tests.near import Budget; sys.exit(pytest.main(sys.argv[1:],"
        " plugins=[Budget(0.0)]))"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        str(tmp_path / "pytest.ini"),
        str(tmp_path),
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, "1 passed" in done.stdout) == (pytest.ExitCode.INTERRUPTED, True)
