"""Fixtures and settings of all tests.

Property tests draw the same examples every time, but for `make fuzz`, take what time they need and
leave nothing on disk.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from generator import libraries
from tests import browsers, inline
from tests.built import BOTH_LISTS, RUN, few_rows, once
from tests.serving import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# They import what starts a browser.
collect_ignore = [] if browsers.HAS_PLAYWRIGHT else ["browser"]

settings.register_profile("atlas", deadline=None, derandomize=True, database=None)
settings.register_profile("fuzz", settings.get_profile("atlas"), derandomize=False, print_blob=True)
settings.load_profile("atlas")

# Tests share a process, and some look at models: transformers, which remembers whether it has found
# torch, must find it in all of them.
libraries.hide_torch = nullcontext  # type: ignore[assignment]

BROWSER = pytest.StashKey[str | None]()
LEFT_OUT = pytest.StashKey[int]()  # how many tests, for want of a browser


def pytest_configure(config: pytest.Config) -> None:
    """Decide once which browser it is, and in which folder all processes of this run share what
    they make.
    """
    config.stash[LEFT_OUT] = 0
    if hasattr(config, "workerinput"):
        config.stash[BROWSER] = config.workerinput["browser"]
        return
    config.stash[BROWSER] = browsers.find()
    if config.stash[BROWSER] is None and browsers.is_required():
        raise pytest.UsageError(f"CI is set, and {browsers.MISSING}")
    os.environ[RUN] = mkdtemp(prefix="atlas-tests-")
    config.add_cleanup(partial(shutil.rmtree, os.environ[RUN]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist."""
    node.workerinput["browser"] = node.config.stash[BROWSER]


def pytest_report_header(config: pytest.Config) -> str:
    return f"browser: {config.stash[BROWSER] or browsers.MISSING}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Mark what needs a browser, so that -m knows it; of what was selected, leave that out where
    there is none.
    """
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    yield
    if config.stash[BROWSER] is None:
        needing = [item for item in items if item.get_closest_marker("browser")]
        items[:] = [item for item in items if not item.get_closest_marker("browser")]
        config.stash[LEFT_OUT] = len(needing)
        config.hook.pytest_deselected(items=needing)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects all tests, so that one of them counts for all."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get(
        "left_out", node.config.stash[LEFT_OUT]
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if left_out := config.stash[LEFT_OUT]:
        terminalreporter.write_line(
            f"{left_out} browser tests were left out: {browsers.MISSING}", yellow=True
        )


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """As in a build, so that digits are the same; and small matrices are faster so, above all on a
    busy machine.
    """
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def blank_figures() -> Iterator[None]:
    """What evaluates checkpoints in this process draws nothing."""
    with inline.blank_figures():
        yield


@pytest.fixture(scope="session")
def built() -> Path:
    """The output folder of a few rows of the default list: its docs and its site."""
    return _output(few_rows)


@pytest.fixture(scope="session", params=BOTH_LISTS)
def of_each_list(request: pytest.FixtureRequest) -> Path:
    """The same; of all rows too, where thorough tests run."""
    return _output(request.param)


def _output(rows: Callable[[Path], None]) -> Path:
    return once(rows.__name__, rows) / "build"


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """Where its site is served."""
    with served(built / "site") as place:
        yield place


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config) -> "Iterator[Browser]":
    path = pytestconfig.stash[BROWSER]
    assert path is not None, browsers.MISSING
    with browsers.started(path) as started:
        yield started


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    opened = browser.new_page(color_scheme="light", viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()
