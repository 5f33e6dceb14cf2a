"""Property tests draw the same examples every time, take what time they need and leave nothing on disk."""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Page
from threadpoolctl import threadpool_limits

from tests.built import RUN, default_atlas, once
from tests.serving import chromium, served

settings.register_profile("atlas", deadline=None, derandomize=True, database=None)
settings.load_profile("atlas")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """As in a build, so that digits are the same; and small matrices are faster so, above all on a busy machine."""
    with threadpool_limits(1):
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder that all processes of this run share; those that it starts inherit its name."""
    if not hasattr(config, "workerinput"):
        folder = mkdtemp(prefix="atlas-tests-")
        os.environ[RUN] = folder
        config.add_cleanup(partial(shutil.rmtree, folder))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that share something for their module in one process, which makes it once (with ``--dist loadgroup``)."""
    for item in items:
        definitions = item._fixtureinfo.name2fixturedefs.values()  # type: ignore[attr-defined]  # There is no public way to ask.
        if any(definition[-1].scope == "module" for definition in definitions):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.fixture(scope="session")
def built() -> Path:
    """The output folder of the default list: its docs and its site."""
    return once("atlas", default_atlas) / "build"


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """Where its site is served."""
    with served(built / "site") as place:
        yield place


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(color_scheme="light", viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()
