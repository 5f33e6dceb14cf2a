"""Property tests draw the same examples every time, take what time they need and leave nothing on disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Page
from threadpoolctl import threadpool_limits

from tests.built import build
from tests.serving import chromium, served

settings.register_profile("atlas", deadline=None, derandomize=True, database=None)
settings.load_profile("atlas")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """As in a build, so that digits are the same; and small matrices are faster so, above all on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of the default list: its docs and its site."""
    output = tmp_path_factory.mktemp("atlas") / "build"
    done = build(output)
    assert done.returncode == 0, done.stdout + done.stderr
    return output


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """Where its site is served."""
    with served(built / "site") as place:
        yield place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(color_scheme=request.param, viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()
