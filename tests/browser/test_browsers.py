"""Which browser the tests run in, and what happens where there is none: pytest itself is run, as
``make test`` runs it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import create_server
from time import monotonic

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


@pytest.fixture
def silent_host(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Playwright's installer asks a host that accepts and never answers."""
    with create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv(
            "PLAYWRIGHT_DOWNLOAD_HOST", f"http://127.0.0.1:{listening.getsockname()[1]}"
        )
        yield


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


def test_the_environment_goes_before_the_path(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(nowhere, "chromium")
    monkeypatch.setenv("CHROMIUM", named := command(nowhere, "mine"))
    assert browsers.find() == named


def test_the_environment_may_name_a_command(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", "mine")
    expected = command(nowhere, "mine")
    assert browsers.find() == expected


@pytest.mark.parametrize("at", range(len(browsers.COMMANDS)))
def test_commands_go_in_order(at: int, nowhere: Path) -> None:
    paths = [command(nowhere, name) for name in browsers.COMMANDS[at:]]
    assert browsers.find() == paths[0]


def test_a_command_that_does_not_start_is_no_browser(nowhere: Path) -> None:
    command(nowhere, "chromium", code=1)
    expected = command(nowhere, "google-chrome")
    assert browsers.find() == expected


def test_what_playwright_installed_comes_last(nowhere: Path) -> None:
    own = Path(browsers._playwrights_own())
    assert own.is_relative_to(nowhere / "own")
    own.parent.mkdir(parents=True)
    expected = command(own.parent, own.name)
    assert browsers.find() == expected


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
    [(("-n", "2"), 2), (("-n", "0", "-k", "not Seen"), 1)],
    ids=["-n 2", "-n 0"],
)
def test_without_a_browser_one_line_at_the_end_counts_what_was_left_out(
    options: tuple[str, ...], count: int, tests: str, nowhere: Path
) -> None:
    done = pytest_run(tests, *options)
    line, last = done.stdout.splitlines()[-2:]
    assert line == f"{count} browser tests were left out: {browsers.MISSING}"
    assert last.strip("= ").startswith("1 passed")
    assert (done.returncode, "skipped" in done.stdout) == (0, False)


def test_continuous_integration_requires_a_browser(
    tests: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    done = pytest_run(tests, "-n", "2")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.strip() == f"ERROR: CI is set, and {browsers.MISSING}"
    assert "passed" not in done.stdout


def test_an_installer_that_fails_leaves_none(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", "http://127.0.0.1:9")
    done = python("tests.browsers")
    first, last = done.stdout.splitlines()
    assert "none found; Playwright's installer runs" in first
    assert (done.returncode, last) == (1, f"Browser: {browsers.MISSING}")


def test_an_installer_that_hangs_is_ended(nowhere: Path, silent_host: None) -> None:
    began = monotonic()
    browsers.install(seconds=1)
    assert monotonic() - began < 10
