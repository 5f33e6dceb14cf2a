"""Which browser the tests run in, and what happens where there is none: pytest itself is run, as
``make test`` runs it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import browsers
from tests.built import ROOT

TESTS = """
import pytest

@pytest.mark.parametrize("title", ["Shown", "Seen"])
def test_page(page, title):
    page.set_content(f"<title>{title}</title>")
    assert page.title() == title

def test_plain():
    pass
"""
SCRIPT = "#!/bin/sh\nexit {}\n"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment without any browser; the folder is the whole PATH."""
    for name in ("CHROMIUM", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "own"))
    return tmp_path


def command(folder: Path, name: str, code: int = 0) -> str:
    """A command in ``folder`` that ends with ``code``."""
    path = folder / name
    path.write_text(SCRIPT.format(code), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=alone,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.fixture
def tests(tmp_path: Path) -> str:
    """Two tests that need a browser, and one that does not."""
    (path := tmp_path / "test_two.py").write_text(TESTS, encoding="utf-8")
    return str(path)


def pytest_run(tests: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest with the hooks and fixtures of all our tests."""
    return python(
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.conftest",
        "--rootdir",
        str(Path(tests).parent),
        tests,
        *arguments,
    )


def test_the_environment_precedes_the_path(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(nowhere, "chromium")
    monkeypatch.setenv("CHROMIUM", named := command(nowhere, "mine"))
    assert browsers.find() == named


@pytest.mark.usefixtures("browser")
def test_with_a_browser_what_needs_one_is_marked_by_its_fixtures_and_runs_in_it(tests: str) -> None:
    done = pytest_run(tests, "-m", "browser")
    assert done.stdout.splitlines()[-1].strip("= ").startswith("2 passed, 1 deselected"), (
        done.stdout + done.stderr
    )
    assert f"browser: {browsers.find()}" in done.stdout.splitlines()
    assert "left out" not in done.stdout


# In several processes, and in one; what was not selected is not counted.
@pytest.mark.parametrize(
    ("options", "count"),
    [
        pytest.param(("-n", "2"), 2, marks=pytest.mark.thorough),
        (("-n", "0", "-k", "not Seen"), 1),
    ],
    ids=["in several processes", "in one"],
)
def test_without_a_browser_one_line_at_the_end_counts_what_was_left_out(
    options: tuple[str, ...], count: int, tests: str, nowhere: Path
) -> None:
    done = pytest_run(tests, *options)
    line, last = done.stdout.splitlines()[-2:]
    assert line == f"{count} browser tests were left out: {browsers.MISSING}"
    assert last.strip("= ").startswith("1 passed")
    assert (done.returncode, "skipped" in done.stdout) == (0, False)


def test_integration_needs_a_browser(
    tests: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    done = pytest_run(tests, "-n", "2")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.strip() == f"ERROR: CI is set, and {browsers.MISSING}"
    assert "passed" not in done.stdout
